// Differences between the compilers, and nothing else: host g++ and clang++, nvcc, and NVRTC.
#pragma once

#if __cplusplus < 202002L
#error "Zellige is C++20: compile with -std=c++20 (nvcc's own default is C++17)"
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define ZELLIGE_HOST_DEVICE __host__ __device__
#define ZELLIGE_DEVICE __device__
#else
#define ZELLIGE_HOST_DEVICE
#define ZELLIGE_DEVICE
#endif

// For the small steps through which every value passes: a function for each would cost more compile time than
// the step, and run time in unoptimised code.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define ZELLIGE_STEP __host__ __device__ __forceinline__
#else
#define ZELLIGE_STEP __attribute__((always_inline))
#endif

// Before a function for host and device that calls a function object of the caller's: the caller decides
// whether that may run on the device, so nvcc need not warn.
#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#define ZELLIGE_CALLS_BACK _Pragma("nv_exec_check_disable")
#else
#define ZELLIGE_CALLS_BACK
#endif

// Loops over registers must be unrolled completely, or the arrays are placed in local memory.
#if defined(__CUDA_ARCH__)
#define ZELLIGE_UNROLL _Pragma("unroll")
#else
#define ZELLIGE_UNROLL
#endif

// The algebra runs at compile time and on the host. NVRTC has no host, so the annotations are needed there
// too.
#if defined(__CUDACC_RTC__)
#define ZELLIGE_ALGEBRA __host__ __device__
#else
#define ZELLIGE_ALGEBRA
#endif

namespace zellige {

using size_t = decltype(sizeof(0));

template <class T, class U>
inline constexpr bool is_same_v = false;
template <class T>
inline constexpr bool is_same_v<T, T> = true;

#if defined(__CUDACC_RTC__)
// The compiler's intrinsic: no class for each type.
template <class T>
using remove_cvref_t = __remove_cvref(T);
template <class T>
struct remove_cvref {
  using type = __remove_cvref(T);
};
#else
template <class T>
struct remove_cvref {
  using type = T;
};
template <class T>
struct remove_cvref<T const> {
  using type = T;
};
template <class T>
struct remove_cvref<T&> : remove_cvref<T> {};
template <class T>
struct remove_cvref<T&&> : remove_cvref<T> {};
template <class T>
using remove_cvref_t = typename remove_cvref<T>::type;
#endif

template <bool B, class T, class F>
struct conditional {
  using type = T;
};
template <class T, class F>
struct conditional<false, T, F> {
  using type = F;
};
template <bool B, class T, class F>
using conditional_t = typename conditional<B, T, F>::type;

/// Numbers as a type; seq<I...> are the ints.
template <class T, T... v>
struct integer_sequence {
  using value_type = T;
  static constexpr int count = sizeof...(v);
  ZELLIGE_HOST_DEVICE static constexpr size_t size() { return sizeof...(v); }
};
template <int... I>
using seq = integer_sequence<int, I...>;

namespace detail {
#if defined(__clang__) && !defined(__CUDACC__)
template <class T, T... I>
struct to_seq {
  using type = seq<I...>;
};
template <int N>
struct count_to : __make_integer_seq<to_seq, int, N> {};
#elif !defined(__CUDACC_RTC__)
template <int N>
struct count_to {
  using type = seq<__integer_pack(N)...>;
};
#else
template <class A, class B>
struct join;
template <int... A, int... B>
struct join<seq<A...>, seq<B...>> {
  using type = seq<A..., int(sizeof...(A)) + B...>;
};
template <int N>
struct count_to : join<typename count_to<N / 2>::type, typename count_to<N - N / 2>::type> {};
template <>
struct count_to<0> {
  using type = seq<>;
};
template <>
struct count_to<1> {
  using type = seq<0>;
};
#endif

template <int B, class S>
struct shift_seq;
template <int B, int... I>
struct shift_seq<B, seq<I...>> {
  using type = seq<(B + I)...>;
};
}  // namespace detail

/// seq<0, 1, ..., N-1>.
template <int N>
using make_seq = typename detail::count_to<N>::type;
/// seq<B, B+1, ..., E-1>.
template <int B, int E>
using make_range = typename detail::shift_seq<B, make_seq<(E > B ? E - B : 0)>>::type;

/// Never true for a dependent T: the condition of a static_assert that fires once its branch is selected.
template <class...>
inline constexpr bool never = false;

}  // namespace zellige
