// Hopper kernels as CUTLASS users write them: a warp-specialized GEMM with clusters, multicast TMA, a
// pipeline and warpgroup instructions, and other parts of the headers that such kernels use. The tests
// compile it; tutorials/check_pipeline.cu runs the GEMM on a GPU.
#include <cuda_runtime.h>
#include <cutlass/arch/arch.h>
#include <cutlass/arch/barrier.h>
#include <cutlass/arch/config.h>
#include <cutlass/arch/grid_dependency_control.h>
#include <cutlass/arch/mma_sm90.h>
#include <cutlass/arch/reg_reconfig.h>
#include <cutlass/array.h>
#include <cutlass/cutlass.h>
#include <cutlass/device_kernel.h>
#include <cutlass/kernel_launch.h>
#include <cutlass/numeric_types.h>

#include <cute/arch/cluster_sm90.hpp>
#include <cute/arch/copy_sm90.hpp>
#include <cute/arch/copy_sm90_desc.hpp>
#include <cute/arch/copy_sm90_tma.hpp>
#include <cute/arch/mma_sm90.hpp>
#include <cute/arch/mma_sm90_desc.hpp>
#include <cute/arch/mma_sm90_gmma.hpp>
#include <cute/atom/copy_traits_sm90.hpp>
#include <cute/atom/copy_traits_sm90_im2col.hpp>
#include <cute/atom/copy_traits_sm90_tma.hpp>
#include <cute/atom/copy_traits_sm90_tma_swizzle.hpp>
#include <cute/atom/mma_traits_sm90.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>
#include <cute/tensor.hpp>
#include <cutlass/cluster_launch.hpp>
#include <cutlass/detail/dependent_false.hpp>
#include <cutlass/pipeline/pipeline.hpp>
#include <cutlass/pipeline/sm90_pipeline.hpp>
#include <cutlass/util/GPU_Clock.hpp>
#include <cutlass/util/helper_cuda.hpp>
#include <cutlass/util/print_error.hpp>

#if !defined(CUTLASS_ARCH_MMA_SM90_SUPPORTED)
#error "CUTLASS_ARCH_MMA_SM90_SUPPORTED is not defined"
#endif
#if defined(__CUDA_ARCH__) && !(defined(CUTLASS_ARCH_MMA_SM90A_ENABLED) && defined(CUTE_ARCH_MMA_SM90A_ENABLED) &&  \
                                defined(CUTE_ARCH_TMA_SM90_ENABLED) && defined(CUTE_ARCH_CLUSTER_SM90_ENABLED) &&   \
                                defined(CUTE_ARCH_STSM_SM90_ENABLED) && defined(CUTE_ARCH_CP_ASYNC_SM80_ENABLED) && \
                                CUTE_ARCH_LDSM_SM75_ACTIVATED)
#error "code for sm_90a is not compiled so that it may use Hopper's instructions"
#endif

using namespace cute;

using Cluster = Shape<_2, _1, _1>;
using SmemA = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_128, _64, _2>{}));
using SmemB = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _64, _2>{}));
using Mma =
    decltype(make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>{}, Layout<Shape<_2, _1, _1>>{}));
using Pipeline = cutlass::PipelineTmaAsync<2>;
using StorePipeline = cutlass::PipelineTmaStore<2>;
using Order = cutlass::OrderedSequenceBarrier<1, 2>;

struct Storage {
  alignas(1024) ArrayEngine<half_t, cosize_v<SmemA>> a;
  alignas(1024) array_aligned<half_t, cosize_v<SmemB>, 1024> b;
  typename Pipeline::SharedStorage pipeline;
  typename Order::SharedStorage order;
};

template <class TmaA, class TmaB>
struct ClusterProduct {
  static constexpr int MaxThreadsPerBlock = 384;
  static constexpr int MinBlocksPerMultiprocessor = 1;
  using ArchTag = cutlass::arch::Sm90;
  struct Params {
    TmaA a;
    TmaB b;
    half_t* c;
    int m, n, k;
  };

