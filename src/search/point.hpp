// Where graphs are evaluated: inputs of a scale, easy to read and exact in any binary number.
#pragma once
#include <cmath>

#include "search/modular.hpp"
#include "search/values.hpp"

namespace zellige::search {

struct Scale {
  // rows: each of another magnitude; zeros: half of the values are 0 or 1, the others small integers
  enum class Kind : std::uint8_t { plain, rows, positive, zeros };
  double scale = 1;
  Kind kind = Kind::plain;
};

/// Multiples of 1/8 of the scale, up to twice it; 0 is left out but where zeros are asked for.
inline std::vector<double> draw_values(const graph::Shape& shape, const Scale& s, std::uint64_t seed) {
  const auto row = static_cast<std::size_t>(shape.back());
  std::vector<double> values(static_cast<std::size_t>(graph::size(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t r = draw(seed, i);
    if (s.kind == Scale::Kind::zeros) {
      values[i] = static_cast<double>((r >> 8) % 2 ? static_cast<std::int64_t>(r % 5) - 2 : r % 2) * s.scale;
      continue;
    }
    double x = static_cast<double>(r % 16 + 1) / 8;
    if (s.kind == Scale::Kind::rows) x = std::ldexp(x, static_cast<int>(i / row % 5) - 2);
    values[i] = s.kind != Scale::Kind::positive && (r >> 32) % 2 ? -x * s.scale : x * s.scale;
  }
  return values;
}

}  // namespace zellige::search
