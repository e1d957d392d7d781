// Every row of the instruction table on a real GPU against its reference body on the host, on random data.
//
//   nvcc -std=c++20 -O2 -I include -diag-suppress 177 -gencode arch=compute_80,code=sm_80
//        -gencode arch=compute_90a,code=sm_90a tests/atom/hardware.cu -o hardware && ./hardware
//
// One self-contained binary; it prints one line per row, in Markdown, and exits with 0 only if every row
// passes. Copies and exact accumulators must agree bit for bit. Rounded accumulators may differ within the
// bound for hardware in mma_reference.hpp.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>
#include <zellige/atom.hpp>
#include <zellige/atom/instruction_table.hpp>

#include "hardware.hpp"
#include "sm80_rows.hpp"

namespace zellige {
namespace {

template <class Row>
__global__ void mma_kernel(const reference::MmaOperands<Row>* in, reference::MmaResult<Row>* out) {
  const unsigned i = blockIdx.x * 32 + threadIdx.x;
  auto mine = in[i];
  mma<Row>(mine.c, mine.a, mine.b);
  for (unsigned r = 0; r < sizeof(mine.c) / 4; ++r) out[i].d[r] = mine.c[r];
}

template <class T, class Registers>
void fill(Registers& registers, Draw how) {
  T values[sizeof(registers) / sizeof(T)];
  for (T& value : values) value = draw<T>(how);
  std::memcpy(registers, values, sizeof(values));
}

template <class Row>
void prove_mma() {
  using T = typename Row::Element;
  using D = typename Row::Accumulator;
  constexpr Instruction row = instruction_of(find_mma(Row::name));
  constexpr int M = row.m, N = row.n, K = row.k;
  constexpr int av = M * K / 32, bv = N * K / 32, cv = M * N / 32;
  const int trials = 4096;
  std::vector<reference::MmaOperands<Row>> in(32 * trials);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Draw how = static_cast<Draw>(i / 32 % 4);
    fill<T>(in[i].a, how);
    fill<T>(in[i].b, how);
    fill<D>(in[i].c, how);
  }
  const Buffer device_in(in);
  const Buffer<reference::MmaResult<Row>> device_out(in.size());
  mma_kernel<Row><<<trials, 32>>>(device_in.data, device_out.data);
  check(cudaGetLastError(), Row::name);
  const auto out = device_out.get();

