// Counters are exact.
#include "kernel.hpp"

namespace zellige::emulate {
namespace {

using In = pointer<const float>;
using Out = pointer<float>;

struct alignas(16) Four {
  float v[4];
};

__global__ void counted(In x, Out y) {
  auto p = shared_pointer<float>("P", 0, 1024);
  auto wide = p.recast<Four>();
  const unsigned t = threadIdx.x;
  wide[t] = x.recast<const Four>()[t];  // conflict-free, four sectors a quarter warp
  __syncthreads();
  float v = p[t * 4 % 128] + p[7];  // a stride of 4 words: 4 passes; then a broadcast
  y[t * 8] = v;                     // a sector a thread
  count(Counter::fma, 3);
  __syncwarp();
  if (t < 8) (void)float(p[t * 32]);  // 8 lanes in one bank
}

TEST(Counters, AreExact) {
  for (int workers : {1, 2}) {
    Trial r(__FILE__, {2}, {64}, 4096);
    r.config.workers = workers;
    r.config.writes[1] = true;
    Counters c = r.run<counted>().counters;
    EXPECT_EQ(c[Counter::fma], 2u * 64 * 3);
    EXPECT_EQ(c[Counter::barrier], 2u);
    EXPECT_EQ(c[Counter::syncwarp], 4u);
    EXPECT_EQ(c[Counter::global_load_16], 128u);
    EXPECT_EQ(c[Counter::global_load_4], 0u);
    EXPECT_EQ(c[Counter::global_store_4], 128u);
    EXPECT_EQ(c[Counter::shared_store_16], 128u);
    EXPECT_EQ(c[Counter::shared_load_4], 2u * (128 + 8));
    EXPECT_EQ(c[Counter::shared_store_wavefronts], 4u * 4);
    EXPECT_EQ(c[Counter::shared_store_wavefronts_ideal], 4u * 4);
    EXPECT_EQ(c[Counter::shared_load_wavefronts], 4u * (4 + 1) + 2 * 8);
    EXPECT_EQ(c[Counter::shared_load_wavefronts_ideal], 4u * 2 + 2);
    EXPECT_EQ(c[Counter::global_load_sectors], 4u * 16);
    EXPECT_EQ(c[Counter::global_load_sectors_ideal], 4u * 16);
    EXPECT_EQ(c[Counter::global_store_sectors], 4u * 32);
    EXPECT_EQ(c[Counter::global_store_sectors_ideal], 4u * 4);
  }
}

__global__ void looped(In, Out) {
  auto p = shared_pointer<float>("P", 0, 2048);
  const unsigned t = threadIdx.x;
  for (unsigned k = 0; k < 1 + t % 2; ++k) p[k * 1024 + t * 2] = 0;  // odd lanes go round twice
}

TEST(Counters, GroupTheNthExecutionOfAPlace) {
  Trial r(__FILE__, {1}, {32}, 8192);
  Counters c = r.run<looped>().counters;
  EXPECT_EQ(c[Counter::shared_store_4], 48u);
  EXPECT_EQ(c[Counter::shared_store_wavefronts],
            4u);  // 32 lanes over 64 words: 2; 16 lanes, at a stride of 4 words: 2
  EXPECT_EQ(c[Counter::shared_store_wavefronts_ideal], 2u);
}

template <unsigned Stride>
__global__ void loads_matrices(In, Out) {
  auto p = shared_pointer<unsigned char>("P", 0, 4096);
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < 256; i += 32) p.recast<Four>()[i] = Four{};
  __syncwarp();
  load_matrices(p + t * Stride);
}

TEST(Counters, RowsOfMatrices) {
  Trial r(__FILE__, {1}, {32}, 4096);
  Counters c = r.run<loads_matrices<128>>().counters;
  EXPECT_EQ(c[Counter::ldmatrix], 1u);
  EXPECT_EQ(c[Counter::ldmatrix_wavefronts], 32u);
  EXPECT_EQ(c[Counter::ldmatrix_wavefronts_ideal], 4u);
  EXPECT_EQ(c[Counter::shared_load_16], 0u);
  EXPECT_EQ(r.run<loads_matrices<16>>().counters[Counter::ldmatrix_wavefronts], 4u);
  EXPECT_EQ(r.run<loads_matrices<112>>().counters[Counter::ldmatrix_wavefronts], 4u);
}

__global__ void copies(In x, Out) {
  auto p = shared_pointer<float>("P", 0, 1024);
  const unsigned t = threadIdx.x;
  cp_async(p + 32 * t, x + 8 * t, 16, 16);
  cp_async_wait_all();
}

TEST(Counters, AsynchronousCopies) {
  Trial r(__FILE__, {1}, {32}, 4096);
  Counters c = r.run<copies>().counters;
  EXPECT_EQ(c[Counter::cp_async_16], 32u);
  EXPECT_EQ(c[Counter::cp_async_wavefronts], 32u);
  EXPECT_EQ(c[Counter::cp_async_wavefronts_ideal], 4u);
  EXPECT_EQ(c[Counter::cp_async_sectors], 32u);
  EXPECT_EQ(c[Counter::cp_async_sectors_ideal], 16u);
}

}  // namespace
}  // namespace zellige::emulate
