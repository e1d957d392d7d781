// Fragments of values smaller than a byte: they fill the registers of ldmatrix, stmatrix and mma.sync in order, whole
// words at once where they lie so, and value by value elsewhere.
#include <gtest/gtest.h>

#include <cute/tensor.hpp>
#include <random>
#include <sstream>

#include "command.hpp"

using namespace cute;

namespace {

/// Stores random registers to a fragment of n registers under `layout`, and expects each value to be its bits; loads them
/// again.
template <class T, class L>
void expect_round_trip(L const& layout) {
  constexpr int bits = sizeof_bits_v<T>, n = decltype(size(layout))::value * bits / 32;
  std::mt19937 random(unsigned(bits) + unsigned(n));
  uint32_t given[n], found[n];
  for (uint32_t& word : given) word = uint32_t(random());
  auto fragment = make_tensor<T>(layout);
  store_registers(fragment, given);
  for (int i = 0; i < size(layout); ++i) {
    unsigned const expected = given[i * bits / 32] >> (i * bits % 32) & ((1u << bits) - 1);
    ASSERT_EQ(__builtin_bit_cast(unsigned char, T(fragment(i))), expected) << "value " << i;
  }
  load_registers(found, fragment);
  for (int i = 0; i < n; ++i) ASSERT_EQ(found[i], given[i]) << "register " << i;
}
template <class T>
void expect_round_trips() {
  constexpr int values = 32 / sizeof_bits_v<T>;
  expect_round_trip<T>(Layout<Shape<Int<values>>>{});
  expect_round_trip<T>(Layout<Shape<Shape<Int<values>, _2>, _2>>{});
  expect_round_trip<T>(Layout<Shape<Shape<Int<values>, _2>>, Stride<Stride<_1, Int<3 * values>>>>{});
  // Not in the order of memory.
  expect_round_trip<T>(Layout<Shape<_2, Int<values>>, Stride<Int<values>, _1>>{});
  expect_round_trip<T>(Layout<Shape<Int<values>>, Stride<_3>>{});
}
TEST(CompatSubbyteFragments, FillRegistersInOrder) {
  expect_round_trips<int4_t>();
  expect_round_trips<uint4_t>();
  expect_round_trips<int2_t>();
  expect_round_trips<uint2_t>();
  expect_round_trips<uint1_t>();
  expect_round_trips<bool>();
}

// ldmatrix into values of 4, 2 and 1 bits, by the copy of a TiledMMA and by one of its own, and stmatrix of them. No
// value is masked or shifted: the registers are the fragment.
TEST(CompatSubbyteFragments, LdmatrixAndStmatrixMoveWholeRegisters) {
  if (run("nvcc --version").status != 0) GTEST_SKIP() << "no nvcc";
  std::string const unit = file_of("subbyte.cu", R"(#include <cute/tensor.hpp>
using namespace cute;
__global__ void operand(uint32_t* out) {
  __shared__ alignas(16) uint8_t raw[16 * 64 / 2];
  auto sA = make_tensor(make_smem_ptr<uint4_t>(&raw[0]), Layout<Shape<_16, _64>, Stride<_64, _1>>{});
  auto mma = make_tiled_mma(SM80_16x8x64_S32U4U4S32_TN{});
  auto rA = mma.get_slice(threadIdx.x).partition_fragment_A(sA);
  auto copier = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, uint4_t>{}, mma);
  auto mine = copier.get_slice(threadIdx.x);
  copy(copier, mine.partition_S(sA), mine.retile_D(rA));
  auto words = recast<uint32_t>(rA);
  for (int i = 0; i < size(words); ++i) out[threadIdx.x * 4 + i] = words(i);
}
template <class T, class Load, class Store>
__global__ void through(uint32_t* out) {
  __shared__ alignas(16) uint8_t raw[8 * 16];
  constexpr int values = 32 / sizeof_bits_v<T>;
  auto tile = make_tensor(make_smem_ptr<T>(&raw[0]), Layout<Shape<_8, Int<4 * values>>, Stride<Int<4 * values>, _1>>{});
  auto load = make_tiled_copy(Copy_Atom<Load, T>{}, Layout<Shape<_8, _4>, Stride<_4, _1>>{}, Layout<Shape<_1, Int<values>>>{});
  auto store = make_tiled_copy(Copy_Atom<Store, T>{}, Layout<Shape<_8, _4>, Stride<_4, _1>>{}, Layout<Shape<_1, Int<values>>>{});
  auto fragment = make_fragment_like<T>(load.get_slice(threadIdx.x).partition_D(tile));
  copy(load, load.get_slice(threadIdx.x).partition_S(tile), fragment);
  copy(store, fragment, store.get_slice(threadIdx.x).partition_D(tile));
}
template __global__ void through<int4_t, SM75_U32x1_LDSM_N, SM90_U32x1_STSM_N>(uint32_t*);
template __global__ void through<uint2_t, SM75_U32x1_LDSM_N, SM90_U32x1_STSM_N>(uint32_t*);
template __global__ void through<uint1_t, SM75_U32x1_LDSM_N, SM90_U32x1_STSM_N>(uint32_t*);
)");
  std::string const ptx = testing::TempDir() + "zellige_compat_subbyte.ptx";
  CommandResult const result = run("nvcc" + flags + "-arch=sm_90a -Werror all-warnings --ptx -o " + ptx + " " + unit);
  ASSERT_EQ(result.status, 0) << result.text;
  std::stringstream text;
  text << std::ifstream(ptx).rdbuf();
  auto const count = [&](std::string const& word) {
    int n = 0;
    for (std::size_t at = 0; (at = text.str().find(word, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  EXPECT_EQ(count("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {"), 1);
  EXPECT_EQ(count("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {"), 3);
  EXPECT_EQ(count("stmatrix.sync.aligned.m8n8.x1.shared.b16 ["), 3);
  EXPECT_EQ(count(".local"), 0) << "the fragment is in registers";
  EXPECT_EQ(count("b16 \t%rs"), 0) << "no value is taken apart";
}

}  // namespace
