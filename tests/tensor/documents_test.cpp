// The examples of the tutorials on coordinate tensors and on tensors: what they build prints what they show.
#include <gtest/gtest.h>

#include <sstream>
#include <zellige/tensor/print.hpp>

namespace zellige {
namespace {

TEST(TmaTensors, CountingIterator) {
  EXPECT_EQ(table_text(make_tensor(counting_iterator<int>(42), make_shape(4, 5)), false, true),
            "counting_iter(42) o (4,5):(_1,4):\n"
            "   42   46   50   54   58\n   43   47   51   55   59\n   44   48   52   56   60\n   45   49   "
            "53   57   61\n");
}
TEST(TmaTensors, IteratorsOverCoordinatesAreOffsetByCoordinates) {
  ArithmeticTupleIterator const a = make_inttuple_iter(42, Int<2>{}, Int<7>{});
  EXPECT_EQ(to_text(*(a + make_tuple(Int<0>{}, 5, Int<2>{}))), "(42,7,_9)");
}
TEST(TmaTensors, BasisElements) {
  EXPECT_EQ(to_text(E<0>{}), "_1@0");
  EXPECT_EQ(to_text(E<0, 1>{}), "_1@1@0");
  EXPECT_EQ(to_text(5 * E<0, 1>{}), "5@1@0");
  EXPECT_EQ(to_text(3 * E<0>{} + 4 * E<1>{}), "(3,4)");
}
TEST(TmaTensors, StridesDecideTheOrderOfCoordinates) {
  auto const a = make_tensor(make_inttuple_iter(0, 0), make_shape(4, 5), make_stride(E<0>{}, E<1>{}));
  auto const b =
      make_tensor(make_inttuple_iter(make_tuple(0, 0)), make_shape(4, 5), make_stride(E<1>{}, E<0>{}));
  EXPECT_EQ(table_text(a, false, true),
            "ArithTuple(0,0) o (4,5):(_1@0,_1@1):\n"
            "  (0,0)  (0,1)  (0,2)  (0,3)  (0,4)\n  (1,0)  (1,1)  (1,2)  (1,3)  (1,4)\n"
            "  (2,0)  (2,1)  (2,2)  (2,3)  (2,4)\n  (3,0)  (3,1)  (3,2)  (3,3)  (3,4)\n");
  EXPECT_EQ(to_text(b), "ArithTuple(0,0) o (4,5):(_1@1,_1@0)");
  EXPECT_EQ(to_text(b(1, 3)), "(3,1)");
}
TEST(Printing, StreamsTakeTensors) {
  std::ostringstream out;
  out << make_tensor(counting_iterator<int>(7), Layout<_1, _0>{});
  EXPECT_EQ(out.str(), "_1:_0\n        7\n");
}
TEST(TensorTutorial, SlicingKeepsTheProfileOfWhatIsLeft) {
  // A(_,5) of ((3,2),(2,5,2)) is ((_3,2)):((4,1)): one mode, which is a pair.
  auto const a = make_layout(make_shape(make_shape(_3{}, 2), make_shape(2, _5{}, _2{})),
                             make_stride(make_stride(4, 1), make_stride(_2{}, 13, 100)));
  EXPECT_EQ(to_text(a(_, 5)), "((_3,2)):((4,1))");
  EXPECT_EQ(to_text(a(make_coord(_, _), 5)), "(_3,2):(4,1)");
}

}  // namespace
}  // namespace zellige
