#include "reference/judge.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "graph/dtype.hpp"
#include "reference/cut.hpp"
#include "reference/parallel.hpp"

namespace zellige::reference {
namespace {

/// Returns the distance from |x| to the next larger number of the format; 0 for integers and infinities.
double step_at(const graph::Format& f, double x) {
  if (f.integer_bits || !std::isfinite(x)) return 0;
  int exponent;
  std::frexp(std::max(std::fabs(x), f.min_normal), &exponent);
  return std::ldexp(1.0, exponent - 1 - f.mantissa);
}

/// Returns how many of `count` elements may deviate from the reference by one step of the format, whatever their
/// error bounds are: those that float32 arithmetic puts on the other side of a rounding boundary.
std::int64_t may_be_next_to(const graph::Format& f, std::int64_t count) {
  if (f.integer_bits) return 0;
  return static_cast<std::int64_t>(std::ldexp(static_cast<double>(count), std::min(f.mantissa - 19, -8)));
}

/// Returns a description of the first deviation in `d` (of an element, a row or the scale) that exceeds its
/// limit in `allowed`, or "" if there is none.
std::string exceeded(const Deviation& d, const Deviation& allowed, const graph::Shape& shape) {
  for (std::size_t i = 0; i < d.elements.size(); ++i)
    if (!(d.elements[i] <= allowed.elements[i]))
      return fmt::format("element {}", graph::to_string(graph::coordinates(static_cast<std::int64_t>(i), shape)));
  for (std::size_t i = 0; i < d.rows.size(); ++i)
    if (!(d.rows[i] <= allowed.rows[i])) {
      const auto first = static_cast<std::int64_t>(i) * shape.back();
      return fmt::format("the row of {} is {:.3g} away in norm, rounding alone explains no more than {:.3g}",
                         graph::to_string(graph::coordinates(first, shape)), d.rows[i], allowed.rows[i]);
    }
  if (!(d.scale <= allowed.scale))
    return fmt::format(
        "the whole is larger or smaller by {:.3g} of itself, rounding alone explains no more than {:.3g}", d.scale,
        allowed.scale);
  return "";
}

}  // namespace

Judge::Judge(const graph::KernelGraph& g, const std::vector<Array>& inputs, const Reference& reference, int threads,
             const graph::KernelGraph* declared, const Reference* rounded)
    : graph_(g), inputs_(inputs), reference_(reference), threads_(threads), declared_(declared), rounded_(rounded) {}

void Judge::sample(int runs) {
  for (std::size_t t = sampled_.size(); t < bounds_.errors.size(); ++t) {
    const Array& a = bounds_.errors[t];
    const std::size_t elements = a.values.size();
    const std::size_t rows = elements == 0 ? 0 : elements / static_cast<std::size_t>(a.shape.back());
    sampled_.push_back({std::vector<double>(elements), std::vector<double>(rows), 0, 0});
  }
  // Runs the number of samples (runs of the reference with random rounding) in parallel that memory allows. Each run
  // stores its tensors, their errors and the deviations.
  const int threads = threads_ > 0 ? threads_ : hardware_threads();
  const int workers = static_cast<int>(
      std::clamp(machine_memory() / 4 / (3 * bytes(graph_)), 1.0, static_cast<double>(std::min(threads, runs))));
  std::mutex guard;
  parallel_for(runs - sampled_runs_, workers, [&](std::int64_t i, int) {
    const ReferenceOptions options{.threads = std::max(1, threads / workers),
                                   .errors = true,
                                   .sample = static_cast<std::uint64_t>(sampled_runs_ + i + 1),
                                   .declared = declared_,
                                   .around = &bounds_};
    Reference moved = run(graph_, inputs_, options);
    for (std::size_t t = 0; t < moved.tensors.size(); ++t) {
      if (moved.tensors[t].values.empty()) continue;  // an input, or exact
      Deviation d = deviation(moved.tensors[t], reference_.tensors[t]);
      if (runs == more_samples) d.scale = d.norm = 0;  // an operand that is rounded otherwise moves no more than rows
      const std::lock_guard lock(guard);
      raise(sampled_[t], d, 1);
    }
  });
  sampled_runs_ = runs;
}

bool Judge::next_to(int tensor, const Array& found) const {
  const Array& expected = reference_.tensors[tensor];
  const graph::Format f = graph::format(graph_.tensors[tensor].dtype);
  // A few elements may differ from the reference by one step of the dtype if a matmul or custom operator computes
  // them: in another order of summation, float32 sums may round to the next number.
  const bool sums = std::ranges::any_of(graph_.ops, [&](const graph::KernelOp& op) {
    return (op.kind == graph::OpKind::matmul || op.kind == graph::OpKind::custom) &&
           std::ranges::find(op.outputs, tensor) != op.outputs.end();
  });
  std::int64_t left = sums ? may_be_next_to(f, graph::size(expected.shape)) : 0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const double error = distance(found.values[i], expected.values[i]);
    if (error > 0 && (error > step_at(f, expected.values[i]) || left-- == 0)) return false;
  }
  return true;
}

