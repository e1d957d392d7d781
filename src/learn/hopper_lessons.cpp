// Lessons 9 to 12: pipelines and mbarriers, TMA, WGMMA, a GEMM.
#include <fmt/format.h>

#include <zellige/atom/half.hpp>
#include <zellige/atom/make_tma_descriptor.hpp>

#include "learn/lesson.hpp"

namespace zellige::learn {
namespace {

using Kind = emulate::Finding::Kind;

// Adds a matrix of halves, `rows` by `columns` and row-major, and the descriptor by which TMA loads boxes of it, as the
// kernel's next parameter.
void add_matrix(TaskLaunch& k, const char* name, int rows, int columns, int box_rows, int box_columns,
                SwizzleMode swizzle) {
  const int of = name[0] == 'A' ? 7 : 5;
  k.memory<half_t>(name, rows * columns, true, [of](int i) { return float(i * of % 11 - 5); });
  const TmaTensor t{.name = name,
                    .element = TmaElement::f16,
                    .rank = 2,
                    .extent = {columns, rows},
                    .stride = {0, 2 * columns},
                    .box = {box_columns, box_rows},
                    .swizzle = swizzle};
  k.config.parameters.emplace_back(make_tma_descriptor_emulated(t, std::size_t(2) * std::size_t(rows * columns)),
                                   k.buffers.back(), false);
}

template <class T>
const T* elements_of(const TaskLaunch& k, int buffer) {
  return reinterpret_cast<const T*>(const_cast<emulate::Buffer&>(k.buffers[std::size_t(buffer)]).data());
}

// Returns what differs of C = A B^T, the buffers 2, 0 and 1.
std::string wrong_product(const TaskLaunch& k, int m, int n, int depth) {
  const half_t *a = elements_of<half_t>(k, 0), *b = elements_of<half_t>(k, 1);
  const float* c = elements_of<float>(k, 2);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < depth; ++l) sum += float(a[i * depth + l]) * float(b[j * depth + l]);
      if (c[i * n + j] != sum) return fmt::format("C({},{}) is {}; expected {}", i, j, c[i * n + j], sum);
    }
  return "";
}

constexpr const char* pipelines_file =
    R"(// Lesson 9, pipelines and mbarriers. Read docs/learn/09-pipelines.md; mark it by: zellige learn check 9
//
// Exercise 1. A ring has 3 stages. Which stage has tile 7 (tiles count from 0), and for which phase parity of its
// barrier does the consumer wait? Write (stage, parity).
// answer 1: ____
//
// Exercise 2. Four tiles pass through one buffer. Wait for the right phase of the barrier.
#include <zellige/block.hpp>
#include <zellige/atom/bulk_copy.hpp>
#include <zellige/atom/fence.hpp>
#include <zellige/atom/mbarrier.hpp>
using namespace zellige;

__global__ void lesson(gmem<const float> x, gmem<float> y) {
  const auto tile = shared_tile<float, Layout<Shape<_128>, Stride<_1>>>("tile", 0, 128);
  const auto full = shared<uint64_t>("full", 512, 1);
  if (threadIdx.x == 0) {
    mbarrier_init(full, 1);  // one arrival per phase
    fence_mbarrier_init();
  }
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(full, 512);  // the arrival, and the bytes that will come
      bulk_load(tile(0), x + 128 * i, 512, full);
    }
    mbarrier_wait(full, 0);  // TODO: the phase of tile i
    y[128 * i + threadIdx.x] = 2 * *tile(int(threadIdx.x));
    __syncthreads();  // everyone has read the tile before the next copy
  }
}
)";

Lesson pipelines() {
  Lesson l{9, "pipelines and mbarriers", "09-pipelines.md", pipelines_file};
  l.questions = {{"(1,0)",
                  {{"(1,1)",
                    "the stage is right. Stage 1 had the tiles 1 and 4 before: tile 7 is its third round, number 2, "
                    "and 2 modulo 2 is 0"},
                   {"(1,2)", "2 is the number of the round; a wait takes its parity, 0 or 1"},
                   {"(2,1)", "7 modulo 3 is the stage, 7 / 3 the round"}},
                  "the stage is the tile modulo 3, the parity that of tile / 3"}};
  KernelTask t;
  t.prepare = [](TaskLaunch& k) {
    k.config.grid = {1}, k.config.block = {128}, k.config.shared_bytes = 520;
    k.add<float>("x", 512, true, [](int i) { return float(i); });
    k.add<float>("y", 512, false);
  };
  t.check = [](const TaskLaunch& k) -> std::string {
    for (int i = 0; i < 512; ++i)
      if (elements_of<float>(k, 1)[i] != float(2 * i))
        return fmt::format("y[{}] is {}; expected {}", i, elements_of<float>(k, 1)[i], 2 * i);
    return "";
  };
  t.hints = {{Kind::race, "",
              "the wait returns before the bytes of this tile have come: it asks for a phase that is already over. "
              "Each tile completes one phase, and phases alternate between parity 0 and 1"},
             {Kind::deadlock, "",
              "the wait is for a phase that never completes: the first phase of a new barrier has parity 0"},
             {Kind::uninitialised_read, "", "the first tile is read before it has come: the first phase has parity 0"}};
  l.tasks = {t};
  return l;
}

