#include "candidate/expected_time.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "candidate/excerpt.hpp"
#include "candidate/steps.hpp"
#include "graph/view.hpp"
#include "plan/estimate.hpp"
#include "reference/structure.hpp"
#include "rewrite/canonical_order.hpp"
#include "rewrite/lay_out.hpp"
#include "target/instructions.hpp"
#include "target/pipe.hpp"

namespace zellige::candidate {
namespace {

/// Returns the expected time, in microseconds, of a graph that consists of one kernel, assuming that it is
/// launched right after another kernel. Looks the time up in the cache `known`; if it is missing, plans the
/// graph and stores the time there. Returns nullopt and sets `refusal` if the graph cannot be planned. If the
/// verifier has rejected the plan, records its message in `known`.
std::optional<double> planned(const graph::KernelGraph& given, const target::Target& target, CostCache& known,
                              NoPlan& refusal) {
  const graph::KernelGraph a = rewrite::in_one_order(given);
  const std::string text = reference::structure(a);
  std::optional<double> us = known.find(text);
  if (us) return us;
  tried(known, refusal, [&] {
    const plan::Plan plan = plan::make_plan(a, target, {.registers_proved = false});
    us = us_after_another(plan::estimate_cost(plan, target), target);
  });
  if (us) known.add(text, *us);  // no error is kept, because it names this graph's tensors
  return us;
}

/// Returns the expand and the reshape that make of tensor `t` runs of equal elements along its last dimension, as scales of
/// groups are read; none if it is made otherwise.
std::vector<graph::KernelOp> runs_along_last(const graph::KernelGraph& g, int t) {
  const auto producer = [&](int tensor, graph::OpKind kind) {
    const auto found = std::ranges::find_if(
        g.ops, [&](const graph::KernelOp& op) { return op.kind == kind && op.outputs[0] == tensor; });
    return found == g.ops.end() ? nullptr : &*found;
  };
  const graph::KernelOp* merges = producer(t, graph::OpKind::reshape);
  const graph::KernelOp* repeats = merges ? producer(merges->inputs[0], graph::OpKind::expand) : nullptr;
  if (!repeats) return {};
  const graph::Shape &one = g.tensors[repeats->inputs[0]].shape, &each = g.tensors[merges->inputs[0]].shape,
                     &all = g.tensors[t].shape;
  const bool last = one.size() == each.size() && each.size() == all.size() + 1 && one.back() == 1 &&
                    std::equal(one.begin(), one.end() - 1, each.begin()) &&
                    std::equal(all.begin(), all.end() - 1, each.begin());
  return last ? std::vector{*repeats, *merges} : std::vector<graph::KernelOp>{};
}

/// Returns the fraction of a matrix's elements that a causal mask keeps, or 1 for another mask. `shape` ends
/// with the matrix's rows and columns.
double kept_share(const graph::Attributes& a, const graph::Shape& shape) {
  if (!a.kept.tril || !a.sizes.empty() || shape.size() < 2) return 1;
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  double kept = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    kept += static_cast<double>(std::clamp<std::int64_t>(i + *a.kept.tril + 1, 0, columns));
  return kept / static_cast<double>(rows * columns);
}

/// Returns the tensor whose elements are read: of windows, each of which overlaps others, their source; of views that repeat elements, what
/// they repeat.
int source_of(const graph::KernelGraph& g, int tensor) {
  const auto made_by = [&](int t) {
    return std::ranges::find_if(g.ops, [&](const graph::KernelOp& op) { return op.outputs[0] == t; });
  };
  while (rewrite::shows_windows(g, tensor)) tensor = made_by(tensor)->inputs[0];
  const auto elements = [&](int t) { return graph::size(g.tensors[t].shape); };
  int source = tensor;
  for (auto op = made_by(tensor);
       op != g.ops.end() && graph::is_view(op->kind) && elements(op->outputs[0]) >= elements(op->inputs[0]);
       op = made_by(op->inputs[0]))
    if (elements(op->outputs[0]) > elements(op->inputs[0])) source = op->inputs[0];
  return source;
}

}  // namespace

double us_after_another(const predict::CostEstimate& cost, const target::Target& target) {
  const double warm = target.costs.search.warm;
  return (1 - warm) * cost.us + warm * cost.warm_us - target.costs.launch + target.costs.next;
}

std::optional<double> planned_us(const graph::KernelGraph& g, const GroupKernel& k, const target::Target& target,
                                 CostCache& known, NoPlan& refusal) {
  return planned(alone(g, k), target, known, refusal);
}

std::optional<double> planned_us(const graph::KernelGraph& g, int index, const target::Target& target, CostCache& known,
                                 NoPlan& refusal) {
  graph::KernelGraph a = plan::part_of(g, {index});
  const graph::KernelOp &op = g.ops[index], &own = a.ops[0];
  std::vector<graph::KernelOp> views;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const int local = own.inputs[i];
    const std::vector<graph::KernelOp> runs = runs_along_last(g, op.inputs[i]);
    if (runs.empty() || std::ranges::count(a.inputs, local) == 0) {
      a.tensors[local] = outside(g, op.inputs[i]);
      continue;
    }
    const auto one = static_cast<int>(a.tensors.size()), each = one + 1;
    a.tensors.push_back(outside(g, runs[0].inputs[0]));
    const graph::KernelTensor &of_runs = g.tensors[runs[0].outputs[0]], &all = g.tensors[op.inputs[i]];
    a.tensors.push_back({of_runs.dtype, of_runs.shape, {}, of_runs.name});
    a.tensors[local] = {all.dtype, all.shape, {}, all.name};
    std::ranges::replace(a.inputs, local, one);
    views.insert(views.end(), runs.begin(), runs.end());
    views.end()[-2].inputs = {one}, views.end()[-2].outputs = {each};
    views.back().inputs = {each}, views.back().outputs = {local};
  }
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    if (g.tensors[op.outputs[i]].memory >= 0) a.tensors[own.outputs[i]].memory = own.inputs[0];
  a.ops.insert(a.ops.begin(), views.begin(), views.end());
  return planned(a, target, known, refusal);
}

