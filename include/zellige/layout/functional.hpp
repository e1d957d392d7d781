// Defines operators as function objects, for the algorithms on tuples and tensors: plus{}(a, b) is a + b.
#pragma once
#include <zellige/layout/bits.hpp>

namespace zellige {

/// Function object that returns its argument.
struct identity {
  template <class T>
  ZELLIGE_HOST_DEVICE constexpr T&& operator()(T&& t) const {
    return static_cast<T&&>(t);
  }
};
/// Function object that ignores its arguments and returns the value r_.
template <class R>
struct constant_fn {
  R r_;
  template <class... T>
  ZELLIGE_HOST_DEVICE constexpr R const& operator()(T&&...) const {
    return r_;
  }
};

// Defines `name`, a function object of one argument t that returns the given expression. A macro, because C++
// has no other way to define many of them uniformly.
#define ZELLIGE_UNARY_FUNCTION(name, ...)                                  \
  struct name {                                                            \
    template <class T>                                                     \
    ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator()(T&& t) const { \
      return __VA_ARGS__;                                                  \
    }                                                                      \
  };
#define ZELLIGE_BINARY_FUNCTION(name, ...)                                        \
  struct name {                                                                   \
    template <class T, class U>                                                   \
    ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator()(T&& t, U&& u) const { \
      return __VA_ARGS__;                                                         \
    }                                                                             \
  };
// Defines `name`, the function object of a binary operator, and four function objects that fold any number of
// arguments with the operator.
#define ZELLIGE_OPERATOR(name, op)                                          \
  ZELLIGE_BINARY_FUNCTION(name, static_cast<T&&>(t) op static_cast<U&&>(u)) \
  struct name##_unary_rfold {                                               \
    template <class... T>                                                   \
    ZELLIGE_HOST_DEVICE constexpr auto operator()(T&&... t) const {         \
      return (t op...);                                                     \
    }                                                                       \
  };                                                                        \
  struct name##_unary_lfold {                                               \
    template <class... T>                                                   \
    ZELLIGE_HOST_DEVICE constexpr auto operator()(T&&... t) const {         \
      return (... op t);                                                    \
    }                                                                       \
  };                                                                        \
  struct name##_binary_rfold {                                              \
    template <class U, class... T>                                          \
    ZELLIGE_HOST_DEVICE constexpr auto operator()(U&& u, T&&... t) const {  \
      return (t op... op u);                                                \
    }                                                                       \
  };                                                                        \
  struct name##_binary_lfold {                                              \
    template <class U, class... T>                                          \
    ZELLIGE_HOST_DEVICE constexpr auto operator()(U&& u, T&&... t) const {  \
      return (u op... op t);                                                \
    }                                                                       \
  };
ZELLIGE_UNARY_FUNCTION(unary_plus, +static_cast<T&&>(t))
ZELLIGE_UNARY_FUNCTION(negate, -static_cast<T&&>(t))
ZELLIGE_UNARY_FUNCTION(bit_not, ~static_cast<T&&>(t))
ZELLIGE_UNARY_FUNCTION(logical_not, !static_cast<T&&>(t))
ZELLIGE_UNARY_FUNCTION(dereference, *static_cast<T&&>(t))
ZELLIGE_UNARY_FUNCTION(address_of, &static_cast<T&&>(t))
ZELLIGE_UNARY_FUNCTION(pre_increment, ++static_cast<T&&>(t))
ZELLIGE_UNARY_FUNCTION(pre_decrement, --static_cast<T&&>(t))
ZELLIGE_UNARY_FUNCTION(post_increment, static_cast<T&&>(t)++)
ZELLIGE_UNARY_FUNCTION(post_decrement, static_cast<T&&>(t)--)
ZELLIGE_UNARY_FUNCTION(abs_fn, abs(static_cast<T&&>(t)))
ZELLIGE_UNARY_FUNCTION(conjugate, conj(static_cast<T&&>(t)))

ZELLIGE_OPERATOR(plus, +)
ZELLIGE_OPERATOR(minus, -)
ZELLIGE_OPERATOR(multiplies, *)
ZELLIGE_OPERATOR(divides, /)
ZELLIGE_OPERATOR(modulus, %)
ZELLIGE_OPERATOR(plus_assign, +=)
ZELLIGE_OPERATOR(minus_assign, -=)
ZELLIGE_OPERATOR(multiplies_assign, *=)
ZELLIGE_OPERATOR(divides_assign, /=)
ZELLIGE_OPERATOR(modulus_assign, %=)
ZELLIGE_OPERATOR(bit_and, &)
ZELLIGE_OPERATOR(bit_or, |)
ZELLIGE_OPERATOR(bit_xor, ^)
ZELLIGE_OPERATOR(left_shift, <<)
ZELLIGE_OPERATOR(right_shift, >>)
ZELLIGE_OPERATOR(bit_and_assign, &=)
ZELLIGE_OPERATOR(bit_or_assign, |=)
ZELLIGE_OPERATOR(bit_xor_assign, ^=)
ZELLIGE_OPERATOR(left_shift_assign, <<=)
ZELLIGE_OPERATOR(right_shift_assign, >>=)
ZELLIGE_OPERATOR(logical_and, &&)
ZELLIGE_OPERATOR(logical_or, ||)
ZELLIGE_OPERATOR(equal_to, ==)
ZELLIGE_OPERATOR(not_equal_to, !=)
ZELLIGE_OPERATOR(greater, >)
ZELLIGE_OPERATOR(less, <)
ZELLIGE_OPERATOR(greater_equal, >=)
ZELLIGE_OPERATOR(less_equal, <=)
ZELLIGE_BINARY_FUNCTION(max_fn, max(static_cast<T&&>(t), static_cast<U&&>(u)))
ZELLIGE_BINARY_FUNCTION(min_fn, min(static_cast<T&&>(t), static_cast<U&&>(u)))
#undef ZELLIGE_UNARY_FUNCTION
#undef ZELLIGE_BINARY_FUNCTION
#undef ZELLIGE_OPERATOR

/// Function object that shifts its argument right by n.
template <int n>
struct shift_right_const {
  static constexpr int Shift = n;
  template <class T>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator()(T&& t) const {
    return static_cast<T&&>(t) >> n;
  }
};
/// Function object that shifts its argument left by n.
template <int n>
struct shift_left_const {
  static constexpr int Shift = n;
  template <class T>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator()(T&& t) const {
    return static_cast<T&&>(t) << n;
  }
};

/// A function object with a fixed first argument: bind(f, a)(b, c) is f(a, b, c).
template <class F, class A>
struct bound_fn {
  F f;
  A a;
  template <class... T>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator()(T&&... t) const {
    return f(a, static_cast<T&&>(t)...);
  }
};
/// Returns a function object g with g(args...) = f(a, args...).
template <class F, class A>
ZELLIGE_HOST_DEVICE constexpr bound_fn<F, A> bind(F const& f, A const& a) {
  return {f, a};
}

}  // namespace zellige
