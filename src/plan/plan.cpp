#include "plan/plan.hpp"

#include <zellige/layout/text.hpp>

#include "kernel/index_width.hpp"
#include "kernel/launches.hpp"
#include "lower/lower.hpp"
#include "plan/dependence.hpp"
#include "plan/prove.hpp"
#include "plan/registers.hpp"
#include "predict/predict.hpp"
#include "select/layouts.hpp"
#include "select/select.hpp"
#include "tile/hoist.hpp"
#include "tile/precompute_a.hpp"
#include "tile/share.hpp"
#include "tile/simplify.hpp"
#include "verify/verify_memory.hpp"

namespace zellige::plan {
namespace {

/// Returns the line of --explain for a step: its work, and the work's thread-value layout. Returns print(kernel, step) if
/// the step does no work, only starts it, or goes through a channel of a warp-specialized kernel.
std::string explain(const Kernel& plan, const Step& step, bool in_loop) {
  const Work& work = step.work;
  if (work.node < 0 || as<Start>(step)) return print(plan, step, in_loop);
  if (channel_of(step) >= 0 && plan.warp_specialized()) return print(plan, step, in_loop);
  const int lag = guard_lag_of(step);
  return fmt::format("{} %{} in {}{}", name(work.kind), work.node, print(plan.contexts[work.context]),
                     lag > 0 ? fmt::format(", {} iterations in advance", lag) : "");
}

}  // namespace

Plan make_plan(const graph::KernelGraph& graph, const target::Target& target, const PlanOptions& options) {
  Plan plan;
  std::vector<Selection> selected;
  plan.target = std::string(target.name);
  plan.program = lower(graph, target, options.tiling);
  verify_memory(plan.program);
  for (TileProgram& kernel : plan.program.kernels) {
    check_limits(kernel, target);
    simplify(kernel);
    hoist(kernel);
    precompute_a(kernel, target);
    share(kernel);
    selected.push_back(select(kernel, target));
  }
  resolve_layouts(plan.program, selected, target);
  for (Selection& each : selected) {
    plan.kernels.push_back(choose(std::move(each), plan.program, target, options.blocks));
    Kernel& kernel = plan.kernels.back();
    let_next_start(kernel, plan.program, target);
    bound_registers(kernel, target);
    prove(kernel, plan.program, target, options.registers_proved);
  }
  verify_launches(plan.kernels, plan.program);
  plan.device = place_tensors(plan.program);
  return plan;
}

std::string print(const Kernel& plan, const Program& program) {
  std::string out = print(plan.program, program);
  for (int node = 0; node < static_cast<int>(plan.program.nodes.size()); ++node) {
    const Work* work = plan.product_of(node);
    if (!work) continue;
    const MatmulChoice& m = work->matmul;
    out += fmt::format("  matmul %{}: ", node);
    if (!m.row) {
      out += "ordinary float32 products, by scalar multiply-adds\n";
      continue;
    }
    out += fmt::format("{}, warps {}x{}x{} over batch, M, N and {} over K{}\n",
                       m.by_warpgroup() ? fmt::format("wgmma m{}n{}k{}", m.row->m, m.row->n, m.row->k)
                       : m.by_threads() ? fmt::format("float32 products, {}", m.row->name)
                                        : "mma.sync",
                       m.warps.b, m.warps.m, m.warps.n, m.warps.k,
                       m.a_from >= 0 ? fmt::format(", A from the accumulators of %{}", m.a_from) : "");
  }
  for (const SmemTensor& b : plan.tensors) {
    out += fmt::format("  shared {}: {}{} at {}, {} bytes, {}", b.name, graph::name(b.dtype),
                       to_string(b.padded), b.offset, b.bytes(), to_text(b.layout));
    if (b.partials > 1) out += fmt::format(", {} partial results", b.partials);
    if (b.stages > 1) out += fmt::format(", {} stages", b.stages);
    out += "\n";
  }
  for (const Context& c : plan.contexts) out += fmt::format("  {}: {}\n", print(c), layouts(c));
  for (const auto& [load, read] : plan.read_in_place)
    out += fmt::format("  %{} {}: read from global memory where it is used\n", load,
                       plan.program.nodes[load].name);
  for (int t : wide_tensors(plan, program))
    out += fmt::format("  {}: offsets in 64 bits\n", program.tensors[t].name);
  const bool several = plan.warp_specialized();
  for (const Channel& c : plan.channels)
    if (several) out += "  " + print(plan, c) + "\n";
  for (const Agent& agent : plan.agents) {
    if (several) out += "  " + heading(agent) + "\n";
    out += print(agent, [&](const Step& step, bool in_loop) { return explain(plan, step, in_loop); });
  }
  for (const std::string& note : plan.notes) out += "  note: " + note + "\n";
  out += fmt::format("  {} bytes of shared memory\n", plan.shared_bytes);
  out += fmt::format("  a launch executes: {}\n", print(predict(plan)));
  return out;
}

std::string print(const Plan& plan) {
  std::string out;
  for (const Kernel& kernel : plan.kernels) out += print(kernel, plan.program);
  for (const std::string& note : plan.program.notes) out += fmt::format("note: {}\n", note);
  out += fmt::format("workspace {} bytes\n", plan.device.total);
  return out;
}

}  // namespace zellige::plan
