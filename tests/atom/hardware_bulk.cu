// mbarriers, clusters, bulk copies, fences and registers on a real GPU, in two kernels that use them all: a
// ring between two roles of warps of two blocks, and bulk copies in, across the cluster, out and added.
//
//   nvcc -std=c++20 -O1 -I include -diag-suppress 177 -gencode arch=compute_90a,code=sm_90a
//        tests/atom/hardware_bulk.cu -o hardware_bulk && ./hardware_bulk
#include <zellige/atom/cp_async.hpp>
#include <zellige/atom/elect.hpp>
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/prefetch.hpp>
#include <zellige/atom/setmaxnreg.hpp>
#include <zellige/atom/tma.hpp>

#include "hardware_movement.hpp"

namespace zellige {
namespace {

// Bulk copies of `bytes`: in, to both blocks, across the cluster, out, and added.
template <class T>
__global__ void __cluster_dims__(2) bulk_kernel(const T* in, T* out, T* sum, unsigned bytes, int how) {
  const auto a = shared<T>("a", 0, 4096), b = shared<T>("b", 32768, 4096);
  const auto full = shared<uint64_t>("full", 65536, 2);
  const unsigned rank = cluster_ctarank(), n = bytes / sizeof(T);
  if (threadIdx.x == 0) {
    mbarrier_init(full, 1);
    mbarrier_init(full + 1, 1);
    fence_mbarrier_init();
  }
  cluster_sync();
  if (threadIdx.x == 0) {
    bulk_prefetch_l2(in, bytes);
    mbarrier_arrive_expect_tx(full, bytes);
    if (how == 0) bulk_load(a, in, bytes, full);
    if (how == 1) bulk_load_hint(a, in, bytes, full, CacheHint::evict_first);
    if (how == 2 && rank == 0) bulk_load_multicast(a, in, bytes, full, 3);
    mbarrier_arrive_expect_tx(full + 1, bytes);
  }
  __syncthreads();
  mbarrier_wait_cluster(full, 0);
  cluster_sync();
  if (how == 1) {
    for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x)
      store_async(recast<uint32_t>(b) + i, rank ^ 1, recast<uint32_t>(a)[i], full + 1);
  } else if (threadIdx.x == 0) {
    bulk_copy_cluster(b, rank ^ 1, a, bytes, full + 1);
  }
  mbarrier_wait_cluster(full + 1, 0);
  __syncwarp();
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) a[i] = mapa(b, rank ^ 1)[i];
  fence_proxy_async();
  fence_proxy_async_global();
  cluster_sync();
  if (threadIdx.x == 0) {
    bulk_store(out + rank * 4096, a, bytes);
    bulk_reduce_add<T>(sum + rank * 4096, b, bytes);
    tma_store_commit();
    tma_store_wait_read<0>();
    tma_store_wait_complete<0>();
  }
}
template <class T>
void prove_bulk(const char* type) {
  long equal = 0;
  const int trials = 60;
  for (int i = 0; i < trials; ++i) {
    const unsigned bytes = 16u * within(1, 400);
    std::vector<T> in(4096), sum(8192);
    for (T& x : in) x = T(static_cast<float>(within(-40, 40)));
    for (T& x : sum) x = T(static_cast<float>(within(-40, 40)));
    const Buffer device_in(in);
    const Buffer device_sum(sum);
    const Buffer<T> device_out(8192);
    check(cudaFuncSetAttribute(bulk_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65552), type);
    bulk_kernel<T><<<2, 128, 65552>>>(device_in.data, device_out.data, device_sum.data, bytes, i % 3);
    check(cudaGetLastError(), type);
    const auto out = device_out.get(), added = device_sum.get();
    bool same = true;
    for (unsigned r = 0; r < 2; ++r)
      for (unsigned j = 0; j < bytes / sizeof(T); ++j) {
        const T want = T(sum[r * 4096 + j] + in[j]);
        same = same &&
               std::memcmp(static_cast<const void*>(&out[r * 4096 + j]), static_cast<const void*>(&in[j]), sizeof(T)) ==
                   0 &&
               std::memcmp(static_cast<const void*>(&added[r * 4096 + j]), static_cast<const void*>(&want),
                           sizeof(T)) == 0;
      }
    equal += same;
  }
  for (const char* row :
       {"SM90_BULK_COPY_G2S", "SM90_BULK_COPY_G2S_HINT", "SM90_BULK_COPY_G2S_MULTICAST", "SM90_BULK_COPY_S2S",
        "SM90_ST_ASYNC", "SM90_BULK_COPY_S2G", "SM90_BULK_PREFETCH_L2", "SM90_BULK_COMMIT_GROUP",
        "SM90_BULK_WAIT_GROUP", "SM90_BULK_WAIT_GROUP_READ", "SM90_FENCE_PROXY_ASYNC"})
    if (!proved.contains(row)) report(row, trials, equal, 0, 0, equal == trials);
  report(std::string("SM90_BULK_REDUCE_ADD_") + type, trials, equal, 0, 0, equal == trials);
}

