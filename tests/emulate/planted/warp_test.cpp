// Warps, warpgroups and barriers: collectives, wgmma, named barriers, registers, ordinary accesses.
#include "planted.hpp"

namespace zellige::injected {
namespace {

// One wgmma of 64 x 8 x 16, its operands written by ordinary code. `bug` plants one fault.
enum class Product {
  right,
  sum,
  negated,
  scaled,
  replaced,
  read,
  read_as_half,
  no_fence,
  no_commit,
  too_few_waits,
  no_proxy_fence,
  no_barrier,
  operand_overwritten,
  fence_before_write,
};
template <Product bug>
__global__ void product(In x, Out y, Out) {
  const auto s = shared<half_t>("s", 0, 64 * 64);
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < 64 * 64; i += 128) s[i] = half_t(x[i % 1024]);
  if (bug != Product::no_proxy_fence) fence_proxy_async();
  if (bug != Product::no_barrier) __syncthreads();
  float d[4];
  if (bug == Product::fence_before_write) {
    float e[4] = {0, 0, 0, 0};
    const auto again = smem_descriptor(s, 0, 1024, SwizzleMode::b128);
    wgmma_fence();
    wgmma<half_t>(e, again, again, true);
    wgmma_commit();
    wgmma_wait<0>();
    e[0] += 1;
    wgmma<half_t>(e, again, again, true);
    wgmma_commit();
    wgmma_wait<0>();
    y[t] = e[0];
    return;
  }
  for (float& v : d) v = 0;
  if (bug != Product::no_fence) wgmma_fence();
  const auto operand = smem_descriptor(s, 0, 1024, SwizzleMode::b128);
  wgmma<half_t>(d, operand, operand, true);
  if (bug != Product::no_commit) wgmma_commit();
  if (bug == Product::sum) d[0] += 1;
  if (bug == Product::negated) d[1] = -d[1];
  if (bug == Product::scaled) d[2] *= 2;
  if (bug == Product::replaced) d[3] = 0;
  float early = 0;
  if (bug == Product::read) early = d[0] + 1;
  if (bug == Product::read_as_half) early = float(half_t(d[0]));
  if (bug == Product::operand_overwritten) s[t] = half_t(1.0f);
  if (bug == Product::too_few_waits)
    wgmma_wait<1>();
  else
    wgmma_wait<0>();
  __syncthreads();
  for (int i = 0; i < 4; ++i) y[4 * t + i] = d[i] + (i == 0 ? early : 0.0f);
}
template <bool right>
__global__ void operand_registers(In x, Out y, Out) {
  const auto s = shared<half_t>("s", 0, 64 * 64);
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < 64 * 64; i += 128) s[i] = half_t(x[i % 1024]);
  fence_proxy_async();
  __syncthreads();
  uint32_t a[4] = {t, t, t, t};
  float d[4] = {0, 0, 0, 0};
  wgmma_fence();
  wgmma<half_t>(d, a, smem_descriptor(s, 0, 1024, SwizzleMode::b128), true);
  wgmma_commit();
  if (!right) a[0] = 0;
  wgmma_wait<0>();
  if (right) a[0] = 0;
  y[t] = d[0] + float(a[0]);
}
template <bool right>
__global__ void registers_of_a_warp(In, Out, Out) {
  if (right || threadIdx.x < 32) register_dealloc<24>();
}
TEST(InjectedInWarpgroups, AreFoundAndTheRightOnesAreNot) {
  const Launching group{.block = {128}, .shared_bytes = 8192};
  const auto right = entry<product<Product::right>>;
  const Kind flight = Kind::accumulator;
  check({
      {"a sum in flight", right, entry<product<Product::sum>>, flight, "have been written between", group},
      {"negated in flight", right, entry<product<Product::negated>>, flight, "have been written between", group},
      {"scaled in flight", right, entry<product<Product::scaled>>, flight, "have been written between", group},
      {"replaced in flight", right, entry<product<Product::replaced>>, flight, "have been written between", group},
      {"read in flight", right, entry<product<Product::read>>, flight, "stores a value", group},
      {"rounded in flight", right, entry<product<Product::read_as_half>>, flight, "", group},
      {"no fence", right, entry<product<Product::no_fence>>, flight, "no wgmma_fence", group},
      {"no commit", right, entry<product<Product::no_commit>>, flight, "stores a value", group},
      {"too few waits", right, entry<product<Product::too_few_waits>>, flight, "stores a value", group},
      {"no proxy fence", right, entry<product<Product::no_proxy_fence>>, Kind::fence, "s", group},
      {"no barrier", right, entry<product<Product::no_barrier>>, Kind::race, "s", group},
      {"operand overwritten", right, entry<product<Product::operand_overwritten>>, Kind::race, "s", group},
      {"fence before the write", right, entry<product<Product::fence_before_write>>, flight, "no wgmma_fence", group},
      {"operand registers", entry<operand_registers<true>>, entry<operand_registers<false>>, flight, "first operand",
       group},
      {"setmaxnreg of one warp", entry<registers_of_a_warp<true>>, entry<registers_of_a_warp<false>>, Kind::divergence,
       "setmaxnreg", group},
  });
}

