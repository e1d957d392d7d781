// Every function of include/zellige/atom that emits code, in one kernel each: ptx_test.cpp compiles it to PTX
// for the oldest and the newest target, and searches each row's mnemonic.
#include <zellige/atom.hpp>

namespace zellige {

template <class Row>
__global__ void mma_kernel(gmem<uint32_t> memory) {
  typename Row::DRegisters d = {};
  typename Row::ARegisters a = {};
  typename Row::BRegisters b = {};
  unsigned next = threadIdx.x;
  for (uint32_t& r : a) r = memory[next++];
  for (uint32_t& r : b) r = memory[next++];
  mma<Row>(d, a, b);
  for (auto& r : d) memory[next++] = static_cast<uint32_t>(r);
}
template __global__ void mma_kernel<SM80_16x8x16_F32F16F16F32_TN>(gmem<uint32_t>);
template __global__ void mma_kernel<SM80_16x8x16_F16F16F16F16_TN>(gmem<uint32_t>);
template __global__ void mma_kernel<SM80_16x8x16_F32BF16BF16F32_TN>(gmem<uint32_t>);
template __global__ void mma_kernel<SM80_16x8x8_F32F16F16F32_TN>(gmem<uint32_t>);
template __global__ void mma_kernel<SM80_16x8x8_F16F16F16F16_TN>(gmem<uint32_t>);
template __global__ void mma_kernel<SM80_16x8x8_F32BF16BF16F32_TN>(gmem<uint32_t>);
template __global__ void mma_kernel<SM80_16x8x8_F32TF32TF32F32_TN>(gmem<uint32_t>);
template __global__ void mma_kernel<SM80_16x8x4_F32TF32TF32F32_TN>(gmem<uint32_t>);

__global__ void shorthands(gmem<uint32_t> memory) {
  uint32_t a[4] = {memory[0], memory[1], memory[2], memory[3]}, b[2] = {memory[4], memory[5]}, h[2] = {};
  uint32_t a2[2] = {a[0], a[1]}, b1[1] = {b[0]};
  float d[4] = {};
  mma_m16n8k16<half_t>(d, a, b);
  mma_m16n8k16<bfloat16_t>(d, a, b);
  mma_m16n8k16<half_t>(h, a, b);
  mma_m16n8k8<half_t>(d, a2, b1);
  mma_m16n8k8<tfloat32_t>(d, a, b);
  mma_m16n8k4<tfloat32_t>(d, a2, b1);
  store(memory + 4 * threadIdx.x, bit_cast<Vec<uint32_t, 4>>(d));
  store(memory + 2 * threadIdx.x, bit_cast<Vec<uint32_t, 2>>(h));
}

__global__ void copies(gmem<const half_t> source, gmem<uint32_t> out, unsigned valid) {
  const smem<half_t> tile = shared<half_t>("tile", 0, 4096);
  const unsigned t = threadIdx.x;
  cp_async<4>(tile + 2 * t, source + 2 * t);
  cp_async<8>(tile + 4 * t, source + 4 * t);
  cp_async<16>(tile + 8 * t, source + 8 * t);
  cp_async<4>(tile + 2 * t, source + 2 * t, valid);
  cp_async<8>(tile + 4 * t, source + 4 * t, valid);
  cp_async<16>(tile + 8 * t, source + 8 * t, valid);
  cp_async_commit();
  cp_async_wait<1>();
  __syncthreads();
  uint32_t x1[1], x2[2], x4[4];
  ldmatrix_x1(x1, tile + 8 * t);
  ldmatrix_x2(x2, tile + 8 * t);
  ldmatrix_x4(x4, tile + 8 * t);
  out[t] = x1[0] + x2[0] + x2[1] + x4[0] + x4[1] + x4[2] + x4[3];
  ldmatrix_x1_trans(x1, tile + 8 * t);
  ldmatrix_x2_trans(x2, tile + 8 * t);
  ldmatrix_x4_trans(x4, tile + 8 * t);
  out[t + 32] = x1[0] + x2[0] + x2[1] + x4[0] + x4[1] + x4[2] + x4[3];
}

__global__ void accesses(gmem<const half_t> source, gmem<half_t> out) {
  const unsigned i = 8 * lane_index();
  store(out + i, load_once<8>(source + i));
  store(out + i + 256, load_once<4>(source + i + 256));
  store(out + i + 512, load_once<2>(source + i + 512));
  store(out + i + 768, load_once<1>(source + i + 768));
  store(out + i + 1024, load<8>(source + i + 1024));
  store(recast<uint32_t>(out + i + 1280), Vec<uint32_t, 1>{{pack<half_t>(half_t(source[i]), half_t(source[i + 1]))}});
  store(recast<uint32_t>(out + i + 1282),
        Vec<uint32_t, 1>{{pack<bfloat16_t>(half_t(source[i]), half_t(source[i + 1]))}});
}

__global__ void elementwise(gmem<float> x) {
  float v = x[threadIdx.x];
  v = zellige::exp(zellige::log(zellige::sqrt(v)));
  v = silu(sigmoid(gelu(relu(square(clamp(v, -1.0f, 1.0f))))));
  v = zellige::pow(zellige::tanh(v), zellige::erf(v));
  v += shfl_xor(v, 16) + shfl_idx(v, 3) + shfl_down(v, 1);
  x[threadIdx.x] = static_cast<float>(tfloat32_t(v)) + unpack<half_t>(pack<half_t>(v, v))[1];
}

}  // namespace zellige