// Waits, arrivals and counts: a ring between two roles of warps, with registers moved and named barriers.
__global__ void __launch_bounds__(256, 1) __cluster_dims__(2) ring_kernel(unsigned* out, unsigned rounds) {
  const auto value = shared<unsigned>("value", 0, 4);
  const auto full = shared<uint64_t>("full", 64, 4), empty = shared<uint64_t>("empty", 128, 4);
  const unsigned rank = cluster_ctarank(), other = rank ^ 1;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 4; ++s) mbarrier_init(full + s, 1), mbarrier_init(empty + s, 128);
    fence_mbarrier_init();
  }
  cluster_arrive_relaxed();
  cluster_wait();
  griddep_wait();
  prefetch_l1(out);
  prefetch_l2(out);
  // One phase of a barrier for each of the calls that the ring itself does not make.
  const auto extra = shared<uint64_t>("extra", 192, 2);
  const auto copied = shared<unsigned>("copied", 16, 4);
  if (threadIdx.x == 0) {
    mbarrier_init(extra, 5);
    mbarrier_init(extra + 1, 1);
    fence_mbarrier_init();
  }
  cluster_sync();
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(extra, 64);               // 1, 64 bytes to come
    mbarrier_expect_tx(extra, 32);                      // 96
    mbarrier_complete_tx(extra, 96);                    // none
    mbarrier_arrive(extra);                             // 2
    mbarrier_arrive_expect_tx_remote(extra, other, 0);  // 3, at the other block
    fence_block();
    fence_device();
    cp_async<16>(copied, recast<const unsigned>(out));
    cp_async_mbarrier_arrive(extra);               // 4
    mbarrier_arrive_remote_relaxed(extra, other);  // 5, at the other block
  }
  __syncthreads();
  mbarrier_wait_cluster(extra, 0);
  const bool once = mbarrier_test_wait(extra, 0);
  cluster_sync();
  if (threadIdx.x == 0) mbarrier_inval(extra + 1);
  if (threadIdx.x < 128) {
    register_dealloc<40>();
    named_barrier_sync(1, 128);
    if (threadIdx.x / 32 == 0 && elect_one()) {
      for (unsigned i = 0; i < rounds; ++i) {
        mbarrier_wait_cluster(empty + i % 4, (i / 4 % 2) ^ 1);
        mapa(value, other)[i % 4] = i * 3 + rank;
        fence_cluster();
        mbarrier_arrive_remote(full + i % 4, other);
      }
    }
    __syncwarp();
    named_barrier_sync(2, 256);
  } else {
    register_alloc<232>();
    unsigned sum = 0;
    for (unsigned i = 0; i < rounds; ++i) {
      while (!mbarrier_try_wait(full + i % 4, i / 4 % 2)) {
      }
      mbarrier_wait_cluster(full + i % 4, i / 4 % 2);
      sum += value[i % 4];
      mbarrier_arrive_remote(empty + i % 4, other);
    }
    const bool ended = mbarrier_test_wait(full + (rounds - 1) % 4, (rounds - 1) / 4 % 2);
    out[rank * 128 + threadIdx.x - 128] = ended && once ? sum : 0;
    named_barrier_arrive(2, 256);
  }
  griddep_launch_dependents();
  cluster_sync();
}
void prove_ring() {
  const unsigned rounds = 1000;
  const Buffer<unsigned> out(256);
  check(cudaMemset(out.data, 0, 1024), "memset");
  ring_kernel<<<2, 256, 256>>>(out.data, rounds);
  check(cudaGetLastError(), "ring");
  const auto got = out.get();
  long equal = 0;
  for (unsigned i = 0; i < 256; ++i) equal += got[i] == 3 * rounds * (rounds - 1) / 2 + rounds * (1 - i / 128);
  const bool holds = equal == 256;
  using Kind = Instruction::Kind;
  for (const Instruction& row : movement_rows) {
    const std::string name = row.name;
    if (name.find("WGMMA") != name.npos || name.find("BULK") != name.npos || name.find("PROXY") != name.npos) continue;
    if (name == "SM90_PREFETCH_TENSORMAP") continue;
    const bool here = row.kind == Kind::barrier || row.kind == Kind::fence || row.kind == Kind::control ||
                      (row.kind == Kind::prefetch && name.find("TMA") == name.npos);
    if (here) report(name, 256, equal, 0, 0, holds);
  }
}

}  // namespace
}  // namespace zellige

int main() {
  using namespace zellige;
  print_head("hardware_bulk");
  prove_ring();
  prove_bulk<float>("F32");
  prove_bulk<half_t>("F16");
  prove_bulk<bfloat16_t>("BF16");
  prove_bulk<int32_t>("S32");
  prove_bulk<uint32_t>("U32");
  report("SM90_FENCE_PROXY_ASYNC_GLOBAL", 300, all_hold ? 300 : 0, 0, 0,
         all_hold);  // before every bulk store
  return conclude([](const Instruction& row) {
    const std::string name = row.name;
    for (const char* elsewhere : {"TMA_", "WGMMA", "STSM", "MOVM", "TENSORMAP", "PROXY_ASYNC_SHARED"})
      if (name.find(elsewhere) != name.npos) return false;
    return true;
  });
}
