#include "search/real_trials.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "graph/elementwise.hpp"
#include "search/any_op.hpp"
#include "search/ball.hpp"
#include "search/evaluate_graph.hpp"
#include "search/shrink.hpp"

namespace zellige::search {
namespace {

using graph::KernelGraph;
using graph::OpKind;
using Inputs = std::vector<Values<double>>;

/// The scalars of one operator: factors, summands and bounds.
template <class Op>
std::vector<double> scalars(const Op& op) {
  if (has_scalar(op.kind, op.inputs.size())) return {op.attributes.scalar};
  if (op.kind == OpKind::clamp) return {op.attributes.lo, op.attributes.hi};
  return {};
}

std::set<double> scalars(const KernelGraph& g) {
  std::set<double> found;
  any_op(g, [&](const auto& op, const graph::BlockGraph*) {
    for (double s : scalars(op)) found.insert(s);
    return false;
  });
  return found;
}

/// Does it matter whether two numbers are the same? Points with many zeros show both ways.
bool tells_zeros(const KernelGraph& g) {
  return any_op(g, [](const auto& op, const graph::BlockGraph*) {
    return graph::is_elementwise(op.kind) && (graph::elementwise(op.kind).spread == graph::Spread::step ||
                                              graph::elementwise(op.kind).spread == graph::Spread::choice);
  });
}

/// Has it more digits than anyone would write? A half or 1 is what it is.
bool may_be_rounded(double scalar) { return static_cast<double>(static_cast<float>(scalar)) != scalar; }

/// What only one of the two has: folded, perhaps, from scalars of the other.
std::set<double> of_one_alone(const KernelGraph& a, const KernelGraph& b) {
  const std::set<double> in_a = scalars(a), in_b = scalars(b);
  std::set<double> result;
  std::ranges::set_symmetric_difference(in_a, in_b, std::inserter(result, result.end()));
  std::erase_if(result, [](double s) { return !may_be_rounded(s); });
  return result;
}

using Kind = Scale::Kind;

/// The first is easy to read; the others reach what bends elsewhere: saturations, zeros, and each bound of a clamp.
std::vector<Scale> scales(const KernelGraph& a, const KernelGraph& b) {
  std::vector<Scale> result = {{1, Kind::plain}, {1, Kind::positive}, {0.125, Kind::rows},
                               {4, Kind::plain}, {1, Kind::rows},     {64, Kind::plain}};
  std::set<int> bounds;
  for (const KernelGraph* g : {&a, &b})
    any_op(*g, [&](const auto& op, const graph::BlockGraph*) {
      const bool compares = op.kind == OpKind::clamp ||
                            (graph::takes_scalar(op.kind, op.inputs.size()) && op.kind != OpKind::add &&
                             op.kind != OpKind::sub && op.kind != OpKind::div && op.kind != OpKind::pow);
      if (compares)
        for (double c : scalars(op))
          if (c != 0 && std::isfinite(c)) bounds.insert(std::clamp(std::ilogb(c), -1000, 1000));
      return false;
    });
  if (tells_zeros(a) || tells_zeros(b)) result.insert(result.end(), 4, {1, Kind::zeros});
  for (int e : bounds)
    if (result.size() < 20) result.push_back({std::ldexp(1.0, e + 2), Kind::plain});
  return result;
}

Inputs point(const KernelGraph& g, const Scale& s, std::uint64_t seed) {
  Inputs inputs;
  for (int t : g.inputs) {
    const graph::Shape& shape = g.tensors[t].shape;
    inputs.push_back({shape, draw_values(shape, s, draw(seed, inputs.size()))});
  }
  return inputs;
}

std::vector<Values<Ball>> evaluate(BallArithmetic& balls, const KernelGraph& g, const Inputs& inputs,
                                   const std::vector<int>& place) {
  std::vector<Values<Ball>> exact(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Values<Ball>& v = exact[place[i]];
    v.shape = inputs[i].shape;
    for (double x : inputs[i].at) v.at.push_back(balls.exact(x));
  }
  return evaluate_graph(balls, g, exact);
}

class Run {
 public:
  Run(const KernelGraph& a, const KernelGraph& b, const Pairing& pairing, std::uint64_t seed, int more)
      : a_(a), b_(b), pairing_(pairing), seed_(seed), scales_(scales(a, b)) {
    scales_.resize(scales_.size() + static_cast<std::size_t>(more), {1, Kind::plain});
    for (std::size_t i = 0; i < a.inputs.size(); ++i) same_place_.push_back(static_cast<int>(i));
    for (int t : a.outputs)
      seen_.push_back(std::vector<int>(static_cast<std::size_t>(graph::size(a.tensors[t].shape)), 0));
  }

