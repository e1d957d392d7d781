// Lessons 5 to 8: thread-value layouts, swizzles and banks, copy atoms, MMA atoms.
#include <fmt/format.h>

#include <zellige/atom/half.hpp>

#include "learn/lesson.hpp"

namespace zellige::learn {
namespace {

using Kind = emulate::Finding::Kind;

template <class T>
const T* data_of(const TaskLaunch& k, int buffer) {
  return reinterpret_cast<const T*>(const_cast<emulate::Buffer&>(k.buffers[std::size_t(buffer)]).data());
}

constexpr const char* thread_values_file =
    R"(// Lesson 5, thread-value layouts. Read docs/learn/05-thread-values.md; mark it by: zellige learn check 5
//
// Exercise 1. Each of 32 threads has 4 neighbouring elements of 128: thread t has 4t to 4t + 3. Write the layout
// (thread, value).
// answer 1: ____
//
// Exercise 2. The same in a kernel: holder[i] is the thread that has element i.
#include <zellige/block.hpp>
using namespace zellige;

__global__ void lesson(gmem<int> holder) {
  constexpr auto tv = Layout<Shape<_32, _4>, Stride<_1, _32>>{};  // TODO
  for (int v = 0; v < 4; ++v) holder[tv(int(threadIdx.x), v)] = threadIdx.x;
}
)";

Lesson thread_values() {
  Lesson l{5, "thread-value layouts", "05-thread-values.md", thread_values_file};
  l.questions = {{"(32,4):(4,1)",
                  {{"(32,4):(1,32)",
                    "there thread 0 has 0, 32, 64 and 96: strided. Its values must be neighbours, so the stride of the "
                    "values is 1"},
                   {"(4,32):(1,4)", "the first mode is the thread, the second the value"},
                   {"(32,4):(1,4)", "the strides are the other way round: the next thread begins 4 elements further"}},
                  "ask where thread 1 begins, and where value 1 of thread 0 is"}};
  KernelTask t;
  t.prepare = [](TaskLaunch& k) {
    k.config.grid = {1}, k.config.block = {32};
    k.add<int>("holder", 128, false);
  };
  t.check = [](const TaskLaunch& k) -> std::string {
    const int* holder = data_of<int>(k, 0);
    for (int i = 0; i < 128; ++i) {
      if (holder[i] == i / 4) continue;
      if (holder[1] == 1)
        return "thread 0 has the elements 0, 32, 64 and 96; four neighbours are asked for, so that one access of 16 "
               "bytes moves them";
      return fmt::format("element {} belongs to thread {}; expected thread {}", i, holder[i], i / 4);
    }
    return "";
  };
  t.hints = {{Kind::race, "", "two threads have the same element: the layout must reach each of the 128 once"},
             {Kind::out_of_bounds, "",
              "the layout reaches beyond the 128 elements: (extent - 1) * stride of both modes must add up to 127"}};
  l.tasks = {t};
  return l;
}

constexpr const char* banks_file =
    R"(// Lesson 6, swizzles and banks. Read docs/learn/06-banks.md; mark it by: zellige learn check 6
//
// Exercise 1. A warp reads a column of (32,32):(32,1) floats, one row per lane. How many wavefronts does it take?
// answer 1: ____
//
// Exercise 2. The kernel transposes through shared memory. Give the tile another layout, so that neither the rows
// that are written nor the columns that are read have bank conflicts. The tile may have up to 1,056 floats.
#include <zellige/block.hpp>
using namespace zellige;

using TileLayout = Layout<Shape<_32, _32>, Stride<_32, _1>>;  // TODO

__global__ void lesson(gmem<const float> x, gmem<float> y) {
  const auto tile = shared_tile<float, TileLayout>("tile", 0, 1056);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int row = warp; row < 32; row += 4) *tile(row, lane) = x[row * 32 + lane];
  __syncthreads();
  for (int row = warp; row < 32; row += 4) y[row * 32 + lane] = *tile(lane, row);
}
)";

