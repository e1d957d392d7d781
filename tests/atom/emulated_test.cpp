// The instructions called from kernels on the emulator: threads receive the results of the reference bodies
// and of simple loops, and a wrong use is a finding that names the instruction or the tensor.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <zellige/atom.hpp>
#include <zellige/atom/instruction_table.hpp>

#include "emulate/engine.hpp"

namespace zellige {
namespace {

using emulate::Buffer;
using emulate::Counter;
using emulate::EmulationReport;

emulate::EmulationReport launch(void (*entry)(emulate::Launch&), std::vector<Buffer*> arguments,
                                std::vector<bool> writes, unsigned threads = 32, unsigned shared_bytes = 8192) {
  return emulate::run(entry, {.grid = {1},
                              .block = {threads},
                              .shared_bytes = shared_bytes,
                              .arguments = std::move(arguments),
                              .writes = std::move(writes),
                              .workers = 1});
}
std::string messages(const EmulationReport& report) {
  std::string all;
  for (const auto& finding : report.findings) all += finding.message + "\n";
  return all;
}

template <class T, class F>
Buffer filled(const char* name, int count, F value) {
  Buffer buffer(name, count * sizeof(T));
  for (int i = 0; i < count; ++i) reinterpret_cast<T*>(buffer.data())[i] = value(i);
  buffer.mark_initialised();
  return buffer;
}
template <class T>
const T* elements(const Buffer& buffer) {
  return reinterpret_cast<const T*>(buffer.data());
}

// 16x16 by 16x8 in half: cp.async, ldmatrix, mma, vector stores. B is stored as (N, K), K contiguous.
__global__ void product(gmem<const half_t> A, gmem<const half_t> B, gmem<float> C) {
  const auto a_tile = shared<half_t>("A tile", 0, 256);
  const auto b_tile = shared<half_t>("B tile", 512, 128);
  const unsigned t = threadIdx.x;
  cp_async<16>(a_tile + 8 * t, A + 8 * t);
  if (t < 16) cp_async<16>(b_tile + 8 * t, B + 8 * t);
  cp_async_commit();
  cp_async_wait<0>();
  __syncthreads();
  uint32_t a[4], b[2];
  ldmatrix_x4(a, a_tile + 16 * (t % 16) + 8 * (t / 16));
  ldmatrix_x2(b, b_tile + 16 * (t % 8) + 8 * (t / 8 % 2));
  float d[4] = {};
  mma_m16n8k16<half_t>(d, a, b);
  store(C + (t / 4 * 8 + t % 4 * 2), Vec<float, 2>{{d[0], d[1]}});
  store(C + ((t / 4 + 8) * 8 + t % 4 * 2), Vec<float, 2>{{d[2], d[3]}});
}
void run_product(emulate::Launch& launch) { emulate::call(launch, product); }

TEST(Emulated, MatrixProduct) {
  std::mt19937 random(1);
  const auto draw = [&](int) { return half_t(std::normal_distribution<float>()(random)); };
  Buffer A = filled<half_t>("A", 256, draw), B = filled<half_t>("B", 128, draw), C("C", 512);
  const EmulationReport report = launch(run_product, {&A, &B, &C}, {false, false, true});
  EXPECT_EQ(messages(report), "");
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 8; ++n) {
      double sum = 0;
      for (int k = 0; k < 16; ++k)
        sum += double(float(elements<half_t>(A)[16 * m + k])) * float(elements<half_t>(B)[16 * n + k]);
      EXPECT_EQ(elements<float>(C)[8 * m + n], static_cast<float>(sum)) << m << " " << n;
    }
  EXPECT_EQ(report.counters[Counter::mma], 1u);
  EXPECT_EQ(report.counters[Counter::ldmatrix], 2u);
  EXPECT_EQ(report.counters[Counter::cp_async_16], 48u);
  EXPECT_EQ(report.counters[Counter::global_store_8], 64u);
  EXPECT_EQ(report.counters[Counter::barrier], 1u);
}

// Every ldmatrix form reads rows in an order of the test's choosing; unused lanes pass an address far
// outside.
template <int Matrices, bool Transposed>
__global__ void matrices(gmem<const uint32_t> row, gmem<uint32_t> out) {
  const auto tile = shared<uint16_t>("tile", 0, 512);
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < 512; i += 32) tile[i] = static_cast<uint16_t>(i);
  __syncthreads();
  uint32_t r[Matrices];
  const auto address = t < 8 * Matrices ? tile + 8 * row[t] : tile + 100000;
  if constexpr (Matrices == 1 && !Transposed) ldmatrix_x1(r, address);
  if constexpr (Matrices == 2 && !Transposed) ldmatrix_x2(r, address);
  if constexpr (Matrices == 4 && !Transposed) ldmatrix_x4(r, address);
  if constexpr (Matrices == 1 && Transposed) ldmatrix_x1_trans(r, address);
  if constexpr (Matrices == 2 && Transposed) ldmatrix_x2_trans(r, address);
  if constexpr (Matrices == 4 && Transposed) ldmatrix_x4_trans(r, address);
  for (int i = 0; i < Matrices; ++i) out[Matrices * t + i] = r[i];
}
template <int Matrices, bool Transposed>
void run_matrices(emulate::Launch& launch) {
  emulate::call(launch, matrices<Matrices, Transposed>);
}

