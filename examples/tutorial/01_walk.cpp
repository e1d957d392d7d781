// Lesson 1: from global memory to registers. A tensor is a pointer and a layout; a tile of it is another
// pointer and another layout. There is no  p + base + stride0 * i + stride1 * j  in user code.
//
// The steps: global memory -> the block's tile -> shared memory -> the warp's tile -> a thread's registers.
// Each level is a partition of the level above, and only the base offset and the layout change. The kernel is
// CUDA source code; here the emulator runs it.
#include <cstdio>
#include <string>
#include <vector>
#include <zellige/atom/pointer.hpp>
#include <zellige/layout/print.hpp>
#include <zellige/tensor.hpp>
#include <zellige/tensor/write.hpp>

#include "emulate/engine.hpp"

using namespace zellige;

// The shapes of the levels. A block has one warp for every warp tile of its tile; the lanes of a warp are
// arranged as `Lanes`, and surplus lanes are idle.
template <class Whole, class BlockTile, class WarpTile, class Lanes>
struct Walk {
  static constexpr int levels = 6;

  __global__ static void kernel(gmem<const float> A, gmem<float> seen, gmem<int> offset) {
    Tensor gA = make_tensor(make_gmem_ptr(A), Whole{}, LayoutRight{});              // all of A, row-major
    Tensor gAgA = local_tile(gA, BlockTile{}, make_coord(blockIdx.y, blockIdx.x));  // what this block needs
    constexpr int elements = size(BlockTile{});
    Tensor sAsA = make_tensor(make_smem_ptr(shared<float>("sA", 0, elements)), BlockTile{}, LayoutRight{});

    // Every thread copies its part: the same partition on both sides, so that coordinates agree.
    auto const threads = make_layout(ceil_div(shape(BlockTile{}), shape(WarpTile{})), LayoutRight{});
    int const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    auto const place = make_coord(warp / size<1>(threads), warp % size<1>(threads));
    bool const busy = lane < size(Lanes{});
    if (busy) {
      Tensor from = local_partition(local_tile(gAgA, WarpTile{}, place), Layout<Lanes>{}, lane);
      Tensor to = local_partition(local_tile(sAsA, WarpTile{}, place), Layout<Lanes>{}, lane);
      copy(from, to);
    }
    __syncthreads();
    if (!busy) return;

    Tensor wAsA = local_tile(sAsA, WarpTile{}, place);           // the warp's tile, still in shared memory
    Tensor tAsA = local_partition(wAsA, Layout<Lanes>{}, lane);  // this thread's part of it
    Tensor tArA = make_tensor_like(tAsA);                        // registers, with their own layout
    copy(tAsA, tArA);

    int const thread = (blockIdx.x + gridDim.x * blockIdx.y) * blockDim.x + threadIdx.x;
    for (int i = 0; i < size(tArA); ++i) seen[thread * size(tArA) + i] = tArA(i);
    auto const steps = [](auto const& part, auto const& whole) { return int(part.data().get() - whole.data().get()); };
    int const base[] = {0, steps(gAgA, gA), 0, steps(wAsA, sAsA), steps(tAsA, wAsA), 0};
    for (int l = 0; l < levels; ++l) offset[levels * thread + l] = base[l];
  }
};

struct Result {
  std::vector<float> seen;
  std::vector<int> offset;
};

template <class W>
Result run(emulate::dim3 grid, unsigned warps, int elements, int per_thread, unsigned shared_bytes) {
  int const threads = int(grid.x * grid.y * warps * 32);
  emulate::Buffer a("A", 4u * elements), seen("seen", 4u * threads * per_thread),
      offset("offset", 4u * threads * W::levels);
  for (int i = 0; i < elements; ++i) reinterpret_cast<float*>(a.data())[i] = float(i);
  a.mark_initialised();
  emulate::EmulationReport const report =
      emulate::run([](emulate::Launch& launch) { emulate::call(launch, W::kernel); },
                   {grid, {32 * warps}, shared_bytes, {&a, &seen, &offset}, {false, true, true}, __FILE__, 1});
  for (emulate::Finding const& f : report.findings) std::printf("%s\n", f.message.c_str());
  auto const* s = reinterpret_cast<float const*>(seen.data());
  auto const* o = reinterpret_cast<int const*>(offset.data());
  return {{s, s + threads * per_thread}, {o, o + threads * W::levels}};
}

