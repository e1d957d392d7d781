// The warp instructions not in hardware.cu on a real GPU against their reference bodies: SM70's quad pairs,
// SM75, integers of 8, 4 and 1 bits, f64, 8-bit floats, also unpacked to halves, complex numbers, stmatrix, movmatrix.
//
//   nvcc -std=c++20 -O1 -I include -diag-suppress 177 -gencode arch=compute_90a,code=sm_90a
//        tests/atom/hardware_warp.cu -o hardware_warp && ./hardware_warp
#include <algorithm>
#include <zellige/atom/instruction_table.hpp>
#include <zellige/atom/mma_unpacked.hpp>
#include <zellige/atom/movmatrix.hpp>
#include <zellige/atom/stmatrix.hpp>

#include "hardware.hpp"
#include "warp_oracle.hpp"
#include "warp_rows.hpp"

namespace zellige {
namespace {

constexpr int trials = 512;

template <class Op>
struct Operands {
  typename Op::ARegisters a;
  typename Op::BRegisters b;
  typename Op::DRegisters c;
};
template <class Op>
__global__ void warp_kernel(Operands<Op>* memory) {
  Operands<Op> mine = memory[blockIdx.x * 32 + threadIdx.x];
  mma<Op>(mine.c, mine.a, mine.b);
  memory[blockIdx.x * 32 + threadIdx.x] = mine;
}

using Kind = oracle::WarpMmaKind;

// Random numbers of an operand: small integers in every other trial, raw bits where all are numbers.
void fill_operand(void* registers, std::size_t bytes, Kind::Number n, bool small) {
  auto* at = static_cast<unsigned char*>(registers);
  for (std::size_t i = 0; i < bytes;) {
    const float x = small ? static_cast<float>(static_cast<int>(generator() % 9) - 4)
                          : std::normal_distribution<float>()(generator);
    const auto put = [&](auto value) {
      std::memcpy(at + i, static_cast<const void*>(&value), sizeof(value));
      i += sizeof(value);
    };
    if (n == Kind::Number::f64)
      put(static_cast<double>(x) * (small ? 1.0 : 1.0 + 0x1p-40 * generator()));
    else if (n == Kind::Number::f16)
      put(half_t(x));
    else if (n == Kind::Number::e4m3)
      put(float_e4m3_t(x));
    else if (n == Kind::Number::e5m2)
      put(float_e5m2_t(x));
    else
      put(static_cast<uint8_t>(generator()));
  }
}
double sum_at(const void* registers, Kind::Sum sum, int v) {
  const auto* at = static_cast<const unsigned char*>(registers);
  const auto take = [&](auto value) {
    std::memcpy(static_cast<void*>(&value), at + v * sizeof(value), sizeof(value));
    return static_cast<double>(value);
  };
  return sum == Kind::Sum::f64   ? take(0.0)
         : sum == Kind::Sum::f32 ? take(0.0f)
         : sum == Kind::Sum::s32 ? take(int32_t{})
                                 : take(half_t{});
}

template <class Op>
void prove_warp(const char* name) {
  constexpr MmaRow row = find_mma(Op::name);
  constexpr int M = row.m, N = row.n, K = row.k;
  const Instruction& body = *find_instruction(Op::name);
  const Kind kind = oracle::warp_mma_kind(row);
  const int threads = kind.quad_pairs ? 8 : 32, values = M * N / threads;
  std::vector<Operands<Op>> in(32 * trials);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool small = i / 32 % 2;
    fill_operand(in[i].a, sizeof(in[i].a), kind.a, small);
    fill_operand(in[i].b, sizeof(in[i].b), kind.b, small);
    for (int v = 0; v < values; ++v) {
      const int near_end = generator() % 2 ? 0x7fffffc0 : -0x7fffffc0;
      const int32_t s =
          kind.ending == Kind::Ending::saturate && small ? near_end : static_cast<int>(generator() % 2000) - 1000;
      auto* at = reinterpret_cast<unsigned char*>(in[i].c);
      const float x = small ? static_cast<float>(s % 16) : std::normal_distribution<float>()(generator);
      const double wide = x;
      const half_t h(x);
      if (kind.sum == Kind::Sum::f64) std::memcpy(at + 8 * v, &wide, 8);
      if (kind.sum == Kind::Sum::f32) std::memcpy(at + 4 * v, &x, 4);
      if (kind.sum == Kind::Sum::s32) std::memcpy(at + 4 * v, &s, 4);
      if (kind.sum == Kind::Sum::f16) std::memcpy(at + 2 * v, static_cast<const void*>(&h), 2);
    }
  }
  const Buffer device(in);
  warp_kernel<Op><<<trials, 32>>>(device.data);
  check(cudaGetLastError(), name);
  const auto out = device.get();
  Comparison comparison;
  for (int trial = 0; trial < trials; ++trial) {
    const void *a[32], *b[32], *c[32];
    void* d[32];
    std::vector<Operands<Op>> want(32);
    for (int t = 0; t < 32; ++t) {
      const auto& mine = in[trial * 32 + t];
      a[t] = mine.a, b[t] = mine.b, c[t] = mine.c, d[t] = want[t].c;
    }
    body.body(body, {a, b, c, d});
    for (int t = 0; t < 32; ++t) {
      for (int v = 0; v < values; ++v) {
        const double got = sum_at(out[trial * 32 + t].c, kind.sum, v), expected = sum_at(d[t], kind.sum, v);
        double addend = 64 + std::fabs(sum_at(c[t], kind.sum, v));  // normal numbers: a product above 64 is not met
        const double slack = kind.sum == Kind::Sum::f64 ? 0x1p-52 : row.arch == 89 ? 0x1p-13 : 0x1p-22;
        double bound = (K + 1) * slack * addend;
        if (kind.sum == Kind::Sum::f16) bound += 0x1p-9 * std::fabs(expected) + 0x1p-24;
        if (kind.sum == Kind::Sum::s32 || trial % 2) bound = 0;
        comparison.add(got, expected, addend, bound, kind.sum == Kind::Sum::f16,
                       std::string(name) + " trial " + std::to_string(trial) + " thread " + std::to_string(t) +
                           " value " + std::to_string(v));
      }
    }
  }
  comparison.report(name);
}

// 8-bit floats unpacked to halves, against the reference body of the instruction of 8-bit floats.
template <class T>
struct Eights {
  uint32_t a[4], b[2];
  float c[4];
};
template <class T>
__global__ void unpacked_kernel(Eights<T>* memory) {
  using Op = Unpacked<T>;
  Eights<T>& mine = memory[blockIdx.x * 32 + threadIdx.x];
  const Eights<T> in = mine;
  typename Op::ARegisters a;
  typename Op::BRegisters b;
  typename Op::DRegisters d = {in.c[0], in.c[1], in.c[2], in.c[3]};
  Op::unpack(a, in.a);
  Op::unpack(b, in.b);
  mma<Op>(d, a, b);
  for (int v = 0; v < 4; ++v) mine.c[v] = d[v];
}
template <class T>
void prove_unpacked(const char* name) {
  constexpr MmaRow row = find_mma(Unpacked<T>::name);
  const Instruction& body = *find_instruction(Unpacked<T>::name);
  const Kind kind = oracle::warp_mma_kind(row);
  std::vector<Eights<T>> in(32 * trials);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool small = i / 32 % 2;
    fill_operand(in[i].a, sizeof(in[i].a), kind.a, small);
    fill_operand(in[i].b, sizeof(in[i].b), kind.b, small);
    for (float& x : in[i].c)
      x = small ? static_cast<float>(generator() % 16) : std::normal_distribution<float>()(generator);
  }
  const Buffer device(in);
  unpacked_kernel<T><<<trials, 32>>>(device.data);
  check(cudaGetLastError(), name);
  const auto out = device.get();
  Comparison comparison;
  for (int trial = 0; trial < trials; ++trial) {
    const void *a[32], *b[32], *c[32];
    void* d[32];
    std::vector<Eights<T>> want(32);
    for (int t = 0; t < 32; ++t) {
      const auto& mine = in[trial * 32 + t];
      a[t] = mine.a, b[t] = mine.b, c[t] = mine.c, d[t] = want[t].c;
    }
    body.body(body, {a, b, c, d});
    for (int t = 0; t < 32; ++t)
      for (int v = 0; v < 4; ++v) {
        const double addend = 64 + std::fabs(in[trial * 32 + t].c[v]);
        comparison.add(out[trial * 32 + t].c[v], want[t].c[v], addend, trial % 2 ? 0 : (row.k + 1) * 0x1p-22 * addend,
                       false, name);
      }
  }
  comparison.report(name);
}

