// Converts between the two conventions of a rotary embedding, for rows of n numbers. Halves (Llama,
// GPT-NeoX): a pair is elements k and k + n/2 of a row. Interleaved (GPT-J): elements 2k and 2k + 1.
//
//   halves_of_pairs(/*n=*/8, /*count=*/8, x, y);   // one row, from interleaved to halves: y = x0 x2 x4 x6 x1 x3 x5 x7
#pragma once
#include <cstdint>

namespace zellige::graph {

/// Reorders x, in which pairs are interleaved, to y, in which pairs are in halves. Rows have n numbers;
/// `count` is the number of elements of x.
template <class Number>
void halves_of_pairs(std::int64_t n, std::int64_t count, const Number* x, Number* y) {
  for (std::int64_t row = 0; row < count; row += n)
    for (std::int64_t i = 0; i < n; ++i) y[row + i / 2 + i % 2 * (n / 2)] = x[row + i];
}

/// The inverse: reorders pairs in halves to interleaved ones.
template <class Number>
void pairs_of_halves(std::int64_t n, std::int64_t count, const Number* x, Number* y) {
  for (std::int64_t row = 0; row < count; row += n)
    for (std::int64_t i = 0; i < n; ++i) y[row + i] = x[row + i / 2 + i % 2 * (n / 2)];
}

}  // namespace zellige::graph
