// Draws the points at which graphs are evaluated: inputs of a given scale, easy to read and exact in binary.
#pragma once
#include <vector>

#include "graph/array.hpp"
#include "graph/rows.hpp"
#include "search/match.hpp"

namespace zellige::search {

struct Scale {
  // rows: each of another magnitude; zeros: half of the values are 0 or 1, the others small integers; same:
  // all elements of a tensor are equal; ones: close to 1; peaks: in each row another element is the largest,
  // or the smallest, alternately; among: each element is drawn from `numbers`, as it is, negated or doubled,
  // or is a small integer; `scale` is at least the largest of them
  enum class Kind : std::uint8_t { dense, rows, positive, zeros, same, ones, peaks, among };
  double scale = 1;
  Kind kind = Kind::dense;
  int peak = 0;                      // peaks only
  std::vector<double> numbers = {};  // among only
};

/// Constraints on integers that are row indices or lengths in either graph, per input of A.
std::vector<graph::Numbers> drawn_numbers(const graph::KernelGraph& a, const graph::KernelGraph& b,
                                          const Pairing&);

/// Multiples of 1/8 of the scale, up to twice the scale; 0 only if zeros are asked for. Integers are
/// integers; row indices and lengths are drawn from their whole range, the first and the last more often.
std::vector<graph::Array> draw_point(const graph::KernelGraph&, const std::vector<graph::Numbers>&,
                                     const Scale&, std::uint64_t seed);

/// Reorders values of A's inputs to the order of B's inputs.
template <class T>
std::vector<T> paired(const std::vector<T>& inputs, const Pairing& pairing) {
  std::vector<T> result(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    result[static_cast<std::size_t>(pairing.inputs[i])] = inputs[i];
  return result;
}

}  // namespace zellige::search