  RealTrials run() {
    BallArithmetic strict, loose(of_one_alone(a_, b_));
    std::uint64_t number = 0;
    for (const Scale& s : scales_) {
      const Inputs inputs = point(a_, s, draw(seed_, number++));
      if (!result_.loose && compare(strict, inputs)) continue;
      result_.loose = true;  // or different even so
      result_.scale = s;
      if (!compare(loose, inputs)) {
        simplify(loose, inputs);
        return result_;
      }
      result_.difference.reset();
    }
    result_.points = 1 << 30;
    for (std::size_t o = 0; o < seen_.size(); ++o)
      for (std::size_t i = 0; i < seen_[o].size(); ++i)
        if (seen_[o][i] < result_.points) {
          result_.points = seen_[o][i];
          result_.unseen = fmt::format("element {} of {}",
                                       graph::to_string(graph::coordinates(static_cast<std::int64_t>(i),
                                                                           a_.tensors[a_.outputs[o]].shape)),
                                       a_.tensors[a_.outputs[o]].name);
        }
    return result_;
  }

 private:
  /// 0 for as many inputs as can be, and 1 for the others: ever smaller stretches of them, while the two
  /// still differ.
  void simplify(BallArithmetic& balls, Inputs inputs) {
    std::size_t count = 0;
    for (const Values<double>& v : inputs) count += v.at.size();
    double left = 4e5 / (work(a_) + work(b_));  // evaluations: a tenth of a second
    for (const double simple : {0.0, 1.0})
      for (std::size_t stretch = count; stretch > 0; stretch /= 2)
        for (std::size_t from = 0; from < count && left > 0; from += stretch) {
          const Inputs before = inputs;
          std::size_t at = 0;
          bool changed = false;
          for (Values<double>& v : inputs)
            for (double& x : v.at) {
              if (at >= from && at < from + stretch && x != 0 && x != simple) x = simple, changed = true;
              ++at;
            }
          if (!changed) continue;
          --left;
          const std::optional<Counterexample> last = result_.difference;
          if (!compare(balls, inputs)) continue;
          inputs = before;
          result_.difference = last;
        }
  }

  /// False, and a difference, if some element is proved to differ; the plainest such element is shown.
  bool compare(BallArithmetic& balls, const Inputs& inputs) {
    const auto ya = evaluate(balls, a_, inputs, same_place_),
               yb = evaluate(balls, b_, inputs, pairing_.inputs);
    double most = -1;
    std::size_t output = 0, element = 0;
    for (std::size_t o = 0; o < ya.size(); ++o)
      for (std::size_t i = 0; i < ya[o].at.size(); ++i) {
        const Ball &x = ya[o].at[i], &y = yb[o].at[i];
        if (disjoint(x, y) && distance(x, y) > most) most = distance(x, y), output = o, element = i;
        const int bits = result_.loose ? 36 : 100;
        seen_[o][i] += !x.nan && !y.nan && sharp(x, bits) && sharp(y, bits);
      }
    if (most < 0) return true;
    Counterexample c{a_,
                     b_,
                     {},
                     "real numbers",
                     a_.tensors[a_.outputs[output]].name,
                     graph::coordinates(static_cast<std::int64_t>(element), ya[output].shape),
                     to_string(ya[output].at[element]),
                     to_string(yb[output].at[element]),
                     most};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Shown shown{a_.tensors[a_.inputs[i]].name, inputs[i].shape, {}};
      for (double x : inputs[i].at) shown.values.push_back(fmt::format("{}", x));
      c.inputs.push_back(std::move(shown));
    }
    result_.difference = std::move(c);
    return false;
  }

  const KernelGraph &a_, &b_;
  const Pairing& pairing_;
  std::uint64_t seed_;
  std::vector<Scale> scales_;
  std::vector<int> same_place_;
  std::vector<std::vector<int>> seen_;  // at how many points each element was compared
  RealTrials result_;
};

}  // namespace

RealTrials real_trials(const KernelGraph& a, const KernelGraph& b, const Pairing& pairing, std::uint64_t seed,
                       int more) {
  return Run(a, b, pairing, seed, more).run();
}

}  // namespace zellige::search
