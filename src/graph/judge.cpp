#include "graph/judge.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "graph/cut.hpp"
#include "graph/parallel.hpp"

namespace zellige::graph {

Judge::Judge(const KernelGraph& g, const std::vector<Array>& inputs, const Reference& reference, int threads,
             const KernelGraph* stated, const Reference* rounded)
    : graph_(g),
      inputs_(inputs),
      reference_(reference),
      threads_(threads),
      stated_(stated),
      rounded_(rounded) {}

void Judge::sample() {
  sampled_ = bounds_.errors;
  for (Array& a : sampled_) std::fill(a.values.begin(), a.values.end(), 0.0);
  norms_.resize(sampled_.size());
  // Side by side, as far as the memory goes: each holds its tensors, its errors and the differences.
  const double memory =
      static_cast<double>(::sysconf(_SC_PAGESIZE)) * static_cast<double>(::sysconf(_SC_PHYS_PAGES));
  const int threads = threads_ > 0 ? threads_ : hardware_threads();
  const int workers = static_cast<int>(
      std::clamp(memory / 4 / (3 * bytes(graph_)), 1.0, static_cast<double>(std::min(threads, samples))));
  std::mutex guard;
  parallel_for(samples, workers, [&](std::int64_t i, int) {
    ReferenceOptions options;
    options.errors = true, options.sample = static_cast<std::uint64_t>(i + 1);
    options.threads = std::max(1, threads / workers), options.around = &bounds_;
    Reference moved = run(graph_, inputs_, options);
    for (std::size_t t = 0; t < moved.tensors.size(); ++t) {
      std::vector<double>& values = moved.tensors[t].values;
      if (values.empty()) continue;  // an input, or what no rounding moves
      const double norm =
          graph::compare(moved.tensors[t], reference_.tensors[t], graph_.tensors[t].dtype).norm_error;
      for (std::size_t e = 0; e < values.size(); ++e)
        values[e] = 4 * distance(values[e], reference_.tensors[t].values[e]);
      const std::lock_guard lock(guard);
      norms_[t] = std::max(norms_[t], norm);
      for (std::size_t e = 0; e < values.size(); ++e)
        sampled_[t].values[e] = std::max(sampled_[t].values[e], values[e]);
    }
  });
  for (std::size_t t = 0; t < sampled_.size(); ++t)
    for (std::size_t e = 0; e < sampled_[t].values.size(); ++e)
      sampled_[t].values[e] = std::min(sampled_[t].values[e], bounds_.errors[t].values[e]);
}

Comparison Judge::compare(int tensor, const Array& found) {
  return compare(tensor, found, graph_.tensors[tensor].dtype);
}

Comparison Judge::compare(int tensor, const Array& found, DType dtype) {
  const Array& expected = reference_.tensors[tensor];
  const Array* rounded = rounded_ ? &rounded_->tensors[tensor] : nullptr;
  Comparison c = graph::compare(found, expected, dtype, nullptr, rounded);
  if (c.correct) return c;
  if (bounds_.errors.empty()) {
    ReferenceOptions options;
    options.errors = options.spread = true, options.threads = threads_, options.stated = stated_;
    bounds_ = run(graph_, inputs_, options);
  }
  c = graph::compare(found, expected, dtype, &bounds_.errors[tensor], rounded);
  if (!c.explained) return c;
  if (sampled_.empty()) sample();
  c = graph::compare(found, expected, dtype, &sampled_[tensor], rounded);
  // No element shows it, all together do: then all together are held to the samples.
  c.explained = c.explained || (c.wrong == 0 && c.norm_error <= 2 * norms_[tensor]);
  return c;
}

}  // namespace zellige::graph
