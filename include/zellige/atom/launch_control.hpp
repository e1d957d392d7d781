// Launch control of clusters: a running block takes over the work of a cluster of the grid that has not started. Persistent
// kernels of SM100 and SM120 take their tiles so, and a grid may have more blocks than fit the GPU.
//
//   if (one thread) mbarrier_arrive_expect_tx(barrier, sizeof(ClusterLaunchResponse)),
//                   cluster_launch_try_cancel(&response, barrier);      // response, barrier: in shared memory
//   mbarrier_wait(barrier, phase);
//   ClusterLaunchAnswer next = cluster_launch_query(response);
//   if (next.canceled) tile = (next.x, next.y, next.z);                 // the first block of the cluster that will not start
//
// After an answer that is false no other request may be made. Compile for sm_100 or later; the multicast for sm_100a and its
// like.
#pragma once

#include <zellige/atom/pointer.hpp>
#include <zellige/layout/config.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/atom/tcgen05_emulated.hpp>
#include <zellige/emulate/launch_control.hpp>
#endif
#if !defined(__CUDACC_RTC__)
#include <cstdio>
#endif

namespace zellige {

#if !defined(__CUDACC_RTC__)
/// Returns true if a kernel with this grid may be launched in clusters of a preferred size and, where they do not fit, of another.
/// Else writes to standard error what is wrong. Dim is CUDA's dim3.
template <class Dim>
bool initialize_preferred_cluster_launch(void const*, Dim const& grid, Dim const& preferred, Dim const& fallback) {
  auto const refuse = [&](char const* what, Dim const& given, char const* needed) {
    std::fprintf(stderr, "initialize_preferred_cluster_launch: %s is (%u,%u,%u); %s\n", what, given.x, given.y, given.z,
                 needed);
    return false;
  };
  auto const divides = [](Dim const& a, Dim const& b) { return b.x % a.x == 0 && b.y % a.y == 0 && b.z % a.z == 0; };
  for (Dim const& cluster : {preferred, fallback}) {
    unsigned long long const blocks = 1ull * cluster.x * cluster.y * cluster.z;
    if (blocks < 1 || blocks > 32) return refuse("a cluster", cluster, "it must have 1 to 32 blocks");
  }
  if (grid.y > 65536 || grid.z > 65536) return refuse("the grid", grid, "y and z are at most 65536");
  if (!divides(preferred, grid)) return refuse("the preferred cluster", preferred, "it must divide the grid");
  if (!divides(fallback, preferred))
    return refuse("the fallback cluster", fallback, "it must divide the preferred cluster");
  if (preferred.z != fallback.z)
    return refuse("the fallback cluster", fallback, "z must be that of the preferred cluster");
  return true;
}
#endif

/// Where a request's answer is written, in shared memory.
struct alignas(16) ClusterLaunchResponse {
  uint32_t data[4];
};
/// Whether a cluster was canceled, and the index of its first block.
struct ClusterLaunchAnswer {
  uint32_t x = 0, y = 0, z = 0;
  bool canceled = false;
};

#if defined(__CUDACC__)
/// Requests that a cluster of the grid that has not started be canceled. The answer is written to `response`, 16 bytes, which
/// complete on the barrier. One thread of the cluster calls it.
ZELLIGE_CALL void cluster_launch_try_cancel(ClusterLaunchResponse* response, uint64_t* barrier) {
  asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(
                   smem_address(response)),
               "r"(smem_address(barrier))
               : "memory");
}
/// The same with the answer in all CTAs of the cluster, at the same places, each completing on its own barrier.
ZELLIGE_CALL void cluster_launch_try_cancel_multicast(ClusterLaunchResponse* response, uint64_t* barrier) {
  asm volatile(
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 "
      "[%0], [%1];" ::"r"(smem_address(response)),
      "r"(smem_address(barrier))
      : "memory");
}
/// Returns the answer. A later request writes the same place only after a fence_proxy_async_shared.
ZELLIGE_CALL ClusterLaunchAnswer cluster_launch_query(ClusterLaunchResponse const& response) {
  ClusterLaunchAnswer answer;
  uint32_t canceled;
  asm volatile(
      "{\n.reg .pred p;\n.reg .b128 answer;\nld.shared.b128 answer, [%4];\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, answer;\nselp.u32 %3, 1, 0, p;\n"
      "mov.u32 %0, 0;\nmov.u32 %1, 0;\nmov.u32 %2, 0;\n"
      "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%0, %1, %2, _}, answer;\n}"
      : "=r"(answer.x), "=r"(answer.y), "=r"(answer.z), "=r"(canceled)
      : "r"(smem_address(&response))
      : "memory");
  answer.canceled = canceled != 0;
  return answer;
}
#elif defined(ZELLIGE_EMULATE)
template <class B>
ZELLIGE_CALL void cluster_launch_try_cancel(ClusterLaunchResponse* response, B barrier) {
  emulate::try_cancel(emulate::known(response), detail::checked_place(barrier), false);
}
template <class B>
ZELLIGE_CALL void cluster_launch_try_cancel_multicast(ClusterLaunchResponse* response, B barrier) {
  emulate::try_cancel(emulate::known(response), detail::checked_place(barrier), true);
}
ZELLIGE_CALL ClusterLaunchAnswer cluster_launch_query(ClusterLaunchResponse const& response) {
  const emulate::LaunchAnswer a = emulate::launch_answer(detail::checked_place(&response));
  return {a.x, a.y, a.z, a.canceled != 0};
}
#endif

}  // namespace zellige
