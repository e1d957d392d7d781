// Converts between the two conventions of a rotary embedding: a pair's numbers are at k and k + n / 2 of a
// row (halves: Llama, GPT-NeoX), or at 2 k and 2 k + 1 (interleaved: GPT-J).
//
//   halves_of_pairs(8, 8, x, y);   // y = x0 x2 x4 x6 x1 x3 x5 x7
#pragma once
#include <cstdint>

namespace zellige::graph {

/// Interleaved to halves, for `count` numbers in rows of n.
template <class Number>
void halves_of_pairs(std::int64_t n, std::int64_t count, const Number* x, Number* y) {
  for (std::int64_t row = 0; row < count; row += n)
    for (std::int64_t i = 0; i < n; ++i) y[row + i / 2 + i % 2 * (n / 2)] = x[row + i];
}

/// Halves to interleaved.
template <class Number>
void pairs_of_halves(std::int64_t n, std::int64_t count, const Number* x, Number* y) {
  for (std::int64_t row = 0; row < count; row += n)
    for (std::int64_t i = 0; i < n; ++i) y[row + i] = x[row + i / 2 + i % 2 * (n / 2)];
}

}  // namespace zellige::graph
