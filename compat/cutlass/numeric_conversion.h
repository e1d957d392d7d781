// NumericConverter and NumericArrayConverter: convert between number types, rounding to nearest even, or
// towards zero for integer results if asked for. Results of 8-bit integer types saturate.
#pragma once
#if __has_include_next(<cutlass/numeric_conversion.h>)
#include_next <cutlass/numeric_conversion.h>
#else
#include <cutlass/array.h>
#include <cutlass/numeric_types.h>

#include <cmath>
#include <zellige/atom/convert.hpp>

namespace cutlass {

enum class FloatRoundStyle {
  round_indeterminate,
  round_toward_zero,
  round_to_nearest,
  round_to_nearest_satfinite,
  round_toward_infinity,
  round_toward_neg_infinity,
  round_half_ulp_truncate,
  round_half_ulp_trunc_dntz
};

/// Converts a number of type S to type T.
template <class T, class S, FloatRoundStyle Round = FloatRoundStyle::round_to_nearest>
struct NumericConverter {
  using result_type = T;
  using source_type = S;
  static constexpr FloatRoundStyle round_style = Round;
  static constexpr bool to_integer = zellige::dynamic_integer<T> && !zellige::dynamic_integer<S>;
  static_assert(Round == FloatRoundStyle::round_to_nearest || Round == FloatRoundStyle::round_indeterminate ||
                    (to_integer && Round == FloatRoundStyle::round_toward_zero),
                "NumericConverter<T, S, Round>: without CUTLASS floats are rounded to nearest, integers so or towards "
                "zero");

  CUTLASS_HOST_DEVICE static T convert(S const& s) {
    if constexpr (to_integer) {
      float const x = static_cast<float>(s);
      float const whole = Round == FloatRoundStyle::round_toward_zero ? truncf(x) : rintf(x);
      if constexpr (sizeof(T) == 1) {
        constexpr float minimum = T(-1) < T(0) ? -128.f : 0.f, maximum = T(-1) < T(0) ? 127.f : 255.f;
        return static_cast<T>(whole < minimum ? minimum : whole > maximum ? maximum : whole);
      } else {
        return static_cast<T>(whole);
      }
    } else if constexpr (zellige::is_same_v<T, S>) {
      return s;
    } else if constexpr (zellige::dynamic_integer<T> || zellige::is_same_v<T, double>) {
      return static_cast<T>(s);
    } else {
      return T(static_cast<float>(s));
    }
  }
  CUTLASS_HOST_DEVICE T operator()(S const& s) const { return convert(s); }
};

/// Converts an Array of N numbers.
template <class T, class S, int N, FloatRoundStyle Round = FloatRoundStyle::round_to_nearest>
struct NumericArrayConverter {
  using result_type = Array<T, N>;
  using source_type = Array<S, N>;
  static constexpr FloatRoundStyle round_style = Round;

  CUTLASS_HOST_DEVICE static result_type convert(source_type const& s) {
    result_type r;
    // Converts two floats at once to a register of two 16-bit numbers, where the type allows it.
    constexpr bool pairs = zellige::is_same_v<S, float> && sizeof(T) == 2 && requires { T::pack(0.f, 0.f); };
    constexpr int paired = pairs ? N / 2 * 2 : 0;
    if constexpr (pairs) {
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < paired; i += 2) {
        zellige::uint32_t const both = T::pack(s[i], s[i + 1]);
        r[i] = T::bitcast(static_cast<unsigned short>(both));
        r[i + 1] = T::bitcast(static_cast<unsigned short>(both >> 16));
      }
    }
    CUTLASS_PRAGMA_UNROLL
    for (int i = paired; i < N; ++i) r[i] = NumericConverter<T, S, Round>::convert(s[i]);
    return r;
  }
  CUTLASS_HOST_DEVICE result_type operator()(source_type const& s) const { return convert(s); }
};

}  // namespace cutlass
#endif