// Complex products through real ones.
template <class Real>
struct Complex {
  typename Real::ARegisters a[2];
  typename Real::BRegisters b[2];
  typename Real::DRegisters c[3];
};
template <class Real>
__global__ void complex_kernel(Complex<Real>* memory, bool gauss) {
  Complex<Real> mine = memory[blockIdx.x * 32 + threadIdx.x];
  typename Real::ARegisters minus, sum_a;
  typename Real::BRegisters sum_b;
  if (gauss) {
    for (unsigned i = 0; i < sizeof(sum_a) / sizeof(double); ++i) sum_a[i] = mine.a[0][i] + mine.a[1][i];
    for (unsigned i = 0; i < sizeof(sum_b) / sizeof(double); ++i) sum_b[i] = mine.b[0][i] + mine.b[1][i];
    mma<Real>(mine.c[0], mine.a[0], mine.b[0]);
    mma<Real>(mine.c[1], mine.a[1], mine.b[1]);
    mma<Real>(mine.c[2], sum_a, sum_b);
    memory[blockIdx.x * 32 + threadIdx.x] = mine;
    return;
  }
  for (unsigned i = 0; i < sizeof(minus) / sizeof(double); ++i) minus[i] = -mine.a[1][i];
  mma<Real>(mine.c[0], mine.a[0], mine.b[0]);
  mma<Real>(mine.c[0], minus, mine.b[1]);
  mma<Real>(mine.c[1], mine.a[0], mine.b[1]);
  mma<Real>(mine.c[1], mine.a[1], mine.b[0]);
  memory[blockIdx.x * 32 + threadIdx.x] = mine;
}
template <class Real>
void prove_complex(const char* name, bool gauss = false) {
  constexpr MmaRow row = find_mma(Real::name);
  const Kind kind = oracle::warp_mma_kind(row);
  std::vector<Complex<Real>> in(32 * trials);
  for (auto& x : in) {
    for (int part = 0; part < 2; ++part) {
      fill_operand(x.a[part], sizeof(x.a[part]), Kind::Number::f64, false);
      fill_operand(x.b[part], sizeof(x.b[part]), Kind::Number::f64, false);
    }
    for (auto& part : x.c) fill_operand(part, sizeof(part), Kind::Number::f64, false);
  }
  const Buffer device(in);
  complex_kernel<Real><<<trials, 32>>>(device.data, gauss);
  check(cudaGetLastError(), name);
  const auto out = device.get();
  Comparison comparison;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<Complex<Real>> want(in.begin() + trial * 32, in.begin() + trial * 32 + 32);
    for (int step = 0; step < (gauss ? 3 : 4); ++step) {
      const int to = gauss ? step : step / 2, left = step == 1 || step == 3, right = step == 1 || (step == 2 && !gauss);
      const void *a[32], *b[32], *c[32];
      void* d[32];
      std::vector<Complex<Real>> operands = want;
      for (int t = 0; t < 32; ++t) {
        if (step == 1 && !gauss)
          for (double& x : operands[t].a[1]) x = -x;
        if (step == 2 && gauss) {
          for (unsigned i = 0; i < sizeof(operands[t].a[0]) / sizeof(double); ++i)
            operands[t].a[0][i] += operands[t].a[1][i];
          for (unsigned i = 0; i < sizeof(operands[t].b[0]) / sizeof(double); ++i)
            operands[t].b[0][i] += operands[t].b[1][i];
        }
        a[t] = operands[t].a[left], b[t] = operands[t].b[right], c[t] = operands[t].c[to], d[t] = want[t].c[to];
      }
      oracle::warp_mma<row.m, row.n, row.k>(kind, a, b, c, d);
    }
    for (int t = 0; t < 32; ++t)
      for (int part = 0; part < (gauss ? 3 : 2); ++part)
        for (int v = 0; v < row.m * row.n / 32; ++v)
          comparison.add(out[trial * 32 + t].c[part][v], want[t].c[part][v], 64, 2 * (row.k + 1) * 0x1p-52 * 64, false,
                         name);
  }
  comparison.report(name);
}

