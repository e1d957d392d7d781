// Hides the differences between the host compilers (g++, clang++), nvcc and NVRTC: defines function annotations, loop
// unrolling, and the type traits that <type_traits> would provide. NVRTC has no standard headers, so this header
// includes none.
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

// ZELLIGE_STEP annotates small functions that are used for almost every value, such as tuple access. It makes
// them always inlined: a real call would cost more compile time than the body, and run time in unoptimised
// code.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define ZELLIGE_STEP __host__ __device__ __forceinline__
#else
#define ZELLIGE_STEP __attribute__((always_inline))
#endif

// ZELLIGE_CALLS_BACK annotates a __host__ __device__ function that calls a function object of the caller. It
// silences nvcc's warning that the object may be callable on the host only: the caller decides where it runs.
#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#define ZELLIGE_CALLS_BACK _Pragma("nv_exec_check_disable")
#else
#define ZELLIGE_CALLS_BACK
#endif

// ZELLIGE_UNROLL precedes loops over register arrays on the device. They must be unrolled completely, else
// the arrays are placed in local memory.
#if defined(__CUDA_ARCH__)
#define ZELLIGE_UNROLL _Pragma("unroll")
#else
#define ZELLIGE_UNROLL
#endif

// ZELLIGE_ALGEBRA annotates the functions of the layout algebra, which run in constant expressions and on the
// host only. NVRTC compiles no host code, so with NVRTC they need __host__ __device__.
#if defined(__CUDACC_RTC__)
#define ZELLIGE_ALGEBRA __host__ __device__
#else
#define ZELLIGE_ALGEBRA
#endif

#if !defined(__CUDACC_RTC__)
#include <stdint.h>
#endif

namespace zellige {

using size_t = decltype(sizeof(0));
#if defined(__CUDACC_RTC__)
using int64_t = long long;
#else
using ::int64_t;
#endif

template <class T, class U>
inline constexpr bool is_same_v = false;
template <class T>
inline constexpr bool is_same_v<T, T> = true;

#if defined(__CUDACC_RTC__)
// T without const, volatile and reference. An alias of the compiler's intrinsic, because it instantiates no
// class per type.
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

/// std::integer_sequence; seq<I...> is the one of ints.
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

/// The sequence seq<0, 1, ..., N-1>.
template <int N>
using make_seq = typename detail::count_to<N>::type;
/// The sequence seq<B, B+1, ..., E-1>; empty if E <= B.
template <int B, int E>
using make_range = typename detail::shift_seq<B, make_seq<(E > B ? E - B : 0)>>::type;

/// Always false, but dependent on a template parameter: static_assert(never<T>) in a discarded branch fires
/// only if that branch is instantiated.
template <class...>
inline constexpr bool never = false;

}  // namespace zellige
