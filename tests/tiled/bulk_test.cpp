// Hopper's small API under CuTe's names: bulk copies of tensors, barriers, thread election, the selection of
// an instruction for a tile, and TMA into every CTA of a cluster.
#include <zellige/atom/bulk_copy_call.hpp>
#include <zellige/atom/cluster_names.hpp>
#include <zellige/atom/gmma_names_ext.hpp>
#include <zellige/atom/gmma_selector.hpp>

#include "emulated.hpp"

namespace zellige {
namespace {

using Rows = Layout<Shape<_8, _64>, Stride<_64, _1>>;
using Padded = Layout<Shape<_8, _64>, Stride<_72, _1>>;

/// How a test spells its copies: the traits that choose the width, an atom or a tiled copy of them, or a tiled copy
/// of atoms of a row.
enum class Spelling { traits, atom, tiled_atom, tiled_rows };

/// There by runs of a row (the padding leaves no longer ones), back in whatever tiles an atom is tiled into.
template <Spelling spelling>
__global__ void there_and_back(gmem<float const> in, gmem<float> out) {
  auto const from = make_tensor(make_gmem_ptr(in), Rows{});
  auto const to = make_tensor(make_gmem_ptr(out), Rows{});
  auto const kept = make_tensor(make_smem_ptr(shared<float>("rows", 0, 8 * 72)), Padded{});
  auto const barrier = shared<uint64_t>("barrier", 4096, 1);
  bool const selected = threadIdx.x < 32 && elect_one_sync();
  if (selected) {
    initialize_barrier(barrier[0], 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  auto const whole = make_tiled_copy(Copy_Atom<Copy_Traits<SM90_BULK_COPY_G2S, Int<2048>>, float>{}, Layout<_1>{},
                                     Layout<Shape<_1, _64>>{});
  auto const back = make_tiled_copy(Copy_Atom<Copy_Traits<SM90_BULK_COPY_S2G, Int<2048>>, float>{}, Layout<_1>{},
                                    Layout<Shape<_1, _64>>{});
  auto const automatic = Copy_Atom<SM90_BULK_COPY_AUTO, float>{};
  if (selected) {
    set_barrier_transaction_bytes(barrier, 8 * 64 * 4);
    if constexpr (spelling == Spelling::tiled_rows) {
      auto const mine = whole.get_slice(0);
      copy(whole.with(barrier), mine.partition_S(from), mine.partition_D(kept));
    } else if constexpr (spelling == Spelling::tiled_atom) {
      copy(make_tiled_copy(automatic, Layout<_1>{}, Layout<_1>{}).with(barrier), from, kept);
    } else if constexpr (spelling == Spelling::atom) {
      copy(automatic.with(barrier[0]), from, kept);
    } else {
      copy(Copy_Traits<SM90_BULK_COPY_AUTO>{}.with(barrier), from, kept);
    }
  }
  wait_barrier(barrier, 0);
  for (int i = int(threadIdx.x); i < int(size(kept)); i += 64) kept(i) = kept(i) + 1;
  tma_store_fence();
  __syncthreads();
  if (selected) {
    if constexpr (spelling == Spelling::tiled_rows) {
      auto const mine = back.get_slice(0);
      copy(back, mine.partition_S(kept), mine.partition_D(to));
    } else if constexpr (spelling == Spelling::tiled_atom) {
      copy(make_tiled_copy(automatic, Layout<_1>{}, Layout<_1>{}), kept, to);
    } else if constexpr (spelling == Spelling::atom) {
      copy(automatic, kept, to);
    } else {
      copy(Copy_Traits<SM90_BULK_COPY_AUTO>{}, kept, to);
    }
    tma_store_arrive();
    tma_store_wait<0>();
  }
}
template <Spelling spelling>
void run_there(emulate::Launch& l) {
  emulate::call(l, there_and_back<spelling>);
}
template <Spelling spelling>
void comes_back() {
  auto in = filled<float>("in", 512, [](int i) { return float(i); });
  emulate::Buffer out("out", 2048);
  ASSERT_EQ(launch(run_there<spelling>, {&in, &out}, {false, true}, 64, 4104), "");
  for (int i = 0; i < 512; ++i) ASSERT_EQ(elements<float>(out)[i], i + 1);
}
TEST(BulkCopies, LongestCommonRuns) { comes_back<Spelling::traits>(); }
TEST(BulkCopies, LongestCommonRunsByAnAtom) { comes_back<Spelling::atom>(); }
TEST(BulkCopies, LongestCommonRunsByATiledAtom) { comes_back<Spelling::tiled_atom>(); }
TEST(BulkCopies, AsTiledAtoms) { comes_back<Spelling::tiled_rows>(); }

/// Two runs, each repeated four times by a stride of 0: the barrier counts two.
__global__ void repeated(gmem<float const> in, gmem<float> out) {
  using Repeated = Layout<Shape<_64, Shape<_4, _2>>, Stride<_1, Stride<_0, _64>>>;
  auto const from = make_tensor(make_gmem_ptr(in), Repeated{});
  auto const kept = make_tensor(make_smem_ptr(shared<float>("runs", 0, 128)), Repeated{});
  auto const barrier = shared<uint64_t>("barrier", 512, 1);
  if (threadIdx.x == 0) {
    initialize_barrier(barrier[0], 1);
    fence_mbarrier_init();
    set_barrier_transaction_bytes(barrier, 2 * 64 * 4);
    copy(Copy_Atom<Copy_Traits<SM90_BULK_COPY_G2S, Int<2048>>, float>{}.with(barrier), from, kept);
  }
  __syncthreads();
  wait_barrier(barrier, 0);
  auto const to = make_tensor(make_gmem_ptr(out), Layout<_128>{});
  int const i = int(threadIdx.x);
  to(i) = kept(i % 64, make_coord(3, i / 64));
}
TEST(BulkCopies, WhatAStrideOfZeroRepeatsIsCopiedOnce) {
  auto in = filled<float>("in", 128, [](int i) { return float(i); });
  emulate::Buffer out("out", 512);
  ASSERT_EQ(launch([](emulate::Launch& l) { emulate::call(l, repeated); }, {&in, &out}, {false, true}, 128, 520), "");
  for (int i = 0; i < 128; ++i) ASSERT_EQ(elements<float>(out)[i], i);
}

TEST(GmmaSelector, GreatestNThatDivides) {
  using GMMA::ss_op_selector, GMMA::rs_op_selector, GMMA::Major;
  static_assert(is_same_v<decltype(ss_op_selector<half_t, half_t, float, Shape<_128, _192, _64>>()),
                          GMMA::MMA_64x192x16_F32F16F16_SS<Major::K, Major::K>>);
  static_assert(is_same_v<decltype(ss_op_selector<bfloat16_t, bfloat16_t, float, Shape<_64, _512, _64>, Major::MN>()),
                          GMMA::MMA_64x256x16_F32BF16BF16_SS<Major::MN, Major::K>>);
  static_assert(is_same_v<decltype(rs_op_selector<float, float, float, Shape<_64, Int<160>, _32>>()),
                          GMMA::MMA_64x160x8_F32TF32TF32_RS_TN<>>);
  static_assert(is_same_v<decltype(ss_op_selector<int8_t, uint8_t, int, Shape<_64, _8, _32>>()),
                          GMMA::MMA_64x8x32_S32S8U8_SS_TN>);
  static_assert(is_same_v<decltype(rs_op_selector<float_e4m3_t, float_e5m2_t, half_t, Shape<_64, _24, _64>>()),
                          GMMA::MMA_64x24x32_F16E4M3E5M2_RS_TN<>>);
}

}  // namespace
}  // namespace zellige
