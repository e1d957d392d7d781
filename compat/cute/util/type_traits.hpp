// The standard library's type traits under CuTe's names, and standard tuples as tuples for Zellige's
// algorithms.
#pragma once
#include <cute/config.hpp>
#include <zellige/layout/tuple_algorithms.hpp>

#if defined(__CUDACC_RTC__)
#include <cuda/std/cstddef>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#else
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>
#endif

namespace zellige {

using CUTE_STL_NAMESPACE::enable_if;
using CUTE_STL_NAMESPACE::enable_if_t;
}  // namespace zellige
#define __CUTE_REQUIRES(...) typename cute::enable_if<(__VA_ARGS__)>::type* = nullptr
#define __CUTE_REQUIRES_V(...) typename cute::enable_if<decltype((__VA_ARGS__))::value>::type* = nullptr

namespace zellige {

// conditional, is_same_v, remove_cvref, true_type, integral_constant and similar are not listed: Zellige
// defines them.
using CUTE_STL_NAMESPACE::add_const_t, CUTE_STL_NAMESPACE::remove_const_t, CUTE_STL_NAMESPACE::remove_cv_t;
using CUTE_STL_NAMESPACE::add_pointer, CUTE_STL_NAMESPACE::add_pointer_t;
using CUTE_STL_NAMESPACE::alignment_of, CUTE_STL_NAMESPACE::alignment_of_v;
using CUTE_STL_NAMESPACE::common_type, CUTE_STL_NAMESPACE::common_type_t;
using CUTE_STL_NAMESPACE::conjunction, CUTE_STL_NAMESPACE::conjunction_v;
using CUTE_STL_NAMESPACE::decay, CUTE_STL_NAMESPACE::decay_t;
using CUTE_STL_NAMESPACE::disjunction, CUTE_STL_NAMESPACE::disjunction_v;
using CUTE_STL_NAMESPACE::extent, CUTE_STL_NAMESPACE::remove_extent;
using CUTE_STL_NAMESPACE::is_arithmetic, CUTE_STL_NAMESPACE::is_arithmetic_v;
using CUTE_STL_NAMESPACE::is_base_of, CUTE_STL_NAMESPACE::is_base_of_v;
using CUTE_STL_NAMESPACE::is_const, CUTE_STL_NAMESPACE::is_const_v;
using CUTE_STL_NAMESPACE::is_constructible, CUTE_STL_NAMESPACE::is_constructible_v;
using CUTE_STL_NAMESPACE::is_convertible, CUTE_STL_NAMESPACE::is_convertible_v;
using CUTE_STL_NAMESPACE::is_default_constructible, CUTE_STL_NAMESPACE::is_default_constructible_v;
using CUTE_STL_NAMESPACE::is_empty, CUTE_STL_NAMESPACE::is_empty_v;
using CUTE_STL_NAMESPACE::is_lvalue_reference, CUTE_STL_NAMESPACE::is_lvalue_reference_v;
using CUTE_STL_NAMESPACE::is_pointer, CUTE_STL_NAMESPACE::is_pointer_v;
using CUTE_STL_NAMESPACE::is_reference, CUTE_STL_NAMESPACE::is_reference_v;
using CUTE_STL_NAMESPACE::is_same;
using CUTE_STL_NAMESPACE::is_signed, CUTE_STL_NAMESPACE::is_signed_v;
using CUTE_STL_NAMESPACE::is_standard_layout, CUTE_STL_NAMESPACE::is_standard_layout_v;
using CUTE_STL_NAMESPACE::is_trivially_copyable, CUTE_STL_NAMESPACE::is_trivially_copyable_v;
using CUTE_STL_NAMESPACE::is_unsigned, CUTE_STL_NAMESPACE::is_unsigned_v;
using CUTE_STL_NAMESPACE::is_volatile, CUTE_STL_NAMESPACE::is_volatile_v;
using CUTE_STL_NAMESPACE::make_signed, CUTE_STL_NAMESPACE::make_signed_t;
using CUTE_STL_NAMESPACE::make_unsigned, CUTE_STL_NAMESPACE::make_unsigned_t;
using CUTE_STL_NAMESPACE::negation, CUTE_STL_NAMESPACE::negation_v;
using CUTE_STL_NAMESPACE::remove_pointer, CUTE_STL_NAMESPACE::remove_pointer_t;
using CUTE_STL_NAMESPACE::remove_reference_t, CUTE_STL_NAMESPACE::invoke_result_t;
using CUTE_STL_NAMESPACE::void_t, CUTE_STL_NAMESPACE::is_void, CUTE_STL_NAMESPACE::is_void_v;

using CUTE_STL_NAMESPACE::declval, CUTE_STL_NAMESPACE::numeric_limits;
using CUTE_STL_NAMESPACE::ptrdiff_t, CUTE_STL_NAMESPACE::uintptr_t;

template <class T>
using is_std_integral = CUTE_STL_NAMESPACE::is_integral<T>;
template <class T>
inline constexpr bool is_integral_v = is_integral<T>::value;
template <class... T>
inline constexpr bool dependent_false = false;

// forward and move as in <utility>, but callable in device code.
template <class T>
CUTE_HOST_DEVICE constexpr T&& forward(remove_reference_t<T>& t) noexcept {
  return static_cast<T&&>(t);
}
template <class T>
CUTE_HOST_DEVICE constexpr T&& forward(remove_reference_t<T>&& t) noexcept {
  static_assert(!is_lvalue_reference_v<T>, "forward<T&>: an rvalue is forwarded as an lvalue");
  return static_cast<T&&>(t);
}
template <class T>
CUTE_HOST_DEVICE constexpr remove_reference_t<T>&& move(T&& t) noexcept {
  return static_cast<remove_reference_t<T>&&>(t);
}

namespace detail {
template <class... A>
struct accepts {
  template <class F>
  static constexpr bool value = requires {
    declval<F>()(declval<A>()...);
  };
};
template <class F>
struct is_valid_for {
  template <class... A>
  CUTE_HOST_DEVICE constexpr auto operator()(A&&...) const {
    return bool_constant<accepts<A&&...>::template value<F>>{};
  }
};
}  // namespace detail
/// Returns true_type if f can be called with the arguments, else false_type. is_valid(f) returns a function
/// object that does the check when it is called.
template <class F>
CUTE_HOST_DEVICE constexpr auto is_valid(F&&) {
  return detail::is_valid_for<F&&>{};
}
template <class F, class... A>
requires(sizeof...(A) > 0) CUTE_HOST_DEVICE constexpr auto is_valid(F&&, A&&...) {
  return bool_constant<detail::accepts<A&&...>::template value<F&&>>{};
}

template <bool B, template <class...> class True, template <class...> class False>
struct conditional_template {
  template <class... U>
  using type = True<U...>;
};
template <template <class...> class True, template <class...> class False>
struct conditional_template<false, True, False> {
  template <class... U>
  using type = False<U...>;
};

template <class T, class... U>
struct is_any_of : bool_constant<(is_same_v<T, U> || ...)> {};
template <class T, class... U>
inline constexpr bool is_any_of_v = is_any_of<T, U...>::value;

// Types with the standard library's tuple_size (std::tuple, std::array, std::pair, user types) are tuples for
// Zellige's algorithms.
namespace detail {
template <class T>
concept has_std_tuple_size = requires {
  CUTE_STL_NAMESPACE::tuple_size<T>::value;
};
}  // namespace detail
template <class T>
requires(detail::has_std_tuple_size<T> && !is_own_tuple_v<T>) struct foreign_tuple<T> {
  static constexpr int size = int(CUTE_STL_NAMESPACE::tuple_size<T>::value);
  template <int I>
  using element = CUTE_STL_NAMESPACE::tuple_element_t<I, T>;
  template <int I, class U>
  CUTE_HOST_DEVICE static constexpr decltype(auto) get(U&& t) {
    using CUTE_STL_NAMESPACE::get;
    return get<I>(static_cast<U&&>(t));
  }
};
// std::integer_sequence is a tuple of static integers.
template <class T, T... v>
struct foreign_tuple<CUTE_STL_NAMESPACE::integer_sequence<T, v...>> {
  static constexpr int size = sizeof...(v);
  template <int I>
  using element = tuple_element_t<I, tuple<C<v>...>>;
  template <int I>
  CUTE_HOST_DEVICE static constexpr element<I> get(CUTE_STL_NAMESPACE::integer_sequence<T, v...>) {
    return {};
  }
};

}  // namespace zellige

namespace zellige {

/// The type To with the const and volatile qualifiers of From.
template <class From, class To>
struct copy_cv {
  using type = To;
};
template <class From, class To>
struct copy_cv<From const, To> {
  using type = To const;
};
template <class From, class To>
struct copy_cv<From volatile, To> {
  using type = To volatile;
};
template <class From, class To>
struct copy_cv<From const volatile, To> {
  using type = To const volatile;
};
template <class From, class To>
using copy_cv_t = typename copy_cv<From, To>::type;

}  // namespace zellige
