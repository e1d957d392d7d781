// gemm with warpgroup instructions: fragments of A and B are descriptors of shared memory (or registers of
// A), and the accumulators belong to the tensor cores from warpgroup_arrive() to warpgroup_wait().
//
//   warpgroup_fence_operand(rC);
//   warpgroup_arrive();
//   gemm(mma, rA(_, _, _, stage), rB(_, _, _, stage), rC);
//   warpgroup_commit_batch();
//   warpgroup_wait<0>();
//   warpgroup_fence_operand(rC);
#pragma once

#include <zellige/atom/gemm_call.hpp>
#include <zellige/atom/gmma_descriptor.hpp>
#include <zellige/atom/wgmma.hpp>
#if !defined(__CUDACC_RTC__)
#include <zellige/atom/mma_call.hpp>
#endif

namespace zellige {
namespace detail {

template <class T>
struct accumulator_register {
  using type = uint32_t;  // two halves
};
template <>
struct accumulator_register<float> {
  using type = float;
};
template <>
struct accumulator_register<int> {
  using type = int32_t;
};

/// The registers of a fragment themselves: what runs on writes to them later.
template <class R, tensor_like X>
ZELLIGE_DEVICE inline auto& registers_in_place(X& x) {
  using T = typename remove_cvref_t<X>::value_type;
  constexpr int n = decltype(size(x))::value * int(sizeof(T)) / int(sizeof(R));
  static_assert(is_constant<1, decltype(stride<0>(coalesce(x.layout())))>::value &&
                    decltype(coalesce(x.layout()))::rank == 1,
                "a warpgroup instruction needs the values of a fragment in consecutive registers");
  return reinterpret_cast<R(&)[n]>(const_cast<T&>(*x.data()));
}

}  // namespace detail

template <int N, Number D, Number A, Number B, bool registers, Major major_a, Major major_b,
          SM90::GMMA::ScaleIn scale_a, SM90::GMMA::ScaleIn scale_b, bool saturate, tensor_like TD,
          tensor_like TA, tensor_like TB, tensor_like TC>
ZELLIGE_DEVICE inline void mma_unpack(
    MMA_Traits<SM90::GMMA::Mma<N, D, A, B, registers, major_a, major_b, scale_a, scale_b, saturate>> const&
        traits,
    TD&& d, TA const& a, TB const& b, TC const& c) {
  static_assert(!saturate, "warpgroup instructions that saturate have no call yet");
  using T = number_t<A>;
  using U = number_t<B>;
  (void)c;  // d itself: the instruction adds in place
  auto& sums = detail::registers_in_place<typename detail::accumulator_register<number_t<D>>::type>(d);
  bool const accumulate = traits.accumulate_ == SM90::GMMA::ScaleOut::One;
  unsigned long long const db = b(0);
  if constexpr (registers) {
    auto& ra = detail::registers_in_place<uint32_t>(a);
    wgmma<T, major_b, U, int(scale_a), int(scale_b)>(sums, ra, db, accumulate);
  } else {
    unsigned long long const da = a(0);
    wgmma<T, major_a, major_b, U, int(scale_a), int(scale_b)>(sums, da, db, accumulate);
  }
}

/// CuTe's names.
ZELLIGE_CALL void warpgroup_arrive() { wgmma_fence(); }
ZELLIGE_CALL void warpgroup_commit_batch() { wgmma_commit(); }
template <int N>
ZELLIGE_CALL void warpgroup_wait() {
  wgmma_wait<N>();
}
/// Keeps the compiler from moving uses of a fragment's registers across this place.
template <tensor_like X>
ZELLIGE_CALL void warpgroup_fence_operand(X& x) {
  static_assert(!is_gmem_v<X> && !is_smem_v<X>, "warpgroup_fence_operand(x): x is a fragment, in registers");
  using T = typename X::value_type;
  auto all = make_tensor(x.data(), make_layout(Int<size_v<typename X::layout_type>>{}));
  wgmma_fence_operand(detail::registers_in_place<typename detail::accumulator_register<T>::type>(all));
}

}  // namespace zellige