  long compared = 0, equal = 0;
  double largest = 0, of_bound = 0;
  bool holds = true;
  for (int trial = 0; trial < trials; ++trial) {
    reference::MmaResult<Row> expected[32];
    row.body(row, reference::WarpRegisters(&in[32 * trial], expected));
    double a[M][K], b[N][K];
    for (int t = 0; t < 32; ++t) {
      T va[av], vb[bv];
      std::memcpy(va, in[32 * trial + t].a, sizeof(va));
      std::memcpy(vb, in[32 * trial + t].b, sizeof(vb));
      for (int v = 0; v < av; ++v) a[row.a.layout(t, v) % M][row.a.layout(t, v) / M] = static_cast<float>(va[v]);
      for (int v = 0; v < bv; ++v) b[row.b.layout(t, v) % N][row.b.layout(t, v) / N] = static_cast<float>(vb[v]);
    }
    for (int t = 0; t < 32; ++t) {
      D vc[cv], vd[cv], ve[cv];
      std::memcpy(vc, in[32 * trial + t].c, sizeof(vc));
      std::memcpy(vd, out[32 * trial + t].d, sizeof(vd));
      std::memcpy(ve, expected[t].d, sizeof(ve));
      for (int v = 0; v < cv; ++v) {
        double got = static_cast<float>(vd[v]), want = static_cast<float>(ve[v]);
        ++compared;
        if (got == want || (std::isnan(got) && std::isnan(want))) {
          ++equal;
          continue;
        }
        // If one result is the largest f16 and the other is infinite, they differ by as much as the
        // accumulators do.
        if (sizeof(D) == 2 && std::isinf(got)) got = std::copysign(65536.0, got);
        if (sizeof(D) == 2 && std::isinf(want)) want = std::copysign(65536.0, want);
        const int m = row.c.layout(t, v) % M, n = row.c.layout(t, v) / M;
        double addend = std::fabs(static_cast<float>(vc[v]));
        for (int k = 0; k < K; ++k) addend = std::fmax(addend, std::fabs(a[m][k] * b[n][k]));
        double bound = (K + 1) * 0x1p-22 * addend;
        if (sizeof(D) == 2) bound += 0x1p-10 * std::fabs(want) + 0x1p-24;
        if (trial % 4 == static_cast<int>(Draw::integers)) bound = 0;
        const double difference = std::fabs(got - want);
        if (!(difference <= bound)) {
          if (holds)
            std::printf(
                "%s: trial %d (draw %d) thread %d value %d: %.9g on the device, %.9g by reference, bound "
                "%.3g\n",
                Row::name, trial, trial % 4, t, v, got, want, bound);
          holds = false;
        }
        if (std::isfinite(difference)) {
          largest = std::fmax(largest, difference / std::fmax(addend, 1e-300));
          if (bound > 0) of_bound = std::fmax(of_bound, difference / bound);
        }
      }
    }
  }
  report(Row::name, compared, equal, largest, of_bound, holds);
}

template <int Matrices, bool Transposed>
__global__ void ldmatrix_kernel(const uint4* memory, const unsigned* row, uint32_t (*out)[Matrices]) {
  const smem<uint4> tile = shared<uint4>("tile", 0, 256);
  for (unsigned i = threadIdx.x; i < 256; i += 32) tile[i] = memory[256 * blockIdx.x + i];
  __syncthreads();
  const unsigned i = 32 * blockIdx.x + threadIdx.x;
  uint32_t r[Matrices];
  const auto address = tile + row[i];
  if constexpr (Matrices == 1) Transposed ? ldmatrix_x1_trans(r, address) : ldmatrix_x1(r, address);
  if constexpr (Matrices == 2) Transposed ? ldmatrix_x2_trans(r, address) : ldmatrix_x2(r, address);
  if constexpr (Matrices == 4) Transposed ? ldmatrix_x4_trans(r, address) : ldmatrix_x4(r, address);
  for (int m = 0; m < Matrices; ++m) out[i][m] = r[m];
}

template <int Matrices, bool Transposed>
void prove_ldmatrix(const char* name) {
  struct Registers {
    uint32_t r[Matrices];
  };
  const Instruction& row = *find_instruction(name);
  const int trials = 512;
  std::vector<uint4> memory(256 * trials);
  for (uint4& x : memory) x = make_uint4(generator(), generator(), generator(), generator());
  std::vector<unsigned> rows(32 * trials);
  for (unsigned& x : rows) x = generator() % 256;
  const Buffer device_memory(memory);
  const Buffer device_rows(rows);
  const Buffer<Registers> device_out(32 * trials);
  ldmatrix_kernel<Matrices, Transposed><<<trials, 32, 4096>>>(device_memory.data, device_rows.data,
                                                              reinterpret_cast<uint32_t(*)[Matrices]>(device_out.data));
  check(cudaGetLastError(), name);
  const auto out = device_out.get();
  long equal = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const void* addressed[32] = {};
    for (int i = 0; i < 8 * Matrices; ++i) addressed[i] = &memory[256 * trial + rows[32 * trial + i]];
    uint32_t expected[32][Matrices];
    void* registers[32];
    for (int t = 0; t < 32; ++t) registers[t] = expected[t];
    row.body(row, {addressed, nullptr, nullptr, registers});
    for (int t = 0; t < 32; ++t) equal += std::memcmp(expected[t], out[32 * trial + t].r, sizeof(expected[t])) == 0;
  }
  report(name, 32 * trials, equal, 0, 0, equal == 32 * trials);
}

template <int Bytes, bool ZeroFill>
__global__ void cp_async_kernel(const unsigned char* memory, const unsigned* from, const unsigned* valid,
                                unsigned char* out) {
  const smem<unsigned char> tile = shared<unsigned char>("tile", 0, 32 * Bytes);
  const unsigned i = 32 * blockIdx.x + threadIdx.x, mine = threadIdx.x * Bytes;
  for (int b = 0; b < Bytes; ++b) tile[mine + b] = 0xa5;
  if constexpr (ZeroFill)
    cp_async<Bytes>(tile + mine, memory + from[i] * Bytes, valid[i]);
  else
    cp_async<Bytes>(tile + mine, memory + from[i] * Bytes);
  cp_async_commit();
  cp_async_wait<0>();
  for (int b = 0; b < Bytes; ++b) out[32 * Bytes * blockIdx.x + mine + b] = tile[mine + b];
}

