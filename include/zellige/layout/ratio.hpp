// Defines R<n, d>: the fraction n / d, known at compile time. Used for ratios of element sizes, such as 4 to 16 bits.
//
//   ratio(_16{}, _32{})          is  R<1, 2>{}          64 * R<1, 2>{}    is  32, computed in integers
//   ratio(_32{}, _16{})          is  _2{}               R<3, 6>{}         is not reduced to R<1, 2>{}
#pragma once
#include <zellige/layout/bits.hpp>

namespace zellige {

template <auto n, auto d>
class R {
  static_assert(d != 0, "R<n, d>: the denominator is 0");
  static constexpr auto an = n < 0 ? -n : n;
  static constexpr auto ad = d < 0 ? -d : d;
  static constexpr auto g = decltype(gcd(C<an>{}, C<ad>{}))::value;

 public:
  static constexpr auto num = ((n < 0) != (d < 0) ? -1 : 1) * an / g;
  static constexpr auto den = ad / g;
  /// The fraction in lowest terms, or a static integer if the denominator is 1.
  using type = conditional_t<num == 0 || den == 1, C<num>, R<num, den>>;
};
template <class T>
struct is_ratio : false_type {};
template <auto n, auto d>
struct is_ratio<R<n, d>> : true_type {};
template <class T>
struct is_ratio<T const> : is_ratio<T> {};

namespace detail {
// Gives static integers and fractions a numerator n_ and a denominator d_.
template <class T>
struct fraction;
template <auto n>
struct fraction<C<n>> {
  static constexpr auto n_ = n, d_ = decltype(n)(1);
};
template <auto n, auto d>
struct fraction<R<n, d>> {
  static constexpr auto n_ = n, d_ = d;
};
template <class T>
concept fraction_like = is_static_integer_v<T> || is_ratio<T>::value;
template <class T, class U>
concept fractions = fraction_like<T> && fraction_like<U> &&(is_ratio<T>::value || is_ratio<U>::value);
}  // namespace detail

/// Returns the fraction a / b as an R, not reduced to lowest terms.
template <detail::fraction_like A, detail::fraction_like B>
ZELLIGE_HOST_DEVICE constexpr auto nratio(A, B) {
  using X = detail::fraction<A>;
  using Y = detail::fraction<B>;
  return R<X::n_ * Y::d_, X::d_ * Y::n_>{};
}
/// Returns a / b in lowest terms: an R, or a static integer if the denominator is 1.
template <detail::fraction_like A, detail::fraction_like B>
ZELLIGE_HOST_DEVICE constexpr auto ratio(A a, B b) {
  return typename decltype(nratio(a, b))::type{};
}

template <class A, class B>
requires detail::fractions<A, B> ZELLIGE_HOST_DEVICE constexpr auto operator*(A, B) {
  using X = detail::fraction<A>;
  using Y = detail::fraction<B>;
  return typename R<X::n_ * Y::n_, X::d_ * Y::d_>::type{};
}
template <class A, class B>
requires detail::fractions<A, B> ZELLIGE_HOST_DEVICE constexpr auto operator+(A, B) {
  using X = detail::fraction<A>;
  using Y = detail::fraction<B>;
  return typename R<X::n_ * Y::d_ + Y::n_ * X::d_, X::d_ * Y::d_>::type{};
}
template <class A, class B>
requires detail::fractions<A, B> ZELLIGE_HOST_DEVICE constexpr auto operator==(A, B) {
  using X = detail::fraction<A>;
  using Y = detail::fraction<B>;
  return bool_constant<X::n_ * Y::d_ == Y::n_ * X::d_>{};
}
/// Returns the greatest fraction of which a and b are integer multiples: an R or a static integer.
template <class A, class B>
requires detail::fractions<A, B> ZELLIGE_HOST_DEVICE constexpr auto gcd(A, B) {
  using X = detail::fraction<A>;
  using Y = detail::fraction<B>;
  return typename R<decltype(gcd(C<X::n_ * Y::d_>{}, C<Y::n_ * X::d_>{}))::value, X::d_ * Y::d_>::type{};
}
/// Returns x * n / d in integers; a remainder is dropped.
template <dynamic_integer T, auto n, auto d>
ZELLIGE_HOST_DEVICE constexpr auto operator*(T const& x, R<n, d>) {
  return x * R<n, d>::num / R<n, d>::den;
}
template <auto n, auto d, dynamic_integer T>
ZELLIGE_HOST_DEVICE constexpr auto operator*(R<n, d> r, T const& x) {
  return x * r;
}
template <class T, auto n, auto d>
ZELLIGE_HOST_DEVICE constexpr auto operator/(T const& x, R<n, d>) {
  return x * R<d, n>{};
}
template <auto n, auto d>
ZELLIGE_HOST_DEVICE constexpr auto abs(R<n, d>) {
  return typename R<(n < 0 ? -n : n), (d < 0 ? -d : d)>::type{};
}
/// Returns log_2 of the numerator minus log_2 of the denominator, each rounded down. The fraction must be
/// positive.
template <auto n, auto d>
ZELLIGE_HOST_DEVICE constexpr int log_2(R<n, d>) {
  static_assert(R<n, d>::num > 0, "log_2: the fraction is not positive");
  return int(log_2(C<R<n, d>::num>{})) - int(log_2(C<R<n, d>::den>{}));
}

/// Returns A::value / B::value as an unreduced R.
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto trait_ratio(A, B) {
  return nratio(static_value<A>(), static_value<B>());
}

}  // namespace zellige
