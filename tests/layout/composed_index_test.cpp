// Composed layouts at run time: their indices, tensors of them, and layouts that wait for a pointer.
#include <gtest/gtest.h>

#include "composed_laws.hpp"

namespace zellige::test {
namespace {

// index() and Indexer, of any layout, inside it and beyond.
TEST(Composed, IsIndexedByBothWays) {
  holds(8000, 8000, 7, [](Random& random, std::string& what) {
    Value const c = RandomComposed(random, {}).composed();
    what = to_text(c);
    Indexer const at(c);
    for (long long i = 0; i < count(c) + 5; ++i) {
      if (at(i) != element(c, i) || index(c, i) != element(c, i)) return false;
    }
    return true;
  });
}
TEST(Composed, ThroughCoordinatesIsIndexed) {
  Value const c = parse_value("(_4,_8):(_8,_1) o (0,3) o (_4,_5):(_1@0,_1@1)");
  Indexer const at(c);
  for (long long i = 0; i < 20; ++i) {
    EXPECT_EQ(at(i), i % 4 * 8 + i / 4 + 3);
    EXPECT_EQ(index(c, {i % 4, i / 4}), at(i));
  }
}
TEST(Composed, CoordinatesAreNoIndices) {
  for (char const* text : {"(4,8):(_1@0,_1@1)", "_8:_1@0", "(4,8):(_1@0,_1@1) o _0 o (4,8):(1@0,1@1)"}) {
    EXPECT_THROW(Indexer(parse_value(text)), LayoutError) << text;
    EXPECT_THROW(index(parse_value(text), 3), LayoutError) << text;
  }
  try {
    index(parse_value("(4,8):(_1@0,_1@1)"), 5);
    FAIL();
  } catch (LayoutError const& e) {
    EXPECT_STREQ(e.what(),
                 "index((4,8):(_1@0,_1@1), _5): the index is a coordinate of 2 modes, where an integer is needed");
  }
  EXPECT_THROW(index(parse_value("Sw<1,0,1> o _0 o (4,8):(_1@0,_1@1)"), 5), LayoutError);
}

// Partitions of tensors with composed layouts: the result has the elements of the partitioned inner layout,
// under the same outer parts.
TEST(Composed, TensorsAreCutAsTheLayoutWithin) {
  for (Op op : {Op::composition, Op::zipped_divide, Op::slice, Op::group, Op::layout_call}) {
    holds(2000, 900, 60 + unsigned(op), [op](Random& random, std::string& what) {
      Value const c = RandomComposed(random, {.compact = true}).composed(), start = number(random.below(9));
      View const l = within(c);
      require(!l.is_leaf());
      Value const counting = bundle(ValueKind::counting, number(0));
      auto const cut = [&](Value const& x) {
        Random same = random;
        Tape t;
        Value crd = empty(ValueKind::tuple), tiler = empty(ValueKind::tuple);
        for (int m = 0; m < l.rank(); ++m) {
          crd.add(op == Op::slice && same.below(2) ? underscore() : number(same.below(int(count(l[m])))));
          tiler.add(number(same.pick({1, 2, 4})));
        }
        Value r = nothing();
        if (op == Op::composition) r = algebra::local_tile(t, x, tiler, number(same.below(2)));
        if (op == Op::zipped_divide) r = algebra::partition(t, x, tiler, number(0), false);
        if (op == Op::slice || op == Op::layout_call) r = algebra::tensor_call(t, x, crd);
        if (op == Op::group) r = algebra::seen_from(t, x, crd);
        if (t.failed()) throw LayoutError("refused", t.refusal());
        return r;
      };
      // The start of the uncomposed tensor's iterator applies before the left parts, that of the composed one
      // after.
      Value const unswizzled = cut(algebra::tensor(counting, l));
      Value const mine = cut(algebra::tensor(bundle(ValueKind::counting, start), c));
      what = to_text(c) + " cut: " + to_text(mine) + ", within: " + to_text(unswizzled);
      auto const chain = [&](long long i) { return element(around(c, mode(fixed(1), {fixed(1)})), i); };
      if (unswizzled.is_number()) return mine.root().s.v == start.root().s.v + chain(unswizzled.root().s.v);
      long long const from = unswizzled[0][0].root().s.v, after = mine[0][0].root().s.v;
      if (count(unswizzled[1]) != count(mine[1])) return false;
      for (long long i = 0; i < count(mine[1]); ++i) {
        if (after + element(mine[1], i) != start.root().s.v + chain(from + element(unswizzled[1], i))) return false;
      }
      return true;
    });
  }
}

// A layout that waits for a pointer has its swizzle in bytes: it is neither the elements' swizzle, nor an
// offset.
TEST(Composed, LayoutsThatWaitForAPointer) {
  Value const c = parse_value("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)");
  EXPECT_EQ(index(c, 0), 0);
  EXPECT_EQ(Indexer(c)(0), 0);
  EXPECT_EQ(max_alignment(c), 8);  // 16 bytes
  EXPECT_EQ(max_common_vector(c, parse_value("(_8,_64):(_64,_1)")), 8);
  EXPECT_EQ(to_text(evaluate(Op::upcast, "upcast", {c, number(2)})),
            "Sw<3,4,3> o smem_ptr[32b](unset) o (_8,_32):(_32,_1)");
  EXPECT_EQ(to_text(evaluate(Op::downcast, "downcast", {c, number(2)})),
            "Sw<3,4,3> o smem_ptr[8b](unset) o (_8,_128):(_128,_1)");
  EXPECT_THROW(right_inverse(c), LayoutError);
}

// A number in several modes: at each mode the quotient comes before the remainder, and the terms are added from the last
// one on. This order decides what nvcc hoists.
TEST(Composed, AnIndexIsRecordedInCutesOrder) {
  Tape t(1);
  Value const index = algebra::index_of(t, number(expression(0)), parse_value("(_4,_8,_4):(_32,_2,_16)"));
  Arith const expected[] = {Arith::input, Arith::div, Arith::mod, Arith::mul, Arith::div,
                            Arith::mod,   Arith::mul, Arith::mul, Arith::add, Arith::add};
  ASSERT_EQ(t.steps().size(), 10);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(t.steps()[i].op, expected[i]) << i;
  EXPECT_EQ(t.steps()[8].a.id, expression(7).id);  // 16 * (c / 32), the last term
  EXPECT_EQ(t.steps()[8].b.id, expression(6).id);  // 2 * (c / 4 % 8)
  EXPECT_EQ(t.steps()[9].b.id, expression(3).id);  // 32 * (c % 4)
  EXPECT_EQ(index.root().s.id, expression(9).id);
}

// One expression of a tape is one number, whatever its value; two expressions that are equal at run time are
// two.
TEST(Composed, OneExpressionIsOneNumber) {
  Tape t(2);
  Num const a = expression(0), b = expression(1);
  EXPECT_TRUE(t.eq(a, a).is(1) && t.le(a, a).is(1) && t.lt(a, a).is(0) && t.sub(a, a).is(0));
  EXPECT_EQ(t.min(a, a).id, a.id);
  EXPECT_FALSE(t.eq(a, b).is_static());
  EXPECT_EQ(t.steps().size(), 3);  // the inputs, and a == b
  Tape now;
  EXPECT_EQ(now.eq(dynamic(3), dynamic(4)).v, 0);
  EXPECT_EQ(now.sub(dynamic(3), dynamic(4)).v, -1);
}

}  // namespace
}  // namespace zellige::test
