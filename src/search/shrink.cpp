#include "search/shrink.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "graph/infer.hpp"
#include "search/exponents.hpp"
#include "search/sizes.hpp"

namespace zellige::search {
namespace {

using graph::KernelGraph;
using graph::OpKind;

/// Products that a few points over the reals may take: some milliseconds.
constexpr double small_enough = 2e4;

/// What each graph cuts an extent into, and the pieces' pieces.
std::set<int> pieces(const Sizes& sizes, int whole, int owner) {
  std::set<int> found{whole};
  for (bool grew = true; grew;) {
    grew = false;
    for (const Sizes::Product& p : sizes.products()) {
      if (p.owner != owner || !found.count(sizes.find(p.whole))) continue;
      for (int f : p.factors) grew |= found.insert(sizes.find(f)).second;
    }
  }
  found.erase(whole);
  return found;
}

/// Pairs of sizes, one of each graph, that cut the same extent, and pairs of launch sizes.
std::set<std::pair<int, int>> related(const Sizes& sizes) {
  std::set<int> wholes;
  for (const Sizes::Product& p : sizes.products()) wholes.insert(sizes.find(p.whole));
  std::set<std::pair<int, int>> pairs;
  for (int whole : wholes) {
    const std::set<int> in_a = pieces(sizes, whole, 0), in_b = pieces(sizes, whole, 1);
    for (int u : in_a)
      for (int v : in_b) pairs.insert({u, v});
  }
  for (const auto& [u, a] : sizes.launches())
    for (const auto& [v, b] : sizes.launches())
      if (a == 0 && b == 1) pairs.insert({sizes.find(u), sizes.find(v)});
  return pairs;
}

/// Sizes that are equal and cut the same extent are taken for the same: a sum of squares of partial sums depends on them.
void tie(Sizes& sizes) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [u, v] : related(sizes))
      if (sizes.find(u) != sizes.find(v) && sizes.value(u) == sizes.value(v)) sizes.same(u, v), changed = true;
  }
}

/// What of the different is kept different: everything that `related` finds, or only how far reductions go, or nothing.
enum class Keep { all, reductions, nothing };

std::vector<std::int64_t> shrunk_values(const Sizes& sizes, Keep keep) {
  Products system;
  std::map<int, int> index;
  const auto at = [&](int u) {
    const auto [it, fresh] = index.try_emplace(sizes.find(u), static_cast<int>(system.values.size()));
    if (fresh) {
      system.values.push_back(sizes.value(sizes.find(u)));
      system.fixed.push_back(sizes.variables()[sizes.find(u)].fixed);
    }
    return it->second;
  };
  const int count = static_cast<int>(sizes.variables().size());
  for (int u = 0; u < count; ++u) at(u);
  for (const Sizes::Product& p : sizes.products()) {
    Products::Product product{at(p.whole), {}};
    for (int f : p.factors) product.factors.push_back(at(f));
    system.products.push_back(product);
  }
  std::set<int> reductions;
  for (int u : sizes.reductions()) reductions.insert(sizes.find(u));
  for (const auto& [u, v] : related(sizes)) {
    const bool kept = keep == Keep::all || (keep == Keep::reductions && reductions.count(u) && reductions.count(v));
    if (kept && sizes.value(u) != sizes.value(v) && sizes.value(u) > 1 && sizes.value(v) > 1)
      system.orders.push_back({at(u), at(v)});
  }
  const std::vector<std::int64_t> values = shrink_values(system);
  std::vector<std::int64_t> result(count);
  for (int u = 0; u < count; ++u) result[u] = values[at(u)];
  return result;
}

void resize(const GraphSizes::Op& at, const std::vector<std::int64_t>& values, graph::Attributes& attributes) {
  if (at.to >= 0) attributes.to = values[at.to];
  for (std::size_t i = 0; i < at.parts.size(); ++i) attributes.sizes[i] = values[at.parts[i]];
}