Lesson banks() {
  Lesson l{6, "swizzles and banks", "06-banks.md", banks_file};
  l.questions = {
      {"32",
       {{"1",
         "that is a row. The elements of a column have a stride of 32 words, and 32 words further is the same bank "
         "again"},
        {"2",
         "with 16-byte accesses parts of a warp are served one after another; here each lane reads 4 bytes, and all "
         "want the same bank"}},
       "bank = word modulo 32; each wavefront delivers one word of each bank"}};
  KernelTask t;
  t.conflict_free = true;
  t.prepare = [](TaskLaunch& k) {
    k.config.grid = {1}, k.config.block = {128}, k.config.shared_bytes = 4224;
    k.add<float>("x", 1024, true, [](int i) { return float(i); });
    k.add<float>("y", 1024, false);
  };
  t.check = [](const TaskLaunch& k) -> std::string {
    for (int i = 0; i < 1024; ++i)
      if (data_of<float>(k, 1)[i] != float(i % 32 * 32 + i / 32))
        return fmt::format(
            "y[{}] is {}; expected {}: the tile's layout must give each of its elements a place of its own", i,
            data_of<float>(k, 1)[i], i % 32 * 32 + i / 32);
    return "";
  };
  t.hints = {{Kind::race, "", "two elements of the tile have the same place"},
             {Kind::out_of_bounds, "", "the tile has 1,056 floats: a row may be 33 words long, not more"}};
  l.tasks = {t};
  return l;
}

constexpr const char* copies_file =
    R"(// Lesson 7, copy atoms. Read docs/learn/07-copy-atoms.md; mark it by: zellige learn check 7
//
// Exercise 1. How many bytes does a warp load by one SM75_U32x4_LDSM_N?
// answer 1: ____
//
// Exercise 2. Each thread copies 16 bytes into shared memory by cp.async, and then reads what others have copied.
// Add what makes the bytes visible.
#include <zellige/block.hpp>
using namespace zellige;

__global__ void lesson(gmem<const float> x, gmem<float> y) {
  const auto s = shared_tile<float, Layout<Shape<_512>, Stride<_1>>>("s", 0, 512);
  cp_async<16>(s(4 * int(threadIdx.x)), x + 4 * threadIdx.x);
  cp_async_commit();
  // TODO
  for (int i = threadIdx.x; i < 512; i += 128) y[i] = *s(511 - i);
}
)";

Lesson copies() {
  Lesson l{7, "copy atoms", "07-copy-atoms.md", copies_file};
  l.questions = {{"512",
                  {{"16", "that is what each lane addresses: a row of 16 bytes. There are 32 lanes"},
                   {"128", "that is one matrix of 8 rows of 16 bytes; x4 loads four"},
                   {"64", "that counts 4-byte registers of half a warp: each of 32 lanes gets 4 registers of 4 bytes"}},
                  "zellige layout SM75_U32x4_LDSM_N shows 32 rows of 8 halves"}};
  KernelTask t;
  t.prepare = [](TaskLaunch& k) {
    k.config.grid = {1}, k.config.block = {128}, k.config.shared_bytes = 2048;
    k.add<float>("x", 512, true, [](int i) { return float(i); });
    k.add<float>("y", 512, false);
  };
  t.check = [](const TaskLaunch& k) -> std::string {
    for (int i = 0; i < 512; ++i)
      if (data_of<float>(k, 1)[i] != float(511 - i))
        return fmt::format("y[{}] is {}; expected {}", i, data_of<float>(k, 1)[i], 511 - i);
    return "";
  };
  const std::string other_threads =
      "cp_async_wait waits for the copies of the thread that calls it. What other threads have copied is visible after "
      "a "
      "barrier: __syncthreads()";
  t.hints = {
      {Kind::race, "cp_async_wait", other_threads},
      {Kind::uninitialised_read, "cp_async_wait", other_threads},
      {Kind::race, "__syncthreads",
       "a barrier does not wait for cp.async: each thread must first wait for its own copies, cp_async_wait<0>()"},
      {Kind::uninitialised_read, "",
       "the copies have not arrived: wait for them by cp_async_wait<0>(), and for those of the others by "
       "__syncthreads()"}};
  l.tasks = {t};
  return l;
}

