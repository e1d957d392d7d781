// Writes numbers, tuples, layouts and swizzles in CuTe's notation: print(x) on the host and in kernels,
// stream << x on the host.
//
//   print(make_layout(make_shape(_4{}, n)))    writes  (_4,8):(_1,_4)
//   std::cout << make_coord(1, _2{})           writes  (1,_2)
//
// No stream header is included: << works with any class that has << for strings and numbers.
#pragma once
#include <zellige/layout/basis.hpp>
#include <zellige/layout/composed.hpp>
#include <zellige/layout/mixed_bits.hpp>
#include <zellige/layout/ratio.hpp>

#if !defined(__CUDACC_RTC__)
#include <cstdio>  // printf
#endif

namespace zellige {

namespace detail {
/// Writes with printf, on host and device.
struct printf_sink {
  ZELLIGE_HOST_DEVICE void text(char const* t) const { printf("%s", t); }
  ZELLIGE_HOST_DEVICE void letter(char c) const { printf("%c", c); }
  ZELLIGE_HOST_DEVICE void number(long long n) const { printf("%lld", n); }
  ZELLIGE_HOST_DEVICE void number(unsigned long long n) const { printf("%llu", n); }
  ZELLIGE_HOST_DEVICE void real(double x) const { printf("%f", x); }
  ZELLIGE_HOST_DEVICE void address(void const* p) const { printf("%p", p); }
  /// Prints an object of a user's type with the function print() that argument-dependent lookup finds.
  template <class T>
  ZELLIGE_HOST_DEVICE void other(T const& t) const {
    print(t);
  }
};
#if !defined(__CUDACC_RTC__)
/// Writes to a stream with <<.
template <class Stream>
struct stream_sink {
  Stream& s;
  void text(char const* t) const { s << t; }
  void letter(char c) const { s << c; }
  void number(long long n) const { s << n; }
  void number(unsigned long long n) const { s << n; }
  void real(double x) const { s << x; }
  void address(void const* p) const { s << p; }
  template <class T>
  void other(T const& t) const {
    s << t;
  }
};
#endif

template <class T>
inline constexpr bool is_fraction_v = is_same_v<T, float> || is_same_v<T, double>;
/// True for a class of numbers, such as half_t or int4b_t: it converts to float. One that computes as an integer converts
/// to an integer, too.
template <class T>
inline constexpr bool is_number_class_v = __is_class(T) && requires(T const& t) {
  static_cast<float>(t);
};
template <class T>
inline constexpr bool is_integer_class_v = is_number_class_v<T>&& requires(T const& t) {
  requires dynamic_integer<decltype(+t)>;
};
/// True if T is a type of this library that `write` prints.
template <class T>
inline constexpr bool has_a_text =
    is_static_integer_v<T> || is_underscore_v<T> || basis_like<T> || is_layout_v<T> || is_composed_layout_v<T> ||
    is_swizzle_v<T> || is_mixed_bits_v<T> || is_ratio<T>::value || requires {
  T::flag_bits;
};

/// Writes t to the sink s, in CuTe's notation if t is a number, tuple, layout or swizzle; objects of other
/// types are written by their own print or <<.
ZELLIGE_CALLS_BACK
template <class Sink, class T>
ZELLIGE_HOST_DEVICE void write(Sink const& s, T const& t);
ZELLIGE_CALLS_BACK
template <class Sink, class T, int... I>
ZELLIGE_HOST_DEVICE void write_each(Sink const& s, T const& t, seq<I...>) {
  ((I > 0 ? s.text(",") : void(), write(s, get<I>(t))), ...);
}
// Writes the mode indices of a basis element to the sink s, the innermost first: @1@0 for E<0, 1>.
template <class Sink>
ZELLIGE_HOST_DEVICE void write_path(Sink const&, seq<>) {}
ZELLIGE_CALLS_BACK
template <class Sink, int N, int... R>
ZELLIGE_HOST_DEVICE void write_path(Sink const& s, seq<N, R...>) {
  write_path(s, seq<R...>{});
  s.text("@");
  s.number(static_cast<long long>(N));
}
template <class Sink, class T, int... N>
ZELLIGE_HOST_DEVICE void write_basis(Sink const& s, ScaledBasis<T, N...> const& e) {
  write(s, e.value());
  write_path(s, seq<N...>{});
}
ZELLIGE_CALLS_BACK
template <class Sink, int B, int M, int S>
ZELLIGE_HOST_DEVICE void write_swizzle(Sink const& s, Swizzle<B, M, S>) {
  s.text("Sw<");
  write_each(s, make_tuple(B, M, S), seq<0, 1, 2>{});
  s.text(">");
}
ZELLIGE_CALLS_BACK
template <class Sink, unsigned S, unsigned F>
ZELLIGE_HOST_DEVICE void write_bits(Sink const& s, MixedBits<S, F> const& m) {
  s.text("M_");
  write(s, S);
  s.text("|(");
  write(s, m.dynamic_int_);
  s.text("&");
  write(s, F);
  s.text(")=");
  write(s, unsigned(m));
}
ZELLIGE_CALLS_BACK
template <class Sink, auto n, auto d>
ZELLIGE_HOST_DEVICE void write_ratio(Sink const& s, R<n, d>) {
  write(s, C<n>{});
  s.text("/");
  write(s, C<d>{});
}
ZELLIGE_CALLS_BACK
template <class Sink, class T>
ZELLIGE_HOST_DEVICE void write(Sink const& s, T const& t) {
  if constexpr (is_static_integer_v<T>) {
    s.text("_");
    write(s, +T::value);
  } else if constexpr (is_same_v<T, char>) {
    s.letter(t);
  } else if constexpr (dynamic_integer<T>) {
    if constexpr (T(-1) < T(1) || sizeof(T) < 8)
      s.number(static_cast<long long>(t));
    else
      s.number(static_cast<unsigned long long>(t));
  } else if constexpr (is_fraction_v<T>) {
    s.real(double(t));
  } else if constexpr (is_underscore_v<T>) {
    s.text("_");
  } else if constexpr (is_tuple_v<T>) {
    s.text("(");
    write_each(s, t, make_seq<tuple_size_v<T>>{});
    s.text(")");
  } else if constexpr (basis_like<T>) {
    write_basis(s, t);
  } else if constexpr (is_layout_v<T>) {
    write(s, t.shape());
    s.text(":");
    write(s, t.stride());
  } else if constexpr (is_composed_layout_v<T>) {
    write(s, t.layout_a());
    s.text(" o ");
    write(s, t.offset());
    s.text(" o ");
    write(s, t.layout_b());
  } else if constexpr (is_swizzle_v<T>) {
    write_swizzle(s, t);
  } else if constexpr (is_mixed_bits_v<T>) {
    write_bits(s, t);
  } else if constexpr (is_ratio<T>::value) {
    write_ratio(s, t);
  } else if constexpr (requires { T::flag_bits; }) {
    s.text("smem_ptr[");
    write(s, +T::flag_bits);
    s.text("b](unset)");
  } else if constexpr (is_integer_class_v<T>) {
    write(s, +t);
  } else if constexpr (is_number_class_v<T>) {
    s.real(double(static_cast<float>(t)));
  } else {
    s.other(t);
  }
}
}  // namespace detail

namespace detail {
template <class T>
concept written_number = dynamic_integer<T> || is_fraction_v<T>;
}  // namespace detail
/// True if print(T) is defined here: the library's types, tuples and numbers.
template <class T>
concept written = detail::has_a_text<T> || is_tuple_v<T> || detail::written_number<T> || detail::is_number_class_v<T>;

/// Prints t in CuTe's notation with printf, on host or device.
template <written T>
requires(!detail::written_number<T>) ZELLIGE_HOST_DEVICE void print(T const& t) {
  detail::write(detail::printf_sink{}, t);
}
/// Prints a number, by value: it may be a static constant of a class, such as Tensor::rank, in device code.
template <detail::written_number T>
ZELLIGE_HOST_DEVICE void print(T t) {
  detail::write(detail::printf_sink{}, t);
}
/// Prints the same as printf(format, t...).
template <class... T>
ZELLIGE_HOST_DEVICE void print(char const* format, T const&... t) {
  printf(format, t...);
}

#if !defined(__CUDACC_RTC__)
namespace detail {
// True if `stream << x` is defined here: the library's types, and tuples whose elements can be streamed.
template <class Stream, class T>
inline constexpr bool streams_v = has_a_text<T>;
template <class Stream, class T>
concept streamed = streams_v<Stream, T> || dynamic_integer<T> || requires(Stream& s, T const& t) {
  s << t;
};
template <class Stream, class... T>
inline constexpr bool streams_v<Stream, tuple<T...>> = (streamed<Stream, T> && ...);
template <class Stream, class... T>
inline constexpr bool streams_v<Stream, ArithmeticTuple<T...>> = (streamed<Stream, T> && ...);
}  // namespace detail

/// Writes t to a stream in CuTe's notation. The stream may be of any class that has << for strings and
/// numbers.
template <class Stream, class T>
requires(detail::streams_v<Stream, T>&& requires(Stream& s, char const* text) { s << text; }) Stream& operator<<(
    Stream& s, T const& t) {
  detail::write(detail::stream_sink<Stream>{s}, t);
  return s;
}
#endif

}  // namespace zellige
