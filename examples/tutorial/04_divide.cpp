// Lesson 4: tiles. The elements not covered by a layout are its complement; dividing A by a tile composes A
// with the tile and the tile's complement: the elements in a tile, and the positions of the tiles. A product,
// which repeats a block, is the reverse.
#include <cstdio>
#include <zellige/layout/print.hpp>
#include <zellige/tensor.hpp>
#include <zellige/tensor/write.hpp>

using namespace zellige;

template <class L>
void say(char const* what, L const& layout) {
  std::printf("%-36s %s\n", what, to_text(layout).c_str());
}

int main() {
  // 4:2 is 0 2 4 6. Adding each of its complement, 0 1 and 8 9 and 16 17, gives all of 0 .. 23 once.
  Layout<_4, _2> const tile{};
  say("complement of 4:2 in 24", complement(tile, _24{}));
  Layout<_24> const line{};
  auto const by_hand = composition(line, make_layout(tile, complement(tile, _24{})));
  say("24 divided by it", logical_divide(line, tile));
  say("the same, written out", by_hand);
  std::printf("tile 1 is");
  for (int i = 0; i < 4; ++i) std::printf(" %d", int(by_hand(i, 1)));
  std::printf("\n\n");

  // A matrix is divided mode by mode. The four divisions differ in how they arrange the same modes.
  auto const a = make_layout(Shape<_8, _12>{}, LayoutRight{});
  auto const tiler = Shape<_4, _3>{};
  say("A", a);
  say("logical_divide  ((4,2),(3,4))", logical_divide(a, tiler));
  say("zipped_divide   ((4,3),(2,4))", zipped_divide(a, tiler));
  say("tiled_divide    ((4,3),2,4)", tiled_divide(a, tiler));
  say("flat_divide     (4,3,2,4)", flat_divide(a, tiler));

  // A tile's elements need not be neighbours: rows 0 2 4 6 and columns 0 .. 2.
  say("tile of every other row", zipped_divide(a, make_tile(Layout<_4, _2>{}, _3{})));
  std::printf("\n");

  // On tensors: one tile (local_tile keeps the tile's modes), or one element of every tile (local_partition
  // keeps the tiles' modes).
  int elements[96];
  for (int i = 0; i < 96; ++i) elements[i] = i;
  Tensor t = make_tensor(&elements[0], a);
  std::printf("tile (1, 2):\n");
  print_tensor(local_tile(t, tiler, make_coord(1, 2)), false);
  std::printf("thread 5 of 4 x 3 threads, its element of each tile:\n");
  print_tensor(local_partition(t, Layout<Shape<_4, _3>>{}, 5), false);

  // A tile that does not divide rounds up: of ten, the third tile of four has two elements. A copy of it is
  // refused; a predicate selects the elements that exist (lesson 7).
  int n = 10;
  auto const ragged = zipped_divide(make_layout(n), _4{});
  say("\nten in tiles of four", ragged);
  std::printf("%-36s %s\n\n", "does it divide?", evenly_divides(make_shape(n), make_shape(_4{})) ? "yes" : "no");

  // Products: a block, and copies of it. `blocked` keeps each block contiguous, `raked` interleaves the
  // blocks' elements.
  Layout<Shape<_2, _2>, Stride<_2, _1>> const block{};
  Layout<Shape<_2, _4>, Stride<_4, _1>> const order{};
  say("logical_product", logical_product(block, order));
  say("blocked_product", blocked_product(block, order));
  say("raked_product", raked_product(block, order));
  say("tile_to_shape (8,8), row after row", tile_to_shape(block, Shape<_8, _8>{}, LayoutRight{}));

  std::printf("\n");
  print_layout(blocked_product(block, order));
  print_layout(raked_product(block, order));
}