double floor_us(const graph::KernelGraph& g, const std::vector<int>& ops, const target::Target& target) {
  std::set<int> made, moved;
  for (int i : ops) made.insert(g.ops[i].outputs.begin(), g.ops[i].outputs.end());
  double cycles = 0, kept = 1;  // cycles of one multiprocessor; the share of results that masks keep
  for (int i : ops) {
    const graph::KernelOp& op = g.ops[i];
    for (int t : op.inputs)
      if (made.count(t) == 0) moved.insert(source_of(g, t));
    for (int t : op.outputs)
      if (leaves(g, ops, t)) moved.insert(t);
    if (op.kind == graph::OpKind::mask)
      kept = std::min(kept, kept_share(op.attributes, g.tensors[op.outputs[0]].shape));
    if (op.kind != graph::OpKind::matmul) continue;
    const graph::DType dtype = g.tensors[op.inputs[0]].dtype;
    const double products = static_cast<double>(graph::size(g.tensors[op.outputs[0]].shape)) *
                            static_cast<double>(g.tensors[op.inputs[0]].shape.back());
    // A warpgroup's instruction uses all four tensor cores of a multiprocessor, a warp's instruction one of them.
    const auto a = target::multiplied_as(dtype, op.attributes.tf32);
    if (const Instruction* row = target::find_warpgroup_mma(target, a, a, "f32", 128))
      cycles += products / (row->m * row->n * row->k) * row->cycles;
    else if (const Instruction* warp = target::find_mma(target, a, a, "f32"))
      cycles += products / (warp->m * warp->n * warp->k) * target::cycles(*warp, target.costs) / 4;
    else
      cycles += products / 128;
  }
  double bytes = 0;
  for (int t : moved)
    bytes += static_cast<double>(graph::bytes_of(graph::size(g.tensors[t].shape), g.tensors[t].dtype));
  return std::max(bytes / target.costs.dram * 1e-3, kept * cycles / target.multiprocessors / target.costs.clock * 1e-3);
}

}  // namespace zellige::candidate
