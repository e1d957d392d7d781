// Defines Swizzle<B, M, S>: a permutation of indices that avoids shared-memory bank conflicts. It xors the B bits of
// an index from bit M + S on into the B bits from bit M on; for a negative S, the B bits from bit M on into those from
// bit M - S on. All other bits are unchanged.
//
//   bits of an index, Swizzle<2, 1, 3>:   . . y y . z z x     z ^= y        (z begins at bit M = 1, y at bit M + S = 4)
#pragma once
#include <zellige/layout/math.hpp>

namespace zellige {

/// Swizzle of B bits, base M and shift S, with |S| >= B. Called with an index, returns the swizzled index.
template <int B, int M, int S = B>
struct Swizzle {
  static constexpr int num_bits = B;
  static constexpr int num_base = M;
  static constexpr int num_shft = S;
  static_assert(M >= 0, "Swizzle<B, M, S>: M must not be negative");
  static_assert(B >= 0, "Swizzle<B, M, S>: B must not be negative");
  static_assert((S < 0 ? -S : S) >= B, "Swizzle<B, M, S>: |S| must be at least B");

  using bit_msk = C<(1 << (B < 0 ? 0 : B)) - 1>;
  using yyy_msk = C<(((1 << (B < 0 ? 0 : B)) - 1) << ((M < 0 ? 0 : M) + (S > 0 ? S : 0)))>;
  using zzz_msk = C<(((1 << (B < 0 ? 0 : B)) - 1) << ((M < 0 ? 0 : M) - (S < 0 ? S : 0)))>;
  using msk_sft = C<S>;
  static constexpr unsigned swizzle_code = unsigned(yyy_msk::value | zzz_msk::value);

  /// Returns the swizzled index, as a static number if the index is static.
  template <integral T>
  ZELLIGE_HOST_DEVICE static constexpr auto apply(T const& index) {
    if constexpr (is_builtin_integer<T> && sizeof(T) >= sizeof(int) && S >= 0 && B > 0)
      return index ^ ((index & yyy_msk::value) >> S);
    else
      return index ^ shiftr(index & yyy_msk{}, msk_sft{});
  }
  template <integral T>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(T const& index) const {
    return apply(index);
  }
};

template <class T>
inline constexpr bool is_swizzle_v = false;
template <int B, int M, int S>
inline constexpr bool is_swizzle_v<Swizzle<B, M, S>> = true;
template <class T>
concept swizzle_like = is_swizzle_v<remove_cvref_t<T>>;

template <int B, int M, int S, int T, int N, int U>
ZELLIGE_HOST_DEVICE constexpr bool_constant<B == T && M == N && S == U> operator==(Swizzle<B, M, S>, Swizzle<T, N, U>) {
  return {};
}

/// Returns 2^M, because the swizzle maps each aligned block of 2^M indices to another one: it does not change
/// the lowest M bits.
template <int B, int M, int S>
ZELLIGE_HOST_DEVICE constexpr C<(1 << M)> max_alignment(Swizzle<B, M, S>) {
  return {};
}

}  // namespace zellige
