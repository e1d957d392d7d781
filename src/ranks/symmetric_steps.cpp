#include "ranks/symmetric_steps.hpp"

#include "graph/infer.hpp"
#include "plan/symmetric.hpp"
#include "ranks/tails.hpp"
#include "target/links.hpp"

namespace zellige::ranks {
namespace {

using graph::OpKind;
using run::Collectives, run::CompileOptions, run::Pass, run::passes, run::PassState, run::run_passes;

/// Returns the step of a sum and its tail. Throws Error if ranks cannot exchange tiles in a kernel of it.
RankStep step_of(const graph::KernelGraph& g, const Segment& collective, const Segment& tail,
                 const target::Target& target, const CompileOptions& options,
                 const std::optional<toolchain::Cache>& cache) {
  RankStep step{.segment = collective, .by_symmetric = true};
  for (int t : tail.inputs)
    if (t != collective.outputs[0]) step.segment.inputs.push_back(t);
  if (!tail.kernels.ops.empty()) step.segment.outputs = tail.outputs;
  CompileOptions o = options;
  kernel::Rejections own;
  if (!o.rejected) o.rejected = &own;
  o.fuse = true, o.tune = 0, o.inputs = {}, o.constants = {};
  const std::span<const Pass> all = passes();
  const auto schedule = std::ranges::find(all, std::string_view("schedule"), &Pass::name) - all.begin() + 1;
  graph::KernelGraph sum = after_sum(g, tail, collective.collective, g.ranks);
  graph::validate(sum);
  PassState state{.graph = std::move(sum), .target = &target, .options = std::move(o)};
  state = run_passes(all.first(static_cast<std::size_t>(schedule)), std::move(state), cache);
  state.plan = plan::with_symmetric(std::move(state.plan), {g.tensors[collective.inputs[0]].name, g.ranks});
  state = run_passes(all.subspan(static_cast<std::size_t>(schedule)), std::move(state), cache);
  step.notes = std::move(state.fused.notes);
  step.program = std::move(state.program);
  return step;
}

}  // namespace

bool wants_symmetric(run::Collectives how, const target::Target& target, const graph::KernelGraph& g,
                     const Segment& s) {
  if (how != Collectives::cheapest || s.inputs.empty()) return how == Collectives::symmetric;
  const std::optional<target::Links> links = target::links(target.name);
  const graph::KernelTensor& x = g.tensors[s.inputs[0]];
  const std::int64_t bytes = graph::bytes_of(graph::size(x.shape), x.dtype);
  return links && links->measured &&
         target::symmetric_us(*links, bytes, g.ranks) < target::nccl_us(*links, bytes, g.ranks);
}

std::optional<RankStep> symmetric_step(const graph::KernelGraph& g, const Segment& s, const Segment& tail,
                                       const target::Target& target, const CompileOptions& options,
                                       const std::optional<toolchain::Cache>& cache, std::string& why) {
  const OpKind kind = s.collective.kind;
  if (g.ranks < 2 || (kind != OpKind::all_reduce && kind != OpKind::all_reduce_max)) return std::nullopt;
  try {
    return step_of(g, s, tail, target, options, cache);
  } catch (const Fault&) {
    throw;
  } catch (const Error& e) {
    why = e.what();
    return std::nullopt;
  }
}

SymmetricInput symmetric_input(const RankStep& step, int ranks, int position) {
  const int operands = static_cast<int>(step.segment.inputs.size()) - 1, first = ranks + operands;
  if (position < ranks) return {SymmetricInput::window, position};
  if (position < first) return {SymmetricInput::operand, position - ranks + 1};
  if (position == first) return {SymmetricInput::published, 0};
  if (position == first + 1) return {SymmetricInput::own_window, 0};
  if (position < first + 2 + ranks) return {SymmetricInput::flags, position - first - 2};
  return {SymmetricInput::state, 0};
}

SymmetricBytes symmetric_bytes(const RankStep& step, int ranks) {
  SymmetricBytes bytes;
  for (const emit::TensorPlace& t : step.program->manifest.tensors) {
    if (t.role != emit::Role::input) continue;
    const SymmetricInput is = symmetric_input(step, ranks, t.position);
    if (is.kind == SymmetricInput::own_window) bytes.half = t.bytes / 2;
    if (is.kind == SymmetricInput::flags) bytes.flags = t.bytes;
    if (is.kind == SymmetricInput::state) bytes.state = t.bytes;
  }
  return bytes;
}

}  // namespace zellige::ranks
