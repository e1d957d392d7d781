// Lesson 7: strides need not be integers. A layout multiplies coordinates by strides and adds: anything that
// can be added and multiplied by integers (an integer-module) can be a stride. With basis elements a layout
// gives coordinates; they are used for bounds checks, and for TMA, which takes coordinates.
#include <cstdio>
#include <vector>
#include <zellige/atom/make_tma_descriptor.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/layout/print.hpp>
#include <zellige/tensor.hpp>
#include <zellige/tensor/write.hpp>

#include "emulate/engine.hpp"

using namespace zellige;

// A module of your own: pixels to the right and down.
struct Pixel {
  int right = 0, down = 0;
  friend Pixel operator+(Pixel a, Pixel b) { return {a.right + b.right, a.down + b.down}; }
  friend Pixel operator*(int n, Pixel p) { return {n * p.right, n * p.down}; }
};

// Each block loads one 4 x 4 tile of a 10 x 8 matrix by TMA, and writes it to its position in 12 x 8.
__global__ void load_tiles(const __grid_constant__ TmaDescriptor map, gmem<int> out) {
  smem<int> const tile = shared<int>("tile", 0, 16);
  smem<uint64_t> const full = shared<uint64_t>("full", 128, 1);
  auto const place = make_coord(blockIdx.y, blockIdx.x);
  // The partitioned tensor is one of coordinates; the descriptor holds the pointer.
  Tensor tma = make_tensor(make_inttuple_iter(0, 0), Shape<_10, _8>{}, make_stride(E<1>{}, E<0>{}));
  auto const at = local_tile(tma, Shape<_4, _4>{}, place)(0, 0);
  if (threadIdx.x == 0) {
    mbarrier_init(full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(full, 4 * 16);
    tma_load_2d(tile, map, full, get<0>(at), get<1>(at));
  }
  __syncthreads();
  mbarrier_wait(full, 0);
  Tensor whole = make_tensor(make_gmem_ptr(out), Shape<_12, _8>{}, LayoutRight{});
  Tensor to = local_tile(whole, Shape<_4, _4>{}, place);
  Tensor from = make_tensor(make_smem_ptr(tile), Shape<_4, _4>{}, LayoutRight{});
  copy(local_partition(from, Layout<Shape<_4, _4>>{}, threadIdx.x),
       local_partition(to, Layout<Shape<_4, _4>>{}, threadIdx.x));
}
void run_on_the_emulator() {
  emulate::Buffer a("A", 4 * 10 * 8), out("out", 4 * 12 * 8);
  for (int i = 0; i < 80; ++i) reinterpret_cast<int*>(a.data())[i] = i;
  a.mark_initialised();
  TmaTensor const tensor{
      .name = "A", .element = TmaElement::s32, .rank = 2, .extent = {8, 10}, .stride = {0, 32}, .box = {4, 4}};
  emulate::LaunchConfig launch;
  launch.grid = {2, 3};
  launch.block = {16};
  launch.shared_bytes = 136;
  launch.parameters.emplace_back(make_tma_descriptor_emulated(tensor, a.bytes()), a, false);
  launch.parameters.emplace_back(out, true);
  launch.workers = 1;
  emulate::EmulationReport const report =
      emulate::run([](emulate::Launch& l) { emulate::call(l, load_tiles); }, launch);
  for (emulate::Finding const& f : report.findings) std::printf("%s\n", f.message.c_str());
  print_tensor(make_tensor(reinterpret_cast<int const*>(out.data()), Shape<_12, _8>{}, LayoutRight{}), false);
}

int main() {
  // A board whose second axis runs askew: coordinate (i, j) is i steps down and j steps up to the right.
  auto const board = make_layout(make_shape(3, 4), make_stride(Pixel{0, 10}, Pixel{7, -2}));
  Pixel const p = board(2, 3);
  std::printf("pixel of (2, 3): %d right, %d down\n\n", p.right, p.down);

  // Basis elements: E<i> is one in mode i of a coordinate, E<i, j> in mode j of mode i, and they print as 1@i
  // and 1@j@i. Sums and multiples of them are coordinates.
  std::printf("%s and %s, %s\n", to_text(E<1>{}).c_str(), to_text(E<0, 1>{}).c_str(), to_text(5 * E<0, 1>{}).c_str());
  std::printf("3 * E<0> + 4 * E<1> = %s\n\n", to_text(3 * E<0>{} + 4 * E<1>{}).c_str());

  // They are the free module: every other module is an image of it. Substituting strides for the basis
  // elements converts a layout of coordinates into a layout over any module; so the algebra needs to be
  // correct only for coordinates.
  auto const at = [](auto const& c) { return int(get<0>(c)) * Pixel{0, 10} + int(get<1>(c)) * Pixel{7, -2}; };
  auto const coordinates = make_identity_layout(make_shape(3, 4));
  auto const corner = zipped_divide(coordinates, Shape<_2, _2>{});  // the algebra works on these
  Pixel const q = at(corner(make_coord(0, 1), make_coord(1, 1)));
  std::printf("%s, its tile (1, 1) at (0, 1): %d right, %d down\n\n", to_text(corner).c_str(), q.right, q.down);

  // The identity tensor: every element is its own coordinate, and nothing is stored. Partitioned like the
  // data, it gives the coordinates of a part's elements in the whole. Here 10 x 7 in tiles of 4 x 4: the last
  // one is partial.
  int const m = 10, n = 7;
  std::vector<int> data(m * n);
  for (int i = 0; i < m * n; ++i) data[i] = i;
  Tensor a = make_tensor(data.data(), make_shape(m, n), LayoutRight{});
  Tensor id = make_identity_tensor(make_shape(m, n));
  auto const tiler = Shape<_4, _4>{};
  auto const last = make_coord(2, 1);
  Tensor a_tile = local_tile(a, tiler, last);
  Tensor id_tile = local_tile(id, tiler, last);
  print_tensor(id_tile);

  Tensor inside = make_tensor<bool>(tiler);
  for (int i = 0; i < size(inside); ++i) inside(i) = elem_less(id_tile(i), make_shape(m, n));
  std::printf("which of them exist:\n");
  print_tensor(inside, false);
  Tensor got = make_tensor<int>(tiler);
  fill(got, -1);
  copy_if(inside, a_tile, got);  // copy(a_tile, got) is refused: lesson 8
  std::printf("what a predicated copy moves:\n");
  print_tensor(got, false);

  // A TMA instruction takes a descriptor of the whole tensor, and the coordinate of its box, fastest
  // dimension first. The tensor that a kernel partitions for it is one of coordinates: strides E<1>, E<0> if
  // rows are the slow dimension. Boxes of 64 x 32 over 256 x 128:
  Tensor tma = make_tensor(make_inttuple_iter(0, 0), Shape<_256, _128>{}, make_stride(E<1>{}, E<0>{}));
  Tensor boxes = zipped_divide(tma, Shape<_64, _32>{});
  std::printf("\n");
  print(boxes);
  std::printf("\nthe coordinates of its 4 x 4 boxes, as the instruction takes them:\n");
  Tensor first = boxes(make_coord(0, 0), make_coord(_, _));  // the first element of each box
  print_tensor(first);

  // The tensor at the start of CuTe's documentation is such a tensor, already divided: boxes of 128 x 64, two
  // of them along mode 1, and two more modes.
  auto const shape = make_shape(make_shape(_128{}, _64{}), 2, 3, 1);
  auto const stride = make_stride(make_stride(E<0>{}, E<1>{}), _64{} * E<1>{}, E<2>{}, E<3>{});
  Tensor strange = make_tensor(make_inttuple_iter(0, _0{}, _0{}, _0{}), shape, stride);
  std::printf("\n");
  print(strange);
  std::printf("\nits box (1, 2, 0) begins at ");
  print(strange(make_coord(0, 0), 1, 2, 0));
  std::printf("\n");

  // A kernel that does this, on the emulator: elements of a box beyond the edge are zeros.
  std::printf("\n10 x 8, loaded by six TMA boxes of 4 x 4:\n");
  run_on_the_emulator();
}
