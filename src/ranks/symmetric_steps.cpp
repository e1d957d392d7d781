#include "ranks/symmetric_steps.hpp"

#include <algorithm>

#include "graph/collective.hpp"
#include "graph/infer.hpp"
#include "plan/symmetric.hpp"
#include "predict/cost_estimate.hpp"
#include "ranks/tails.hpp"
#include "target/links.hpp"

namespace zellige::ranks {
namespace {

using graph::OpKind;
using run::Collectives, run::CompileOptions, run::Pass, run::passes, run::PassState, run::run_passes;

/// The links of a target, or what is assumed of those that are not known.
target::Links links_of(const target::Target& target) {
  return target::links(target.name).value_or(*target::links("sm_90a"));
}

std::int64_t bytes_of_operand(const graph::KernelGraph& g, const Segment& collective) {
  const graph::KernelTensor& x = g.tensors[collective.inputs[0]];
  return graph::bytes_of(graph::size(x.shape), x.dtype);
}

/// Compiles a graph, with an exchange of ranks in one of its kernels.
RankStep compiled(RankStep step, graph::KernelGraph g, const plan::Exchanged& exchanged, const target::Target& target,
                  CompileOptions o, const std::optional<toolchain::Cache>& cache) {
  kernel::Rejections own;
  if (!o.rejected) o.rejected = &own;
  o.tune = 0, o.inputs = {}, o.constants = {};
  const std::span<const Pass> all = passes();
  const auto schedule = std::ranges::find(all, std::string_view("schedule"), &Pass::name) - all.begin() + 1;
  graph::validate(g);
  PassState state{.graph = std::move(g), .target = &target, .options = std::move(o)};
  state = run_passes(all.first(static_cast<std::size_t>(schedule)), std::move(state), cache);
  state.plan = plan::with_symmetric(std::move(state.plan), exchanged);
  state = run_passes(all.subspan(static_cast<std::size_t>(schedule)), std::move(state), cache);
  step.notes = std::move(state.fused.notes);
  step.program = std::move(state.program);
  return step;
}

/// Returns what `make` returns; nullopt if it throws Error, with its sentence in `why`.
template <class F>
std::optional<RankStep> unless_refused(const F& make, std::string& why) {
  try {
    return make();
  } catch (const Fault&) {
    throw;
  } catch (const Error& e) {
    why = e.what();
    return std::nullopt;
  }
}

const kernel::SymmetricExchange& exchange_in(const RankStep& step) {
  return *std::ranges::find_if(step.program->plan.kernels, [](const kernel::Kernel& k) {
            return k.symmetric.has_value();
          })->symmetric;
}

double us_of(const RankStep& step, const target::Target& target) {
  const plan::Plan& p = step.program->plan;
  return predict::estimate_cost(p.program, p.kernels, predict::Detail::planned, target).us;
}

}  // namespace

SumBy way_of_sum(Collectives how, const target::Target& target, const graph::KernelGraph& g, const Segment& s) {
  if (how == Collectives::nccl || !graph::combines_ranks(s.collective.kind) || g.ranks < 2) return SumBy::nccl;
  if (how == Collectives::one_shot) return SumBy::one_shot;
  if (how == Collectives::two_shots) return SumBy::two_shots;
  const target::Links l = links_of(target);
  const std::int64_t bytes = bytes_of_operand(g, s);
  const double one = target::symmetric_us(l, bytes, g.ranks), two = target::two_shots_us(l, bytes, g.ranks);
  if (how != Collectives::cheapest) return two < one ? SumBy::two_shots : SumBy::one_shot;
  const bool known = target::links(target.name).has_value() && l.measured;
  return known && one < target::nccl_us(l, bytes, g.ranks) ? SumBy::one_shot : SumBy::nccl;
}

std::optional<RankStep> symmetric_step(const graph::KernelGraph& g, const SumAndTail& s, const target::Target& target,
                                       const CompileOptions& options, const std::optional<toolchain::Cache>& cache,
                                       std::string& why) {
  const OpKind kind = s.collective.collective.kind;
  if (s.by == SumBy::nccl || g.ranks < 2 || (kind != OpKind::all_reduce && kind != OpKind::all_reduce_max))
    return std::nullopt;
  RankStep step{.segment = s.collective, .by_symmetric = true};
  for (int t : s.tail.inputs)
    if (t != s.collective.outputs[0]) step.segment.inputs.push_back(t);
  if (!s.tail.kernels.ops.empty()) step.segment.outputs = s.tail.outputs;
  CompileOptions o = options;
  o.fuse = true;
  const plan::Exchanged exchanged{.tensor = g.tensors[s.collective.inputs[0]].name,
                                  .ranks = g.ranks,
                                  .two_shots = s.by == SumBy::two_shots,
                                  .maximum = kind == OpKind::all_reduce_max};
  return unless_refused(
      [&] {
        graph::KernelGraph after = exchanged.two_shots ? after_made_sum(g, s.tail, s.collective.collective)
                                                       : after_sum(g, s.tail, s.collective.collective, g.ranks);
        return compiled(step, std::move(after), exchanged, target, o, cache);
      },
      why);
}

std::optional<RankStep> fused_step(const graph::KernelGraph& g, const Segment& kernels, const Segment& collective,
                                   SumBy by, const target::Target& target, const CompileOptions& options,
                                   const std::optional<toolchain::Cache>& cache, std::string& why) {
  const int operand = collective.inputs[0];
  const auto at = std::ranges::find(kernels.outputs, operand) - kernels.outputs.begin();
  if (by == SumBy::nccl || at == std::ssize(kernels.outputs)) return std::nullopt;
  RankStep step{.segment = kernels, .by_symmetric = true};
  step.segment.outputs[static_cast<std::size_t>(at)] = collective.outputs[0];
  const OpKind kind = collective.collective.kind;
  const plan::Exchanged exchanged{.tensor = g.tensors[operand].name,
                                  .ranks = g.ranks,
                                  .two_shots = by == SumBy::two_shots && kind != OpKind::reduce_scatter,
                                  .at_end = true,
                                  .scatters = kind == OpKind::reduce_scatter,
                                  .maximum = kind == OpKind::all_reduce_max};
  CompileOptions o = options;
  // A block has one tile: on warpgroups or, where their blocks have several, in one role of warps.
  std::optional<RankStep> best;
  std::string first;
  for (const std::vector<plan::BlockAssignment>& blocks :
       {std::vector<plan::BlockAssignment>{plan::Blocks::a_tile}, std::vector<plan::BlockAssignment>{}}) {
    o.plan.blocks = blocks;
    std::optional<RankStep> made =
        unless_refused([&] { return compiled(step, kernels.kernels, exchanged, target, o, cache); }, why);
    if (!made && first.empty()) first = why;
    if (made && (!best || us_of(*made, target) < us_of(*best, target))) best = std::move(made);
  }
  why = best ? "" : first;
  return best;
}

std::optional<RankStep> gather_step(const graph::KernelGraph& g, const Segment& collective, const Segment& tail,
                                    const target::Target& target, const CompileOptions& options,
                                    const std::optional<toolchain::Cache>& cache, std::string& why) {
  if (g.ranks < 2) return std::nullopt;
  RankStep step{.segment = collective, .by_symmetric = true};
  for (int t : tail.inputs)
    if (t != collective.outputs[0]) step.segment.inputs.push_back(t);
  step.segment.outputs = tail.outputs;
  const plan::Exchanged exchanged{.tensor = g.tensors[collective.inputs[0]].name, .ranks = g.ranks, .gathers = true};
  CompileOptions o = options;
  o.plan.blocks = std::vector<plan::BlockAssignment>{};  // one role of warps, whose threads load the rows
  const graph::KernelGraph after = after_gathered(g, tail, collective.collective);
  const auto made_of = [&](graph::KernelGraph form, std::string& reason) {
    return unless_refused([&] { return compiled(step, std::move(form), exchanged, target, o, cache); }, reason);
  };
  std::optional<RankStep> made = made_of(after, why);
  // A tile of rows must not be of two ranks.
  std::string other_why;
  if (!made)
    if (auto by_rank = with_rank_dimension(after, g.ranks)) made = made_of(*std::move(by_rank), other_why);
  if (made) why.clear();
  return made;
}

double gather_gain_us(const graph::KernelGraph& g, const RankStep& gathers, const RankStep& separate,
                      const Segment& collective, const target::Target& target) {
  const target::Links l = links_of(target);
  const std::int64_t bytes = bytes_of_operand(g, collective);
  const double kernel = us_of(gathers, target);
  return us_of(separate, target) + target::nccl_gather_us(l, bytes, g.ranks) - kernel -
         target::at_start_us(l, bytes, g.ranks, kernel);
}

double fused_gain_us(const graph::KernelGraph& g, const RankStep& fused, const RankStep& apart,
                     const Segment& collective, SumBy sum, const target::Target& target) {
  const target::Links l = links_of(target);
  const std::int64_t bytes = bytes_of_operand(g, collective);
  const kernel::SymmetricExchange& m = exchange_in(fused);
  const double after = sum == SumBy::nccl        ? target::nccl_us(l, bytes, g.ranks)
                       : sum == SumBy::two_shots ? target::two_shots_us(l, bytes, g.ranks)
                                                 : target::symmetric_us(l, bytes, g.ranks);
  return us_of(apart, target) + after - us_of(fused, target) -
         target::at_end_us(l, bytes, g.ranks, m.two_shots(), m.scatters);
}

SymmetricPlace symmetric_place(const RankStep& step, const manifest::TensorPlace& place) {
  const tile::TilePrograms& p = step.program->plan.program;
  const kernel::SymmetricExchange& m = exchange_in(step);
  if (place.role == manifest::Role::intermediate) return {};
  const auto position = static_cast<std::size_t>(place.position);
  const int t = p.memory_of((place.role == manifest::Role::input ? p.inputs : p.outputs).at(position));
  const auto rank_in = [t](const std::vector<int>& all) {
    return static_cast<int>(std::ranges::find(all, t) - all.begin());
  };
  for (const auto& [all, kind] : {std::pair(&m.windows, SymmetricPlace::window),
                                  {&m.sums, SymmetricPlace::sums},
                                  {&m.flags, SymmetricPlace::flags}})
    if (const int rank = rank_in(*all); rank < std::ssize(*all)) return {.kind = kind, .rank = rank};
  if (t == m.window) return {.kind = SymmetricPlace::window};
  if (t == m.sum) return {.kind = SymmetricPlace::sums};
  if (t == m.state) return {.kind = SymmetricPlace::state};
  const Segment& s = step.segment;
  if (t == m.published) return {.tensor_of_graph = s.inputs.at(0)};
  if (t == m.result) {
    const auto of = std::ranges::find(p.outputs, m.window, [&](int o) { return p.memory_of(o); }) - p.outputs.begin();
    return {.tensor_of_graph = s.outputs.at(static_cast<std::size_t>(of))};
  }
  if (place.role == manifest::Role::output) return {.tensor_of_graph = s.outputs.at(position)};
  // Operands come in the order of the segment, after what is published; at the start, windows or a sum are before them.
  const std::size_t before = m.at_end() ? 0 : m.two_shots() || m.gathers ? 1 : m.windows.size();
  return {.tensor_of_graph = s.inputs.at(position - before + (m.at_end() ? 0 : 1))};
}

std::int64_t SymmetricBytes::begin(SymmetricPlace::Kind kind) const {
  return kind == SymmetricPlace::window ? 0 : kind == SymmetricPlace::sums ? window : window + sums;
}

SymmetricBytes symmetric_bytes(const RankStep& step) {
  constexpr std::int64_t line = 256;
  SymmetricBytes bytes;
  for (const manifest::TensorPlace& t : step.program->manifest.tensors) {
    const SymmetricPlace::Kind kind = symmetric_place(step, t).kind;
    const std::int64_t whole = (t.bytes + line - 1) / line * line;
    if (kind == SymmetricPlace::window) bytes.window = std::max(bytes.window, whole);
    if (kind == SymmetricPlace::sums) bytes.sums = whole;
    if (kind == SymmetricPlace::flags) bytes.flags = whole;
    if (kind == SymmetricPlace::state) bytes.state = whole;
  }
  return bytes;
}

}  // namespace zellige::ranks