template <int Bytes, bool ZeroFill>
void prove_cp_async(const char* name) {
  const int trials = 512, elements = 1000;
  std::vector<unsigned char> memory(elements * Bytes);
  for (auto& x : memory) x = static_cast<unsigned char>(generator());
  std::vector<unsigned> from(32 * trials), valid(32 * trials);
  for (auto& x : from) x = generator() % elements;
  for (auto& x : valid) x = ZeroFill ? generator() % (Bytes + 1) : Bytes;
  const Buffer device_memory(memory);
  const Buffer device_from(from), device_valid(valid);
  const Buffer<unsigned char> device_out(32 * trials * Bytes);
  cp_async_kernel<Bytes, ZeroFill>
      <<<trials, 32, 32 * Bytes>>>(device_memory.data, device_from.data, device_valid.data, device_out.data);
  check(cudaGetLastError(), name);
  const auto out = device_out.get();
  long equal = 0;
  for (int i = 0; i < 32 * trials; ++i) {
    bool same = true;
    for (unsigned b = 0; b < Bytes; ++b)
      same = same && out[i * Bytes + b] == (b < valid[i] ? memory[from[i] * Bytes + b] : 0);
    equal += same;
  }
  report(name, 32 * trials, equal, 0, 0, equal == 32 * trials);
}

struct Converted {
  uint32_t half, bfloat, tf32, pair;
  float widened[2];
};

ZELLIGE_ANYWHERE Converted convert_all(float x) {
  Converted r;
  r.half = half_t(x).bits;
  r.bfloat = bfloat16_t(x).bits;
  r.tf32 = tfloat32_t(x).bits;
  r.pair = pack<half_t>(x, -x) ^ pack<bfloat16_t>(-x, x);
  const auto low = static_cast<uint16_t>(bit_cast<uint32_t>(x));
  r.widened[0] = half_t::bitcast(low);
  r.widened[1] = bfloat16_t::bitcast(low);
  return r;
}
__global__ void convert_kernel(const float* x, Converted* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = convert_all(x[i]);
}

void prove_conversions() {
  const int count = 1 << 22;
  std::vector<float> x(count);
  for (int i = 0; i < count; ++i) {
    uint32_t bits = generator();
    if (i < 65536) bits = bits << 16 | i;                  // every 16-bit pattern to widen
    if (i % 2) bits = (bits & 0x8fffffffu) | 0x30000000u;  // half of them where f16 has its numbers
    if (i % 8 == 3) bits &= ~0xfffu;                       // ties
    x[i] = bit_cast<float>(bits);
  }
  const Buffer device_x(x);
  const Buffer<Converted> device_out(count);
  convert_kernel<<<count / 256, 256>>>(device_x.data, device_out.data);
  check(cudaGetLastError(), "conversions");
  const auto out = device_out.get();
  long equal[5] = {};
  const auto same = [](float a, float b) {
    return bit_cast<uint32_t>(a) == bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
  };
  for (int i = 0; i < count; ++i) {
    const Converted want = convert_all(x[i]), got = out[i];
    equal[0] += got.half == want.half;
    equal[1] += got.bfloat == want.bfloat;
    equal[2] += got.tf32 == want.tf32 || std::isnan(x[i]);
    equal[3] += got.pair == want.pair;
    equal[4] += same(got.widened[0], want.widened[0]) && same(got.widened[1], want.widened[1]);
  }
  const char* names[] = {"float to half_t", "float to bfloat16_t", "float to tfloat32_t", "pack", "widening"};
  for (int i = 0; i < 5; ++i) report(names[i], count, equal[i], 0, 0, equal[i] == count);
}

constexpr int functions = 9;
ZELLIGE_ANYWHERE void elementwise(float x, float (&r)[functions]) {
  const float positive = x < 0 ? -x : x;
  const float all[] = {zellige::exp(x),
                       sigmoid(x),
                       silu(x),
                       gelu(x),
                       zellige::tanh(x),
                       zellige::erf(x),
                       zellige::log(positive),
                       zellige::sqrt(positive),
                       zellige::pow(positive, 1.5f)};
  for (int i = 0; i < functions; ++i) r[i] = all[i];
}
__global__ void elementwise_kernel(const float* x, float (*out)[functions]) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  elementwise(x[i], out[i]);
}

