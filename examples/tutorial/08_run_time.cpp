// Lesson 8: layouts at run time, and refusals. A planner or a command line handles layouts that no type
// describes: even their rank is read from data. The same algebra runs on values. Both refuse operations whose
// result would not be correct at every coordinate, in one sentence with the two conflicting numbers.
#include <cstdio>
#include <functional>
#include <string>
#include <zellige/layout/picture.hpp>
#include <zellige/layout/runtime.hpp>
#include <zellige/tensor.hpp>

using namespace zellige;

// Tries an operation that should fail, and prints the error.
void refused(std::function<void()> const& mistake) {
  try {
    mistake();
    std::printf("  not refused!\n");
  } catch (LayoutError const& e) {
    std::printf("  %s\n", e.what());
  }
}
Value v(char const* text) { return parse_value(text); }

int main() {
  // Values: from numbers, from a string, and back.
  Value const a = layout_value({6, 2}, {8, 2});
  Value const b = v("(_4,_3):(_3,_1)");
  Value const r = composition(a, b);
  std::printf("%s o %s = %s\n", to_text(a).c_str(), to_text(b).c_str(), to_text(r).c_str());
  int wrong = 0;
  for (long long i = 0; i < size(b); ++i) wrong += index(r, i) != index(a, index(b, i));
  std::printf("%d of %lld values are wrong\n", wrong, size(b));

  // A loop that no template could write: the ranks are data.
  std::vector<long long> shape;
  for (int rank = 1; rank <= 4; ++rank) {
    shape.push_back(rank + 1);
    Value const l = layout_value(shape);
    std::printf("rank %d: %s, row-major %s\n", rank, to_text(l).c_str(), to_text(layout_value_right(shape)).c_str());
  }

  // Refusals. Composition: if a mode of the right operand continues beyond a mode of the left, its stride
  // must divide that mode's extent. (4,6,8):(2,3,5) o 6:3 takes elements 0 3 6 9 12 15, whose indices 0 6 7 8
  // 9 15 no layout has; CuTe compiles it and returns one with other indices.
  std::printf("\nrefused, with the reason:\n");
  refused([] { composition(v("(4,6,8):(2,3,5)"), v("6:3")); });
  // The modes of the right operand together must not carry over from one mode of the left into the next.
  refused([] { composition(v("(3,4):(4,1)"), v("(2,2):(1,2)")); });
  // Only a one-to-one layout has a complement, and only a layout without negative strides an inverse.
  refused([] { complement(v("(_4,_4):(_1,_2)"), v("_64")); });
  refused([] { left_inverse(v("(_4,_8):(_8,_-1)")); });
  // Strings are checked as well.
  refused([] { v("(4,8):(8,1,2)"); });
  refused([] { v("(4,8"); });

  // Numbers in types: with run-time leaves the check is made at run time (ZELLIGE_CHECK=0 disables it; in
  // kernels it is disabled unless ZELLIGE_CHECK is 1, and traps).
  std::printf("\nthe same from the compile-time API with run-time numbers:\n");
  int four = 4, eight = 8, three = 3;
  refused([&] {
    composition(make_layout(make_shape(four, _6{}, eight), make_stride(_2{}, _3{}, _5{})), make_layout(_6{}, three));
  });
  float data[10 * 7] = {}, tile[4 * 4];
  Tensor whole = make_tensor(&data[0], make_shape(10, 7), LayoutRight{});
  Tensor dst = make_tensor(&tile[0], Shape<_4, _4>{});
  refused([&] { copy(local_tile(whole, Shape<_4, _4>{}, make_coord(2, 0)), dst); });
  refused([&] { copy(local_tile(whole, make_shape(5, _4{}), make_coord(0, 0)), dst); });

  // With static numbers the compiler refuses; README.md shows its messages for ten errors.
  static_assert(evenly_divides(Shape<_8, _12>{}, Shape<_4, _3>{}));
  static_assert(!evenly_divides(Shape<_10>{}, Shape<_4>{}));

  std::printf("\n%s", layout_table(r).c_str());
}
