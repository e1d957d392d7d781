#include "search/point.hpp"

#include <algorithm>
#include <cmath>

#include "graph/dtype.hpp"
#include "number/modular.hpp"
#include "reference/inputs.hpp"

namespace zellige::search {
namespace {

using Kind = Scale::Kind;

/// Returns whether element e of a tensor of `rows` rows of `row` elements is the peak of its row: the one
/// element that is made the largest or the smallest in inputs of Kind::peaks. The peaks of successive rows
/// are at successive positions, and the next drawn inputs continue this sequence.
bool is_peak(const Scale& s, std::size_t e, std::size_t row, std::size_t rows) {
  return e % row == (static_cast<std::size_t>(s.peak / 2) * rows + e / row) % row;
}

/// Returns a value of an input with the magnitude and pattern `s`, drawn from the random bits `r`. `row` is
/// the index of the value's row.
double draw_value(const Scale& s, std::uint64_t r, std::size_t row) {
  switch (s.kind) {
    case Kind::peaks:
      return s.scale * (static_cast<double>(r % 4096) - 2047.5) * 0x1p-11;
    case Kind::zeros:
      return s.scale * ((r >> 8) % 2 ? static_cast<double>(r % 5) - 2 : static_cast<double>(r % 2));
    case Kind::ones:
      return 1 + (static_cast<double>(r % 16) - 7.5) * 0x1p-20 * s.scale;
    case Kind::among: {
      const double c = s.numbers[(r >> 8) % s.numbers.size()];
      const std::uint64_t how = (r >> 40) % 8;
      return how < 5 ? c : how == 5 ? -c : how == 6 ? 2 * c : static_cast<double>(r % 5) - 2;
    }
    default:
      break;
  }
  double x = static_cast<double>(r % 16 + 1) / 8;
  if (s.kind == Kind::rows) x = std::ldexp(x, static_cast<int>(row % 5) - 2);
  return s.kind != Kind::positive && (r >> 32) % 2 ? -x * s.scale : x * s.scale;
}

/// Draws integers below numbers.bound (row indices or lengths) into `to`.
void draw_whole(const graph::Numbers& numbers, std::uint64_t seed, reference::Array& to) {
  const auto count = static_cast<std::int64_t>(to.values.size());
  if (numbers.distinct) return reference::draw_numbers(numbers, seed, 0, count, to.values.data());
  for (std::size_t i = 0; i < to.values.size(); ++i) {
    const std::uint64_t r = number::draw(seed, i);
    const std::uint64_t n = r % 4 == 0   ? 0
                            : r % 4 == 1 ? static_cast<std::uint64_t>(numbers.bound - 1)
                                         : (r >> 8) % static_cast<std::uint64_t>(numbers.bound);
    to.values[i] = static_cast<double>(n);
  }
}

}  // namespace

std::vector<graph::Numbers> drawn_numbers(const GraphPair& pair) {
  std::vector<graph::Numbers> numbers = graph::drawn_numbers(pair.a);
  const std::vector<graph::Numbers> other = graph::drawn_numbers(pair.b);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const graph::Numbers& n = other[pair.pairing.inputs[i]];
    if (numbers[i].bound == 0)
      numbers[i] = n;
    else if (n.bound > 0)  // rows of the smaller table, lengths of the longer tensor
      numbers[i].bound =
          numbers[i].rows > 0 || n.rows > 0 ? std::min(numbers[i].bound, n.bound) : std::max(numbers[i].bound, n.bound);
    numbers[i].distinct = numbers[i].distinct || n.distinct;
  }
  return numbers;
}

std::vector<reference::Array> draw_point(const KernelGraph& g, const std::vector<graph::Numbers>& numbers,
                                         const Scale& scale, std::uint64_t seed) {
  std::vector<reference::Array> inputs;
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    const graph::KernelTensor& t = g.tensors[g.inputs[i]];
    reference::Array x = reference::make_array(t.shape);
    const std::uint64_t of_input = number::draw(seed, i);
    const auto row = static_cast<std::size_t>(t.shape.back());
    if (numbers[i].bound > 0) {
      draw_whole(numbers[i], of_input, x);
    } else {
      for (std::size_t e = 0; e < x.values.size(); ++e)
        x.values[e] = draw_value(scale, number::draw(of_input, scale.kind == Kind::same ? 0 : e), e / row);
      if (scale.kind == Kind::peaks)
        for (std::size_t e = 0; e < x.values.size(); ++e)
          if (is_peak(scale, e, row, x.values.size() / row)) x.values[e] = (scale.peak % 2 ? -2 : 2) * scale.scale;
      if (graph::is_integer(t.dtype))
        for (std::size_t e = 0; e < x.values.size(); ++e) {
          double& v = x.values[e];
          const graph::Format& f = graph::format(t.dtype);
          v = std::clamp(std::round(8 * v), std::max(f.lowest, -127.0), std::min(f.greatest, 127.0));
          const std::uint64_t r =
              number::draw(of_input, e + (std::uint64_t{1} << 32)) % 12;  // also the ends of its range
          if (scale.kind != Kind::peaks && r < 2) v = r == 0 ? f.greatest : f.lowest;
        }
    }
    inputs.push_back(std::move(x));
  }
  return inputs;
}

}  // namespace zellige::search
