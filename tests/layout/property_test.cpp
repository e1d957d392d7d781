// Every law by brute force over random layouts, admissible and not, of static and run-time numbers: an
// operation that answers satisfies its definition at every coordinate.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "law.hpp"

namespace zellige::test {
namespace {

// composition(A, B)(c) = A(B(c)) at every coordinate c of B.
TEST(Laws, CompositionIsApplicationTwice) {
  Tally const t = holds(160000, 50000, 1, [](Random& random, std::string& what) {
    Value const a = random.layout(3, random.below(2)), b = random.layout(2, false);
    Value const r = composition(a, b);
    what = to_text(a) + " o " + to_text(b) + " = " + to_text(r);
    Indexer const at_a(a), at_b(b), at_r(r);
    for (long long i = 0, n = size(b); i < n; ++i) {
      if (at_r(i) != at_a(at_b(i))) return false;
    }
    return size(r) == size(b);
  });
  EXPECT_GT(t.refused, 20000);
}

// coalesce and flatten change no value; filter keeps the set of values.
TEST(Laws, CoalesceKeepsEveryValue) {
  holds(5000, 5000, 2, [](Random& random, std::string& what) {
    Value const a = random.layout(4, random.below(2)), r = coalesce(a);
    what = to_text(a) + " -> " + to_text(r);
    std::vector<long long> const va = values(a), vf = values(filter(a));
    return values(r) == va && values(flatten(a)) == va &&
           std::set<long long>(va.begin(), va.end()) == std::set<long long>(vf.begin(), vf.end());
  });
}

// complement(L, m): all of L + complement are different, and what is added ascends.
TEST(Laws, ComplementIsDisjointAndOrdered) {
  holds(5000, 2000, 3, [](Random& random, std::string& what) {
    Value const a = random.layout(3, true), r = complement(a, number(random.pick({1, 7, 24, 60, 100})));
    what = to_text(a) + " + " + to_text(r);
    std::vector<long long> const va = values(filter(a)), vr = values(r);
    std::set<long long> all;
    for (long long x : va) {
      for (long long y : vr) all.insert(x + y);
    }
    return all.size() == va.size() * vr.size() && std::is_sorted(vr.begin(), vr.end());
  });
}

/// Any layout: with strides that count down now and then, modes that overlap, and any number at run time.
Value any_layout(Random& random) {
  Value a = random.layout(3, random.below(2));
  if (random.below(2)) return a;
  for (ValueNode& n : a.nodes) {
    if (n.kids < 0 && random.below(3) == 0) n.d.v = -n.d.v;
  }
  return a;
}
// L(right_inverse(L)(i)) = i, at a coordinate that L has.
TEST(Laws, RightInverse) {
  holds(40000, 30000, 4, [](Random& random, std::string& what) {
    Value const a = any_layout(random), r = right_inverse(a);
    what = to_text(a) + ", " + to_text(r);
    Indexer const at_a(a), at_r(r);
    for (long long i = 0, n = size(r), has = size(a); i < n; ++i) {
      if (at_r(i) < 0 || at_r(i) >= has || at_a(at_r(i)) != i) return false;
    }
    return true;
  });
}

// L(left_inverse(L)(L(i))) = L(i), at a coordinate that L has.
TEST(Laws, LeftInverse) {
  Tally const t = holds(40000, 2000, 5, [](Random& random, std::string& what) {
    Value const a = any_layout(random), r = left_inverse(a);
    what = to_text(a) + ", " + to_text(r);
    Indexer const at_a(a), at_r(r);
    for (long long i = 0, n = size(a); i < n; ++i) {
      long long const back = at_r(at_a(i));
      if (back < 0 || back >= n || at_a(back) != at_a(i)) return false;
    }
    return true;
  });
  EXPECT_GT(t.refused, 2000);
}

// L(nullspace(L)(i)) = 0.
TEST(Laws, Nullspace) {
  int longer = 0;
  holds(5000, 5000, 6, [&](Random& random, std::string& what) {
    Value const a = random.layout(3, false), r = nullspace(a);
    what = to_text(a) + ", " + to_text(r);
    Indexer const at_a(a);
    for (long long x : values(r)) {
      if (at_a(x) != 0) return false;
    }
    longer += size(r) > 1;
    return true;
  });
  EXPECT_GT(longer, 300);
}

// A divided by a tile of n consecutive elements: the tile comes first, and tile and tiles together are all of
// A.
TEST(Laws, DivideCoversTheLayout) {
  holds(5000, 4000, 7, [](Random& random, std::string& what) {
    Value const a = random.layout(3, true);
    long long const n = random.pick({1, 2, 3, 4, 6, 8});
    Value const tile = mode(random.number(n), {fixed(1)});
    Value const r = zipped_divide(a, tile);
    what = to_text(a) + " / " + to_text(tile) + " = " + to_text(r);
    std::vector<long long> const va = values(a), vr = values(r);
    Indexer const at_a(a);
    for (long long i = 0; i < n; ++i) {
      if (vr[std::size_t(i)] != at_a(i)) return false;
    }
    std::set<long long> const in_r(vr.begin(), vr.end());
    return std::all_of(va.begin(), va.end(), [&](long long x) { return in_r.count(x) == 1; });
  });
}

// logical_product(block, tiler): the block first, and copies of it that nowhere touch.
TEST(Laws, ProductRepeatsTheBlockWithoutOverlap) {
  holds(5000, 1000, 8, [](Random& random, std::string& what) {
    Value const block = random.layout(2, true), tiler = random.layout(2, true);
    Value const r = logical_product(block, tiler);
    what = to_text(block) + " x " + to_text(tiler) + " = " + to_text(r);
    std::vector<long long> const vb = values(block), vr = values(r);
    return std::equal(vb.begin(), vb.end(), vr.begin()) &&
           std::set<long long>(vr.begin(), vr.end()).size() == vr.size();
  });
}

// tile_to_shape(block, shape): copies of the block that nowhere touch, the first of them the block itself,
// and a mode for a mode enough of them; of static numbers, exactly enough.
TEST(Laws, TileToShapeCoversTheShape) {
  int hanging = 0;
  Tally const t = holds(20000, 5000, 13, [&](Random& random, std::string& what) {
    Value const block = random.layout(2, true);
    Value target = empty(ValueKind::tuple);
    int const rank = block.rank() + random.below(2);
    bool divides = true, all_static = true;
    for (int i = 0; i < rank; ++i) {
      long long const tile = i < block.rank() ? size(block[i]) : 1;
      long long const extent = random.below(2) ? tile * (1 + random.below(3)) : 1 + random.below(20);
      bool const known = random.below(2);
      divides = divides && extent % tile == 0;
      target.add(number(known ? fixed(extent) : dynamic(extent)));
      if (known && i < block.rank()) {
        View const mode = View(block)[i];
        bool static_tile = true;
        for (ValueNode const& n : mode) static_tile = static_tile && (n.kids >= 0 || n.s.is_static());
        if (static_tile && extent % tile != 0) all_static = false;  // to be refused
      }
    }
    Value const r = tile_to_shape(block, target);
    what = to_text(block) + " over " + to_text(target) + " = " + to_text(r);
    if (!all_static) return false;
    hanging += !divides;
    std::vector<long long> const v = values(r);
    if (std::set<long long>(v.begin(), v.end()).size() != v.size() || r.rank() != rank) return false;
    for (int i = 0; i < rank; ++i) {
      long long const tile = i < block.rank() ? size(block[i]) : 1, extent = target[i].root().s.v;
      if (size(r[i]) != (extent + tile - 1) / tile * tile) return false;
    }
    // Coordinates of the block's own have its indices.
    Indexer const at_block(block), at_r(r);
    for (long long i = 0; i < size(block); ++i) {
      long long left = i, place = 0, step = 1;
      for (int m = 0; m < rank; ++m) {
        long long const tile = m < block.rank() ? size(block[m]) : 1;
        place += left % tile * step;
        left /= tile;
        step *= size(r[m]);
      }
      if (at_r(place) != at_block(i)) return false;
    }
    return true;
  });
  EXPECT_GT(t.refused, 500);
  EXPECT_GT(hanging, 1000);
}

// zip(L): mode i of the result has mode i of every mode of L; a number has no modes to exchange, and one row
// stays a row.
TEST(Laws, ZipExchangesTheModesOfModes) {
  holds(3000, 3000, 14, [](Random& random, std::string& what) {
    int const rows = random.below(4), columns = 1 + random.below(3);
    Value a = random.layout(1, false);
    if (a.rank() == 1 && !a.is_leaf()) a = a[0];
    if (rows > 0) {
      a = empty(ValueKind::layout);
      for (int i = 0; i < rows; ++i) {
        Value row = empty(ValueKind::layout);
        for (int j = 0; j < columns; ++j)
          row.add(mode(random.number(1 + random.below(9)), {random.number(random.below(9))}));
        a.add(row);
      }
    }
    Value const r = evaluate(Op::zip1, "zip1", {a});
    what = to_text(a) + " zipped: " + to_text(r);
    if (rows == 0) return to_text(r) == to_text(a);
    if (r.rank() != columns) return false;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        if (to_text(r[j][i]) != to_text(a[i][j])) return false;
      }
    }
    return true;
  });
}