  CUTE_DEVICE void operator()(Params const& p, char* memory) {
    Storage& s = *reinterpret_cast<Storage*>(memory);
    int const group = cutlass::canonical_warp_group_idx();
    bool const first_warp = cutlass::canonical_warp_idx_sync() % 4 == 0;
    if (first_warp && group == 0 && cute::elect_one_sync()) {
      cute::prefetch_tma_descriptor(p.a.get_tma_descriptor());
      cute::prefetch_tma_descriptor(p.b.get_tma_descriptor());
    }

    typename Pipeline::Params params;
    params.role = group == 0 ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
    params.is_leader = group == 0;
    params.num_consumers = 2 * cutlass::NumThreadsPerWarpGroup;
    params.transaction_bytes = 2 * (128 * 64 + 64 * 64);
    Pipeline pipeline(s.pipeline, params, Cluster{});
    Order order(s.order, {uint32_t(group == 0 ? 0 : group - 1), 128});
    cutlass::pipeline_init_arrive_relaxed(size(Cluster{}));
    cutlass::arch::wait_on_dependent_grids();
    cutlass::pipeline_init_wait(size(Cluster{}));

    Tensor mA = p.a.get_tma_tensor(make_shape(p.m, p.k));
    Tensor mB = p.b.get_tma_tensor(make_shape(p.n, p.k));
    Tensor mC = make_tensor(make_gmem_ptr(p.c), make_shape(p.m, p.n), make_stride(p.n, _1{}));
    Tensor sA = make_tensor(make_smem_ptr(s.a.begin()), SmemA{});
    Tensor sB = make_tensor(make_smem_ptr(s.b.data()), SmemB{});
    auto const tile = Shape<_128, _64, _64>{};
    auto const at = make_coord(int(blockIdx.x), int(blockIdx.y), _);
    Tensor gA = local_tile(mA, tile, at, Step<_1, X, _1>{});
    Tensor gB = local_tile(mB, tile, at, Step<X, _1, _1>{});
    Tensor gC = local_tile(mC, tile, at, Step<_1, _1, X>{});
    int const rank = int(cute::block_rank_in_cluster());
    auto [tAgA, tAsA] = tma_partition(p.a, _0{}, Layout<_1>{}, group_modes<0, 2>(sA), group_modes<0, 2>(gA));
    auto [tBgB, tBsB] = tma_partition(p.b, rank, Layout<_2>{}, group_modes<0, 2>(sB), group_modes<0, 2>(gB));
    int const steps = size<1>(tAgA);

    if (group == 0) {
      cutlass::arch::warpgroup_reg_dealloc<40>();
      if (!first_warp || !cute::elect_one_sync()) return;
      uint16_t const both = 0b11;
      auto write = cutlass::make_producer_start_state<Pipeline>();
      for (int k = 0; k < steps; ++k, ++write) {
        auto token = pipeline.producer_try_acquire(write);
        pipeline.producer_acquire(write, token);
        auto* barrier = pipeline.producer_get_barrier(write);
        copy(p.a.with(*barrier, 0, TMA::CacheHintSm90::EVICT_FIRST), tAgA(_, k), tAsA(_, write.index()));
        copy(p.b.with(*barrier, both), tBgB(_, k), tBsB(_, write.index()));
      }
      pipeline.producer_tail(write);
      return;
    }
    cutlass::arch::warpgroup_reg_alloc<232>();
    Mma mma;
    auto mine = mma.get_thread_slice(int(threadIdx.x) - 128);
    Tensor tCrA = mine.partition_fragment_A(sA);
    Tensor tCrB = mine.partition_fragment_B(sB);
    Tensor tCgC = mine.partition_C(gC);
    Tensor sums = mine.make_fragment_C(tCgC);
    typename Pipeline::PipelineState read, release;
    mma.accumulate_ = GMMA::ScaleOut::Zero;
    for (int k = 0; k < steps; ++k) {
      auto token = pipeline.consumer_try_wait(read);
      pipeline.consumer_wait(read, token);
      warpgroup_fence_operand(sums);
      warpgroup_arrive();
      CUTE_UNROLL
      for (int i = 0; i < size<2>(tCrA); ++i) {
        cute::gemm(mma, tCrA(_, _, i, read.index()), tCrB(_, _, i, read.index()), sums);
        mma.accumulate_ = GMMA::ScaleOut::One;
      }
      warpgroup_commit_batch();
      warpgroup_wait<0>();
      warpgroup_fence_operand(sums);
      pipeline.consumer_release(release);
      ++read;
      release.advance(1);
    }
    order.wait();
    cutlass::arch::NamedBarrier::sync(128, uint32_t(group));
    axpby(1.0f, sums, 0.0f, tCgC);
    order.arrive();
    cutlass::arch::launch_dependent_grids();
  }
};

