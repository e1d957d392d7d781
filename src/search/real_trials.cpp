#include "search/real_trials.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "graph/elementwise.hpp"
#include "number/ball.hpp"
#include "number/modular.hpp"
#include "reference/reference.hpp"
#include "search/any_op.hpp"
#include "search/boundaries.hpp"
#include "search/evaluate_graph.hpp"
#include "search/field_trials.hpp"
#include "search/given_sizes.hpp"
#include "search/scalars.hpp"
#include "search/shrink.hpp"

namespace zellige::search {
namespace {

using Inputs = std::vector<reference::Array>;

using Kind = Scale::Kind;

/// Returns numbers of all magnitudes, for inputs. They stay far from the ends of float32's range, which mean infinity and
/// 0, if a graph has scalars near those.
std::vector<double> far_numbers(const KernelGraph& a, const KernelGraph& b) {
  std::vector<double> result = {0, 1, -1, 0.5, 100, 1e4, 16777217};
  const auto extreme = [](double c) { return std::isfinite(c) && c != 0 && std::fabs(std::log2(std::fabs(c))) > 100; };
  for (const KernelGraph* g : {&a, &b})
    if (any_op(*g, [&](const auto& op, const graph::BlockGraph*) {
          return std::ranges::any_of(scalars(op), extreme) || (op.kind == OpKind::mask && extreme(op.attributes.value));
        }))
      return result;
  result.insert(result.end(), {0x1p40, -0x1p60, 1e30});
  return result;
}

/// Returns the scales (magnitudes and patterns) of the inputs to try. The first gives values that are easy to
/// read; others reach saturations, zeros, and each bound of a clamp or comparison.
std::vector<Scale> scales(const KernelGraph& a, const KernelGraph& b) {
  std::vector<Scale> result = {{1, Kind::dense},  {1, Kind::zeros}, {0.125, Kind::rows}, {0, Kind::dense},
                               {64, Kind::dense}, {1, Kind::rows},  {1, Kind::positive}, {4, Kind::dense},
                               {1, Kind::zeros},  {1, Kind::same},  {1, Kind::ones},     {1, Kind::dense}};
  std::set<int> bounds;
  std::set<double> equals;
  for (const KernelGraph* g : {&a, &b})
    each_op(*g, [&](const auto& op, const graph::BlockGraph*) {
      const bool compares =
          op.kind == OpKind::clamp || (graph::takes_scalar(op.kind, op.inputs.size()) && op.kind != OpKind::add &&
                                       op.kind != OpKind::sub && op.kind != OpKind::div && op.kind != OpKind::pow);
      if (compares)
        for (double c : scalars(op))
          if (c != 0 && std::isfinite(c)) {
            bounds.insert(std::clamp(std::ilogb(c), -1000, 1000));
            equals.insert(static_cast<double>(static_cast<float>(c)));
          }
    });
  if (has_order(a) || has_order(b)) {
    result.insert(result.end(), 12, {1, Kind::zeros});
    result.insert(result.end(), 8, {1, Kind::dense});
  }
  for (int e : bounds)
    if (result.size() < 60) result.push_back({std::ldexp(1.0, e + 2), Kind::dense});
  for (double c : equals)  // 0, c and multiples of it
    if (result.size() < 80) result.insert(result.end(), 3, {c, Kind::zeros});
  double greatest = 0;
  for (double c : equals) greatest = std::max(greatest, std::fabs(c));
  const std::vector<double> far = far_numbers(a, b);
  result.insert(result.end(), 2, {*std::ranges::max_element(far), Kind::among, 0, far});
  if (!equals.empty())  // one input at one bound, another at another
    result.insert(result.end(), 32, {2 * greatest, Kind::among, 0, {equals.begin(), equals.end()}});
  return result;
}

/// Tries one pair of graphs.
class Run {
 public:
  Run(const GraphPair& pair, std::uint64_t seed)
      : pair_(pair), a_(pair.a), b_(pair.b), seed_(seed), numbers_(drawn_numbers(pair)) {}

  /// Evaluates both graphs at inputs of each scale until a difference is found.
  RealTrials run() {
    std::uint64_t number = 0;
    std::vector<Scale> points = scales(a_, b_);
    const double maximum = 1e6 / (work(a_) + work(b_));  // number of points that take a second or two
    if (maximum < static_cast<double>(points.size())) points.resize(static_cast<std::size_t>(std::max(maximum, 3.0)));
    for (const Scale& s : points)
      if (differ(s, draw_point(a_, numbers_, s, number::draw(seed_, number++)))) return result_;
    // Walk along the boundaries at which a comparison, a maximum, a root and so on change.
    double steps = std::min(80.0, 3e5 / (work(a_) + work(b_)));
    for (std::uint64_t step = 0; static_cast<double>(step) < steps; ++step) {
      const Scale& s = points[step / walk_steps % points.size()];
      Inputs inputs = draw_point(a_, numbers_, s, number::draw(seed_, number++));
      for (std::uint64_t n = 0; n < walk_steps; ++n, ++step) {
        const std::optional<number::Edge> edge = to_boundary(pair_, numbers_, number::draw(seed_, number++), inputs);
        if (!edge) return result_;
        steps = std::min(steps, *edge == number::Edge::jump ? 80.0 : *edge == number::Edge::kink ? 24.0 : 4.0);
        if (differ(s, inputs)) return result_;
      }
    }
    return result_;
  }