// make_swizzle(y, z): the swizzle that xors the bits y of an index into its bits z; none of none.
TEST(Laws, MakeSwizzleXorsMaskIntoMask) {
  int accepted = 0;
  for (int y = 0; y < 256; ++y) {
    for (int z = 0; z < 256; ++z) {
      Value s;
      try {
        s = evaluate(Op::make_swizzle, "make_swizzle", {number(y), number(z)});
      } catch (LayoutError const&) {
        continue;
      }
      ++accepted;
      auto const lowest = [](int m) { return m == 0 ? 0 : __builtin_ctz(unsigned(m)); };
      for (int i = 0; i < 256; ++i) {
        int const want = i ^ ((i & y) >> lowest(y) << lowest(z));
        ASSERT_EQ(evaluate(Op::swizzle_apply, "swizzle_apply", {s, number(i)}).root().s.v, want) << y << " " << z;
      }
    }
  }
  EXPECT_EQ(to_text(evaluate(Op::make_swizzle, "make_swizzle", {number(0), number(0)})), "Sw<0,0,0>");
  EXPECT_GE(accepted, 80);
}

// max_common_vector(A, B): this number of elements is consecutive, from 0, in both along one order of
// coordinates.
TEST(Laws, CommonVectorIsConsecutiveInBoth) {
  int longer = 0;
  holds(20000, 19000, 9, [&](Random& random, std::string& what) {
    Value const a = random.layout(3, true), b = random.layout(3, true);
    Value const common = max_common_layout(a, b);
    what = to_text(a) + ", " + to_text(b) + ": " + to_text(common);
    Indexer const at_a(a), at_b(b);
    std::vector<long long> const v = values(common);
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (at_a(v[i]) != (long long)i || at_b(v[i]) != (long long)i) return false;
    }
    longer += v.size() > 1;
    return max_common_vector(a, b) == (long long)v.size();
  });
  EXPECT_GT(longer, 500);
}

