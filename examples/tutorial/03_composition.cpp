// Lesson 3: composition.  A o B  is the function  c -> A(B(c)) : B selects elements of A, in B's shape. One
// operation reshapes, transposes, takes every other element, and permutes; a division (lesson 4) is also a
// composition.
#include <cstdio>
#include <zellige/layout.hpp>
#include <zellige/layout/print.hpp>

using namespace zellige;

// The definition, checked at every coordinate, and the printed result.
template <class A, class B>
auto compose(char const* what, A const& a, B const& b) {
  auto const r = composition(a, b);
  int wrong = 0;
  for (int i = 0; i < size(b); ++i) wrong += int(r(i)) != int(a(b(i)));
  std::printf("%-26s %s o %s = %s%s\n", what, to_text(a).c_str(), to_text(b).c_str(), to_text(r).c_str(),
              wrong ? "  WRONG" : "");
  return r;
}

int main() {
  auto const a = make_layout(Shape<_4, _8>{}, LayoutRight{});  // row-major 4 x 8

  // B's indices are A's coordinates, counted with A's first mode fastest.
  compose("the first column", a, Layout<_4, _1>{});
  compose("every other one of row 1", a(1, _), Layout<_4, _2>{});
  compose("every other element", a, Layout<_16, _2>{});
  compose("backwards in pairs", Layout<_8, _1>{}, Layout<Shape<_2, _4>, Stride<_4, _1>>{});

  // To reshape is to compose with a compact layout of the new shape; to transpose, with strides exchanged.
  auto const reshaped = compose("reshaped to 8 x 4", a, make_layout(Shape<_8, _4>{}));
  auto const transposed = compose("transposed", a, make_layout(Shape<_8, _4>{}, Stride<_4, _1>{}));
  std::printf("row 1 of the reshaped one: ");
  for (int j = 0; j < 4; ++j) std::printf("%d ", int(reshaped(1, j)));
  std::printf("\n\n");

  // A tuple of layouts (a tiler) composes mode by mode: rows 0 and 2, columns 0, 1, 4 and 5.
  auto const picked = composition(a, make_tile(Layout<_2, _2>{}, Layout<Shape<_2, _2>, Stride<_1, _4>>{}));
  std::printf("%-26s %s\n", "rows 0 2, columns 0 1 4 5", to_text(picked).c_str());

  // A number n means n:1, the first n; an underscore the whole mode.
  std::printf("%-26s %s\n", "the upper left 2 x 4", to_text(composition(a, Shape<_2, _4>{})).c_str());
  std::printf("%-26s %s\n\n", "the upper half", to_text(composition(a, make_tile(_2{}, _))).c_str());

  // coalesce: the same function of the index with as few modes as possible. Two neighbours are merged if the
  // stride of the second equals extent times stride of the first.
  std::printf("%-26s %s\n", "coalesced",
              to_text(coalesce(Layout<Shape<_2, Shape<_1, _6>>, Stride<_1, Stride<_6, _2>>>{})).c_str());
  std::printf("%-26s %s\n\n", "the transposed: in order", to_text(coalesce(transposed)).c_str());

  // Inverses undo a layout: A o right_inverse(A) counts 0, 1, 2, ... as far as A is onto. It gives the
  // coordinate of an index.
  auto const back = right_inverse(a);
  std::printf("%-26s %s\n", "its right inverse", to_text(back).c_str());
  std::printf("%-26s %s\n", "A o that", to_text(coalesce(composition(a, back))).c_str());
  auto const padded = make_layout(Shape<_8, _4>{}, Stride<_1, _10>{});
  std::printf("%-26s %s: it ends before 8, which is in no column\n", "of columns at stride 10",
              to_text(right_inverse(padded)).c_str());
  std::printf("%-26s %s: L(R(L(i))) = L(i) everywhere\n\n", "and its left inverse",
              to_text(left_inverse(padded)).c_str());

  // Not every pair composes: see lesson 8.  (3,4):(4,1) o (2,2):(1,2)  has no layout.
  print_layout(a);
  print_layout(picked);
}