constexpr const char* tma_file = R"(// Lesson 10, TMA. Read docs/learn/10-tma.md; mark it by: zellige learn check 10
//
// Exercise 1. A TMA load copies a box of 64 rows and 64 columns of half_t. How many bytes does the barrier expect?
// answer 1: ____
//
// Exercise 2. A has 128 rows and 64 columns. Block b loads the rows from 64 b on.
#include <zellige/block.hpp>
#include <zellige/atom/mbarrier.hpp>
#include <zellige/atom/tma.hpp>
using namespace zellige;

__global__ void lesson(const __grid_constant__ TmaDescriptor a, gmem<float> y) {
  const auto tile = shared_tile<half_t, Layout<Shape<_64, _64>, Stride<_64, _1>>>("tile", 0, 4096);
  const auto full = shared<uint64_t>("full", 8192, 1);
  const int row = 64 * blockIdx.x;
  if (threadIdx.x == 0) {
    mbarrier_init(full, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(full, 64 * 64 * 2);
    tma_load_2d(tile(0, 0), a, full, row, 0);  // TODO: the coordinates of the box
  }
  mbarrier_wait(full, 0);
  for (int i = threadIdx.x; i < 4096; i += 128) y[4096 * blockIdx.x + i] = float(*tile(i / 64, i % 64));
}
)";

Lesson tma() {
  Lesson l{10, "TMA", "10-tma.md", tma_file};
  l.questions = {{"8192",
                  {{"4096", "those are the elements; a half_t has 2 bytes"},
                   {"64", "a box is announced with all its bytes, not its rows"},
                   {"128", "that is one row; the box has 64"}},
                  "rows * columns * bytes of an element"}};
  KernelTask t;
  t.prepare = [](TaskLaunch& k) {
    k.config.grid = {2}, k.config.block = {128}, k.config.shared_bytes = 8200;
    add_matrix(k, "A", 128, 64, 64, 64, SwizzleMode::none);
    k.add<float>("y", 8192, false);
  };
  t.check = [](const TaskLaunch& k) -> std::string {
    const half_t* a = elements_of<half_t>(k, 0);
    const float* y = elements_of<float>(k, 1);
    bool zeros = true;
    for (int i = 4096; i < 8192; ++i) zeros = zeros && y[i] == 0;
    if (zeros)
      return "block 1 has loaded zeros: its box is outside of the tensor. Coordinates are given innermost first: "
             "(column, row)";
    for (int i = 0; i < 8192; ++i)
      if (y[i] != float(a[i]))
        return fmt::format("y[{}] is {}; expected A({},{}) = {}", i, y[i], i / 64, i % 64, float(a[i]));
    return "";
  };
  t.hints = {{Kind::deadlock, "",
              "the barrier waits for bytes that never come: expect_tx must announce exactly the bytes of the box, 64 * "
              "64 * 2"},
             {Kind::race, "",
              "the tile is read before all of it has come: expect_tx must announce all bytes of the box, 64 * 64 * 2"},
             {Kind::instruction, "", "TMA refuses the copy, or the announced bytes are fewer than those that come"}};
  l.tasks = {t};
  return l;
}

constexpr const char* wgmma_file =
    R"(// Lesson 11, WGMMA. Read docs/learn/11-wgmma.md; mark it by: zellige learn check 11
//
// Exercise 1. A warpgroup of 128 threads computes 64 x 128 in f32. How many accumulators has a thread?
// answer 1: ____
//
// Exercise 2. A warpgroup multiplies 64 x 64 by 64 x 64. Add what is missing between the products and the stores.
#include <zellige/block.hpp>
#include <zellige/atom/mbarrier.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/atom/wgmma.hpp>
using namespace zellige;

__global__ void lesson(const __grid_constant__ TmaDescriptor a, const __grid_constant__ TmaDescriptor b, gmem<float> c) {
  const auto sA = shared<unsigned char>("A", 0, 8192), sB = shared<unsigned char>("B", 8192, 8192);
  const auto full = shared<uint64_t>("full", 16384, 1);
  if (threadIdx.x == 0) {
    mbarrier_init(full, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(full, 16384);
    tma_load_2d(sA, a, full, 0, 0);
    tma_load_2d(sB, b, full, 0, 0);
  }
  mbarrier_wait(full, 0);
  const uint64_t from_a = smem_descriptor(sA, 0, 1024, SwizzleMode::b128);
  const uint64_t from_b = smem_descriptor(sB, 0, 1024, SwizzleMode::b128);
  float d[32] = {};
  wgmma_fence();
  for (int k = 0; k < 4; ++k) wgmma<half_t>(d, advance(from_a, 32 * k), advance(from_b, 32 * k));  // 16 of K each
  // TODO
  const int row = 16 * (threadIdx.x / 32) + threadIdx.x % 32 / 4, column = 2 * (threadIdx.x % 4);
  for (int i = 0; i < 32; ++i) c[(row + i % 4 / 2 * 8) * 64 + column + i / 4 * 8 + i % 2] = d[i];
}
)";