// inverse(swizzle o L) after swizzle o L is the identity.
TEST(Laws, SwizzledLayoutsAreInverted) {
  holds(2000, 1500, 10, [](Random& random, std::string& what) {
    int const bits = 1 + random.below(3), base = random.below(4), shift = bits + random.below(2);
    int const rows = 8 << random.below(3), columns = 8 << random.below(4);
    Value const l = random.below(2) ? layout_value({rows, columns}) : layout_value_right({rows, columns});
    Value const c = composition(swizzle_value(bits, base, shift), l);
    Value const r = left_inverse(c);
    what = to_text(c) + ", " + to_text(r);
    Indexer const at_c(c), at_r(r);
    for (long long i = 0; i < rows * columns; ++i) {
      if (at_c(at_r(at_c(i))) != at_c(i)) return false;
    }
    return true;
  });
}

// A slice of a swizzled layout, whatever became of its swizzle, has the values of the whole.
TEST(Laws, SlicesOfSwizzledLayouts) {
  holds(3000, 3000, 11, [](Random& random, std::string& what) {
    int const bits = 1 + random.below(3), base = random.below(4), shift = bits + random.below(2);
    int const rows = 8 << random.below(3), columns = 8 << random.below(4);
    Value const l = random.below(2) ? layout_value({rows, columns}) : layout_value_right({rows, columns});
    Value const c = composition(swizzle_value(bits, base, shift), l);
    bool const row = random.below(2);
    int const at = random.below(row ? rows : columns);
    Value const fixed_at = number(random.number(at)), mark = underscore();
    Value const crd = row ? bundle(ValueKind::tuple, fixed_at, mark) : bundle(ValueKind::tuple, mark, fixed_at);
    Value const both = evaluate(Op::slice_and_offset, "slice_and_offset", {crd, c});
    what = to_text(c) + to_text(crd) + " = " + to_text(both);
    Indexer const whole(c), part(both[0]);
    long long const offset = both[1].root().s.v;
    for (long long i = 0; i < (row ? columns : rows); ++i) {
      long long const full = row ? at + i * rows : i + (long long)at * rows;
      if (whole(full) != part(i) + offset) return false;
    }
    return true;
  });
}