template <bool right>
__global__ void no_barrier(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  if (right) __syncthreads();
  y[t] = s[63 - t];
}
template <bool right>
__global__ void no_second_barrier(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  for (int i = 0; i < 2; ++i) {
    s[t] = x[t];
    __syncthreads();
    y[t] = s[63 - t];
    if (right) __syncthreads();
  }
}
template <bool right>
__global__ void no_syncwarp(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  if (right) __syncwarp();
  y[t] = s[t ^ 1];
}
template <unsigned mask>
__global__ void mask_of_a_part(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  if (t >= 32) return;
  s[t] = x[t];
  if (mask >> t & 1) __syncwarp(mask);
  if (t < 16) y[t] = s[31 - t];
}
template <bool right>
__global__ void halves_by_themselves(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  __syncwarp(t % 32 < 16 ? 0xffff : 0xffff0000);
  y[t] = s[t ^ (right ? 15 : 16)];
}
template <bool right>
__global__ void shuffle_of_a_branch(In x, Out y, Out) {
  const unsigned t = threadIdx.x;
  float v = x[t];
  if (right || t % 32 < 16) v = shfl_xor(v, 1);
  y[t] = v;
}
template <bool right>
__global__ void barrier_of_a_branch(In x, Out y, Out) {
  const unsigned t = threadIdx.x;
  if (right || t < 32) __syncthreads();
  y[t] = x[t];
  if (!right && t >= 32) __syncthreads();
}
template <unsigned threads>
__global__ void named(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  named_barrier_sync(1, threads);
  y[t] = s[63 - t];
}
template <bool right>
__global__ void two_groups_of_one_barrier(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 128);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  named_barrier_sync(right ? 1 + t / 64 : 1, 64);
  y[t] = s[t ^ 32];
}
template <bool right>
__global__ void arrives_and_reads(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  if (t < 32) s[t] = x[t];
  if (t < 32)
    named_barrier_arrive(1, 64);
  else
    named_barrier_sync(1, 64);
  if (t >= 32) y[t] = s[t - 32];
  if (t < 32 && !right) s[t] = 2;
}
template <bool right>
__global__ void groups_of_copies(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 128);
  const unsigned t = threadIdx.x;
  cp_async<4>(s + t, x + t);
  cp_async_commit();
  cp_async<4>(s + 64 + t, x + 64 + t);
  cp_async_commit();
  cp_async_wait<right ? 0 : 1>();
  __syncthreads();
  y[t] = s[64 + t];
}
template <bool right>
__global__ void copies_of_others(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  cp_async<4>(s + t, x + t);
  cp_async_commit();
  cp_async_wait<0>();
  if (right) __syncthreads();
  y[t] = s[63 - t];
}
template <bool right>
__global__ void matrix_rows(In x, Out y, Out) {
  const auto s = shared<half_t>("s", 0, 1024);
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < 1024; i += 64) s[i] = half_t(x[i]);
  __syncthreads();
  uint32_t r[4];
  ldmatrix_x4(r, s + 8 * (t % 32) + (right ? 0 : 4));
  y[t] = float(r[0]);
}
template <bool right>
__global__ void matrix_before_sync(In x, Out y, Out) {
  const auto s = shared<half_t>("s", 0, 1024);
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < 1024; i += 64) s[i] = half_t(x[i]);
  if (right) __syncthreads();
  uint32_t r[4];
  ldmatrix_x4(r, s + 8 * (t % 32));
  y[t] = float(r[0]);
}
template <bool right>
__global__ void rows_over_rows(In, Out y, Out) {
  const auto s = shared<half_t>("s", 0, 1024);
  const unsigned t = threadIdx.x;
  const uint32_t r[4] = {t, t, t, t};
  stmatrix_x4(s + 512 * (t / 32) + 8 * (right ? t % 32 : t % 16), r);
  __syncthreads();
  y[t] = float(s[512 * (t / 32) + t % 32]);
}
template <int offset>
__global__ void vectors(In x, Out y, Out) {
  store(y + 4 * threadIdx.x, load<4>(x + 4 * threadIdx.x + offset));
}
template <unsigned bytes>
__global__ void beyond(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  y[t] = s[t + bytes / 4];
}
template <bool right>
__global__ void never_written(In x, Out y, Out) {
  const auto s = shared<float>("s", 0, 64);
  const unsigned t = threadIdx.x;
  if (right || t % 2 == 0) s[t] = x[t];
  __syncthreads();
  y[t] = s[t];
}
template <bool right>
__global__ void written_twice(In x, Out y, Out) {
  const unsigned t = threadIdx.x;
  y[right ? t : t / 2] = x[t];
}