template <int Matrices, bool Transposed>
void loads_matrices() {
  std::mt19937 random(2);
  Buffer row = filled<uint32_t>("row", 32, [&](int) { return random() % 64; });
  Buffer out("out", 4 * 32 * Matrices);
  const EmulationReport report = launch(run_matrices<Matrices, Transposed>, {&row, &out}, {false, true});
  EXPECT_EQ(messages(report), "");
  for (int t = 0; t < 32; ++t)
    for (int i = 0; i < Matrices; ++i)
      for (int e = 0; e < 2; ++e) {
        const int line = Transposed ? 2 * (t % 4) + e : t / 4, column = Transposed ? t / 4 : 2 * (t % 4) + e;
        EXPECT_EQ(elements<uint16_t>(out)[2 * (Matrices * t + i) + e],
                  8 * elements<uint32_t>(row)[8 * i + line] + column);
      }
}
TEST(Emulated, LdmatrixFromAnyRows) {
  loads_matrices<1, false>();
  loads_matrices<2, false>();
  loads_matrices<4, false>();
  loads_matrices<1, true>();
  loads_matrices<2, true>();
  loads_matrices<4, true>();
}

__global__ void partial(gmem<const uint8_t> source, gmem<uint8_t> out) {
  const auto tile = shared<uint8_t>("tile", 0, 16 * 32 + 8 * 32 + 4 * 32);
  const unsigned t = threadIdx.x;
  cp_async<16>(tile + 16 * t, source + 16 * t, t % 17);
  cp_async_commit();
  cp_async<8>(tile + 512 + 8 * t, source + 512 + 8 * t, t % 9);
  cp_async<4>(tile + 768 + 4 * t, source + 768 + 4 * t, t % 5);
  cp_async_commit();
  cp_async_wait<1>();
  store(out + 16 * t, load<16>(tile + 16 * t));
  cp_async_wait<0>();
  store(out + 512 + 8 * t, load<8>(tile + 512 + 8 * t));
  store(out + 768 + 4 * t, load<4>(tile + 768 + 4 * t));
}
void run_partial(emulate::Launch& launch) { emulate::call(launch, partial); }

TEST(Emulated, CpAsyncFillsWithZeros) {
  Buffer source = filled<uint8_t>("source", 896, [](int i) { return uint8_t(i % 251 + 1); });
  Buffer out("out", 896);
  const EmulationReport report = launch(run_partial, {&source, &out}, {false, true});
  EXPECT_EQ(messages(report), "");
  for (unsigned i = 0; i < 896; ++i) {
    const unsigned bytes = i < 512 ? 16 : i < 768 ? 8 : 4;
    const unsigned thread = (i - (i < 512 ? 0 : i < 768 ? 512 : 768)) / bytes;
    EXPECT_EQ(out.data()[i], i % bytes < thread % (bytes + 1) ? source.data()[i] : 0) << i;
  }
  EXPECT_EQ(report.counters[Counter::cp_async_8], 32u);
}