int main() {
  // A is 2 x 4. Two blocks take 2 x 2 each; two warps take a row each; two lanes take an element each.
  using Small = Walk<Shape<_2, _4>, Shape<_2, _2>, Shape<_1, _2>, Shape<_1, _2>>;
  Result const r = run<Small>({2, 1}, 2, 8, 1, 16);

  // The layouts of the levels, from the same algebra without a pointer.
  auto const gA = make_layout(Shape<_2, _4>{}, LayoutRight{});
  auto const gAgA = zipped_divide(gA, Shape<_2, _2>{})(make_coord(_, _), make_coord(0, 1));
  auto const sAsA = make_layout(Shape<_2, _2>{}, LayoutRight{});
  auto const wAsA = zipped_divide(sAsA, Shape<_1, _2>{})(make_coord(_, _), make_coord(0, 0));
  auto const tAsA = zipped_divide(wAsA, Shape<_1, _2>{})(make_coord(0, 1), make_coord(_, _));
  auto const tArA = make_layout_like(tAsA);
  char const* const names[] = {"gA    all of A, global memory", "gAgA  the block's tile of gA",
                               "sAsA  the same, shared memory", "wAsA  the warp's tile of sAsA",
                               "tAsA  the lane's part of wAsA", "tArA  the same, registers"};
  std::string const layouts[] = {to_text(gA),   to_text(gAgA), to_text(sAsA),
                                 to_text(wAsA), to_text(tAsA), to_text(tArA)};
  std::printf("block 1, by warp and lane:                       base offset\n%48s w0 l0  w0 l1  w1 l0  w1 l1\n", "");
  int const threads[] = {64, 65, 96, 97};
  for (int l = 0; l < Small::levels; ++l) {
    std::printf("%-31s %-15s", names[l], layouts[l].c_str());
    for (int t : threads) std::printf(" %6d", r.offset[Small::levels * t + l]);
    std::printf("\n");
  }
  std::printf("%-47s", "the register holds A's element");
  for (int t : threads) std::printf(" %6g", r.seen[t]);

  // The thread of each element: 100 * block + 10 * warp + lane, at the element's position.
  Tensor holder = make_tensor<int>(gA);
  for (int t = 0; t < 128; ++t)
    if (t % 32 < 2) holder.data()[int(r.seen[t])] = t / 64 * 100 + t / 32 % 2 * 10 + t % 32;
  std::printf("\n\nwho holds what, as digits for block, warp and lane:\n");
  print_tensor(holder, false);

  // The same kernel at a size for a GPU: 128 x 64 in blocks of 32 x 32, warps of 16 x 16, 32 lanes as 8 x 4,
  // so that a thread holds 2 x 4 elements. Its elements must be those that the layouts give.
  using Large = Walk<Shape<_128, _64>, Shape<_32, _32>, Shape<_16, _16>, Shape<_8, _4>>;
  Result const large = run<Large>({2, 4}, 4, 128 * 64, 8, 4096);
  auto const whole = make_layout(Shape<_128, _64>{}, LayoutRight{});
  int wrong = 0;
  for (int t = 0; t < 1024; ++t) {
    int const block = t / 128, warp = t / 32 % 4, lane = t % 32;
    for (int v = 0; v < 8; ++v) {
      int const row = block / 2 * 32 + warp / 2 * 16 + v % 2 * 8 + lane % 8;
      int const column = block % 2 * 32 + warp % 2 * 16 + v / 2 * 4 + lane / 8;
      wrong += large.seen[8 * t + v] != float(whole(row, column));
    }
  }
  std::printf("\n128 x 64 with 8 blocks of 4 warps: %d of %d registers are wrong\n", wrong, 1024 * 8);
}
