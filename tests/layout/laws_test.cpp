// The laws that relate operations, by brute force over random layouts: if both sides are admitted they are
// the same function. The definitions of single operations are tested in property_test.cpp.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "law.hpp"

namespace zellige::test {
namespace {

/// The same layout of static numbers.
Value known(Value l) {
  for (int i = 0; i < l.nodes.size(); ++i) {
    l.nodes[i].s = fixed(l.nodes[i].s.v);
    l.nodes[i].d = fixed(l.nodes[i].d.v);
  }
  return l;
}
Value identity(long long n) { return mode(fixed(n), {fixed(1)}); }
Value pair(Value const& a, Value const& b) { return concatenate({a, b}); }

TEST(Holds, ALawWhoseCasesAreAllRefusedFails) {
  auto const refuses = [](Random&, std::string&) -> bool { throw LayoutError("refused", {}); };
  EXPECT_NONFATAL_FAILURE(holds(100, 1, 1, refuses), "of 100 cases 100 were refused");
  auto const accepts = [](Random&, std::string&) { return true; };
  EXPECT_NONFATAL_FAILURE(holds(100, 101, 1, accepts), "of 100 cases 0 were refused");
  EXPECT_NONFATAL_FAILURE(holds(100, 0, 1, accepts), "a law without a bound holds for want of cases");
}

// (A o B) o C = A o (B o C), where C stays within B: beyond its last coordinate a layout goes on as its last
// mode does, and that is not the same for B and for A o B.
TEST(CompositionLaws, Associative) {
  holds(60000, 5000, 21, [](Random& random, std::string& what) {
    Value const a = random.layout(3, random.below(2)), b = random.layout(2, random.below(2)),
                c = random.layout(2, random.below(2));
    require(cosize(c) <= size(b));
    Value const left = composition(composition(a, b), c), right = composition(a, composition(b, c));
    what = to_text(a) + " o " + to_text(b) + " o " + to_text(c) + ": " + to_text(left) + ", " + to_text(right);
    return values(left) == values(right);
  });
}

// A o identity = A = identity o A.
TEST(CompositionLaws, TheIdentityIsNeutral) {
  holds(5000, 5000, 22, [](Random& random, std::string& what) {
    Value const a = random.layout(3, random.below(2));
    Value const right = composition(a, identity(size(a)));
    Value const left = composition(identity(std::max(cosize(a), 1LL)), a);
    what = to_text(a) + ": " + to_text(left) + ", " + to_text(right);
    return values(right) == values(a) && values(left) == values(a);
  });
}

// A o (B, C) = (A o B, A o C): modes of the right operand are composed one by one.
TEST(CompositionLaws, DistributesOverModesOfTheRight) {
  holds(20000, 5000, 23, [](Random& random, std::string& what) {
    Value const a = random.layout(3, random.below(2)), b = random.layout(2, random.below(2)),
                c = random.layout(1, random.below(2));
    Value const whole = composition(a, pair(b, c)), parts = pair(composition(a, b), composition(a, c));
    what = to_text(a) + " o (" + to_text(b) + ", " + to_text(c) + "): " + to_text(whole);
    return values(whole) == values(parts);
  });
}

// coalesce(coalesce(A)) = coalesce(A), which has no more modes than A; A o B depends on A's values alone
// where B stays within A.
TEST(CoalesceLaws, IdempotentAndInvisibleToComposition) {
  holds(20000, 5000, 24, [](Random& random, std::string& what) {
    Value const a = random.layout(4, random.below(2)), b = random.layout(2, random.below(2));
    require(cosize(b) <= size(a));
    Value const c = coalesce(a);
    what = to_text(a) + " -> " + to_text(c) + ", " + to_text(b);
    return to_text(coalesce(c)) == to_text(c) && leaves_of(c).size() <= std::max(leaves_of(a).size(), 1) &&
           values(composition(c, b)) == values(composition(a, b));
  });
}

// (L, complement(L, m)) reaches every integer below m, once, where each stride of L divides the next.
TEST(ComplementLaws, FillsTheCodomain) {
  holds(5000, 1500, 25, [](Random& random, std::string& what) {
    long long covered = 1;
    Value l = empty(ValueKind::layout);
    for (int i = 0, n = 1 + random.below(3); i < n; ++i) {
      long long const stride = covered * random.pick({1, 2, 3}), extent = random.pick({2, 3, 4});
      l.add(mode(fixed(extent), {fixed(stride)}));
      covered = stride * extent;
    }
    long long const m = random.pick({1, 24, 60, 100});
    Value const r = complement(l, number(m));
    what = to_text(l) + " and " + to_text(r) + " below " + std::to_string(m);
    std::vector<long long> all = values(pair(l, r));
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] != (long long)i) return false;
    }
    return (long long)all.size() >= m;
  });
}

