// The switches of mutants.py: one program contains every mutant of a kernel, and `selected` selects the one
// that runs.
//
//   row < rows                  becomes   row <zm::op<'<', 7>< rows          7: row <= rows, 8: true
//   wgmma_fence()    becomes   (zm::on(9) || zm::others(10) ? void() : void(wgmma_fence()))
//                              9: not called; 10: called by the first lane of a warp only
//   128              becomes   zm::n(11, 128)
//                              11: 129; 12: 127
#pragma once
#include <type_traits>

#include "zellige/emulate/thread.hpp"

namespace zm {

inline int selected = 0;  // 0: the kernel as it is
inline bool reached = false;

/// True if mutant `id` runs; called at the mutated place.
inline bool on(int id) {
  if (selected != id) return false;
  reached = true;
  return true;
}

/// True if this lane omits the call that only its warp's first lane makes.
inline bool others(int id) {
  if (selected != id || zellige::emulate::lane() == 0) return false;
  reached = true;
  return true;
}

/// One more (id) or one less (id + 1).
template <class T>
constexpr T n(int id, T value) {
  if (std::is_constant_evaluated()) return value;
  return on(id) ? T(value + 1) : on(id + 1) ? T(value - 1) : value;
}

/// Zeros, as `= {}` writes them.
template <class T, int N>
inline __attribute__((always_inline)) void clear(T (&registers)[N]) {
  for (T& r : registers) {
    if constexpr (std::is_array_v<T>)
      clear(r);
    else
      r = 0;
  }
}

template <class A, class B>
void swapped(int id, A first, B second) {
  if (on(id))
    second(), first();
  else
    first(), second();
}

// a <op<'<', id>< b: the tag takes the left operand along to the right one.
template <char Sign, int Id>
struct Tag {};
template <char Sign, int Id>
inline constexpr Tag<Sign, Id> op{};

template <char Sign, int Id, class T>
struct Left {
  T value;
};

// The replacement of each operator: a neighbour for id and, for comparisons, `true` for id + 1.
#define ZM_COMPARE(sign, name, other)                                             \
  template <class T, int Id>                                                      \
  constexpr Left<name, Id, std::decay_t<T>> operator sign(T&& a, Tag<name, Id>) { \
    return {static_cast<T&&>(a)};                                                 \
  }                                                                               \
  template <int Id, class T, class U>                                             \
  constexpr bool operator sign(const Left<name, Id, T>& a, const U& b) {          \
    if (!std::is_constant_evaluated()) {                                          \
      if (on(Id)) return a.value other b;                                         \
      if (on(Id + 1)) return true;                                                \
    }                                                                             \
    return a.value sign b;                                                        \
  }
ZM_COMPARE(<, '<', <=)
ZM_COMPARE(<=, 'l', <)
ZM_COMPARE(>, '>', >=)
ZM_COMPARE(>=, 'g', >)
ZM_COMPARE(==, '=', !=)
ZM_COMPARE(!=, '!', ==)
#undef ZM_COMPARE

#define ZM_COMPUTE(sign, name, other)                                                      \
  template <class T, int Id>                                                               \
  constexpr Left<name, Id, std::decay_t<T>> operator sign(T&& a, Tag<name, Id>) {          \
    return {static_cast<T&&>(a)};                                                          \
  }                                                                                        \
  template <int Id, class T, class U>                                                      \
  constexpr auto operator sign(const Left<name, Id, T>& a, const U& b) {                   \
    using R = std::decay_t<decltype(a.value sign b)>;                                      \
    if constexpr (requires { static_cast<R>(a.value other b); }) {                         \
      if (!std::is_constant_evaluated() && on(Id)) return static_cast<R>(a.value other b); \
    }                                                                                      \
    return static_cast<R>(a.value sign b);                                                 \
  }
ZM_COMPUTE(+, '+', -)
ZM_COMPUTE(-, '-', +)
ZM_COMPUTE(*, '*', +)
ZM_COMPUTE(/, '/', *)
ZM_COMPUTE(%, '%', +)
ZM_COMPUTE(^, '^', +)
#undef ZM_COMPUTE

}  // namespace zm