TEST(InjectedInWarps, AreFoundAndTheRightOnesAreNot) {
  const Launching groups{.block = {128}};
  check({
      {"no barrier", entry<no_barrier<true>>, entry<no_barrier<false>>, Kind::race, "s"},
      {"no second barrier", entry<no_second_barrier<true>>, entry<no_second_barrier<false>>, Kind::race, "s"},
      {"no __syncwarp", entry<no_syncwarp<true>>, entry<no_syncwarp<false>>, Kind::race, "s"},
      {"mask of a part", entry<mask_of_a_part<~0u>>, entry<mask_of_a_part<0xffffu>>, Kind::race, "s"},
      {"halves by themselves", entry<halves_by_themselves<true>>, entry<halves_by_themselves<false>>, Kind::race, "s"},
      {"shuffle of a branch", entry<shuffle_of_a_branch<true>>, entry<shuffle_of_a_branch<false>>, Kind::divergence,
       ""},
      {"barrier of a branch", entry<barrier_of_a_branch<true>>, entry<barrier_of_a_branch<false>>,
       Kind::barrier_divergence, ""},
      {"named barrier of too few", entry<named<64>>, entry<named<32>>, Kind::race, "s"},
      {"two groups of one barrier", entry<two_groups_of_one_barrier<true>>, entry<two_groups_of_one_barrier<false>>,
       Kind::race, nullptr, groups},
      {"arrives and writes", entry<arrives_and_reads<true>>, entry<arrives_and_reads<false>>, Kind::race, "s"},
      {"groups of copies", entry<groups_of_copies<true>>, entry<groups_of_copies<false>>, Kind::race, "s"},
      {"copies of others", entry<copies_of_others<true>>, entry<copies_of_others<false>>, Kind::race, "s"},
      {"rows of a matrix", entry<matrix_rows<true>>, entry<matrix_rows<false>>, Kind::misaligned, "s"},
      {"matrix before the barrier", entry<matrix_before_sync<true>>, entry<matrix_before_sync<false>>, Kind::race, "s"},
      {"rows over rows", entry<rows_over_rows<true>>, entry<rows_over_rows<false>>, Kind::race, "s"},
      {"vectors", entry<vectors<0>>, entry<vectors<1>>, Kind::misaligned, "x"},
      {"beyond the tensor", entry<beyond<0>>, entry<beyond<4>>, Kind::out_of_bounds, "s"},
      {"never written", entry<never_written<true>>, entry<never_written<false>>, Kind::uninitialised_read, "s"},
      {"written twice", entry<written_twice<true>>, entry<written_twice<false>>, Kind::race, "y"},
  });
}

}  // namespace
}  // namespace zellige::injected