// The calls that the product does not use.
__global__ void the_rest(uint64_t* out, CUTLASS_GRID_CONSTANT int const n) {
  using cutlass::arch::ClusterBarrier;
  using cutlass::arch::ClusterTransactionBarrier;
  __shared__ alignas(16) uint64_t raw[2];
  __shared__ cutlass::PipelineAsync<2>::SharedStorage async_storage;
  __shared__ cutlass::PipelineTransactionAsync<2>::SharedStorage transaction_storage;
  __shared__ alignas(128) float row[128];
  dim3 const here = cute::block_id_in_cluster(), shape = cute::cluster_shape();
  dim3 const grid = cute::cluster_grid_dims(), id = cute::cluster_id_in_grid();
  auto const leader = cute::elect_one_leader_sync();
  if (leader.is_leader) {
    ClusterTransactionBarrier::init(&raw[0], 1);
    cute::initialize_barrier(raw[1], 1);
  }
  cutlass::arch::fence_barrier_init();
  cute::cluster_arrive_relaxed();
  cute::cluster_wait();
  auto& barrier = *reinterpret_cast<ClusterTransactionBarrier*>(&raw[0]);
  if (leader.is_leader) {
    barrier.arrive_and_expect_tx(sizeof row);
    copy(Copy_Traits<SM90_BULK_COPY_AUTO>{}.with(raw[0]),
         make_tensor(make_gmem_ptr(reinterpret_cast<float const*>(out)), Layout<_128>{}),
         make_tensor(make_smem_ptr(row), Layout<_128>{}));
  }
  if (!barrier.try_wait(0)) barrier.wait(0);
  if (leader.is_leader) {
    cute::set_barrier_transaction_bytes(raw[1], 16);
    barrier.arrive_and_expect_tx(8, 0u, 1u);
    barrier.expect_transaction(16);
    barrier.complete_transaction(16);
    barrier.complete_transaction(0u, 8, 1u);
    ClusterTransactionBarrier::complete_transaction(&raw[1], 0, 16);
  }
  cute::wait_barrier(raw[1], 0);
  cutlass::arch::cpasync_barrier_arrive(&raw[0]);
  cutlass::arch::cpasync_barrier_arrive_noinc(&raw[0]);
  cutlass::arch::fence_view_async_shared();
  cutlass::arch::NamedBarrier(128, cutlass::arch::ReservedNamedBarriers::EpilogueBarrier).arrive_and_wait();
  cutlass::arch::NamedBarrier const mine(128, 1);
  mine.arrive_unaligned();
  mine.arrive_and_wait_unaligned();
  reinterpret_cast<ClusterBarrier*>(&raw[1])->arrive(0, threadIdx.x == 0);
  if (reinterpret_cast<ClusterBarrier*>(&raw[1])->test_wait(1)) ClusterBarrier::invalidate(&raw[1]);
  if (n < 0) cute::store_shared_remote(1, cast_smem_ptr_to_uint(row), cast_smem_ptr_to_uint(raw), 0);

  cutlass::PipelineAsync<2>::Params params;
  params.role = cutlass::PipelineAsync<2>::ThreadCategory::ProducerConsumer;
  params.producer_arv_count = params.consumer_arv_count = blockDim.x;
  cutlass::PipelineAsync<2> pipeline(async_storage, params);
  cutlass::PipelineTransactionAsync<2>::Params transaction_params;
  transaction_params.role = cutlass::PipelineTransactionAsync<2>::ThreadCategory::ProducerConsumer;
  cutlass::PipelineTransactionAsync<2> transactions(transaction_storage, transaction_params, cute::true_type{});
  __syncthreads();
  cutlass::PipelineAsync<2>::PipelineState read;
  auto write = cutlass::make_producer_start_state<cutlass::PipelineAsync<2>>();
  pipeline.producer_acquire(write);
  pipeline.producer_commit(write, cutlass::arch::cpasync_barrier_arrive);
  pipeline.consumer_wait(read, pipeline.consumer_test_wait(read));
  pipeline.consumer_release(read);
  transactions.producer_acquire(write);
  transactions.producer_expect_transaction(write);
  transactions.producer_commit(write);
  transactions.consumer_wait(read);
  transactions.consumer_release(read);

  StorePipeline stores;
  StorePipeline::PipelineState store;
  tma_store_fence();
  stores.producer_acquire(store);
  stores.producer_commit(store);
  tma_store_arrive();
  tma_store_wait<0>();
  stores.producer_tail(store);
  cutlass::AlignedArray<float, 4> four;
  four.fill(row[0]);
  if (cutlass::thread0()) out[0] = here.x + shape.x + grid.x + id.x + uint64_t(four[3]) + cutlass::arch::LaneId();
}

