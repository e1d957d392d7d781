// A typical matmul tile for Hopper: TMA into shared memory of a GMMA layout, descriptors as
// fragments, warpgroup MMAs, accumulators in registers, and a TMA store. On the emulator, exactly.
#include <random>
#include <zellige/atom/cluster_names.hpp>
#include <zellige/atom/gmma_call.hpp>
#include <zellige/atom/tma_call.hpp>

#include "emulated.hpp"

namespace zellige {
namespace {

using Tile = Shape<_128, _64>;
template <class Op>
using Loaded = typename MMA_Traits<Op>::ValTypeA;

/// C (128, 128) = A (128, 64) B^T; A and B as their TMA copies lay them out.
template <class Op, class LayoutA, class LayoutB, class CopyA, class CopyB, class CopyC>
__global__ void tile_product(const TmaDescriptor map_a, const TmaDescriptor map_b, const TmaDescriptor map_c) {
  using T = Loaded<Op>;
  auto const sA = make_tensor(make_smem_ptr(shared<T>("sA", 0, 128 * 64)), LayoutA{});
  auto const sB = make_tensor(make_smem_ptr(shared<T>("sB", 32768, 128 * 64)), LayoutB{});
  auto const sC = make_tensor(make_smem_ptr(shared<float>("sC", 65536, 128 * 128)), Layout<Shape<_128, _128>>{});
  auto const barrier = shared<uint64_t>("barrier", 131072, 1);
  int const thread = int(threadIdx.x);
  if (thread == 0) {
    mbarrier_init(barrier, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  CopyA copy_a;
  CopyB copy_b;
  CopyC copy_c;
  if (thread == 0) {
    mbarrier_arrive_expect_tx(barrier, 2 * 128 * 64 * sizeof(T));
    auto const gA = local_tile(copy_a.get_tma_tensor(make_shape(128, 64)), Tile{}, make_coord(0, 0));
    auto const gB = local_tile(copy_b.get_tma_tensor(make_shape(128, 64)), Tile{}, make_coord(0, 0));
    auto const all_a = copy_a.get_slice(0);
    auto const all_b = copy_b.get_slice(0);
    copy(copy_a.with(&map_a, barrier), all_a.partition_S(gA), all_a.partition_D(sA));
    copy(copy_b.with(&map_b, barrier), all_b.partition_S(gB), all_b.partition_D(sB));
  }
  mbarrier_wait(barrier, 0);

  auto const mma = make_tiled_mma(Op{}, Layout<Shape<_2, _1, _1>>{});
  auto const thr = mma.get_slice(thread);
  auto const rA = thr.make_fragment_A(thr.partition_A(sA));
  auto const rB = thr.make_fragment_B(thr.partition_B(sB));
  auto out = thr.partition_C(sC);
  auto rC = thr.make_fragment_C(out);
  auto const first = mma.with(GMMA::ScaleOut::Zero);
  warpgroup_fence_operand(rC);
  warpgroup_arrive();
  gemm(first, rA(_, _, 0), rB(_, _, 0), rC);
  for (int k = 1; k < int(size<2>(rA)); ++k) gemm(mma, rA(_, _, k), rB(_, _, k), rC);
  warpgroup_commit_batch();
  warpgroup_wait<0>();
  warpgroup_fence_operand(rC);
  copy(rC, out);
  tma_store_fence();
  __syncthreads();
  if (thread == 0) {
    auto const gC = local_tile(copy_c.get_tma_tensor(make_shape(128, 128)), Shape<_128, _128>{}, make_coord(0, 0));
    auto const all = copy_c.get_slice(0);
    auto target = all.partition_D(gC);
    copy(copy_c.with(&map_c), all.partition_S(sC), target);
    tma_store_arrive();
    tma_store_wait<0>();
  }
}
/// Each CTA of a cluster of two loads a half of the tile into both.
template <class LayoutA, class CopyA>
__global__ void shared_load(const TmaDescriptor map, gmem<half_t> out) {
  auto const sA = make_tensor(make_smem_ptr(shared<half_t>("sA", 0, 128 * 64)), LayoutA{});
  auto const barrier = shared<uint64_t>("barrier", 16384, 1);
  int const thread = int(threadIdx.x);
  CopyA const tma;
  auto const cluster = make_layout(Shape<_2, _1, _1>{});
  uint16_t const mask = create_tma_multicast_mask<0>(cluster, make_coord(int(block_rank_in_cluster()), 0, 0));
  if (thread == 0) {
    initialize_barrier(barrier, 1);
    fence_mbarrier_init();
  }
  cluster_sync();
  if (thread == 0) {
    set_barrier_transaction_bytes(barrier, 128 * 64 * 2);
    auto const tile = local_tile(tma.get_tma_tensor(make_shape(256, 64)), Tile{}, make_coord(1, 0));
    auto const parts = tma_partition(tma, int(block_rank_in_cluster()), make_layout(_2{}), group_modes<0, 2>(sA),
                                     group_modes<0, 2>(tile));
    copy(tma.with(&map, barrier, mask, CacheHint::evict_last), get<0>(parts), get<1>(parts));
  }
  wait_barrier(barrier, 0);
  auto const mine = make_tensor(make_gmem_ptr(out + 8192 * int(blockIdx.x)), Layout<Tile, Stride<_64, _1>>{});
  for (int i = thread; i < 8192; i += 64) mine(i) = sA(i);
  cluster_sync();  // nobody leaves while the other may still write here
}

template <class... T>
void run(emulate::Launch& l) {
  emulate::call(l, tile_product<T...>);
}

template <class... T>
void run_shared_load(emulate::Launch& l) {
  emulate::call(l, shared_load<T...>);
}

/// The descriptor of a copy, for the emulator.
template <class Copy, class X>
TmaDescriptor descriptor(Copy const&, X const& global, std::size_t bytes, int ctas = 1) {
  using Traits = typename Copy::Traits;
  using T = typename X::value_type;
  auto const tile = detail::tma_tile<T, T>(global, Layout<_1>{}, _1{});
  TmaNumbers const n = detail::numbers_of(tile, typename Traits::AuxParams::TmaGmemBasis{}, sizeof_bits<T>::value,
                                          sizeof_bits<T>::value, ctas);
  return make_tma_descriptor_emulated(detail::tma_tensor<T, typename Traits::AuxParams::TmaSwizzle>(n), bytes);
}

template <class Op, class LayoutA, class LayoutB, class StrideA, class StrideB>
void is_exact() {
  using T = Loaded<Op>;
  std::mt19937 random(5);
  auto draw = [&](int) { return T(float(int(random() % 9) - 4)); };
  emulate::Buffer A = filled<T>("A", 8192, draw), B = filled<T>("B", 8192, draw), C("C", 128 * 128 * 4);
  alignas(128) static T nowhere[64];
  alignas(128) static float nowhere_c[32];
  auto const gA = make_tensor(make_gmem_ptr(&nowhere[0]), make_layout(make_shape(128, 64), StrideA{}));
  auto const gB = make_tensor(make_gmem_ptr(&nowhere[0]), make_layout(make_shape(128, 64), StrideB{}));
  auto const gC = make_tensor(make_gmem_ptr(&nowhere_c[0]), make_layout(make_shape(128, 128), make_stride(_1{}, 128)));
  auto const a = make_tma_copy(SM90_TMA_LOAD{}, gA, LayoutA{}, Tile{}, _1{});
  auto const b = make_tma_copy(SM90_TMA_LOAD{}, gB, LayoutB{}, Tile{}, _1{});
  auto const c = make_tma_copy(SM90_TMA_STORE{}, gC, Layout<Shape<_128, _128>>{}, Shape<_128, _128>{}, _1{});
  emulate::LaunchConfig config{.grid = {1}, .block = {256}, .shared_bytes = 131080, .workers = 1};
  config.parameters.emplace_back(descriptor(a, gA, A.bytes()), A, false);
  config.parameters.emplace_back(descriptor(b, gB, B.bytes()), B, false);
  config.parameters.emplace_back(descriptor(c, gC, C.bytes()), C, true);
  emulate::EmulationReport const report = emulate::run(
      run<Op, LayoutA, LayoutB, remove_cvref_t<decltype(a)>, remove_cvref_t<decltype(b)>, remove_cvref_t<decltype(c)>>,
      config);
  for (auto const& finding : report.findings) ADD_FAILURE() << finding.message;
  for (int m = 0; m < 128; ++m) {
    for (int n = 0; n < 128; ++n) {
      float sum = 0;
      for (int k = 0; k < 64; ++k)
        sum += float(elements<T>(A)[gA.layout()(m, k)]) * float(elements<T>(B)[gB.layout()(n, k)]);
      ASSERT_EQ(elements<float>(C)[m + 128 * n], sum) << m << " " << n;
    }
  }
}

template <template <class> class Atom, class T>
using Tiled = remove_cvref_t<decltype(tile_to_shape(Atom<T>{}, Tile{}))>;
using KMajor = Stride<Int<64>, _1>;
using MnMajor = Stride<_1, Int<128>>;

TEST(Multicast, TwoCtasLoadHalfATileEach) {
  using Smem = remove_cvref_t<decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Tile{}))>;
  emulate::Buffer A = filled<half_t>("A", 256 * 64, [](int i) { return half_t(float(i % 2048)); });
  emulate::Buffer out("out", 2 * 8192 * 2);
  alignas(128) static half_t nowhere[64];
  auto const gA = make_tensor(make_gmem_ptr(&nowhere[0]), make_layout(make_shape(256, 64), Stride<Int<64>, _1>{}));
  auto const tma = make_tma_copy(SM90_TMA_LOAD_MULTICAST{}, gA, Smem{}, Tile{}, _2{});
  emulate::LaunchConfig config{.grid = {2}, .block = {64}, .shared_bytes = 16392, .workers = 1, .cluster = {2, 1, 1}};
  config.parameters.emplace_back(descriptor(tma, gA, A.bytes(), 2), A, false);
  config.parameters.emplace_back(out, true);
  emulate::EmulationReport const report = emulate::run(run_shared_load<Smem, remove_cvref_t<decltype(tma)>>, config);
  for (auto const& finding : report.findings) ADD_FAILURE() << finding.message;
  for (int i = 0; i < 2 * 8192; ++i)
    ASSERT_EQ(float(elements<half_t>(out)[i]), float(elements<half_t>(A)[8192 + i % 8192])) << i;
}

/// The tile at (1, 1) of a tensor of floats, by boxes of 64-bit elements.
template <class Copy>
__global__ void pairs_load(const TmaDescriptor map, gmem<float> out) {
  auto const kept = make_tensor(make_smem_ptr(shared<float>("tile", 0, 32 * 16)), Layout<Shape<_32, _16>>{});
  auto const barrier = shared<uint64_t>("barrier", 2048, 1);
  Copy tma;
  if (threadIdx.x == 0) {
    mbarrier_init(barrier, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(barrier, 32 * 16 * 4);
    auto const tile = local_tile(tma.get_tma_tensor(make_shape(64, 32)), Shape<_32, _16>{}, make_coord(1, 1));
    auto const all = tma.get_slice(0);
    copy(tma.with(&map, barrier), all.partition_S(tile), all.partition_D(kept));
  }
  __syncthreads();
  mbarrier_wait(barrier, 0);
  auto const to = make_tensor(make_gmem_ptr(out), Layout<_512>{});
  for (int i = int(threadIdx.x); i < 512; i += 64) to(i) = kept(i);
}
template <class Copy>
void run_pairs_load(emulate::Launch& l) {
  emulate::call(l, pairs_load<Copy>);
}
TEST(Tma, BoxesOfLargerElementsThanTheTensors) {
  emulate::Buffer A = filled<float>("A", 64 * 32, [](int i) { return float(i); }), out("out", 512 * 4);
  alignas(128) static float nowhere[64];
  auto const gA = make_tensor(make_gmem_ptr(&nowhere[0]), make_layout(make_shape(64, 32)));
  auto const tma = make_tma_copy<uint64_t>(SM90_TMA_LOAD{}, gA, Layout<Shape<_32, _16>>{}, Shape<_32, _16>{}, _1{});
  emulate::LaunchConfig config{.grid = {1}, .block = {64}, .shared_bytes = 2056, .workers = 1};
  config.parameters.emplace_back(*tma.get_tma_descriptor(), A, false);
  config.parameters.emplace_back(out, true);
  emulate::EmulationReport const report = emulate::run(run_pairs_load<remove_cvref_t<decltype(tma)>>, config);
  for (auto const& finding : report.findings) ADD_FAILURE() << finding.message;
  for (int i = 0; i < 512; ++i) ASSERT_EQ(elements<float>(out)[i], 32 + i % 32 + 64 * (16 + i / 32)) << i;
}

TEST(WarpgroupProducts, HalfKMajorInEverySwizzle) {
  using Op = GMMA::Mma<128, Number::f32, Number::f16, Number::f16>;
  is_exact<Op, Tiled<GMMA::Layout_K_SW128_Atom, half_t>, Tiled<GMMA::Layout_K_SW64_Atom, half_t>, KMajor, KMajor>();
  is_exact<Op, Tiled<GMMA::Layout_K_SW32_Atom, half_t>, Tiled<GMMA::Layout_K_INTER_Atom, half_t>, KMajor, KMajor>();
}
TEST(WarpgroupProducts, Bfloat16MnMajor) {
  using Op = GMMA::Mma<128, Number::f32, Number::bf16, Number::bf16, false, Major::MN, Major::MN>;
  is_exact<Op, Tiled<GMMA::Layout_MN_SW128_Atom, bfloat16_t>, Tiled<GMMA::Layout_MN_SW64_Atom, bfloat16_t>, MnMajor,
           MnMajor>();
}
TEST(WarpgroupProducts, SmallerN) {
  using Op = GMMA::Mma<64, Number::f32, Number::f16, Number::f16, false, Major::K, Major::MN>;
  is_exact<Op, Tiled<GMMA::Layout_K_SW128_Atom, half_t>, Tiled<GMMA::Layout_MN_SW128_Atom, half_t>, KMajor, MnMajor>();
}
TEST(WarpgroupProducts, TensorFloat) {
  using Op = GMMA::Mma<128, Number::f32, Number::tf32, Number::tf32>;
  is_exact<Op, Tiled<GMMA::Layout_K_SW128_Atom, tfloat32_t>, Tiled<GMMA::Layout_K_SW128_Atom, tfloat32_t>, KMajor,
           KMajor>();
}

}  // namespace
}  // namespace zellige
