// CUDA's <cuda/barrier>: mbarriers as objects, with the copies that complete on them. Each call is the PTX that libcu++
// makes of it, so that a finding names the line of the call.
#pragma once
#include <cstdint>
#include <utility>

#include "zellige/cuda/cooperative_groups.hpp"
#include "zellige/cuda/driver.hpp"
#include "zellige/cuda/pipeline.hpp"
#include "zellige/cuda/ptx.hpp"
#include "zellige/cuda/scopes.hpp"

namespace cuda {

/// A size whose copy may take it that both addresses are multiples of N.
template <std::size_t N>
struct aligned_size_t {
  std::size_t value;
  constexpr explicit aligned_size_t(std::size_t n) : value(n) {}
  constexpr operator std::size_t() const { return value; }
};

/// A barrier of threads of a block, in shared memory: an mbarrier. `init` makes it one.
template <thread_scope Scope, class Completion = void>
class barrier {
 public:
  /// What arrive() returns: the phase that the arrival is in.
  using arrival_token = std::uint64_t;

  barrier() = default;
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  friend ZELLIGE_DEVICE void init(barrier* b, std::ptrdiff_t count) {
    ::zellige::cuda::ptx("mbarrier.init.shared::cta.b64 [%0], %1;",
                         {::zellige::cuda::ptx_operand(b->address()), ::zellige::cuda::ptx_operand(unsigned(count))});
  }
  ZELLIGE_DEVICE ~barrier() = default;

  ZELLIGE_DEVICE arrival_token arrive(std::ptrdiff_t count = 1) {
    arrival_token token = 0;
    ::zellige::cuda::ptx("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;",
                         {::zellige::cuda::ptx_result("=l", token), ::zellige::cuda::ptx_operand(address()),
                          ::zellige::cuda::ptx_operand(unsigned(count))});
    return token;
  }
  ZELLIGE_DEVICE arrival_token arrive_tx(std::uint32_t bytes) {
    arrival_token token = 0;
    ::zellige::cuda::ptx("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;",
                         {::zellige::cuda::ptx_result("=l", token), ::zellige::cuda::ptx_operand(address()),
                          ::zellige::cuda::ptx_operand(bytes)});
    return token;
  }
  ZELLIGE_DEVICE bool try_wait(arrival_token&& token) const { return try_wait_parity(token & 1); }
  ZELLIGE_DEVICE bool try_wait_parity(bool parity) const {
    unsigned done = 0;
    ::zellige::cuda::ptx("mbarrier.try_wait.parity.shared::cta.b64 %0, [%1], %2;",
                         {::zellige::cuda::ptx_result("=r", done), ::zellige::cuda::ptx_operand(address()),
                          ::zellige::cuda::ptx_operand(unsigned(parity))});
    return done != 0;
  }
  ZELLIGE_DEVICE void wait(arrival_token&& token) const { wait_parity(token & 1); }
  ZELLIGE_DEVICE void wait_parity(bool parity) const {
    while (!try_wait_parity(parity)) {
    }
  }
  ZELLIGE_DEVICE void arrive_and_wait() { wait(arrive()); }
  ZELLIGE_DEVICE unsigned address() const { return ::zellige::cuda::shared_address(this); }