template <int Matrices, bool Transposed>
__global__ void stmatrix_kernel(const uint32_t (*r)[Matrices], const unsigned* row, uint4* out) {
  const smem<uint4> tile = shared<uint4>("tile", 0, 64);
  for (unsigned i = threadIdx.x; i < 64; i += 32) tile[i] = make_uint4(0, 0, 0, 0);
  __syncthreads();
  const unsigned i = 32 * blockIdx.x + threadIdx.x;
  uint32_t mine[Matrices];
  for (int m = 0; m < Matrices; ++m) mine[m] = r[i][m];
  const auto to = tile + row[i];
  if constexpr (Matrices == 1) Transposed ? stmatrix_x1_trans(to, mine) : stmatrix_x1(to, mine);
  if constexpr (Matrices == 2) Transposed ? stmatrix_x2_trans(to, mine) : stmatrix_x2(to, mine);
  if constexpr (Matrices == 4) Transposed ? stmatrix_x4_trans(to, mine) : stmatrix_x4(to, mine);
  __syncthreads();
  for (unsigned j = threadIdx.x; j < 64; j += 32) out[64 * blockIdx.x + j] = tile[j];
}
template <int Matrices, bool Transposed>
void prove_stmatrix(const char* name) {
  struct Registers {
    uint32_t r[Matrices];
  };
  const Instruction& row = *find_instruction(name);
  std::vector<Registers> in(32 * trials);
  for (auto& x : in)
    for (uint32_t& r : x.r) r = generator();
  std::vector<unsigned> rows(32 * trials);
  for (int t = 0; t < trials; ++t) {  // 32 different rows of 64
    std::vector<unsigned> order(64);
    for (unsigned i = 0; i < 64; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), generator);
    std::copy(order.begin(), order.begin() + 32, rows.begin() + 32 * t);
  }
  const Buffer device_in(in);
  const Buffer device_rows(rows);
  const Buffer<uint4> device_out(64 * trials);
  stmatrix_kernel<Matrices, Transposed><<<trials, 32, 1024>>>(
      reinterpret_cast<const uint32_t(*)[Matrices]>(device_in.data), device_rows.data, device_out.data);
  check(cudaGetLastError(), name);
  const auto out = device_out.get();
  long equal = 0;
  for (int t = 0; t < trials; ++t) {
    std::vector<uint4> want(64, make_uint4(0, 0, 0, 0));
    const void* registers[32];
    void* to[32] = {};
    for (int i = 0; i < 32; ++i) registers[i] = &in[32 * t + i];
    for (int i = 0; i < 8 * Matrices; ++i) to[i] = &want[rows[32 * t + i]];
    row.body(row, {registers, nullptr, nullptr, to});
    equal += std::memcmp(want.data(), &out[64 * t], 1024) == 0;
  }
  report(name, trials, equal, 0, 0, equal == trials);
}

