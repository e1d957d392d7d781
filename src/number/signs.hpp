// Computes which signs the result of an operation may have, from the possible signs of its operands. A set of signs is
// three bits: bit 0 negative, bit 1 zero, bit 2 positive. Finite fields (field.hpp) carry such a set with each number.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

namespace zellige::number {

using Signs = std::uint8_t;

/// Returns a table: entry [x][y] is the set of signs that the result of an operation may have if its operands have
/// the sets of possible signs x and y. f(s, t) is the result's set for operands of signs s and t, each -1, 0 or 1.
template <class F>
constexpr std::array<std::array<Signs, 8>, 8> sign_table(const F& f) {
  std::array<std::array<Signs, 8>, 8> table{};
  for (int x = 0; x < 8; ++x)
    for (int y = 0; y < 8; ++y)
      for (int s = -1; s <= 1; ++s)
        for (int t = -1; t <= 1; ++t)
          if ((x >> (s + 1) & 1) && (y >> (t + 1) & 1)) table[x][y] = static_cast<Signs>(table[x][y] | f(s, t));
  return table;
}

/// Returns the set that contains only the sign s: -1, 0 or 1.
constexpr Signs sign_bit(int s) { return static_cast<Signs>(1 << (s + 1)); }

inline constexpr auto sums_of_signs =
    sign_table([](int s, int t) { return s * t < 0 ? Signs{7} : sign_bit(s == 0 ? t : s); });
inline constexpr auto products_of_signs = sign_table([](int s, int t) { return sign_bit(s * t); });
inline constexpr auto maxima_of_signs = sign_table([](int s, int t) { return sign_bit(std::max(s, t)); });
inline constexpr auto minima_of_signs = sign_table([](int s, int t) { return sign_bit(std::min(s, t)); });

// The possible signs of a sum, product and so on, given those of the operands.
constexpr Signs sum_signs(Signs x, Signs y) { return sums_of_signs[x][y]; }
constexpr Signs product_signs(Signs x, Signs y) { return products_of_signs[x][y]; }
constexpr Signs max_signs(Signs x, Signs y) { return maxima_of_signs[x][y]; }
constexpr Signs min_signs(Signs x, Signs y) { return minima_of_signs[x][y]; }
constexpr Signs square_signs(Signs x) { return static_cast<Signs>((x & 2) | (x & 5 ? 4 : 0)); }
constexpr Signs negated_signs(Signs x) { return static_cast<Signs>((x & 1 ? 4 : 0) | (x & 2) | (x & 4 ? 1 : 0)); }
/// Returns whether all signs of x are in `signs`.
constexpr bool within(Signs x, int signs) { return (x & ~signs) == 0; }

}  // namespace zellige::number
