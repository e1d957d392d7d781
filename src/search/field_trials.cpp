#include "search/field_trials.hpp"

#include <algorithm>
#include <cmath>

#include "graph/ops.hpp"
#include "search/any_op.hpp"
#include "search/degree.hpp"
#include "search/evaluate_graph.hpp"
#include "search/field.hpp"
#include "search/modular.hpp"
#include "search/shrink.hpp"

namespace zellige::search {
namespace {

using graph::KernelGraph;
using graph::OpKind;

/// The first operator that compares: no field has an order.
std::string ordering_operator(const KernelGraph& g) {
  std::string found;
  any_op(g, [&](const auto& op, const graph::BlockGraph*) {
    const bool orders = op.kind == OpKind::reduction_max || op.kind == OpKind::accum_max;
    if (orders) found = graph::name(op.kind);
    return orders;
  });
  return found;
}

template <class N>
std::vector<Values<N>> paired(const std::vector<Values<N>>& inputs, const Pairing& pairing) {
  std::vector<Values<N>> result(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) result[pairing.inputs[i]] = inputs[i];
  return result;
}

/// The degree of a difference of two outputs, at most.
double degree(const KernelGraph& a, const KernelGraph& b, const Pairing& pairing) {
  DegreeArithmetic degrees;
  std::vector<Values<Degree>> inputs;
  for (int t : a.inputs) inputs.push_back(make_values(a.tensors[t].shape, Degree{1, 0}));
  const auto ya = evaluate_graph(degrees, a, inputs),
             yb = evaluate_graph(degrees, b, paired(inputs, pairing));
  double most = 1;
  for (std::size_t o = 0; o < ya.size(); ++o)
    for (std::size_t i = 0; i < ya[o].at.size(); ++i) {
      const Degree d = degrees.sub(ya[o].at[i], yb[o].at[i]);
      most = std::max(most, d.numerator + d.denominator);
    }
  return most + 2 * degrees.argument();
}

}  // namespace

FieldTrials field_trials(const KernelGraph& a, const KernelGraph& b, const Pairing& pairing,
                         const EqualOptions& options) {
  FieldTrials result;
  for (const KernelGraph* g : {&a, &b})
    if (const std::string op = ordering_operator(*g); !op.empty()) {
      result.refused =
          fmt::format("{} of {} compares numbers, and no finite field has an order", op, g->name);
      return result;
    }
  std::vector<std::vector<int>> agreed;
  for (int t : a.outputs)
    agreed.push_back(std::vector<int>(static_cast<std::size_t>(graph::size(a.tensors[t].shape)), 0));
  // Where an element takes k square roots, one attempt in 2^k has them all.
  const auto most_attempts =
      static_cast<int>(std::clamp(2e8 / (work(a) + work(b)), double(options.trials), 400.0));
  for (int attempt = 0; attempt < most_attempts && result.fields < options.trials; ++attempt) {
    Field field(draw(options.seed, static_cast<std::uint64_t>(attempt)));
    std::vector<Values<FieldNumber>> inputs;
    std::uint64_t n = 0;
    for (int t : a.inputs) {
      inputs.push_back(make_values(a.tensors[t].shape, FieldNumber{}));
      for (FieldNumber& x : inputs.back().at) x = field.random(n++);
    }
    const auto ya = evaluate_graph(field, a, inputs), yb = evaluate_graph(field, b, paired(inputs, pairing));
    result.roots |= field.took_root(), result.unknown |= field.took_unknown(),
        result.exponentials |= field.took_exp();
    result.fields = options.trials;
    for (std::size_t o = 0; o < ya.size(); ++o)
      for (std::size_t i = 0; i < ya[o].at.size(); ++i) {
        const std::uint64_t x = ya[o].at[i].p, y = yb[o].at[i].p;
        const bool both = x != FieldNumber::unlucky && y != FieldNumber::unlucky;
        if (both && x != y) {
          Counterexample c{a,
                           b,
                           {},
                           fmt::format("numbers modulo {}, in exponents modulo {}", field.p(), field.q()),
                           a.tensors[a.outputs[o]].name,
                           graph::coordinates(static_cast<std::int64_t>(i), ya[o].shape),
                           std::to_string(x),
                           std::to_string(y),
                           1};
          for (std::size_t k = 0; k < inputs.size(); ++k) {
            Shown shown{a.tensors[a.inputs[k]].name, inputs[k].shape, {}};
            for (const FieldNumber& v : inputs[k].at) shown.values.push_back(fmt::format("{}, {}", v.p, v.q));
            c.inputs.push_back(std::move(shown));
          }
          result.difference = std::move(c);
          return result;
        }
        agreed[o][i] += both;
        result.fields = std::min(result.fields, agreed[o][i]);
      }
  }
  // A nonzero polynomial vanishes at a random point of Z_q with a chance of degree / 2^53. All its
  // coefficients vanish if p divides them: few of the 2^46 primes that are drawn from do. 2^-45 a degree is
  // above both together.
  result.log2_chance = result.fields * std::min(0.0, std::log2(degree(a, b, pairing)) - 45);
  return result;
}

}  // namespace zellige::search
