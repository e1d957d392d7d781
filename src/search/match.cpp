#include "search/match.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "graph/error.hpp"

namespace zellige::search {
namespace {

/// Throws Error unless in_a and in_b, the graphs' numbers of inputs or outputs, are equal. `what` is "inputs"
/// or "outputs", for the message.
void check_counts(const KernelGraph& a, const KernelGraph& b, std::size_t in_a, std::size_t in_b,
                  std::string_view what) {
  if (in_a != in_b)
    fail("{} and {}: expected two graphs with the same number of {}, found {} and {}", a.name, b.name, what, in_a,
         in_b);
}

/// Throws Error unless tensor number ta of graph a and tensor number tb of graph b have the same shape.
/// `what` names the two tensors in the message.
void check_shapes(const KernelGraph& a, const KernelGraph& b, int ta, int tb, std::string_view what) {
  const graph::KernelTensor &x = a.tensors[ta], &y = b.tensors[tb];
  if (x.shape != y.shape)
    fail("{} and {}: expected {} of the same shape, found {} of {} and {} of {}", a.name, b.name, what, x.name,
         graph::to_string(x.shape), y.name, graph::to_string(y.shape));
}

}  // namespace

Pairing match(const KernelGraph& a, const KernelGraph& b) {
  check_counts(a, b, a.inputs.size(), b.inputs.size(), "inputs");
  check_counts(a, b, a.outputs.size(), b.outputs.size(), "outputs");
  std::map<std::string, int> named;
  for (std::size_t i = 0; i < b.inputs.size(); ++i) named[b.tensors[b.inputs[i]].name] = static_cast<int>(i);
  Pairing p;
  p.by_name = std::ranges::all_of(a.inputs, [&](int t) { return named.count(a.tensors[t].name) > 0; });
  p.inputs.resize(a.inputs.size());
  std::iota(p.inputs.begin(), p.inputs.end(), 0);
  if (p.by_name)
    for (std::size_t i = 0; i < a.inputs.size(); ++i) p.inputs[i] = named[a.tensors[a.inputs[i]].name];
  for (std::size_t i = 0; i < a.inputs.size(); ++i)
    check_shapes(a, b, a.inputs[i], b.inputs[p.inputs[i]], p.by_name ? "inputs of one name" : "inputs in one place");
  for (std::size_t i = 0; i < a.outputs.size(); ++i)
    check_shapes(a, b, a.outputs[i], b.outputs[i], "outputs in one place");
  return p;
}

}  // namespace zellige::search
