// Prefetches a tensor in global memory into the L2. On the host, this does nothing.
//
//   prefetch(a);                                       the calling thread prefetches all of a
//   cooperative_prefetch<128>(threadIdx.x, a);         128 threads prefetch a together
#pragma once
#include <zellige/tensor/cooperative.hpp>

namespace zellige {

namespace detail {
/// Prefetches the cache line that contains address p into the L2.
template <class P>
ZELLIGE_HOST_DEVICE inline void prefetch_line([[maybe_unused]] P const* p) {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p) : "memory");
#endif
}
/// Returns how many elements of X one prefetch request of fetch_bytes bytes covers, as far as they are
/// contiguous.
template <int fetch_bytes, class X>
ZELLIGE_ALGEBRA consteval int elements_of_a_fetch() {
  using L = typename X::layout_type;
  int const run = settled<Op::max_common_vector, L, L>::number();
  return gcd_int(run, fetch_bytes * 8 / sizeof_bits_v<typename X::value_type>);
}
}  // namespace detail

/// Prefetches x with threads 0 to NumThreads - 1; tid is the thread's index. Makes one request per FetchBytes
/// bytes in memory order, or one per element if the layout has no static memory order.
template <int NumThreads, int FetchBytes = 64, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr void cooperative_prefetch(unsigned tid, X const& x) {
  static_assert(is_gmem_v<X>, "cooperative_prefetch(tid, x): x must be in global memory; see make_gmem_ptr");
  using L = detail::linear_layout<X>;
  if constexpr (detail::walk_size<X>() == detail::static_product<remove_cvref_t<decltype(x.shape())>> &&
                detail::walk_size<X>() > 0) {
    // Goes through x in memory order and makes one request per FetchBytes bytes.
    auto const order = right_inverse(L{});
    constexpr int step = detail::elements_of_a_fetch<FetchBytes, X>();
    for (int i = int(tid) * step; i < int(x.size()); i += NumThreads * step)
      detail::prefetch_line(raw_pointer_cast(x.data() + x.layout()(order(i))));
  } else {
    for (int i = int(tid); i < int(x.size()); i += NumThreads)
      detail::prefetch_line(raw_pointer_cast(x.data() + x.layout()(i)));
  }
}
/// Prefetches x with the calling thread.
template <tensor_like X>
ZELLIGE_HOST_DEVICE constexpr void prefetch(X const& x) {
  cooperative_prefetch<1>(0u, x);
}

}  // namespace zellige