__global__ void exchanges(gmem<float> x) {
  const unsigned t = threadIdx.x;
  const float mine = static_cast<float>(t);
  float sum = mine;
  for (int mask = 16; mask > 0; mask /= 2) sum += shfl_xor(sum, mask);
  x[t] = sum;
  x[32 + t] = shfl_idx(mine, 31 - t);
  x[64 + t] = shfl_down(mine, 4);
  x[96 + t] = static_cast<float>(lane_index());
}
void run_exchanges(emulate::Launch& launch) { emulate::call(launch, exchanges); }

TEST(Emulated, Shuffles) {
  Buffer x("x", 512);
  const EmulationReport report = launch(run_exchanges, {&x}, {true});
  EXPECT_EQ(messages(report), "");
  for (int t = 0; t < 32; ++t) {
    EXPECT_EQ(elements<float>(x)[t], 496.0f);
    EXPECT_EQ(elements<float>(x)[32 + t], 31.0f - t);
    EXPECT_EQ(elements<float>(x)[64 + t], t + 4 < 32 ? t + 4.0f : t);
    EXPECT_EQ(elements<float>(x)[96 + t], static_cast<float>(t));
  }
  EXPECT_EQ(report.counters[Counter::shuffle], 7u);
}

__global__ void accumulates(gmem<const uint32_t> operands, gmem<uint32_t> out) {
  const unsigned t = threadIdx.x;
  uint32_t a[4], b[2], h[2] = {0x3c003c00u, 0u};
  for (int i = 0; i < 4; ++i) a[i] = operands[6 * t + i];
  for (int i = 0; i < 2; ++i) b[i] = operands[6 * t + 4 + i];
  const uint32_t a2[2] = {a[0], a[1]}, b1[1] = {b[0]};
  float d[4] = {1, 2, 3, 4}, e[4] = {1, 2, 3, 4};
  mma_m16n8k16<bfloat16_t>(d, a, b);
  mma_m16n8k8<half_t>(e, a2, b1);
  mma_m16n8k16<half_t>(h, a, b);
  for (int i = 0; i < 4; ++i) out[10 * t + i] = bit_cast<uint32_t>(d[i]);
  for (int i = 0; i < 4; ++i) out[10 * t + 4 + i] = bit_cast<uint32_t>(e[i]);
  for (int i = 0; i < 2; ++i) out[10 * t + 8 + i] = h[i];
}
void run_accumulates(emulate::Launch& launch) { emulate::call(launch, accumulates); }

template <class Row, class Accumulator>
void equals_reference(const Buffer& operands, const Buffer& out, int at,
                      const Accumulator (&start)[sizeof(typename Row::DRegisters) / 4]) {
  reference::MmaOperands<Row> in[32];
  reference::MmaResult<Row> expected[32];
  for (int t = 0; t < 32; ++t) {
    std::memcpy(in[t].a, elements<uint32_t>(operands) + 6 * t, sizeof(in[t].a));
    std::memcpy(in[t].b, elements<uint32_t>(operands) + 6 * t + 4, sizeof(in[t].b));
    std::memcpy(in[t].c, start, sizeof(in[t].c));
  }
  const Instruction& row = *find_instruction(Row::name);
  row.body(row, reference::WarpRegisters(in, expected));
  for (int t = 0; t < 32; ++t)
    // The bits are compared, not the values. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
    EXPECT_EQ(std::memcmp(expected[t].d, elements<uint32_t>(out) + 10 * t + at, sizeof(expected[t].d)), 0) << t;
}

TEST(Emulated, MmaAccumulatesInPlace) {
  std::mt19937 random(3);
  Buffer operands =
      filled<half_t>("operands", 32 * 12, [&](int) { return half_t(std::normal_distribution<float>()(random)); });
  Buffer out("out", 4 * 10 * 32);
  const EmulationReport report = launch(run_accumulates, {&operands, &out}, {false, true});
  EXPECT_EQ(messages(report), "");
  equals_reference<SM80_16x8x16_F32BF16BF16F32_TN, float>(operands, out, 0, {1, 2, 3, 4});
  equals_reference<SM80_16x8x8_F32F16F16F32_TN, float>(operands, out, 4, {1, 2, 3, 4});
  equals_reference<SM80_16x8x16_F16F16F16F16_TN, uint32_t>(operands, out, 8, {0x3c003c00u, 0u});
  EXPECT_EQ(report.counters[Counter::mma], 3u);
}