// A / B = A o (B, complement(B, size(A))).
TEST(DivideLaws, IsCompositionWithTheTileAndItsComplement) {
  holds(20000, 4000, 26, [](Random& random, std::string& what) {
    Value const a = random.layout(3, random.below(2)), b = random.layout(2, random.below(2));
    Value const r = logical_divide(a, b);
    Value const by_hand = composition(a, pair(b, complement(b, number(size(coalesce(a))))));
    what = to_text(a) + " / " + to_text(b) + ": " + to_text(r) + ", " + to_text(by_hand);
    return values(r) == values(by_hand);
  });
}

// The four divisions by a tile are one function, arranged in other modes.
TEST(DivideLaws, TheFourArrangeTheSameModes) {
  holds(5000, 2000, 27, [](Random& random, std::string& what) {
    Value const a = layout_value({random.pick({4, 8, 12}), random.pick({6, 8, 10})},
                                 {random.pick({1, 2, 10}), random.pick({1, 3, 12})});
    Value const tile = tuple_value({random.pick({1, 2, 4}), random.pick({2, 3, 4})});
    Value const zipped = zipped_divide(a, tile);
    std::vector<long long> const v = values(zipped);
    std::vector<long long> of_logical = values(logical_divide(a, tile)), sorted = v;
    std::sort(of_logical.begin(), of_logical.end());
    std::sort(sorted.begin(), sorted.end());
    what = to_text(a) + " / " + to_text(tile) + ": " + to_text(zipped);
    return values(tiled_divide(a, tile)) == v && values(flat_divide(a, tile)) == v && of_logical == sorted;
  });
}

// A x B = (A, complement(A, size(A) * cosize(B)) o B).
TEST(ProductLaws, IsTheBlockAndItsComplementAfterTheOrder) {
  holds(20000, 4000, 28, [](Random& random, std::string& what) {
    Value const a = random.layout(2, true), b = random.layout(2, random.below(2));
    Value const r = logical_product(a, b);
    Value const by_hand = pair(a, composition(complement(a, number(size(a) * cosize(b))), b));
    what = to_text(a) + " x " + to_text(b) + ": " + to_text(r) + ", " + to_text(by_hand);
    return values(r) == values(by_hand);
  });
}

// blocked and raked products hold the values of the logical one; blocked keeps a block's modes in front.
TEST(ProductLaws, BlockedAndRakedRearrangeTheLogical) {
  holds(5000, 2000, 29, [](Random& random, std::string& what) {
    Value const a = layout_value({random.pick({2, 3, 4}), random.pick({1, 2, 5})});
    Value const b = layout_value_right({random.pick({2, 3}), random.pick({1, 2, 4})});
    std::vector<long long> logical = values(logical_product(a, b)), blocked = values(blocked_product(a, b)),
                           raked = values(raked_product(a, b));
    what = to_text(a) + " x " + to_text(b);
    if (!std::equal(blocked.begin(), blocked.begin() + a[0].root().s.v, logical.begin())) return false;
    for (auto* v : {&logical, &blocked, &raked}) std::sort(v->begin(), v->end());
    return blocked == logical && raked == logical;
  });
}

// If L is one-to-one and onto (with static numbers), its right inverse is its left inverse, and inverting
// twice gives L again.
TEST(InverseLaws, OfABijectionIsTwoSidedAndAnInvolution) {
  holds(5000, 2000, 30, [](Random& random, std::string& what) {
    Value const a = known(random.layout(3, true)), r = right_inverse(a);
    what = to_text(a) + " and " + to_text(r);
    if (size(r) != size(a)) return false;
    Indexer const at_a(a), at_r(r);
    for (long long i = 0; i < size(a); ++i) {
      if (at_a(at_r(i)) != i || at_r(at_a(i)) != i) return false;
    }
    return values(left_inverse(a)) == values(r) && values(right_inverse(r)) == values(a);
  });
}