Lesson wgmma() {
  Lesson l{11, "WGMMA", "11-wgmma.md", wgmma_file};
  l.questions = {{"64",
                  {{"8192", "those are all; 128 threads share them"},
                   {"128", "64 rows times 128 columns over 128 threads"},
                   {"32", "that would be 64 x 64; the tile has 128 columns"}},
                  "divide the elements of the tile by the threads"}};
  KernelTask t;
  t.prepare = [](TaskLaunch& k) {
    k.config.grid = {1}, k.config.block = {128}, k.config.shared_bytes = 16392;
    add_matrix(k, "A", 64, 64, 64, 64, SwizzleMode::b128);
    add_matrix(k, "B", 64, 64, 64, 64, SwizzleMode::b128);
    k.add<float>("C", 4096, false);
  };
  t.check = [](const TaskLaunch& k) { return wrong_product(k, 64, 64, 64); };
  t.hints = {
      {Kind::accumulator, "wgmma_commit", "the tensor cores still own d: wait until no group is left, wgmma_wait<0>()"},
      {Kind::accumulator, "wgmma_wait",
       "the products are in no group yet, so the wait does not wait for them: wgmma_commit() comes before it"},
      {Kind::accumulator, "",
       "the tensor cores still own d: close the group by wgmma_commit(), and wait until none is left by "
       "wgmma_wait<0>()"}};
  l.tasks = {t};
  return l;
}

constexpr const char* gemm_file =
    R"(// Lesson 12, a GEMM for Hopper. Read docs/learn/12-gemm.md; mark it by: zellige learn check 12
//
// Exercise 1. A stage has a tile of A, 128 x 64, and one of B, 256 x 64, of half_t. How many bytes do 4 stages take?
// answer 1: ____
//
// Exercise 2. A producer fills a ring of 2 stages, and a warpgroup multiplies. Put ring.release(stage) where it belongs.
#include <zellige/block.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/block/fragment_wgmma.hpp>
#include <zellige/block/ring.hpp>
using namespace zellige;

// C (64 x 64) = A (64 x 256) B^T, with tiles of 64 along K.
__global__ void lesson(const __grid_constant__ TmaDescriptor a, const __grid_constant__ TmaDescriptor b, gmem<float> c) {
  using Loads = Ring<2, Tiles<8192, 8192>>;
  const auto ring = Loads::at(0, Loads::tiles_bytes, {"A", "B"});
  if (threadIdx.x == 0) {
    ring.init(4);  // the warps that release a stage
    fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 128) {  // the producer
    auto stage = ring.first_empty();
    for (int k = 0; k < 256; k += 64, ++stage) {
      const auto full = ring.acquire(stage);
      tma_load_2d(ring.tile(stage, 0), a, full, k, 0);
      tma_load_2d(ring.tile(stage, 1), b, full, k, 0);
    }
    ring.drain(stage);
  }
  if (threadIdx.x < 128) {  // the consumers
    auto stage = ring.first();
    WarpgroupFragment<64> d;
    for (int k = 0; k < 4; ++k, ++stage) {
      ring.wait(stage);
      issue_wgmma<half_t, 4>(d, k_major<64>(ring.tile(stage, 0)), k_major<64>(ring.tile(stage, 1)), k > 0);
      wgmma_commit();
      ring.release(stage);  // TODO: is this the right place?
      wgmma_wait<0>();
    }
    for (int i = 0; i < d.pairs; ++i) {
      const auto at = d.at(i, threadIdx.x / 32, threadIdx.x % 32);
      for (int v = 0; v < 2; ++v) c[at.m * 64 + at.n + v] = d.pair(i)[v];
    }
  }
}
)";

Lesson gemm() {
  Lesson l{12, "a GEMM for Hopper", "12-gemm.md", gemm_file};
  l.questions = {{"196608",
                  {{"49152", "that is one stage; there are four"},
                   {"98304", "those are the elements; a half_t has 2 bytes"},
                   {"65536", "that is A alone; B's tile is twice as large"}},
                  "(128 + 256) * 64 elements per stage, 2 bytes each"}};
  KernelTask t;
  t.prepare = [](TaskLaunch& k) {
    k.config.grid = {1}, k.config.block = {160}, k.config.shared_bytes = 32768 + 32;
    add_matrix(k, "A", 64, 256, 64, 64, SwizzleMode::b128);
    add_matrix(k, "B", 64, 256, 64, 64, SwizzleMode::b128);
    k.add<float>("C", 4096, false);
  };
  t.check = [](const TaskLaunch& k) { return wrong_product(k, 64, 64, 256); };
  t.hints = {
      {Kind::race, "",
       "the stage is released while wgmma still reads it, so the producer overwrites it: release it after the wait"},
      {Kind::deadlock, "",
       "the producer waits for a stage that no consumer releases: each warp releases each stage once"}};
  l.tasks = {t};
  return l;
}

}  // namespace

std::vector<Lesson> hopper_lessons() { return {pipelines(), tma(), wgmma(), gemm()}; }

}  // namespace zellige::learn
