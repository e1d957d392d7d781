// Lesson 2: a layout is a function from coordinates to integers; in  shape:stride  the shape defines the
// coordinates, the stride the offset of one step. The rest of the library operates on such functions.
#include <cstdio>
#include <zellige/layout.hpp>
#include <zellige/layout/print.hpp>

using namespace zellige;

template <class L>
void say(char const* what, L const& layout) {
  std::printf("%-34s %s\n", what, to_text(layout).c_str());
}

int main() {
  // Numbers that the compiler knows are types and print with an underscore; others are ints.
  auto const row_major = make_layout(Shape<_4, _8>{}, LayoutRight{});
  auto const column_major = make_layout(Shape<_4, _8>{}, LayoutLeft{});
  int rows = 4;
  auto const half_known = make_layout(make_shape(rows, _8{}), make_stride(_8{}, _1{}));
  say("row-major", row_major);
  say("column-major", column_major);
  say("rows known when the program runs", half_known);
  static_assert(sizeof(row_major) == 1, "nothing is stored");
  static_assert(row_major(_2{}, _3{}) == 19, "and the compiler can call it");
  std::printf("element (2, 3): %d, %d, %d\n\n", int(row_major(2, 3)), int(column_major(2, 3)), int(half_known(2, 3)));

  // Modes nest. A coordinate may be given for the outer modes or for the inner ones; a single number is a
  // linear index, the first mode fastest. Every layout is therefore also a function of one integer.
  auto const nested = make_layout(Shape<Shape<_2, _2>, Shape<_2, _4>>{}, Stride<Stride<_1, _4>, Stride<_2, _8>>{});
  say("2 x 2 blocks, one after another", nested);
  std::printf("  ((1,0),(0,2)) -> %d     (1,4) -> %d     17 -> %d\n", int(nested(make_coord(1, 0), make_coord(0, 2))),
              int(nested(1, 4)), int(nested(17)));
  say("  its coordinate number 17", idx2crd(17, nested.shape()));
  std::printf("  rank %d, depth %d, size %d, cosize %d\n\n", int(rank(nested)), int(depth(nested)), int(size(nested)),
              int(cosize(nested)));

  // A slice fixes some coordinates and keeps the rest: again a layout, and the offset of its start.
  say("row 2 of the row-major one", row_major(2, _));
  say("column 5 of the blocks", nested(_, 5));
  std::printf("  and it starts %d elements further\n\n", int(get<1>(slice_and_offset(make_coord(2, _), row_major))));

  // Functions need be neither one-to-one nor onto.
  auto const broadcast = make_layout(Shape<_4, _8>{}, Stride<_1, _0>{});  // all columns are the same
  auto const windows = make_layout(Shape<_6, _3>{}, Stride<_1, _1>{});    // row i is elements i, i+1, i+2
  auto const padded = make_layout(Shape<_4, _8>{}, Stride<_9, _1>{});     // an unused element after each row
  say("every column the same", broadcast);
  say("sliding windows", windows);
  std::printf("%-34s %s   (size %d, cosize %d)\n\n", "padded rows", to_text(padded).c_str(), int(size(padded)),
              int(cosize(padded)));

  print_layout(row_major);
  print_layout(nested);
  print_layout(windows);
}