/// C (m, n) = A (m, k) * B (n, k), all row-major; m is a multiple of 256, n and k of 64.
cutlass::Status launch(half_t const* a, half_t const* b, half_t* c, int m, int n, int k) {
  auto tma_a = make_tma_atom(SM90_TMA_LOAD{}, make_tensor(a, make_shape(m, k), make_stride(k, _1{})),
                             SmemA{}(_, _, _0{}), Shape<_128, _64>{});
  auto tma_b = make_tma_atom(SM90_TMA_LOAD_MULTICAST{}, make_tensor(b, make_shape(n, k), make_stride(k, _1{})),
                             SmemB{}(_, _, _0{}), Shape<_64, _64>{}, size<0>(Cluster{}));
  using Operator = ClusterProduct<decltype(tma_a), decltype(tma_b)>;
  typename Operator::Params params{tma_a, tma_b, c, m, n, k};
  void const* kernel = reinterpret_cast<void const*>(&cutlass::device_kernel<Operator>);
  CUTE_CHECK_ERROR(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(sizeof(Storage))));
  GPU_Clock clock;
  clock.start();
  dim3 const cluster(size<0>(Cluster{}), size<1>(Cluster{}), size<2>(Cluster{}));
  dim3 const grid(round_up(ceil_div(m, 128), int(cluster.x)), ceil_div(n, 64));
  cutlass::ClusterLaunchParams const how{grid, dim3(Operator::MaxThreadsPerBlock), cluster, sizeof(Storage)};
  cutlass::Status const status = cutlass::launch_kernel_on_cluster(how, kernel, params);
  float const milliseconds = clock.milliseconds();
  printf("%dx%dx%d: %s, %g ms\n", m, n, k, cutlass::cutlassGetStatusString(status), milliseconds);
  CUTE_CHECK_LAST();
  return status;
}

struct Nothing {
  static constexpr int MaxThreadsPerBlock = 32;
  struct Params {};
  CUTE_DEVICE void operator()(Params const&, char*) {}
};
cutlass::Status launch_nothing() {
  return cutlass::kernel_launch<Nothing>(dim3(1), dim3(32), 0, nullptr, Nothing::Params{}, true);
}
