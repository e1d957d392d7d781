#include "reference/noise.hpp"

#include <algorithm>
#include <cmath>

#include "reference/array.hpp"
#include "reference/mix.hpp"

namespace zellige::reference {

Noise::Noise(std::uint64_t sample, int op, std::int64_t block) : state_(sample * mix_step), sample_(sample) {
  element_ =
      static_cast<std::uint64_t>(op) * 0xd1342543de82ef95 + static_cast<std::uint64_t>(block) * 0xaf251af3b0f025b5;
  state_ += element_;
}

std::uint64_t Noise::next() { return mix(state_ += mix_step); }

void Noise::move(std::span<double> x, std::span<const double> own) {
  const bool biased = next() % 4 == 0;
  const std::uint64_t way = next();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint64_t bits = next();
    if (!(own[i] > 0 && own[i] < infinity)) continue;
    const double part = 0.5 + static_cast<double>(bits >> 1) * 0x1p-64;
    const bool away = (biased ? way : bits) & 1;  // from zero
    x[i] += std::copysign(own[i] * part, away ? x[i] : -x[i]);
  }
}

std::optional<bool> Noise::first_side() {
  const std::uint64_t one = mix(element_ += mix_step) % 2;
  if (sample_ > 4) return std::nullopt;
  if (sample_ > 2) return sample_ == 3;
  return (sample_ + one) % 2 == 1;
}

void Noise::round(graph::DType dtype, std::span<double> x) {
  const graph::Format f = graph::format(dtype);
  for (double& v : x) {
    const double part = static_cast<double>(next()) * 0x1p-63 - 1;  // from -1 to 1
    if (std::isfinite(v) && v != 0) v += part * max_rounding(f, v);
  }
}

void Noise::perturb(std::span<double> x, std::span<const double> error) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::optional<bool> up = first_side();
    if (error[i] < 1) continue;
    if (up)
      x[i] = *up ? 1 : 0;
    else if (next() % 2)
      x[i] = 1 - x[i];
  }
}

void Noise::cut(const graph::Attributes& a, std::span<const double> x, std::span<const double> error,
                std::span<double> y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::optional<bool> up = first_side();
    if (!(error[i] > 0 && error[i] < infinity)) continue;
    const double low = graph::cast_number(x[i] - error[i], a), high = graph::cast_number(x[i] + error[i], a);
    if (low == high || (!up && next() % 2)) continue;
    y[i] = (up ? *up : next() % 2 == 1) ? high : low;
  }
}

void Noise::store(graph::DType dtype, std::span<double> x, std::span<const double> error) {
  const graph::Format f = graph::format(dtype);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double y = graph::round_to(f, x[i]);
    const std::uint64_t side = (mix(element_ += mix_step) + sample_) % 3;
    if (error[i] == 0 || side == 0) {
      x[i] = y;
      continue;
    }
    const double low = graph::round_to(f, x[i] - error[i]), high = graph::round_to(f, x[i] + error[i]);
    // Moves the rounded value y by at most one step (ulp) of the dtype. A larger difference is an error of
    // the value before rounding, which the noise of earlier operators represents.
    const double step = f.integer_bits ? 1 : std::max(std::fabs(y), f.min_normal) * std::ldexp(1.0, -f.mantissa);
    x[i] = side == 1 && low < y    ? graph::round_to(f, std::max(low, y - step))
           : side == 2 && high > y ? graph::round_to(f, std::min(high, y + step))
                                   : y;
  }
}

}  // namespace zellige::reference