void prove_elementwise() {
  struct Results {
    float r[functions];
  };
  const int count = 1 << 20;
  std::vector<float> x(count);
  for (int i = 0; i < count; ++i) x[i] = std::normal_distribution<float>(0, i % 2 ? 1.0f : 8.0f)(generator);
  const Buffer device_x(x);
  const Buffer<Results> device_out(count);
  elementwise_kernel<<<count / 256, 256>>>(device_x.data, reinterpret_cast<float(*)[functions]>(device_out.data));
  check(cudaGetLastError(), "elementwise");
  const auto out = device_out.get();
  const char* names[] = {"exp", "sigmoid", "silu", "gelu", "tanh", "erf", "log", "sqrt", "pow"};
  // What math.hpp allows: exp (2 + 1.7 |x|) ulp, and what is made of it 3 ulp more; the others 1e-6.
  double largest[functions] = {}, of_bound[functions] = {};
  for (int i = 0; i < count; ++i) {
    const double v = x[i], p = std::fabs(v), e = std::exp(-v);
    const double want[] = {1 / e,           1 / (1 + e), v / (1 + e), 0.5 * v * std::erfc(-v * std::sqrt(0.5)),
                           std::tanh(v),    std::erf(v), std::log(p), std::sqrt(p),
                           std::pow(p, 1.5)};
    for (int f = 0; f < functions; ++f) {
      double scale = std::fabs(want[f]);
      if (f == 3) scale *= 1 + 0.5 * v * v;  // the tail of gelu: its argument is rounded before a steep function
      if (scale <= 1e-30) continue;
      const double error = std::fabs(out[i].r[f] - want[f]) / scale;
      const double bound = f < 3 ? ((f == 0 ? 2 : 5) + 1.7 * p) * 0x1p-23 : 1e-6;
      largest[f] = std::fmax(largest[f], error), of_bound[f] = std::fmax(of_bound[f], error / bound);
    }
  }
  for (int f = 0; f < functions; ++f) report(names[f], count, count, largest[f], of_bound[f], of_bound[f] <= 1);
}

}  // namespace
}  // namespace zellige

int main() {
  using namespace zellige;
  print_head("hardware");
  prove_mma<SM80_16x8x16_F32F16F16F32_TN>();
  prove_mma<SM80_16x8x16_F16F16F16F16_TN>();
  prove_mma<SM80_16x8x16_F32BF16BF16F32_TN>();
  prove_mma<SM80_16x8x8_F32F16F16F32_TN>();
  prove_mma<SM80_16x8x8_F16F16F16F16_TN>();
  prove_mma<SM80_16x8x8_F32BF16BF16F32_TN>();
  prove_mma<SM80_16x8x8_F32TF32TF32F32_TN>();
  prove_mma<SM80_16x8x4_F32TF32TF32F32_TN>();
  prove_ldmatrix<1, false>("SM75_U32x1_LDSM_N");
  prove_ldmatrix<2, false>("SM75_U32x2_LDSM_N");
  prove_ldmatrix<4, false>("SM75_U32x4_LDSM_N");
  prove_ldmatrix<1, true>("SM75_U16x2_LDSM_T");
  prove_ldmatrix<2, true>("SM75_U16x4_LDSM_T");
  prove_ldmatrix<4, true>("SM75_U16x8_LDSM_T");
  prove_cp_async<4, false>("SM80_CP_ASYNC_CACHEALWAYS<uint32_t>");
  prove_cp_async<8, false>("SM80_CP_ASYNC_CACHEALWAYS<uint64_t>");
  prove_cp_async<16, false>("SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>");
  prove_cp_async<4, true>("SM80_CP_ASYNC_CACHEALWAYS_ZFILL<uint32_t>");
  prove_cp_async<8, true>("SM80_CP_ASYNC_CACHEALWAYS_ZFILL<uint64_t>");
  prove_cp_async<16, true>("SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>");
  std::size_t missing = 0;
  const auto rows = sm80_rows();
  for (const Instruction& row : rows)
    if (!proved.contains(row.name)) std::printf("%s has no proof here\n", row.name), ++missing;
  prove_conversions();
  prove_elementwise();
  std::printf("\n%zu rows of the table, %zu without a proof: %s\n", rows.size(), missing,
              all_hold && missing == 0 ? "all hold" : "FAILED");
  return all_hold && missing == 0 ? 0 : 1;
}