constexpr const char* products_file =
    R"(// Lesson 8, MMA atoms. Read docs/learn/08-mma-atoms.md; mark it by: zellige learn check 8
//
// Exercise 1. Which thread has C(9,3) of SM80_16x8x16_F32F16F16F32_TN?
// answer 1: ____
//
// Exercise 2. One warp multiplies A (16 x 16) by B (8 x 16, transposed). Store its accumulators d[0] to d[3].
#include <zellige/block.hpp>
using namespace zellige;

__global__ void lesson(gmem<const half_t> a, gmem<const half_t> b, gmem<float> c) {
  const auto sA = shared_tile<half_t, Layout<Shape<_16, _16>, Stride<_16, _1>>>("A", 0, 256);
  const auto sB = shared_tile<half_t, Layout<Shape<_8, _16>, Stride<_16, _1>>>("B", 512, 128);
  const int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) *sA(i / 16, i % 16) = a[i];
  for (int i = lane; i < 128; i += 32) *sB(i / 16, i % 16) = b[i];
  __syncwarp();
  uint32_t fragment_a[4], fragment_b[2];
  ldmatrix_x4(fragment_a, sA(lane % 16, lane / 16 * 8));
  ldmatrix_x2(fragment_b, sB(lane % 8, lane / 8 % 2 * 8));
  float d[4] = {};
  mma_m16n8k16<half_t>(d, fragment_a, fragment_b);
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4, column = lane % 4;  // TODO
    c[row * 8 + column] = d[i];
  }
}
)";

Lesson products() {
  Lesson l{8, "MMA atoms", "08-mma-atoms.md", products_file};
  l.questions = {
      {"5",
       {{"37",
         "a warp has 32 threads. Rows 8 to 15 belong to the same threads as rows 0 to 7: they are their values 2 and "
         "3"},
        {"7", "two neighbouring columns belong to one thread: column 3 is value 1 of the second thread of its row"},
        {"13", "row 9 is row 1 of the lower half: 4 threads for each row"}},
       "zellige layout SM80_16x8x16_F32F16F16F32_TN --svg c.svg draws who has what"}};
  KernelTask t;
  t.prepare = [](TaskLaunch& k) {
    k.config.grid = {1}, k.config.block = {32}, k.config.shared_bytes = 768;
    k.add<half_t>("a", 256, true, [](int i) { return float(i * 7 % 11 - 5); });
    k.add<half_t>("b", 128, true, [](int i) { return float(i * 5 % 13 - 6); });
    k.add<float>("c", 128, false);
  };
  t.check = [](const TaskLaunch& k) -> std::string {
    const half_t *a = data_of<half_t>(k, 0), *b = data_of<half_t>(k, 1);
    const float* c = data_of<float>(k, 2);
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 8; ++n) {
        float sum = 0;
        for (int i = 0; i < 16; ++i) sum += float(a[m * 16 + i]) * float(b[n * 16 + i]);
        if (c[m * 8 + n] != sum)
          return fmt::format(
              "C({},{}) is {}; expected {}\nd[0] and d[1] are neighbours in a row, d[2] and d[3] are 8 rows further "
              "down",
              m, n, c[m * 8 + n], sum);
      }
    return "";
  };
  t.hints = {{Kind::race, "",
              "two threads store to the same element: a thread has two neighbouring columns, so the next thread begins "
              "2 columns further"},
             {Kind::out_of_bounds, "",
              "C has 16 rows and 8 columns: lane / 4 is below 8, and half of the values are 8 rows further down"}};
  l.tasks = {t};
  return l;
}

}  // namespace

std::vector<Lesson> thread_lessons() { return {thread_values(), banks(), copies(), products()}; }

}  // namespace zellige::learn
