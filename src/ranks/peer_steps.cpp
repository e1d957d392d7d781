#include "ranks/peer_steps.hpp"

#include "graph/builder.hpp"
#include "graph/collective.hpp"
#include "plan/meeting.hpp"
#include "target/links.hpp"

namespace zellige::ranks {
namespace {

using graph::OpKind;

/// Returns y = x@0 + x@1 + ..., whose inputs are the windows of all ranks.
graph::KernelGraph sum_of_windows(const graph::KernelGraph& g, const Segment& s) {
  const graph::KernelTensor& x = g.tensors[s.inputs[0]];
  graph::Builder b(fmt::format("{}_{}", g.name, g.tensors[s.outputs[0]].name));
  const graph::Shape flat{1, graph::size(x.shape)};
  const bool sum = s.collective.kind == OpKind::all_reduce;
  graph::TensorHandle y = b.input(name_of_rank(x.name, 0), flat, x.dtype);
  for (int r = 1; r < g.ranks; ++r) {
    const graph::TensorHandle next = b.input(name_of_rank(x.name, r), flat, x.dtype);
    y = sum ? y + next : maximum(y, next);
  }
  b.output(y, g.tensors[s.outputs[0]].name);
  return b.build();
}

}  // namespace

bool wants_peers(Collectives how, const target::Target& target, const graph::KernelGraph& g, const Segment& s) {
  if (how != Collectives::cheapest || s.inputs.empty()) return how == Collectives::peers;
  const std::optional<target::Links> links = target::links(target.name);
  const graph::KernelTensor& x = g.tensors[s.inputs[0]];
  const std::int64_t bytes = graph::bytes_of(graph::size(x.shape), x.dtype);
  return links && target::meeting_us(*links, bytes, g.ranks) < target::nccl_us(*links, bytes, g.ranks);
}

std::optional<RankStep> peer_step(const graph::KernelGraph& g, const Segment& s, const target::Target& target,
                                  const CompileOptions& options, const std::optional<toolchain::Cache>& cache,
                                  std::string& why) {
  const OpKind kind = s.collective.kind;
  if (g.ranks < 2 || (kind != OpKind::all_reduce && kind != OpKind::all_reduce_max)) return std::nullopt;
  RankStep step{.segment = s, .meets = true};
  CompileOptions o = options;
  kernel::Rejections own;
  if (!o.rejected) o.rejected = &own;
  o.fuse = true, o.tune = 0, o.inputs = {}, o.constants = {};
  const std::span<const Pass> all = passes();
  const auto schedule = std::ranges::find(all, std::string_view("schedule"), &Pass::name) - all.begin() + 1;
  try {
    PassState state{.graph = sum_of_windows(g, s), .target = &target, .options = std::move(o)};
    state = run_passes(all.first(static_cast<std::size_t>(schedule)), std::move(state), cache);
    state.plan = plan::with_meeting(std::move(state.plan), {g.tensors[s.inputs[0]].name, g.ranks});
    state = run_passes(all.subspan(static_cast<std::size_t>(schedule)), std::move(state), cache);
    step.notes = std::move(state.fused.notes);
    step.program = std::move(state.program);
  } catch (const Fault&) {
    throw;
  } catch (const Error& e) {
    why = e.what();
    return std::nullopt;
  }
  return step;
}

MeetingInput meeting_input(const RankStep& step, int ranks, int position) {
  const int operands = static_cast<int>(step.segment.inputs.size()) - 1, first = ranks + operands;
  if (position < ranks) return {MeetingInput::window, position};
  if (position < first) return {MeetingInput::operand, position - ranks + 1};
  if (position == first) return {MeetingInput::published, 0};
  if (position == first + 1) return {MeetingInput::own_window, 0};
  if (position < first + 2 + ranks) return {MeetingInput::flags, position - first - 2};
  return {MeetingInput::state, 0};
}

MeetingBytes meeting_bytes(const RankStep& step, int ranks) {
  MeetingBytes bytes;
  for (const emit::TensorPlace& t : step.program->manifest.tensors) {
    if (t.role != emit::Role::input) continue;
    const MeetingInput is = meeting_input(step, ranks, t.position);
    if (is.kind == MeetingInput::own_window) bytes.half = t.bytes / 2;
    if (is.kind == MeetingInput::flags) bytes.flags = t.bytes;
    if (is.kind == MeetingInput::state) bytes.state = t.bytes;
  }
  return bytes;
}

}  // namespace zellige::ranks
