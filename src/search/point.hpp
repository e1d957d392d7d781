// Draws inputs at which two graphs are evaluated and compared. The values are easy to read and exact in binary.
#pragma once
#include "graph/rows.hpp"
#include "reference/array.hpp"
#include "search/match.hpp"

namespace zellige::search {

/// How inputs are drawn: their size and pattern.
struct Scale {
  // The pattern of a tensor's values.
  //
  // - dense: no pattern;
  // - rows: each row has another magnitude;
  // - positive: all are positive;
  // - zeros: half of the values are 0 or 1, the others small integers;
  // - same: all elements of a tensor are equal;
  // - ones: close to 1;
  // - peaks: in each row one element, which depends on `peak`, is the largest, or for odd `peak` the
  //   smallest;
  // - among: each element is one of `numbers`, as it is, negated or doubled, or a small integer. `scale` is
  //   then at least the largest of `numbers`.
  enum class Kind : std::uint8_t { dense, rows, positive, zeros, same, ones, peaks, among };
  double scale = 1;
  Kind kind = Kind::dense;
  int peak = 0;                      // for peaks: index of the drawn input
  std::vector<double> numbers = {};  // for among
};

/// Returns, for each input of graph A, the range of its integers if graph A or the corresponding input of
/// graph B uses them as row indices or lengths; otherwise a range with bound 0.
std::vector<graph::Numbers> drawn_numbers(const GraphPair&);

/// Returns inputs for a graph, drawn by `seed`. Without a pattern (dense), real values are multiples of 1/8
/// of the scale, up to twice the scale, and not 0; Scale::Kind says how patterns differ. Row indices and
/// lengths are drawn from their whole range, the first and the last more often.
std::vector<reference::Array> draw_point(const KernelGraph&, const std::vector<graph::Numbers>&, const Scale&,
                                         std::uint64_t seed);

/// Returns the list `inputs`, which is in the order of graph A's inputs, in the order of graph B's.
template <class T>
std::vector<T> paired(const std::vector<T>& inputs, const Pairing& pairing) {
  std::vector<T> result(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) result[pairing.inputs[i]] = inputs[i];
  return result;
}

}  // namespace zellige::search