 private:
  std::uint64_t word_;
};

namespace device {

template <class B>
ZELLIGE_DEVICE std::uint64_t* barrier_native_handle(B& b) {
  return reinterpret_cast<std::uint64_t*>(&b);
}
template <class B>
ZELLIGE_DEVICE typename B::arrival_token barrier_arrive_tx(B& b, std::ptrdiff_t, std::ptrdiff_t bytes) {
  return b.arrive_tx(std::uint32_t(bytes));
}
template <class B>
ZELLIGE_DEVICE void barrier_expect_tx(B& b, std::ptrdiff_t bytes) {
  ::zellige::cuda::ptx("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;",
                       {::zellige::cuda::ptx_operand(b.address()), ::zellige::cuda::ptx_operand(std::uint32_t(bytes))});
}
/// A bulk copy to shared memory, whose bytes complete on the barrier.
template <class B>
ZELLIGE_DEVICE void bulk_copy_to_shared(void* to, const void* from, std::size_t bytes, B& b) {
  ::zellige::cuda::ptx(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];",
      {::zellige::cuda::ptx_operand(::zellige::cuda::shared_address(to)), ::zellige::cuda::ptx_operand(from),
       ::zellige::cuda::ptx_operand(std::uint32_t(bytes)), ::zellige::cuda::ptx_operand(b.address())});
}
template <class T, std::size_t N, class B>
ZELLIGE_DEVICE void memcpy_async_tx(T* to, const T* from, aligned_size_t<N> bytes, B& b) {
  bulk_copy_to_shared(to, from, bytes, b);
}

namespace experimental {

ZELLIGE_DEVICE void fence_proxy_async_shared_cta() { ::zellige::cuda::ptx("fence.proxy.async.shared::cta;"); }
template <class B>
ZELLIGE_DEVICE void cp_async_bulk_global_to_shared(void* to, const void* from, std::uint32_t bytes, B& b) {
  bulk_copy_to_shared(to, from, bytes, b);
}
ZELLIGE_DEVICE void cp_async_bulk_shared_to_global(void* to, const void* from, std::uint32_t bytes) {
  ::zellige::cuda::ptx(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;",
      {::zellige::cuda::ptx_operand(to), ::zellige::cuda::ptx_operand(::zellige::cuda::shared_address(from)),
       ::zellige::cuda::ptx_operand(bytes)});
}
ZELLIGE_DEVICE void cp_async_bulk_commit_group() { ::zellige::cuda::ptx("cp.async.bulk.commit_group;"); }
template <int N>
ZELLIGE_DEVICE void cp_async_bulk_wait_group() {
  ::zellige::cuda::ptx("cp.async.bulk.wait_group %0;", {::zellige::cuda::ptx_operand(N)});
}
template <int N>
ZELLIGE_DEVICE void cp_async_bulk_wait_group_read() {
  ::zellige::cuda::ptx("cp.async.bulk.wait_group.read %0;", {::zellige::cuda::ptx_operand(N)});
}

#define ZELLIGE_TENSOR_COPY(RANK, NAMES, LOAD, STORE, ...)                                                             \
  template <class B>                                                                                                   \
  ZELLIGE_DEVICE void cp_async_bulk_tensor_##RANK##d_global_to_shared(void* to, const CUtensorMap* map NAMES, B& b) {  \
    ::zellige::cuda::ptx("cp.async.bulk.tensor." #RANK                                                                 \
                         "d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, " LOAD "], [%2];",          \
                         {::zellige::cuda::ptx_operand(::zellige::cuda::shared_address(to)),                           \
                          ::zellige::cuda::ptx_operand(map), ::zellige::cuda::ptx_operand(b.address()), __VA_ARGS__}); \
  }                                                                                                                    \
  ZELLIGE_DEVICE void cp_async_bulk_tensor_##RANK##d_shared_to_global(const CUtensorMap* map NAMES,                    \
                                                                      const void* from) {                              \
    ::zellige::cuda::ptx("cp.async.bulk.tensor." #RANK "d.global.shared::cta.bulk_group [%0, " STORE "], [%1];",       \
                         {::zellige::cuda::ptx_operand(map),                                                           \
                          ::zellige::cuda::ptx_operand(::zellige::cuda::shared_address(from)), __VA_ARGS__});          \
  }
#define ZELLIGE_NAMES1 , int c0
#define ZELLIGE_NAMES2 ZELLIGE_NAMES1, int c1
#define ZELLIGE_NAMES3 ZELLIGE_NAMES2, int c2
#define ZELLIGE_NAMES4 ZELLIGE_NAMES3, int c3
#define ZELLIGE_NAMES5 ZELLIGE_NAMES4, int c4
#define ZELLIGE_C(K) ::zellige::cuda::ptx_operand(c##K)
ZELLIGE_TENSOR_COPY(1, ZELLIGE_NAMES1, "{%3}", "{%2}", ZELLIGE_C(0))
ZELLIGE_TENSOR_COPY(2, ZELLIGE_NAMES2, "{%3, %4}", "{%2, %3}", ZELLIGE_C(0), ZELLIGE_C(1))
ZELLIGE_TENSOR_COPY(3, ZELLIGE_NAMES3, "{%3, %4, %5}", "{%2, %3, %4}", ZELLIGE_C(0), ZELLIGE_C(1), ZELLIGE_C(2))
ZELLIGE_TENSOR_COPY(4, ZELLIGE_NAMES4, "{%3, %4, %5, %6}", "{%2, %3, %4, %5}", ZELLIGE_C(0), ZELLIGE_C(1), ZELLIGE_C(2),
                    ZELLIGE_C(3))
ZELLIGE_TENSOR_COPY(5, ZELLIGE_NAMES5, "{%3, %4, %5, %6, %7}", "{%2, %3, %4, %5, %6}", ZELLIGE_C(0), ZELLIGE_C(1),
                    ZELLIGE_C(2), ZELLIGE_C(3), ZELLIGE_C(4))
#undef ZELLIGE_TENSOR_COPY
#undef ZELLIGE_NAMES1
#undef ZELLIGE_NAMES2
#undef ZELLIGE_NAMES3
#undef ZELLIGE_NAMES4
#undef ZELLIGE_NAMES5
#undef ZELLIGE_C

}  // namespace experimental
}  // namespace device

/// Copies bytes to shared memory asynchronously, by the threads of a group; a thread's part is done when the phase of the
/// barrier ends that its next arrival is in.
template <class Group, class Size, thread_scope Scope>
ZELLIGE_DEVICE void memcpy_async(const Group& group, void* to, const void* from, Size bytes, barrier<Scope>& b) {
  ::zellige::cuda::copy_by_group(to, from, bytes, group.thread_rank(), group.size());
  ::zellige::cuda::ptx("cp.async.mbarrier.arrive.shared.b64 [%0];", {::zellige::cuda::ptx_operand(b.address())});
}
template <class Size, thread_scope Scope>
ZELLIGE_DEVICE void memcpy_async(void* to, const void* from, Size bytes, barrier<Scope>& b) {
  ::zellige::cuda::copy_by_group(to, from, bytes, 0, 1);
  ::zellige::cuda::ptx("cp.async.mbarrier.arrive.shared.b64 [%0];", {::zellige::cuda::ptx_operand(b.address())});
}

}  // namespace cuda