Array Judge::limits(int tensor, const Array& found) const {
  const Array& expected = reference_.tensors[tensor];
  const graph::Format f = graph::format(graph_.tensors[tensor].dtype);
  const std::vector<double>& before = bounds_.before[tensor].values;  // empty: computed by a custom operator
  Array limits = bounds_.errors[tensor];
  std::int64_t left = may_be_next_to(f, graph::size(expected.shape));
  for (std::size_t i = 0; i < limits.values.size() && left > 0; ++i) {
    const double error = distance(found.values[i], expected.values[i]), step = step_at(f, expected.values[i]);
    if (error <= limits.values[i] || error > step || (!before.empty() && before[i] == 0)) continue;
    limits.values[i] = step, --left;
  }
  return limits;
}

Comparison Judge::compare(int tensor, const Array& found, std::optional<graph::DType> checked_as) {
  const graph::DType dtype = checked_as.value_or(graph_.tensors[tensor].dtype);
  const Array& expected = reference_.tensors[tensor];
  const Array* rounded = rounded_ ? &rounded_->tensors[tensor] : nullptr;
  Comparison c = reference::compare(found, expected, dtype, nullptr, rounded);
  if (c.correct && next_to(tensor, found)) return c;
  if (bounds_.errors.empty())
    bounds_ = run(graph_, inputs_, {.threads = threads_, .errors = true, .declared = declared_, .spread = true});
  Array limits = this->limits(tensor, found);
  c = reference::compare(found, expected, dtype, &bounds_.errors[tensor], rounded, &limits);
  if (c.limited || !(c.correct || c.explained)) return c;
  if (c.correct && exceeded(deviation(found, expected), close_by(expected, dtype, rounded), expected.shape).empty())
    return c;
  if (sampled_runs_ == 0) sample(samples);
  c = compare_with_samples(tensor, found, dtype, limits);
  if (!c.limited || sampled_runs_ == more_samples) return c;
  sample(more_samples);
  return compare_with_samples(tensor, found, dtype, limits);
}

Comparison Judge::compare_with_samples(int tensor, const Array& found, graph::DType dtype, Array limits) const {
  const Array& expected = reference_.tensors[tensor];
  const Array* rounded = rounded_ ? &rounded_->tensors[tensor] : nullptr;
  const Deviation& sampled = sampled_[tensor];
  Deviation allowed = close_by(expected, dtype, rounded);
  raise(allowed, sampled, 4);
  Array explained = bounds_.errors[tensor];
  for (std::size_t i = 0; i < limits.values.size(); ++i) {
    explained.values[i] = std::min(explained.values[i], 4 * sampled.elements[i]);
    limits.values[i] = std::min(limits.values[i], allowed.elements[i]);
  }
  Comparison c = reference::compare(found, expected, dtype, &explained, rounded, &limits);
  if (c.limited) return c;
  c.as_a_whole = exceeded(deviation(found, expected), allowed, expected.shape);
  if (!c.as_a_whole.empty()) {
    c.correct = c.explained = false, c.limited = true;
    return c;
  }
  // No element is wrong, but the norm is: compare it with the samples' norms.
  c.explained = c.explained || (!c.correct && c.wrong == 0 && c.norm_error <= 2 * sampled.norm);
  return c;
}

}  // namespace zellige::reference
