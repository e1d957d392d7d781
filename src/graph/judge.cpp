#include "graph/judge.hpp"

#include <algorithm>
#include <cmath>

namespace zellige::graph {

Judge::Judge(const KernelGraph& g, const std::vector<Array>& inputs, const Reference& reference)
    : graph_(g), inputs_(inputs), reference_(reference) {}

void Judge::sample() {
  sampled_ = bounds_;
  for (Array& a : sampled_) std::fill(a.values.begin(), a.values.end(), 0.0);
  for (int i = 1; i <= samples; ++i) {
    ReferenceOptions options;
    options.errors = true, options.sample = static_cast<std::uint64_t>(i);
    const Reference moved = run(graph_, inputs_, options);
    norms_.resize(moved.tensors.size());
    for (std::size_t t = 0; t < moved.tensors.size(); ++t) {
      if (moved.tensors[t].values.empty()) continue;  // an input
      const double norm =
          graph::compare(moved.tensors[t], reference_.tensors[t], graph_.tensors[t].dtype).norm_error;
      norms_[t] = std::max(norms_[t], norm);
      for (std::size_t e = 0; e < moved.tensors[t].values.size(); ++e) {
        const double off = 4 * distance(moved.tensors[t].values[e], reference_.tensors[t].values[e]);
        sampled_[t].values[e] = std::max(sampled_[t].values[e], off);
      }
    }
  }
  for (std::size_t t = 0; t < sampled_.size(); ++t)
    for (std::size_t e = 0; e < sampled_[t].values.size(); ++e)
      sampled_[t].values[e] = std::min(sampled_[t].values[e], bounds_[t].values[e]);
}

Comparison Judge::compare(int tensor, const Array& found) {
  return compare(tensor, found, graph_.tensors[tensor].dtype);
}

Comparison Judge::compare(int tensor, const Array& found, DType dtype) {
  const Array& expected = reference_.tensors[tensor];
  Comparison c = graph::compare(found, expected, dtype);
  if (c.correct) return c;
  if (bounds_.empty()) {
    ReferenceOptions options;
    options.errors = true;
    bounds_ = run(graph_, inputs_, options).errors;
  }
  c = graph::compare(found, expected, dtype, &bounds_[tensor]);
  if (!c.explained) return c;
  if (sampled_.empty()) sample();
  c = graph::compare(found, expected, dtype, &sampled_[tensor]);
  // No element shows it, all together do: then all together are held to the samples.
  c.explained = c.explained || (c.wrong == 0 && c.norm_error <= 2 * norms_[tensor]);
  return c;
}

}  // namespace zellige::graph
