// Lesson 5: thread-value layouts. A thread-value layout maps (thread, value) to a position in a tile: the
// positions of thread t are one row of it. Composed with a tensor it is a partition, for any pattern; it
// describes an instruction's operands, a copy and a warp's registers.
#include <cstdio>
#include <zellige/layout/print.hpp>
#include <zellige/tensor.hpp>
#include <zellige/tensor/write.hpp>

#include "view/layout_picture.hpp"

using namespace zellige;

template <class TV, class S>
void draw(TV const& tv, S const& tile) {
  view::PictureOptions const options{.colouring = view::Colouring::thread, .shape = describe(tile)};
  std::printf("%s\n%s", to_text(tv).c_str(), text(view::layout_picture(describe(tv), "", options).grids.at(0)).c_str());
}

int main() {
  // Eight threads with four values each over a 4 x 8 tile. Positions count down the columns: 4 j + i.
  auto const tv = Layout<Shape<Shape<_2, _4>, Shape<_2, _2>>, Stride<Stride<_8, _1>, Stride<_4, _16>>>{};
  int elements[32];
  for (int i = 0; i < 32; ++i) elements[i] = i;
  Tensor a = make_tensor(&elements[0], Shape<_4, _8>{}, LayoutRight{});  // row-major
  Tensor parts = composition(a, tv);                                     // (8 threads, 4 values)
  std::printf("A o tv = %s\nthread 3 holds", to_text(parts.layout()).c_str());
  Tensor mine = parts(3, _);
  for (int v = 0; v < size(mine); ++v) std::printf(" %d", mine(v));
  std::printf("\n\nthread and value of each position:\n");
  draw(tv, Shape<_4, _8>{});

  // The other direction is the inverse: position -> thread + 8 * value.
  auto const holder = right_inverse(tv).with_shape(Shape<_4, _8>{});
  std::printf("\nits inverse, as a 4 x 8 layout: %s\n", to_text(holder).c_str());
  std::printf("position (2, 5): thread %d, value %d\n\n", int(holder(2, 5)) % 8, int(holder(2, 5)) / 8);

  // How such layouts are made: threads and values as two small layouts, raked together (the values of a
  // thread stay neighbours), and the result inverted. 4 x 8 threads of 1 x 4 values over a 4 x 32 tile:
  auto const threads = Layout<Shape<_4, _8>, Stride<_8, _1>>{};
  auto const values = Layout<Shape<_1, _4>>{};
  auto const position_to_tv = raked_product(threads, values);
  auto const copy_tv = right_inverse(position_to_tv).with_shape(make_shape(size(threads), size(values)));
  std::printf("32 threads of 4 neighbours: %s\n", to_text(copy_tv).c_str());

  // A thread may move several elements at once if they are contiguous both in the tensor and among its
  // values.
  auto const row_major = make_layout(Shape<_4, _32>{}, LayoutRight{});
  auto const column_major = make_layout(Shape<_4, _32>{}, LayoutLeft{});
  auto const registers = make_layout(size(values));
  auto const width = [&](auto const& memory) {
    return int(max_common_vector(composition(memory, copy_tv)(0, _), registers));
  };
  std::printf("elements at once: row-major %d, column-major %d\n\n", width(row_major), width(column_major));

  // The simplest pattern has a name: from every 4 x 8 block of a tensor, the element at the thread's
  // position. That is local_partition.
  int larger[8 * 16];
  for (int i = 0; i < 8 * 16; ++i) larger[i] = i;
  Tensor b = make_tensor(&larger[0], Shape<_8, _16>{}, LayoutRight{});
  std::printf("thread 9 of 4 x 8 over 8 x 16:\n");
  print_tensor(local_partition(b, threads, 9), false);

  // The accumulator of mma.m16n8k16, for which NVIDIA's manual needs a page of formulas.
  std::printf("\nthe accumulator of mma.m16n8k16 over 16 x 8:\n");
  draw(Layout<Shape<Shape<_4, _8>, Shape<_2, _2>>, Stride<Stride<_32, _1>, Stride<_16, _8>>>{}, Shape<_16, _8>{});
}
