// Arithmetic on two floats with one instruction of SM100 (add.f32x2, mul.f32x2, fma.rn.f32x2), under CuTe's names. Elsewhere,
// on the host and on the emulator too, each float is computed by itself; the results are the same.
//
//   float2 d;
//   fma(d, a, b, c);              // d.x = a.x b.x + c.x, d.y = a.y b.y + c.y
//
// V is CUDA's float2, or any two floats x and y of 8 bytes. SM100_2x1x1_F32F32F32F32 and SM100_1x2x1_F32F32F32F32 are matrix
// instructions of one thread of them.
#pragma once

#include <zellige/atom/mma_call.hpp>

namespace zellige {

namespace detail {
/// Two floats x and y.
template <class V>
concept packed_floats = requires(V v) {
  requires is_same_v<decltype(v.x), float> && is_same_v<decltype(v.y), float> && sizeof(V) == 8;
};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
inline constexpr bool has_packed_floats = true;
#else
inline constexpr bool has_packed_floats = false;
#endif
#if defined(__CUDA_ARCH__)
template <class V>
ZELLIGE_CALL uint64_t bits_of_two(V const& v) {
  return uint64_t(__float_as_uint(v.y)) << 32 | __float_as_uint(v.x);
}
template <class V>
ZELLIGE_CALL void set_two(V& v, uint64_t bits) {
  v.x = __uint_as_float(uint32_t(bits));
  v.y = __uint_as_float(uint32_t(bits >> 32));
}
#endif
ZELLIGE_HOST_DEVICE inline float fma_of_one(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
}  // namespace detail

/// c = a + b, of each of the two.
template <detail::packed_floats V>
ZELLIGE_HOST_DEVICE void add(V& c, V const& a, V const& b) {
#if defined(__CUDA_ARCH__)
  if constexpr (detail::has_packed_floats) {
    uint64_t bits;
    asm("add.f32x2 %0, %1, %2;" : "=l"(bits) : "l"(detail::bits_of_two(a)), "l"(detail::bits_of_two(b)));
    detail::set_two(c, bits);
    return;
  }
#endif
  c.x = a.x + b.x, c.y = a.y + b.y;
}
/// c = a b, of each of the two.
template <detail::packed_floats V>
ZELLIGE_HOST_DEVICE void mul(V& c, V const& a, V const& b) {
#if defined(__CUDA_ARCH__)
  if constexpr (detail::has_packed_floats) {
    uint64_t bits;
    asm("mul.f32x2 %0, %1, %2;" : "=l"(bits) : "l"(detail::bits_of_two(a)), "l"(detail::bits_of_two(b)));
    detail::set_two(c, bits);
    return;
  }
#endif
  c.x = a.x * b.x, c.y = a.y * b.y;
}
/// d = a b + c, of each of the two, rounded once.
template <detail::packed_floats V>
ZELLIGE_HOST_DEVICE void fma(V& d, V const& a, V const& b, V const& c) {
#if defined(__CUDA_ARCH__)
  if constexpr (detail::has_packed_floats) {
    uint64_t bits;
    asm("fma.rn.f32x2 %0, %1, %2, %3;"
        : "=l"(bits)
        : "l"(detail::bits_of_two(a)), "l"(detail::bits_of_two(b)), "l"(detail::bits_of_two(c)));
    detail::set_two(d, bits);
    return;
  }
#endif
  float const x = detail::fma_of_one(a.x, b.x, c.x), y = detail::fma_of_one(a.y, b.y, c.y);
  d.x = x, d.y = y;
}

namespace detail {
struct TwoFloats {
  float x, y;
};
/// A matrix instruction of one thread on two elements of D, along M or along N.
template <bool along_m>
struct PackedFma {
  static constexpr bool packed_fma = true, of_two_rows = along_m;
  /// d = a b + c, where the operand along which there is one element multiplies both of the other.
  template <class D, class A, class B>
  ZELLIGE_HOST_DEVICE static void fma(D& d, A const& a, B const& b, D const& c) {
    if constexpr (along_m)
      zellige::fma(d, a, D{b, b}, c);
    else
      zellige::fma(d, D{a, a}, b, c);
  }
};
template <class T>
concept packed_fma_op = requires {
  T::packed_fma;
};
}  // namespace detail
struct SM100_2x1x1_F32F32F32F32 : detail::PackedFma<true> {};
struct SM100_1x2x1_F32F32F32F32 : detail::PackedFma<false> {};

template <detail::packed_fma_op Op>
struct MMA_Traits<Op> {
  using Operation = Op;
  using ValTypeD = float;
  using ValTypeA = float;
  using ValTypeB = float;
  using ValTypeC = float;
  using Shape_MNK = conditional_t<Op::of_two_rows, Shape<_2, _1, _1>, Shape<_1, _2, _1>>;
  using ThrID = Layout<_1>;
  using ALayout = conditional_t<Op::of_two_rows, Layout<Shape<_1, _2>>, Layout<Shape<_1, _1>>>;
  using BLayout = conditional_t<Op::of_two_rows, Layout<Shape<_1, _1>>, Layout<Shape<_1, _2>>>;
  using CLayout = Layout<Shape<_1, _2>>;
};
/// Computes d = a b + c of two elements.
template <detail::packed_fma_op Op, tensor_like TD, tensor_like TA, tensor_like TB, tensor_like TC>
ZELLIGE_HOST_DEVICE void mma_unpack(MMA_Traits<Op> const&, TD&& d, TA const& a, TB const& b, TC const& c) {
  using Two = detail::TwoFloats;
  Two const sum{c(0), c(1)};
  Two r;
  if constexpr (Op::of_two_rows)
    Op::fma(r, Two{a(0), a(1)}, static_cast<float>(b(0)), sum);
  else
    Op::fma(r, static_cast<float>(a(0)), Two{b(0), b(1)}, sum);
  d(0) = r.x, d(1) = r.y;
}

}  // namespace zellige