// A swizzle undoes itself, is linear in xor, and keeps blocks of 2^M whole.
TEST(SwizzleLaws, InvolutionLinearAndBlockwise) {
  for (int bits = 0; bits <= 3; ++bits) {
    for (int base = 0; base <= 4; ++base) {
      for (int shift : {bits, bits + 1, -bits - 1}) {
        auto const at = [&](long long i) {
          return evaluate(Op::swizzle_apply, "swizzle", {swizzle_value(bits, base, shift), number(i)}).root().s.v;
        };
        for (long long i = 0; i < 1024; i += 7) {
          EXPECT_EQ(at(at(i)), i) << bits << base << shift;
          EXPECT_EQ(at(i ^ 341), at(i) ^ at(341)) << bits << base << shift;
          EXPECT_EQ(at(i) % (1 << base), i % (1 << base)) << bits << base << shift;
        }
      }
    }
  }
}

// idx2crd undoes crd2idx, and the identity layout maps each coordinate to itself.
TEST(CoordinateLaws, IndicesAndCoordinatesAreOneToOne) {
  holds(2000, 2000, 31, [](Random& random, std::string& what) {
    Value const l = random.layout(3, true);
    Value const shape = evaluate(Op::shape, "shape", {l});
    Value const id = evaluate(Op::make_identity_layout, "identity", {shape});
    what = to_text(shape);
    for (long long i = 0; i < size(l); ++i) {
      Value const crd = evaluate(Op::idx2crd, "idx2crd", {number(dynamic(i)), shape});
      if (evaluate(Op::crd2idx, "crd2idx", {crd, shape}).root().s.v != i) return false;
      Value const found = evaluate(Op::layout_call, "call", {id, crd});
      if (crd.is_tuple() && to_text(evaluate(Op::as_arithmetic_tuple, "tuple", {found})) != to_text(crd)) return false;
    }
    return true;
  });
}

// Basis strides are the free module: do the algebra on coordinates, give the basis elements any weights w
// afterwards, and the result is that of the algebra done on strides w. The weights here are integers, so that
// both sides can be computed; the left side never sees them.
TEST(ModuleLaws, TheAlgebraOnCoordinatesServesEveryModule) {
  holds(300, 150, 32, [](Random& random, std::string& what) {
    Value const shape = tuple_value({random.pick({4, 6, 8}), random.pick({4, 12}), random.pick({2, 3})});
    std::vector<long long> const w = {random.pick({1, 7, 100}), random.pick({1000, 3}), random.pick({5, 11})};
    Value const id = evaluate(Op::make_identity_layout, "identity", {shape});
    Value const weighted = evaluate(Op::make_layout, "make_layout", {shape, tuple_value(w)});
    Value const tile = tuple_value({random.pick({1, 2, 4}), random.pick({2, 3, 4}), random.pick({1, 2})});
    Value const coordinates = zipped_divide(id, tile), indices = zipped_divide(weighted, tile);
    what = to_text(coordinates) + " and " + to_text(indices);
    for (long long i = 0; i < size(indices); ++i) {
      Value const c = evaluate(Op::layout_call, "call", {coordinates, number(dynamic(i))});
      long long sum = 0;
      for (int m = 0; m < 3; ++m) sum += c[m].root().s.v * w[std::size_t(m)];
      if (sum != index(indices, i)) return false;
    }
    return true;
  });
}

// downcast, then upcast by the same factor, gives the layout back.
TEST(RecastLaws, UpcastUndoesDowncast) {
  holds(5000, 2000, 33, [](Random& random, std::string& what) {
    Value const a = random.layout(3, true);
    long long const n = random.pick({2, 4, 8});
    Value const down = evaluate(Op::downcast, "downcast", {a, number(n)});
    Value const up = evaluate(Op::upcast, "upcast", {down, number(n)});
    what = to_text(a) + " -> " + to_text(down) + " -> " + to_text(up);
    return values(up) == values(a);
  });
}

}  // namespace
}  // namespace zellige::test