 private:
  static constexpr std::uint64_t walk_steps = 4;  // from one drawn point

  /// Returns whether the graphs are proved to differ at `inputs`, and float64 shows it. `s`: how they were drawn. Balls
  /// take a hundred times as long as float64, which suffices where its own errors are small.
  bool differ(const Scale& s, const Inputs& inputs) {
    const bool has_loose = !of_one_alone_.empty();
    if (!has_loose && equal_in_float64(pair_, inputs)) return false;
    if (!result_.loose && compare(strict_, inputs)) return false;
    result_.loose = has_loose;  // or different nevertheless
    if (!compare(has_loose ? loose_ : strict_, inputs)) {
      if (seen(inputs)) {
        result_.scale = s, result_.inputs = inputs;
        result_.unseen = false;
        simplify(has_loose ? loose_ : strict_, inputs);
        return true;
      }
      result_.unseen = true;
    }
    result_.difference.reset();
    return false;
  }

  /// Returns whether the float64 reference shows the proved difference at `inputs`, too.
  bool seen(const Inputs& inputs) const {
    const reference::ReferenceOptions exact{.round = false};
    const auto ya = reference::run_reference(a_, inputs, exact),
               yb = reference::run_reference(b_, paired(inputs, pair_.pairing), exact);
    const double x = ya[output_].values[element_], y = yb[output_].values[element_];
    if (!std::isfinite(x) || !std::isfinite(y)) return std::isnan(x) != std::isnan(y) || (!std::isnan(x) && x != y);
    const double relative_error = std::fabs(x - y) / std::max(std::fabs(x), std::fabs(y));
    return x != y && relative_error >= 0.25 * std::min(result_.difference->distance, 1.0);
  }

  /// Replaces input values by 0 where possible, and other values by 1, as long as the graphs still differ.
  /// Tries all values at once, then ever smaller ranges of them.
  void simplify(number::BallArithmetic& balls, Inputs inputs) {
    std::size_t count = 0;
    for (const reference::Array& v : inputs) count += v.values.size();
    double left = 4e5 / (work(a_) + work(b_));  // work limit of about a tenth of a second
    for (const double simple : {0.0, 1.0})
      for (std::size_t stretch = count; stretch > 0; stretch /= 2)
        for (std::size_t from = 0; from < count && left > 0; from += stretch) {
          const Inputs before = inputs;
          std::size_t at = 0;
          bool changed = false;
          for (std::size_t i = 0; i < inputs.size(); ++i)
            for (double& x : inputs[i].values) {
              if (at >= from && at < from + stretch && x != 0 && x != simple && numbers_[i].bound == 0)
                x = simple, changed = true;
              ++at;
            }
          if (!changed) continue;
          --left;
          const std::optional<Counterexample> last = result_.difference;
          const std::size_t output = output_, element = element_;
          if (!compare(balls, inputs) && seen(inputs)) continue;
          inputs = before;
          result_.difference = last, output_ = output, element_ = element;
        }
  }

  /// Evaluates both graphs at `inputs`. Returns true if no element is proved to differ. Otherwise records the
  /// element that differs most and returns false.
  bool compare(number::BallArithmetic& balls, const Inputs& inputs) {
    const auto ya = evaluate_exactly(balls, a_, inputs),
               yb = evaluate_exactly(balls, b_, paired(inputs, pair_.pairing));
    double maximum = -1;
    for (std::size_t o = 0; o < ya.size(); ++o)
      for (std::size_t i = 0; i < ya[o].values.size(); ++i) {
        const number::Ball &x = ya[o].values[i], &y = yb[o].values[i];
        if (number::disjoint(x, y) && number::distance(x, y) > maximum)
          maximum = number::distance(x, y), output_ = o, element_ = i;
      }
    if (maximum < 0) return true;
    Counterexample c{a_, b_, shown(a_, inputs), "real numbers", a_.tensors[a_.outputs[output_]].name};
    c.element = graph::coordinates(static_cast<std::int64_t>(element_), ya[output_].shape);
    c.in_a = number::to_string(ya[output_].values[element_]), c.in_b = number::to_string(yb[output_].values[element_]);
    c.distance = maximum;
    result_.difference = std::move(c);
    return false;
  }

  const GraphPair& pair_;
  const KernelGraph &a_, &b_;
  std::uint64_t seed_;
  std::vector<graph::Numbers> numbers_;
  const std::set<double> of_one_alone_ = search::of_one_alone(a_, b_);
  number::BallArithmetic strict_, loose_{of_one_alone_};
  std::size_t output_ = 0, element_ = 0;  // the output and element that differ
  RealTrials result_;
};

}  // namespace

RealTrials real_trials(const GraphPair& pair, std::uint64_t seed) { return Run(pair, seed).run(); }

}  // namespace zellige::search