__global__ void movmatrix_kernel(uint32_t* memory) {
  uint32_t& mine = memory[32 * blockIdx.x + threadIdx.x];
  mine = movmatrix_trans(mine);
}
void prove_movmatrix(const char* name) {
  const Instruction& row = *find_instruction(name);
  std::vector<uint32_t> in(32 * trials);
  for (uint32_t& x : in) x = generator();
  const Buffer device(in);
  movmatrix_kernel<<<trials, 32>>>(device.data);
  check(cudaGetLastError(), name);
  const auto out = device.get();
  long equal = 0;
  for (int t = 0; t < trials; ++t) {
    uint32_t want[32];
    const void* from[32];
    void* to[32];
    for (int i = 0; i < 32; ++i) from[i] = &in[32 * t + i], to[i] = want + i;
    row.body(row, {from, nullptr, nullptr, to});
    equal += std::memcmp(want, &out[32 * t], sizeof(want)) == 0;
  }
  report(name, trials, equal, 0, 0, equal == trials);
}

}  // namespace
}  // namespace zellige

int main() {
  using namespace zellige;
  print_head("hardware_warp");
#define ZELLIGE_PROVE(op) prove_warp<op>(#op);
  ZELLIGE_WARP_ROWS(ZELLIGE_PROVE)
#undef ZELLIGE_PROVE
  prove_unpacked<float_e4m3_t>("Unpacked<float_e4m3_t>");
  prove_unpacked<float_e5m2_t>("Unpacked<float_e5m2_t>");
  prove_complex<SM80_8x8x4_F64F64F64F64_TN>("SM80_8x8x4_C64C64C64C64_TN");
  prove_complex<SM80_8x8x4_F64F64F64F64_TN>("SM80_8x8x4_GC64C64C64GC64_TN", true);
  prove_complex<SM90_16x8x4_F64F64F64F64_TN>("SM90_16x8x4_C64C64C64C64_TN");
  prove_complex<SM90_16x8x8_F64F64F64F64_TN>("SM90_16x8x8_C64C64C64C64_TN");
  prove_complex<SM90_16x8x16_F64F64F64F64_TN>("SM90_16x8x16_C64C64C64C64_TN");
  prove_stmatrix<1, false>("SM90_U32x1_STSM_N");
  prove_stmatrix<2, false>("SM90_U32x2_STSM_N");
  prove_stmatrix<4, false>("SM90_U32x4_STSM_N");
  prove_stmatrix<1, true>("SM90_U16x2_STSM_T");
  prove_stmatrix<2, true>("SM90_U16x4_STSM_T");
  prove_stmatrix<4, true>("SM90_U16x8_STSM_T");
  prove_movmatrix("SM75_U32x1_MOVM_T");
  std::printf("\n%zu rows: %s\n", proved.size(), all_hold ? "all hold" : "FAILED");
  return all_hold ? 0 : 1;
}