// The same for tiles whose parts and blocks may share bits above the swizzle, at coordinates of any of their modes.
TEST(Laws, SlicesOfSwizzledTiles) {
  holds(3000, 3000, 13, [](Random& random, std::string& what) {
    int const bits = 1 + random.below(3), base = random.below(3), shift = bits + random.below(2);
    int const run = 1 << base, above = 1 << (base + bits + shift);
    int const extents[] = {run, 1 << bits, 1 << (shift - bits), 1 << bits, 1 + random.below(5), 1 + random.below(4)};
    int const strides[] = {1,
                           run,
                           run << bits,
                           run << shift,
                           above * (1 + random.below(6)),
                           random.below(4) ? above * (1 + random.below(6)) : run * (1 + random.below(6))};
    Value l = empty(ValueKind::layout), crd = empty(ValueKind::tuple);
    std::vector<int> at;
    for (int m = 0; m < 6; ++m) {
      l.add(mode(fixed(extents[m]), {fixed(strides[m])}));
      at.push_back(random.below(2) ? random.below(extents[m]) : -1);
      crd.add(at.back() < 0 ? underscore() : number(random.number(at.back())));
    }
    if (std::count(at.begin(), at.end(), -1) == 0) return true;  // an element, not a slice
    Value const c = composition(swizzle_value(bits, base, shift), l);
    Value const both = evaluate(Op::slice_and_offset, "slice_and_offset", {crd, c});
    what = to_text(c) + to_text(crd) + " = " + to_text(both);
    Indexer const whole(c), part(both[0]);
    long long const offset = both[1].root().s.v;
    long long count = 1;
    for (int m = 0; m < 6; ++m) count *= at[m] < 0 ? extents[m] : 1;
    for (long long i = 0; i < count; ++i) {
      long long full = 0, rest = i, size = 1;
      for (int m = 0; m < 6; ++m) {
        long long const here = at[m] < 0 ? rest % extents[m] : at[m];
        if (at[m] < 0) rest /= extents[m];
        full += here * size, size *= extents[m];
      }
      if (whole(full) != part(i) + offset) return false;
    }
    return true;
  });
}

// With basis elements for strides a layout is its integer twin in another module: their dot product with any
// weights is the twin with these weights for strides.
TEST(Laws, BasisStridesBehaveAsTheirIntegerTwins) {
  holds(3000, 3000, 12, [](Random& random, std::string& what) {
    Value a = random.layout(3, false), twin = a;
    long long const weights[] = {random.pick({1, 7, 100}), random.pick({1000, 3}), random.pick({5, 11})};
    for (int i = 0; i < a.nodes.size(); ++i) {
      if (a.nodes[i].kids >= 0) continue;
      int const axis = random.below(3);
      a.nodes[i].e = extend(0, axis);
      twin.nodes[i].d.v *= weights[axis];
    }
    what = to_text(a) + " and " + to_text(twin);
    Indexer const at(twin);
    for (long long i = 0; i < size(a); ++i) {
      Tape t;
      Value const x = algebra::as_arithmetic_tuple(algebra::index_of(t, number(i), a));
      long long sum = 0;
      for (int m = 0; m < x.rank(); ++m) sum += x[m].root().s.v * weights[m];
      if (sum != at(i)) return false;
    }
    return true;
  });
}

}  // namespace
}  // namespace zellige::test