KernelGraph resized(KernelGraph g, const GraphSizes& sizes, const std::vector<std::int64_t>& values) {
  for (graph::KernelTensor& t : g.tensors) t.shape.clear(), t.strides.clear();
  for (int t : g.inputs) {
    for (int extent : sizes.tensors[t]) g.tensors[t].shape.push_back(values[extent]);
    g.tensors[t].strides = graph::row_major(g.tensors[t].shape);
  }
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    const GraphSizes::Op& at = sizes.ops[i];
    resize(at, values, g.ops[i].attributes);
    if (g.ops[i].kind != OpKind::custom) continue;
    graph::BlockGraph b = *g.ops[i].block;
    b.grid = {values[at.grid[0]], values[at.grid[1]], values[at.grid[2]]};
    b.loop = values[at.loop];
    for (graph::BlockTensor& t : b.tensors) t.shape.clear();
    for (std::size_t k = 0; k < b.ops.size(); ++k) resize(at.body[k], values, b.ops[k].attributes);
    g.ops[i].block = std::make_shared<const graph::BlockGraph>(std::move(b));
  }
  return graph::infer(std::move(g));
}

double work_of(OpKind kind, const graph::Shape& x, const graph::Shape& y) {
  const auto elements = static_cast<double>(std::max(graph::size(x), graph::size(y)));
  return kind == OpKind::matmul ? static_cast<double>(graph::size(y)) * static_cast<double>(x.back()) : elements;
}

}  // namespace

double work(const KernelGraph& g) {
  double sum = 0;
  for (const graph::KernelOp& op : g.ops) {
    if (op.kind != OpKind::custom) {
      sum += work_of(op.kind, g.tensors[op.inputs[0]].shape, g.tensors[op.outputs[0]].shape);
      continue;
    }
    double once = 0, inside = 0;
    const std::vector<bool> varies = graph::varies(*op.block);
    for (const graph::BlockOp& inner : op.block->ops) {
      const int in = inner.inputs.empty() ? inner.outputs[0] : inner.inputs[0];
      const int out = inner.outputs.empty() ? in : inner.outputs[0];
      const double one = work_of(inner.kind, op.block->tensors[in].shape, op.block->tensors[out].shape);
      (varies[out] || varies[in] ? inside : once) += one;
    }
    sum += static_cast<double>(op.block->grid.count()) * (once + inside * static_cast<double>(op.block->loop));
  }
  return sum;
}

SmallPair shrink(const KernelGraph& a, const KernelGraph& b, const Pairing& pairing) {
  Sizes sizes;
  const GraphSizes in_a = sizes.add(a), in_b = sizes.add(b);
  const auto join = [&](int ta, int tb) {
    for (std::size_t d = 0; d < in_a.tensors[ta].size(); ++d) sizes.same(in_a.tensors[ta][d], in_b.tensors[tb][d]);
  };
  for (std::size_t i = 0; i < a.inputs.size(); ++i) join(a.inputs[i], b.inputs[pairing.inputs[i]]);
  for (std::size_t i = 0; i < a.outputs.size(); ++i) join(a.outputs[i], b.outputs[i]);
  tie(sizes);
  SmallPair pair;
  for (const Keep keep : {Keep::all, Keep::reductions, Keep::nothing}) {
    const std::vector<std::int64_t> values = shrunk_values(sizes, keep);
    pair = {resized(a, in_a, values), resized(b, in_b, values)};
    if (work(pair.a) + work(pair.b) <= small_enough) break;
  }
  for (std::size_t t = 0; t < a.tensors.size(); ++t) pair.shrunk |= pair.a.tensors[t].shape != a.tensors[t].shape;
  for (std::size_t t = 0; t < b.tensors.size(); ++t) pair.shrunk |= pair.b.tensors[t].shape != b.tensors[t].shape;
  return pair;
}

}  // namespace zellige::search
