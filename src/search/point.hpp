// Where graphs are evaluated: inputs of a scale, easy to read and exact in any binary number.
#pragma once
#include <vector>

#include "graph/array.hpp"
#include "graph/rows.hpp"
#include "search/match.hpp"

namespace zellige::search {

struct Scale {
  // rows: each of another magnitude; zeros: half of the values are 0 or 1, the others small integers; same: all of a tensor
  // are one number; ones: next to 1; peaks: of each row another element is the greatest, or the least, in turn; among: each
  // element is drawn from `numbers`, as it is, negated or doubled, or is a small integer; `scale` is not less than any of them
  enum class Kind : std::uint8_t { plain, rows, positive, zeros, same, ones, peaks, among };
  double scale = 1;
  Kind kind = Kind::plain;
  int turn = 0;                      // of peaks
  std::vector<double> numbers = {};  // of among
};

/// How integers must be drawn that name rows or are lengths in either graph; by input of A.
std::vector<graph::Numbers> drawn_numbers(const graph::KernelGraph& a, const graph::KernelGraph& b,
                                          const Pairing&);

/// Multiples of 1/8 of the scale, up to twice it; 0 is left out but where zeros are asked for. Integers are whole numbers;
/// numbers of rows and lengths are drawn from all there are, the first and the last more often.
std::vector<graph::Array> draw_point(const graph::KernelGraph&, const std::vector<graph::Numbers>&,
                                     const Scale&, std::uint64_t seed);

/// In the order of B's inputs.
template <class T>
std::vector<T> paired(const std::vector<T>& inputs, const Pairing& pairing) {
  std::vector<T> result(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    result[static_cast<std::size_t>(pairing.inputs[i])] = inputs[i];
  return result;
}

}  // namespace zellige::search
