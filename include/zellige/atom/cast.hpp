// cast<T>(x): the value of x after a conversion to number type T, with PyTorch's rules. Floats are rounded to nearest
// even, and overflow becomes infinity, or NaN in e4m3, which has no infinity. A conversion to an integer type
// truncates toward zero, and int8 keeps the lower 8 bits. The result is a float, or an int for integer types, because
// kernels compute in these.
//
//   float y = cast<float_e4m3_t>(465.0f);         // NaN;  cast<float_e4m3_t, true>(465.0f) is 448: it saturates
//   int i = cast<int8_t>(200);                    // -56;  cast<int8_t, true>(200) is 127
//   float_e5m2_t h = rounded<float_e5m2_t>(0.3f);
#pragma once

#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/float8.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/integer.hpp>
#include <zellige/atom/math.hpp>
#include <zellige/atom/tfloat32.hpp>
#include <zellige/layout/config.hpp>

namespace zellige {

namespace detail {
template <class T>
struct register_of {
  using type = float;
};
template <>
struct register_of<int> {
  using type = int;
};
template <>
struct register_of<int8_t> {
  using type = int;
};
template <>
struct register_of<uint8_t> {
  using type = int;
};
template <>
struct register_of<int16_t> {
  using type = int;
};
template <>
struct register_of<bool> {
  using type = int;
};
template <>
struct register_of<int64_t> {
  using type = int64_t;
};
/// The range of an integer type narrower than int.
template <class T>
inline constexpr int least = 0;
template <>
inline constexpr int least<int8_t> = -128;
template <>
inline constexpr int least<int16_t> = -32768;
template <class T>
inline constexpr int most = -1 - least<T>;
template <>
inline constexpr int most<uint8_t> = 255;
/// Whether T is an integer type narrower than int, other than bool, of which any number is a value.
template <class T>
inline constexpr bool is_narrow = sizeof(T) < 4 && !is_same_v<T, bool>;
template <class T>
inline constexpr bool is_float_register = is_same_v<typename register_of<T>::type, float>;

/// The greatest finite value of T.
template <class T>
inline constexpr float greatest = 0x1.fffffep127f;
template <>
inline constexpr float greatest<half_t> = 65504.0f;
template <>
inline constexpr float greatest<bfloat16_t> = 0x1.fep127f;
template <>
inline constexpr float greatest<float_e4m3_t> = 448.0f;
template <>
inline constexpr float greatest<float_e5m2_t> = 57344.0f;
}  // namespace detail

/// The type in which kernels compute with numbers stored as T: int64_t for int64_t, int for other integers, else float.
template <class T>
using register_t = typename detail::register_of<T>::type;

/// Returns x as a T: floats are rounded to nearest even, integers are truncated. On overflow, returns infinity, or
/// NaN if T is float_e4m3_t: the function uses T::nearest for 8-bit floats, whose constructors would saturate.
template <class T>
ZELLIGE_ANYWHERE T rounded(float x) {
  if constexpr (is_same_v<T, bool>)
    return x != 0.0f;
  else if constexpr (sizeof(T) == 8)
    return to_int64(x);
  else if constexpr (!detail::is_float_register<T>)
    return static_cast<T>(to_int(x));
  else if constexpr (requires { T::nearest(x); })
    return T::nearest(x);
  else
    return T(x);
}
template <class T>
ZELLIGE_ANYWHERE T rounded(int64_t x) {
  if constexpr (detail::is_float_register<T>)
    return rounded<T>(static_cast<float>(x));
  else
    return static_cast<T>(x);
}
template <class T>
ZELLIGE_ANYWHERE T rounded(int x) {
  if constexpr (detail::is_float_register<T>)
    return rounded<T>(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

/// Returns the value of x after a conversion to T, as a number of registers. If Saturate, x is first clamped to T's
/// finite range.
template <class T, bool Saturate = false>
ZELLIGE_ANYWHERE register_t<T> cast(float x) {
  if constexpr (!detail::is_float_register<T>)
    return Saturate && detail::is_narrow<T> ? min(max(to_int(x), detail::least<T>), detail::most<T>)
                                            : register_t<T>(rounded<T>(x));
  else
    return float(rounded<T>(Saturate ? clamp(x, -detail::greatest<T>, detail::greatest<T>) : x));
}
template <class T, bool Saturate = false>
ZELLIGE_ANYWHERE register_t<T> cast(int x) {
  if constexpr (detail::is_float_register<T>)
    return cast<T, Saturate>(static_cast<float>(x));
  else
    return Saturate && detail::is_narrow<T> ? min(max(x, detail::least<T>), detail::most<T>)
                                            : register_t<T>(rounded<T>(x));
}
template <class T, bool Saturate = false>
ZELLIGE_ANYWHERE register_t<T> cast(int64_t x) {
  if constexpr (detail::is_float_register<T>)
    return cast<T, Saturate>(static_cast<float>(x));
  else if constexpr (Saturate && sizeof(T) < 8 && !is_same_v<T, bool>)
    return cast<T, true>(static_cast<int>(min(max(x, int64_t(-2147483647 - 1)), int64_t(2147483647))));
  else
    return register_t<T>(rounded<T>(x));
}

}  // namespace zellige