// Wrong uses.
__global__ void half_a_warp(gmem<float> x) {
  float d[4] = {};
  const uint32_t a[4] = {}, b[2] = {};
  if (threadIdx.x < 16) mma_m16n8k16<half_t>(d, a, b);
  x[threadIdx.x] = d[0];
}
void run_half_a_warp(emulate::Launch& launch) { emulate::call(launch, half_a_warp); }

TEST(EmulatedMisuse, AnMmaOfHalfAWarpIsNamed) {
  Buffer x("x", 128);
  const EmulationReport report = launch(run_half_a_warp, {&x}, {true});
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].kind, emulate::Finding::Kind::divergence) << messages(report);
  EXPECT_NE(report.findings[0].message.find("SM80_16x8x16_F32F16F16F32_TN"), std::string::npos) << messages(report);
}

__global__ void misaligned(gmem<const half_t> x, gmem<half_t> y) {
  store(y + 8 * threadIdx.x, load<8>(x + 8 * threadIdx.x + 4));
}
void run_misaligned(emulate::Launch& launch) { emulate::call(launch, misaligned); }

TEST(EmulatedMisuse, AMisalignedVectorIsNamed) {
  Buffer x = filled<half_t>("x", 512, [](int) { return half_t(1.0f); }), y("y", 1024);
  const EmulationReport report = launch(run_misaligned, {&x, &y}, {false, true});
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].kind, emulate::Finding::Kind::misaligned) << messages(report);
  EXPECT_EQ(report.findings[0].tensor, "x");
}

template <int Groups>
__global__ void waits(gmem<const half_t> x, gmem<half_t> y) {
  const auto tile = shared<half_t>("tile", 0, 256);
  cp_async<16>(tile + 8 * threadIdx.x, x + 8 * threadIdx.x);
  cp_async_commit();
  cp_async_wait<Groups>();
  store(y + 8 * threadIdx.x, load<8>(tile + 8 * threadIdx.x));
}
template <int Groups>
void run_waits(emulate::Launch& launch) {
  emulate::call(launch, waits<Groups>);
}

TEST(EmulatedMisuse, AReadBeforeTheCopyHasArrivedIsFound) {
  Buffer x = filled<half_t>("x", 256, [](int) { return half_t(1.0f); }), y("y", 512), z("z", 512);
  EXPECT_EQ(messages(launch(run_waits<0>, {&x, &y}, {false, true})), "");
  const EmulationReport early = launch(run_waits<1>, {&x, &z}, {false, true});
  ASSERT_FALSE(early.findings.empty());
  EXPECT_EQ(early.findings[0].tensor, "tile") << messages(early);
}

__global__ void row_outside(gmem<uint32_t> out) {
  const auto tile = shared<half_t>("tile", 0, 256);
  store(tile + 8 * threadIdx.x, Vec<half_t, 8>{});
  __syncthreads();
  uint32_t r[4];
  ldmatrix_x4(r, tile + 8 * (threadIdx.x + 1));
  out[threadIdx.x] = r[0];
}
void run_row_outside(emulate::Launch& launch) { emulate::call(launch, row_outside); }

TEST(EmulatedMisuse, AMatrixRowOutsideIsNamedWithItsLane) {
  Buffer out("out", 128);
  const EmulationReport report = launch(run_row_outside, {&out}, {true});
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].kind, emulate::Finding::Kind::out_of_bounds) << messages(report);
  EXPECT_EQ(report.findings[0].tensor, "tile");
  EXPECT_NE(report.findings[0].message.find("thread 31"), std::string::npos) << messages(report);
}

__global__ void loads_once(gmem<half_t> x) { store(x + threadIdx.x, load_once<1>(x + threadIdx.x)); }
void run_loads_once(emulate::Launch& launch) { emulate::call(launch, loads_once); }

TEST(EmulatedMisuse, LoadOnceOfAWrittenTensorIsNamed) {
  Buffer x = filled<half_t>("x", 32, [](int) { return half_t(1.0f); });
  const EmulationReport report = launch(run_loads_once, {&x}, {true});
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].kind, emulate::Finding::Kind::instruction);
  EXPECT_NE(report.findings[0].message.find("load_once is for global memory that the kernel does not write"),
            std::string::npos)
      << messages(report);
}

}  // namespace
}  // namespace zellige
