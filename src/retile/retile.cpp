#include "retile/retile.hpp"

#include <algorithm>
#include <optional>

#include "graph/error.hpp"
#include "graph/infer.hpp"
#include "retile/block_writer.hpp"
#include "retile/relation.hpp"

namespace zellige::retile {
namespace {

using graph::BlockGraph;
using graph::KernelGraph;
using graph::KernelOp;

/// A change of one extent of a custom operator: a grid axis, or the loop.
struct ExtentChange {
  int op = -1;
  int axis = 3;  // grid axis; 3: the loop
  std::int64_t from = 1, to = 1;
};

std::int64_t& axis(graph::Dim3& d, int at) { return at == 0 ? d.x : at == 1 ? d.y : d.z; }

/// Returns the graph with all shapes except those of its inputs recomputed from the operators and their tilings.
KernelGraph inferred(KernelGraph g) {
  for (std::size_t t = 0; t < g.tensors.size(); ++t)
    if (std::ranges::find(g.inputs, static_cast<int>(t)) == g.inputs.end()) g.tensors[t].shape.clear();
  for (KernelOp& op : g.ops) {
    if (!op.block) continue;
    auto block = std::make_shared<BlockGraph>(*op.block);
    for (graph::BlockTensor& t : block->tensors) t.shape.clear();
    op.block = std::move(block);
  }
  return graph::infer(std::move(g));
}

/// Returns the graph with one extent of its tiling changed as `step` says. A tensor that then has only partial
/// results becomes f32. Throws Error if the operators that read such a tensor do not add up the partial
/// results, if a result would change, or if a tile does not divide its tensor.
KernelGraph applied(const KernelGraph& g, const ExtentChange& step) {
  const int at = step.op;
  KernelGraph h = g;
  auto block = std::make_shared<BlockGraph>(*g.ops[at].block);
  (step.axis < 3 ? axis(block->grid, step.axis) : block->loop) = step.to;
  h.ops[at].block = std::move(block);
  h = inferred(std::move(h));

  const graph::Where top{g.name}, where = top.at(at, "custom");
  Change change;
  (step.axis < 3 ? change.axis = step.axis : change.loop = true);
  const std::map<int, Summed> partial = relate(where, *g.ops[at].block, *h.ops[at].block, change);
  if (partial.empty()) {
    for (std::size_t t = 0; t < g.tensors.size(); ++t)
      if (h.tensors[t].shape != g.tensors[t].shape)
        fault("{}: {} of {} became one of {}", graph::to_string(where), g.tensors[t].name,
              graph::to_string(g.tensors[t].shape), graph::to_string(h.tensors[t].shape));
    return h;
  }

  std::map<int, Change> readers;  // by operator
  for (const auto& [result, summed] : partial) {
    const int tensor = g.ops[at].outputs[result];
    const std::string& name = g.tensors[tensor].name;
    if (std::ranges::find(g.outputs, tensor) != g.outputs.end())
      fail_at(where, "expected partial results that a later kernel adds in {}, found an output of the graph", name);
    if (g.tensors[tensor].memory >= 0)
      fail_at(where, "expected partial results in {} to have memory of their own, found those of {}", name,
              g.tensors[g.tensors[tensor].memory].name);
    if (graph::is_integer(g.tensors[tensor].dtype))
      fail_at(where, "expected partial results in {} that float32 may hold, found {}", name,
              graph::name(g.tensors[tensor].dtype));
    for (std::size_t i = 0; i < g.ops.size(); ++i)
      for (std::size_t input = 0; input < g.ops[i].inputs.size(); ++input) {
        if (g.ops[i].inputs[input] != tensor) continue;
        if (!g.ops[i].block)
          fail_at(where, "expected a custom operator to sum {}, found operator {} ({}) to read it", name, i,
                  graph::name(g.ops[i].kind));
        readers[static_cast<int>(i)].inputs[static_cast<int>(input)] = summed;
      }
    h.tensors[tensor].dtype = graph::computed_in(g.tensors[tensor].dtype);
    h.tensors[tensor].strides.clear();
  }
  for (const auto& [reader, inputs] : readers) {
    const graph::Where there = top.at(reader, "custom");
    if (!relate(there, *g.ops[reader].block, *h.ops[reader].block, inputs).empty())
      fail_at(there, "expected it to sum what operator {} leaves in parts, found it to pass the parts on", at);
  }
  widen(h, at);
  for (const auto& [reader, inputs] : readers) widen(h, reader);
  return inferred(std::move(h));
}

}  // namespace

std::string numbers(const Tiling& t) {
  std::string text;
  for (const OpTiling& o : t) text += fmt::format("{}{}", text.empty() ? "" : ", ", o.op);
  return text.empty() ? "none" : text;
}

KernelGraph retile(const KernelGraph& g, const Tiling& tiling) {
  const Tiling given = tiling_of(g);
  for (const OpTiling& t : tiling)
    if (t.product)
      fail("{}: expected a grid and a loop of operator {}, found a matmul's tile", to_string(graph::Where{g.name}),
           t.op);
  if (numbers(given) != numbers(tiling))
    fail("{}: expected a tiling of its custom operators ({}), found one of {}", to_string(graph::Where{g.name}),
         numbers(given), numbers(tiling));
  std::vector<ExtentChange> steps;
  for (std::size_t i = 0; i < given.size(); ++i) {
    for (int a = 0; a < 3; ++a)
      if (given[i].grid[a] != tiling[i].grid[a]) steps.push_back({given[i].op, a, given[i].grid[a], tiling[i].grid[a]});
    if (given[i].loop != tiling[i].loop) steps.push_back({given[i].op, 3, given[i].loop, tiling[i].loop});
  }
  // Extents that decrease come first, so that intermediate sizes divide if the final ones do. A change that
  // fails is tried again after others.
  std::ranges::stable_sort(steps, {}, [](const ExtentChange& s) { return s.to > s.from; });
  KernelGraph h = g;
  while (!steps.empty()) {
    std::vector<ExtentChange> left;
    std::optional<Error> why;
    for (const ExtentChange& step : steps) {
      const std::optional<Error> error = refused([&] { h = applied(h, step); });
      if (!error) continue;
      if (!why) why = error;
      left.push_back(step);
    }
    if (left.size() == steps.size()) throw Error(*why);
    steps = std::move(left);
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].block == tiling[i].block) continue;
    auto block = std::make_shared<BlockGraph>(*h.ops[given[i].op].block);
    block->block = tiling[i].block;
    h.ops[given[i].op].block = std::move(block);
  }
  return graph::infer(std::move(h));
}

std::optional<KernelGraph> proved(const KernelGraph& g, const Tiling& t) {
  std::optional<KernelGraph> found;
  refused([&] { found = retile(g, t); });
  return found;
}

}  // namespace zellige::retile
