// Splits an extent into tiles: equal ones, or ones of which the last may be partial.
#pragma once
#include <bit>
#include <cstdint>

#include "tile/program.hpp"

namespace zellige::candidate {

constexpr std::int64_t rows_of_instruction = 16;

/// Returns into how many equal parts to split axes that share a grid dimension, such that a part has at most
/// `cap` elements. `largest` is the greatest extent of the axes, `shared` the greatest common divisor of
/// their extents. Prefers parts whose extent is a multiple of 16, an instruction's rows.
std::int64_t parts(std::int64_t largest, std::int64_t shared, std::int64_t cap);

/// Returns into how many equal parts to split the elements of a row, such that a part has at most `cap` elements. Prefers
/// parts that have at least half as many and are a multiple of `vector`, so that all parts are aligned to an access of
/// `vector` elements. If there are none, parts may have half as many again. Otherwise returns parts(extent, extent, cap).
std::int64_t parts_of_row(std::int64_t extent, std::int64_t cap, std::int64_t vector);

/// Returns a tile of at most `limit` elements for an extent that it need not divide. If there are many tiles, it is a
/// power of two, so that all threads have as much to do. Otherwise tiles are nearly equal, so that the last one is not
/// mostly empty.
std::int64_t partial_tile(std::int64_t extent, std::int64_t limit);

/// Returns the greatest power of two that is at most `n`. `n` must be positive.
inline std::int64_t bit_floor(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)));
}
/// Returns `n` rounded up to a multiple of 16, an instruction's rows.
inline std::int64_t rounded(std::int64_t n) { return tile::ceil_div(n, rows_of_instruction) * rows_of_instruction; }

/// Returns whether splitting extent `largest` into `parts` equal parts gives bad tiles of matmuls: their extent is no
/// multiple of 16, or is less than half of `limit`.
bool is_odd(std::int64_t largest, std::int64_t parts, std::int64_t limit);

}  // namespace zellige::candidate
