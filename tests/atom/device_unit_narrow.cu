// Calls every matrix instruction of SM120 on narrow floats: ptx_test.cpp compiles it, and looks for each in the PTX.
#include <zellige/atom/mma_traits/narrow_names.hpp>

using namespace zellige;

template <class Op>
__device__ void one(float* out, unsigned const* in) {
  typename Op::DRegisters d{};
  typename Op::ARegisters a;
  typename Op::BRegisters b;
  for (int i = 0; i < 4; ++i) a[i] = in[i];
  for (int i = 0; i < Op::words_of_b; ++i) b[i] = in[4 + i];
  Op::call(d, a, b, in[9], in[10], in[11]);
  for (int i = 0; i < Op::words; ++i) out[i] = d[i];
}
template <class A, class B>
__device__ void of_types(float* out, unsigned const* in) {
  one<SM120_16x8x32_TN<A, B, float>>(out, in);
  one<SM120_16x8x32_TN<A, B, half_t>>(out, in);
  one<SM120::SPARSE::SM120_SPARSE_16x8x64_TN<A, B, float>>(out, in);
  one<SM120::SPARSE::SM120_SPARSE_16x8x64_TN<A, B, half_t>>(out, in);
  one<SM120::BLOCKSCALED::SM120_16x8x32_TN_VS<A, B, float, float_ue8m0_t, 32>>(out, in);
  one<SM120::BLOCKSCALED::SPARSE::SM120_SPARSE_16x8x64_TN_VS<A, B, float, float_ue8m0_t, 64>>(out, in);
}
template <class A>
__device__ void of_a(float* out, unsigned const* in) {
  of_types<A, float_e2m1_t>(out, in);
  of_types<A, float_e3m2_t>(out, in);
  of_types<A, float_e2m3_t>(out, in);
  of_types<A, float_e4m3_t>(out, in);
  of_types<A, float_e5m2_t>(out, in);
}
__global__ void all(float* out, unsigned const* in) {
  of_a<float_e2m1_t>(out, in);
  of_a<float_e3m2_t>(out, in);
  of_a<float_e2m3_t>(out, in);
  of_a<float_e4m3_t>(out, in);
  of_a<float_e5m2_t>(out, in);
  using E = float_e2m1_t;
  one<SM120::BLOCKSCALED::SM120_16x8x64_TN_VS<E, E, float, float_ue8m0_t, 32>>(out, in);
  one<SM120::BLOCKSCALED::SM120_16x8x64_TN_VS<E, E, float, float_ue4m3_t, 16>>(out, in);
  one<SM120::BLOCKSCALED::SPARSE::SM120_SPARSE_16x8x128_TN_VS<E, E, float, float_ue8m0_t, 64>>(out, in);
  one<SM120::BLOCKSCALED::SPARSE::SM120_SPARSE_16x8x128_TN_VS<E, E, float, float_ue4m3_t, 32>>(out, in);
}
