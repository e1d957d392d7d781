// Defines static integers, which are known at compile time. `Int<4>{}` (alias `_4{}`) is the number 4 as a type;
// arithmetic on static integers is static:
//
//   Int<4>{} * Int<2>{}   is  Int<8>         Int<4>{} * n   is an int
//   Int<0>{} * n          is  Int<0>         n % Int<1>{}   is  Int<0>
//
// If one operand is a run-time number x, the result is static only for 0*x, x*0, 0/x, 0%x, x%1, x%-1, 0&x, x&0, and
// for && and || whose result the static operand determines.
#pragma once
#include <zellige/layout/config.hpp>
#include <zellige/layout/names.hpp>

namespace zellige {

template <auto v>
struct C {
  using type = C;
  using value_type = remove_cvref_t<decltype(v)>;
  static constexpr value_type value = v;
  ZELLIGE_HOST_DEVICE constexpr operator value_type() const noexcept { return v; }
  ZELLIGE_HOST_DEVICE constexpr value_type operator()() const noexcept { return v; }
};

template <class T, T v>
using constant = C<v>;
template <class T, T v>
using integral_constant = C<v>;
template <bool b>
using bool_constant = C<b>;
using true_type = C<true>;
using false_type = C<false>;

template <class T>
inline constexpr bool is_static_integer_v = false;
template <auto v>
inline constexpr bool is_static_integer_v<C<v>> = true;
template <auto v>
inline constexpr bool is_static_integer_v<C<v> const> = true;

template <class T>
inline constexpr bool is_builtin_integer = false;
template <class T>
inline constexpr bool is_builtin_integer<T const> = is_builtin_integer<T>;
template <>
inline constexpr bool is_builtin_integer<bool> = true;
template <>
inline constexpr bool is_builtin_integer<char> = true;
template <>
inline constexpr bool is_builtin_integer<signed char> = true;
template <>
inline constexpr bool is_builtin_integer<unsigned char> = true;
template <>
inline constexpr bool is_builtin_integer<short> = true;
template <>
inline constexpr bool is_builtin_integer<unsigned short> = true;
template <>
inline constexpr bool is_builtin_integer<int> = true;
template <>
inline constexpr bool is_builtin_integer<unsigned> = true;
template <>
inline constexpr bool is_builtin_integer<long> = true;
template <>
inline constexpr bool is_builtin_integer<unsigned long> = true;
template <>
inline constexpr bool is_builtin_integer<long long> = true;
template <>
inline constexpr bool is_builtin_integer<unsigned long long> = true;

/// Run-time integers: T is a built-in integer type, bool included.
template <class T>
concept dynamic_integer = is_builtin_integer<remove_cvref_t<T>>;
/// Integers, static (C<v>) or run-time.
template <class T>
concept integral = dynamic_integer<T> || is_static_integer_v<remove_cvref_t<T>>;

/// True if T is a static integer equal to n, as in is_constant<4, T>.
template <auto n, class T>
struct is_constant : false_type {};
template <auto n, auto v>
struct is_constant<n, C<v>> : bool_constant<v == n> {};
template <auto n, class T>
struct is_constant<n, T const> : is_constant<n, T> {};
template <auto n, class T>
struct is_constant<n, T&> : is_constant<n, T> {};

template <auto n, class T>
inline constexpr bool is_constant_v = is_constant<n, T>::value;

/// A type of a user's own that specialises it is an integer in shapes and strides, too (user_integer).
template <class T>
struct is_integral : bool_constant<integral<T>> {};
/// A class that specialises is_integral and converts to one built-in integer, such as a length with the table that it is
/// the maximum of: a run-time integer. What is computed of it has the built-in type.
template <class T>
concept user_integer = is_integral<remove_cvref_t<T>>::value && !integral<T> && requires(T const& t) {
  requires dynamic_integer<decltype(+t)>;
};

template <auto v>
ZELLIGE_HOST_DEVICE constexpr C<(+v)> operator+(C<v>) {
  return {};
}
template <auto v>
ZELLIGE_HOST_DEVICE constexpr C<(-v)> operator-(C<v>) {
  return {};
}
template <auto v>
ZELLIGE_HOST_DEVICE constexpr C<(~v)> operator~(C<v>) {
  return {};
}
template <auto v>
ZELLIGE_HOST_DEVICE constexpr C<(!v)> operator!(C<v>) {
  return {};
}

// Defines a binary operator on two static integers. A macro, because C++ has no other way to define all
// operators uniformly.
#define ZELLIGE_STATIC_OPERATOR(op)                                   \
  template <auto a, auto b>                                           \
  ZELLIGE_HOST_DEVICE constexpr C<(a op b)> operator op(C<a>, C<b>) { \
    return {};                                                        \
  }
ZELLIGE_STATIC_OPERATOR(+)
ZELLIGE_STATIC_OPERATOR(-)
ZELLIGE_STATIC_OPERATOR(*)
ZELLIGE_STATIC_OPERATOR(/)
ZELLIGE_STATIC_OPERATOR(%)
ZELLIGE_STATIC_OPERATOR(&)
ZELLIGE_STATIC_OPERATOR(|)
ZELLIGE_STATIC_OPERATOR(^)
ZELLIGE_STATIC_OPERATOR(<<)
ZELLIGE_STATIC_OPERATOR(>>)
ZELLIGE_STATIC_OPERATOR(&&)
ZELLIGE_STATIC_OPERATOR(||)
ZELLIGE_STATIC_OPERATOR(==)
ZELLIGE_STATIC_OPERATOR(!=)
ZELLIGE_STATIC_OPERATOR(<)
ZELLIGE_STATIC_OPERATOR(<=)
ZELLIGE_STATIC_OPERATOR(>)
ZELLIGE_STATIC_OPERATOR(>=)
#undef ZELLIGE_STATIC_OPERATOR

template <long long x, long long y>
ZELLIGE_HOST_DEVICE void the_static_result_does_not_fit_64_bits() = delete;

namespace detail {
// Returns true if the numbers, of integer types, have a result (1: sum, 2: difference, 3: product) that their common type
// does not hold.
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr bool exceeds(int operation, A a, B b) {
  using T = decltype(a + b);
  long long const x = static_cast<long long>(a), y = static_cast<long long>(b);
  if constexpr (sizeof(T) < 8) {
    long long const r = operation == 1 ? x + y : operation == 2 ? x - y : x * y;
    return static_cast<long long>(T(r)) != r && !(T(-1) > T(0) && r < 0);
  } else if constexpr (T(-1) < T(0)) {
    constexpr long long most = 0x7fffffffffffffff, least = -most - 1;
    if (operation == 1) return y > 0 ? x > most - y : x < least - y;
    if (operation == 2) return y < 0 ? x > most + y : x < least + y;
    if (x == 0 || y == 0) return false;
    if (x == -1 || y == -1) return (x == -1 ? y : x) == least;
    return y > 0 ? (x > most / y || x < least / y) : (x > least / y || x < most / y);
  } else {
    return false;
  }
}
// Returns the result of the operation (as above) on static numbers in 64 bits; one that does not fit them is an error.
template <int operation, auto a, auto b>
ZELLIGE_HOST_DEVICE consteval long long wide() {
  constexpr long long x = static_cast<long long>(a), y = static_cast<long long>(b);
  if constexpr (exceeds(operation, x, y))
    return the_static_result_does_not_fit_64_bits<x, y>(), 0;
  else
    return operation == 1 ? x + y : operation == 2 ? x - y : x * y;
}
}  // namespace detail

// Sums and products of static numbers that their type does not hold have 64 bits.
template <auto a, auto b>
requires(detail::exceeds(1, a, b)) ZELLIGE_HOST_DEVICE constexpr C<detail::wide<1, a, b>()> operator+(C<a>, C<b>) {
  return {};
}
template <auto a, auto b>
requires(detail::exceeds(2, a, b)) ZELLIGE_HOST_DEVICE constexpr C<detail::wide<2, a, b>()> operator-(C<a>, C<b>) {
  return {};
}
template <auto a, auto b>
requires(detail::exceeds(3, a, b)) ZELLIGE_HOST_DEVICE constexpr C<detail::wide<3, a, b>()> operator*(C<a>, C<b>) {
  return {};
}

template <auto a, dynamic_integer T>
requires(a == 0) ZELLIGE_HOST_DEVICE constexpr C<0> operator*(C<a>, T) { return {}; }
template <dynamic_integer T, auto a>
requires(a == 0) ZELLIGE_HOST_DEVICE constexpr C<0> operator*(T, C<a>) { return {}; }
template <auto a, dynamic_integer T>
requires(a == 0) ZELLIGE_HOST_DEVICE constexpr C<0> operator/(C<a>, T) { return {}; }
template <auto a, dynamic_integer T>
requires(a == 0) ZELLIGE_HOST_DEVICE constexpr C<0> operator%(C<a>, T) { return {}; }
template <dynamic_integer T, auto a>
requires(a == 1 || a == -1) ZELLIGE_HOST_DEVICE constexpr C<0> operator%(T, C<a>) { return {}; }
template <auto a, dynamic_integer T>
requires(a == 0) ZELLIGE_HOST_DEVICE constexpr C<0> operator&(C<a>, T) { return {}; }
template <dynamic_integer T, auto a>
requires(a == 0) ZELLIGE_HOST_DEVICE constexpr C<0> operator&(T, C<a>) { return {}; }
template <auto a, dynamic_integer T>
requires(!a) ZELLIGE_HOST_DEVICE constexpr false_type operator&&(C<a>, T) { return {}; }
template <dynamic_integer T, auto a>
requires(!a) ZELLIGE_HOST_DEVICE constexpr false_type operator&&(T, C<a>) { return {}; }
template <auto a, dynamic_integer T>
requires(!!a) ZELLIGE_HOST_DEVICE constexpr true_type operator||(C<a>, T) { return {}; }
template <dynamic_integer T, auto a>
requires(!!a) ZELLIGE_HOST_DEVICE constexpr true_type operator||(T, C<a>) { return {}; }

namespace detail {
/// Parses the digits of a literal such as 1'024_c; digit separators are skipped.
template <char... c>
struct literal {
  ZELLIGE_ALGEBRA static consteval int read() {
    char const text[] = {c...};
    int n = 0;
    for (char d : text) n = d == '\'' ? n : n * 10 + (d - '0');
    return n;
  }
};
}  // namespace detail

using _0 = Int<0>;
using _1 = Int<1>;
using _2 = Int<2>;
using _3 = Int<3>;
using _4 = Int<4>;
using _5 = Int<5>;
using _6 = Int<6>;
using _7 = Int<7>;
using _8 = Int<8>;
using _9 = Int<9>;
using _10 = Int<10>;
using _11 = Int<11>;
using _12 = Int<12>;
using _13 = Int<13>;
using _14 = Int<14>;
using _15 = Int<15>;
using _16 = Int<16>;
using _17 = Int<17>;
using _18 = Int<18>;
using _19 = Int<19>;
using _20 = Int<20>;
using _21 = Int<21>;
using _22 = Int<22>;
using _23 = Int<23>;
using _24 = Int<24>;
using _25 = Int<25>;
using _26 = Int<26>;
using _27 = Int<27>;
using _28 = Int<28>;
using _29 = Int<29>;
using _30 = Int<30>;
using _31 = Int<31>;
using _32 = Int<32>;
using _33 = Int<33>;
using _34 = Int<34>;
using _35 = Int<35>;
using _36 = Int<36>;
using _37 = Int<37>;
using _38 = Int<38>;
using _39 = Int<39>;
using _40 = Int<40>;
using _41 = Int<41>;
using _42 = Int<42>;
using _43 = Int<43>;
using _44 = Int<44>;
using _45 = Int<45>;
using _46 = Int<46>;
using _47 = Int<47>;
using _48 = Int<48>;
using _49 = Int<49>;
using _50 = Int<50>;
using _51 = Int<51>;
using _52 = Int<52>;
using _53 = Int<53>;
using _54 = Int<54>;
using _55 = Int<55>;
using _56 = Int<56>;
using _57 = Int<57>;
using _58 = Int<58>;
using _59 = Int<59>;
using _60 = Int<60>;
using _61 = Int<61>;
using _62 = Int<62>;
using _63 = Int<63>;
using _64 = Int<64>;
using _72 = Int<72>;
using _80 = Int<80>;
using _88 = Int<88>;
using _96 = Int<96>;
using _104 = Int<104>;
using _112 = Int<112>;
using _120 = Int<120>;
using _128 = Int<128>;
using _136 = Int<136>;
using _144 = Int<144>;
using _152 = Int<152>;
using _160 = Int<160>;
using _168 = Int<168>;
using _176 = Int<176>;
using _184 = Int<184>;
using _192 = Int<192>;
using _200 = Int<200>;
using _208 = Int<208>;
using _216 = Int<216>;
using _224 = Int<224>;
using _232 = Int<232>;
using _240 = Int<240>;
using _248 = Int<248>;
using _256 = Int<256>;
using _264 = Int<264>;
using _272 = Int<272>;
using _280 = Int<280>;
using _288 = Int<288>;
using _296 = Int<296>;
using _304 = Int<304>;
using _312 = Int<312>;
using _320 = Int<320>;
using _328 = Int<328>;
using _336 = Int<336>;
using _344 = Int<344>;
using _352 = Int<352>;
using _360 = Int<360>;
using _368 = Int<368>;
using _376 = Int<376>;
using _384 = Int<384>;
using _392 = Int<392>;
using _400 = Int<400>;
using _408 = Int<408>;
using _416 = Int<416>;
using _424 = Int<424>;
using _432 = Int<432>;
using _440 = Int<440>;
using _448 = Int<448>;
using _456 = Int<456>;
using _464 = Int<464>;
using _472 = Int<472>;
using _480 = Int<480>;
using _488 = Int<488>;
using _496 = Int<496>;
using _504 = Int<504>;
using _512 = Int<512>;
using _768 = Int<768>;
using _1024 = Int<1024>;
using _1536 = Int<1536>;
using _2048 = Int<2048>;
using _4096 = Int<4096>;
using _8192 = Int<8192>;
using _16384 = Int<16384>;
using _32768 = Int<32768>;
using _65536 = Int<65536>;
using _131072 = Int<131072>;
using _262144 = Int<262144>;
using _524288 = Int<524288>;
using _m1 = Int<-1>;
using _m2 = Int<-2>;
using _m3 = Int<-3>;
using _m4 = Int<-4>;
using _m5 = Int<-5>;
using _m6 = Int<-6>;
using _m7 = Int<-7>;
using _m8 = Int<-8>;
using _m9 = Int<-9>;
using _m10 = Int<-10>;
using _m11 = Int<-11>;
using _m12 = Int<-12>;
using _m13 = Int<-13>;
using _m14 = Int<-14>;
using _m15 = Int<-15>;
using _m16 = Int<-16>;
using _m17 = Int<-17>;
using _m18 = Int<-18>;
using _m19 = Int<-19>;
using _m20 = Int<-20>;
using _m21 = Int<-21>;
using _m22 = Int<-22>;
using _m23 = Int<-23>;
using _m24 = Int<-24>;
using _m25 = Int<-25>;
using _m26 = Int<-26>;
using _m27 = Int<-27>;
using _m28 = Int<-28>;
using _m29 = Int<-29>;
using _m30 = Int<-30>;
using _m31 = Int<-31>;
using _m32 = Int<-32>;

/// Literal of a static integer: 1_c is Int<1>{}.
template <char... c>
ZELLIGE_HOST_DEVICE constexpr auto operator""_c() {
  return C<detail::literal<c...>::read()>{};
}

}  // namespace zellige
