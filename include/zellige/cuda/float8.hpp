// CUDA's cuda_fp8.h: numbers of 8 bits, as storage. Conversions from float round to nearest even and saturate.
#pragma once
#include "zellige/atom/float8.hpp"
#include "zellige/cuda/half.hpp"

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned;
enum __nv_saturation_t : int { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t : int { __NV_E4M3, __NV_E5M2 };

namespace zellige::cuda {

/// A number of 8 bits, whose bits Value converts.
template <class Value>
struct Float8 {
  __nv_fp8_storage_t __x;

  Float8() = default;
  explicit Float8(float x) : __x(Value(x).bits) {}
  explicit Float8(double x) : Float8(static_cast<float>(x)) {}
  explicit Float8(int x) : Float8(static_cast<float>(x)) {}
  explicit Float8(__half x) : Float8(static_cast<float>(x)) {}
  explicit Float8(__nv_bfloat16 x) : Float8(static_cast<float>(x)) {}
  explicit operator float() const { return float(Value::bitcast(__x)); }
  explicit operator double() const { return float(*this); }
  explicit operator __half() const { return float(*this); }
  explicit operator __nv_bfloat16() const { return float(*this); }
  explicit operator int() const { return int(float(*this)); }
  explicit operator bool() const { return (__x & 0x7f) != 0; }
};
/// Two, or four, of them.
template <class Value>
struct Float8Pair {
  __nv_fp8x2_storage_t __x;

  Float8Pair() = default;
  explicit Float8Pair(float2 v) : __x(static_cast<__nv_fp8x2_storage_t>(Value(v.x).bits | Value(v.y).bits << 8)) {}
  explicit operator float2() const {
    return {float(Value::bitcast(static_cast<unsigned char>(__x))),
            float(Value::bitcast(static_cast<unsigned char>(__x >> 8)))};
  }
};
template <class Value>
struct Float8Four {
  __nv_fp8x4_storage_t __x;

  Float8Four() = default;
  explicit Float8Four(float4 v)
      : __x(static_cast<unsigned>(Value(v.x).bits) | static_cast<unsigned>(Value(v.y).bits) << 8 |
            static_cast<unsigned>(Value(v.z).bits) << 16 | static_cast<unsigned>(Value(v.w).bits) << 24) {}
  explicit operator float4() const {
    const auto at = [this](int i) { return float(Value::bitcast(static_cast<unsigned char>(__x >> (8 * i)))); };
    return {at(0), at(1), at(2), at(3)};
  }
};

}  // namespace zellige::cuda

using __nv_fp8_e4m3 = ::zellige::cuda::Float8<::zellige::float_e4m3_t>;
using __nv_fp8_e5m2 = ::zellige::cuda::Float8<::zellige::float_e5m2_t>;
using __nv_fp8x2_e4m3 = ::zellige::cuda::Float8Pair<::zellige::float_e4m3_t>;
using __nv_fp8x2_e5m2 = ::zellige::cuda::Float8Pair<::zellige::float_e5m2_t>;
using __nv_fp8x4_e4m3 = ::zellige::cuda::Float8Four<::zellige::float_e4m3_t>;
using __nv_fp8x4_e5m2 = ::zellige::cuda::Float8Four<::zellige::float_e5m2_t>;

inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  if (kind == __NV_E4M3)
    return saturate == __NV_SATFINITE ? ::zellige::float_e4m3_t(x).bits : ::zellige::float_e4m3_t::nearest(x).bits;
  return saturate == __NV_SATFINITE ? ::zellige::float_e5m2_t(x).bits : ::zellige::float_e5m2_t::nearest(x).bits;
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_float_to_fp8(v.x, saturate, kind) |
                                           __nv_cvt_float_to_fp8(v.y, saturate, kind) << 8);
}
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  const float value =
      kind == __NV_E4M3 ? float(::zellige::float_e4m3_t::bitcast(x)) : float(::zellige::float_e5m2_t::bitcast(x));
  return {::zellige::cuda::HalfFormat::round(value)};
}
