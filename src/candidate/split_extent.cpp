#include "candidate/split_extent.hpp"

#include <algorithm>

namespace zellige::candidate {

std::int64_t parts(std::int64_t largest, std::int64_t shared, std::int64_t cap) {
  std::int64_t any = 0, good = 0;  // the smallest numbers of parts, and of parts that are multiples of 16
  const auto look_at = [&](std::int64_t n) {
    if (largest / n > cap) return;
    if (any == 0 || n < any) any = n;
    if ((largest / n) % rows_of_instruction == 0 && (good == 0 || n < good)) good = n;
  };
  for (std::int64_t n = 1; n * n <= shared; ++n)
    if (shared % n == 0) look_at(n), look_at(shared / n);
  if (good > 0) return good;
  if (any == 0) return shared;
  // If there is no good divisor, takes the whole extent, if that is at most twice the cap, rather than single rows.
  return largest / any * 8 <= cap && largest <= 2 * cap ? 1 : any;
}

std::int64_t parts_of_row(std::int64_t extent, std::int64_t cap, std::int64_t vector) {
  const std::int64_t any = parts(extent, extent, cap);
  const auto suits = [&](std::int64_t n) {
    const std::int64_t part = extent / n;
    return extent % n == 0 && part % vector == 0 && 2 * part >= cap;
  };
  if (extent <= cap || suits(any)) return any;
  const std::int64_t fewest = tile::ceil_div(extent, cap);
  for (std::int64_t n = fewest; n * cap <= 2 * extent; ++n)
    if (suits(n)) return n;
  for (std::int64_t n = fewest - 1; 3 * n * cap >= 2 * extent; --n)
    if (suits(n)) return n;
  return any;
}

std::int64_t partial_tile(std::int64_t extent, std::int64_t limit) {
  constexpr std::int64_t many = 8;
  const std::int64_t tile = bit_floor(limit), blocks = tile::ceil_div(extent, tile);
  return blocks >= many ? tile : std::min(tile, rounded(tile::ceil_div(extent, blocks)));
}

bool is_odd(std::int64_t largest, std::int64_t parts, std::int64_t limit) {
  const std::int64_t tile = largest / parts;
  return limit >= rows_of_instruction && largest > rows_of_instruction &&
         (tile % rows_of_instruction != 0 || 2 * tile < std::min(limit, largest));
}

}  // namespace zellige::candidate
