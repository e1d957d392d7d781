#include "explain/account.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "explain/alternatives.hpp"
#include "explain/bound.hpp"
#include "explain/conflicts.hpp"
#include "explain/sections.hpp"
#include "explain/waits.hpp"
#include "graph/infer.hpp"
#include "ir/ids.hpp"
#include "ir/ir.hpp"
#include "ir/sections.hpp"
#include "kernel/launches.hpp"
#include "kernel/step.hpp"
#include "predict/predict.hpp"
#include "retile/tiling.hpp"
#include "strings/expression_reader.hpp"
#include "zellige/emulate/counter_names.hpp"

namespace zellige::explain {
namespace {

std::string text_of(const graph::Dim3& d) { return fmt::format("{} x {} x {}", d.x, d.y, d.z); }

/// Returns the operations of a block's matmuls, times the number of blocks.
double flops_of(const graph::BlockGraph& b) {
  double all = 0;
  for (const graph::BlockOp& op : b.ops) {
    if (op.kind != graph::OpKind::matmul) continue;
    const graph::BlockTensor& out = b.tensors[op.outputs[0]];
    const double trip_count = out.after_loop ? 1.0 : static_cast<double>(b.loop);
    all += 2.0 * static_cast<double>(graph::size(out.shape)) *
           static_cast<double>(b.tensors[op.inputs[0]].shape.back()) * trip_count;
  }
  return all * static_cast<double>(b.grid.count());
}

double flops_of(const graph::KernelGraph& g, const graph::KernelOp& op) {
  if (op.block) return flops_of(*op.block);
  if (op.kind != graph::OpKind::matmul) return 0;
  return 2.0 * static_cast<double>(graph::size(g.tensors[op.outputs[0]].shape)) *
         static_cast<double>(g.tensors[op.inputs[0]].shape.back());
}

GraphAccount of_graph(const graph::KernelGraph& g) {
  GraphAccount a;
  for (std::size_t t = 0; t < g.tensors.size(); ++t) {
    const graph::KernelTensor& x = g.tensors[t];
    const auto among = [&](const std::vector<int>& list) { return std::ranges::count(list, static_cast<int>(t)) > 0; };
    a.tensors.push_back({.name = x.name,
                         .dtype = std::string(graph::name(x.dtype)),
                         .shape = graph::to_string(x.shape),
                         .role = x.constant         ? "constant"
                                 : among(g.inputs)  ? "input"
                                 : among(g.outputs) ? "output"
                                                    : "intermediate",
                         .bytes = graph::bytes_of(graph::size(x.shape), x.dtype)});
  }
  for (const graph::KernelOp& op : g.ops)
    a.operators.push_back({std::string(graph::name(op.kind)), op.inputs, op.outputs, flops_of(g, op)});
  return a;
}

/// Returns, by row of a tile in shared memory and by 16 bytes of the row, the first of the four banks where they lie: at most 16
/// rows of 256 bytes.
std::vector<int> bank_rows(const kernel::SmemTensor& t) {
  const int rank = t.rank(), chunk = t.chunk();
  int across = -1;  // the dimension of the rows
  for (int d = rank - 1; d >= 0 && across < 0; --d)
    if (d != t.inner && t.padded[d] > 1) across = d;
  const std::int64_t columns = std::min<std::int64_t>(16, (t.padded[t.inner] + chunk - 1) / chunk);
  const std::int64_t rows = across < 0 ? 1 : std::min<std::int64_t>(16, t.padded[across]);
  std::vector<int> all{static_cast<int>(columns)};
  graph::Shape at(rank, 0);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      if (across >= 0) at[across] = r;
      at[t.inner] = c * chunk;
      all.push_back(static_cast<int>(t.address(at) / kernel::chunk_bytes % 8 * 4));
    }
  return all;
}

/// Returns the lines that begin a kernel's section of the program's IR, and the line after each section.
struct KernelSection {
  std::size_t begin = 0, end = 0;
};
std::vector<KernelSection> kernel_sections(const std::vector<std::string>& lines) {
  std::vector<KernelSection> all;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].starts_with("kernel ")) {
      if (!all.empty()) all.back().end = i;
      all.push_back({i, lines.size()});
    }
  return all;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Returns whether a line of a plan names an identifier.
bool names(std::string_view line, std::string_view id) {
  const auto part = strings::continues_name;
  for (std::size_t at = line.find(id); at != std::string_view::npos; at = line.find(id, at + 1))
    if ((at == 0 || !part(line[at - 1])) && (at + id.size() == line.size() || !part(line[at + id.size()]))) return true;
  return false;
}

/// Returns where a step is, of which `loops` are around; `passed`: the loop over iterations is before it.
std::string where(const std::vector<const kernel::Loop*>& loops, bool passed) {
  std::string place = passed ? "after the loop" : "before the loop", of;
  for (const kernel::Loop* loop : loops) {
    if (loop->kind == kernel::Loop::prologue) place = "in the prologue";
    if (loop->kind == kernel::Loop::iterations) place = "in each iteration";
    if (loop->kind == kernel::Loop::slices) of += ", of each slice";
    if (loop->kind == kernel::Loop::tiles) of += ", of each tile";
  }
  return place + of;
}

/// Adds to the lines of the plan why they wait, and lists the waits. The steps of an agent follow its line, in the order of
/// kernel::walk().
void add_reasons(const kernel::Kernel& k, KernelAccount& a) {
  std::size_t line = 0;
  for (std::size_t agent = 0; agent < k.agents.size(); ++agent) {
    while (line < a.plan.size() && !a.plan[line].text.starts_with("  agent ")) ++line;
    const std::vector<std::string> why = reasons(k, static_cast<int>(agent));
    bool passed = false;
    std::vector<const kernel::Loop*> loops;
    kernel::walk(k.agents[agent].steps, [&](const kernel::Step& step, const kernel::StepPosition& at) {
      if (++line >= a.plan.size()) return;
      loops.resize(static_cast<std::size_t>(at.depth));
      if (const std::string& reason = why[static_cast<std::size_t>(at.index)]; !reason.empty()) {
        const std::string& text = a.plan[line].text;
        a.plan[line].reason = reason;
        a.waits.push_back({static_cast<int>(line) + 1, k.agents[agent].name, where(loops, passed),
                           text.substr(text.find_first_not_of(' ')), reason});
      }
      if (const auto* loop = kernel::as<kernel::Loop>(step)) {
        loops.push_back(loop);
        passed = passed || loop->kind == kernel::Loop::iterations;
      }
    });
  }
}

KernelAccount of_kernel(const kernel::Kernel& k, const std::vector<std::string>& lines) {
  KernelAccount a{.name = k.name(),
                  .computes = in_words(k.program),
                  .notes = k.notes,
                  .registers = registers(k),
                  .timeline = timeline(k)};
  const std::vector<std::string> ids = ir::identifiers(ir::names_of(k.tensors), 's');
  for (const std::string& line : lines) a.plan.push_back({.text = line});
  add_reasons(k, a);
  for (std::size_t t = 0; t < k.tensors.size(); ++t) {
    const kernel::SmemTensor& x = k.tensors[t];
    LayoutReason layout = layout_reason(k, static_cast<int>(t));
    SharedAccount s{.id = ids[t],
                    .name = x.name,
                    .dtype = std::string(graph::name(x.dtype)),
                    .shape = graph::to_string(x.shape),
                    .layout = to_text(x.layout),
                    .reason = x.swizzle_reason,
                    .why = std::move(layout.text),
                    .wavefronts = layout.wavefronts,
                    .dense = layout.dense,
                    .stages = x.stages,
                    .offset = x.offset,
                    .bytes = x.bytes(),
                    .bank_rows = bank_rows(x)};
    bool steps = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      steps = steps || lines[i].starts_with("  setup");
      if (!steps || !names(lines[i], s.id)) continue;
      if (s.first == 0) s.first = static_cast<int>(i) + 1;
      s.last = static_cast<int>(i) + 1;
    }
    a.shared.push_back(std::move(s));
  }
  for (const auto& [counter, n] : predict::predict(k))
    if (n > 0) a.counters.emplace_back(std::string(emulate::name(counter)), n);
  return a;
}

/// Adds to the launches of a fused program which operators they compute, and the time of their bytes and matmuls at the peaks.
void add_operators(const fuse::Optimized& fused, std::vector<LaunchAccount>& launches) {
  std::size_t launch = 0;
  for (const fuse::FusedKernel& k : fused.kernels)
    for (int part = 0; part < k.parts && launch < launches.size(); ++part, ++launch) {
      launches[launch].operators = k.operators;
      launches[launch].limit_us = part == 0 ? k.floor_us : 0;
    }
}

/// Adds what the graph would cost with a kernel per operator; nothing if there is no plan of that.
void add_separate(const graph::KernelGraph& given, const target::Target& target, Account& a) {
  const std::optional<Error> refusal = refused([&] {
    const run::Compiled separate = run::compile(given, target, {.plan = run::tiling_options("", target)});
    a.separate_us = separate.program.cost.us, a.separate_launches = separate.program.cost.kernels.size();
  });
  if (refusal) a.separate_us = 0, a.separate_launches = 0;
}

}  // namespace

Account account(const graph::KernelGraph& given, const run::Compiled& compiled, const target::Target& target,
                int alternatives) {
  const emit::EmittedProgram& program = compiled.program;
  Account a{.graph = given.name,
            .target = std::string(target.name),
            .measured_costs = target.costs.measured,
            .given = of_graph(given),
            .fused = of_graph(program.graph),
            .notes = compiled.fused.notes,
            .rules = compiled.fused.rules,
            .us = program.cost.us,
            .warm_us = program.cost.warm_us,
            .own_tiling = retile::to_json(program.manifest.tiling),
            .source = program.source};
  const std::vector<kernel::Kernel>& kernels = program.plan.kernels;
  const std::vector<std::string> lines = lines_of(ir::print(program));
  const std::vector<KernelSection> sections = kernel_sections(lines);
  const std::vector<kernel::LaunchGroup> groups = kernel::launches(kernels);
  for (std::size_t l = 0; l < groups.size(); ++l) {
    const kernel::Kernel& first = kernels[groups[l].first];
    const cost::KernelCost& cost = program.cost.kernels[l];
    LaunchAccount launch = of_launch(cost, target);
    launch.grid = text_of(first.program.grid), launch.block = text_of(first.program.block);
    launch.shared_bytes = first.shared_bytes, launch.cluster = first.cluster;
    launch.registers = static_cast<int>(first.registers);
    for (std::size_t k = groups[l].first; k < groups[l].last; ++k) {
      const KernelSection s = k < sections.size() ? sections[k] : KernelSection{};
      launch.kernels.push_back(of_kernel(kernels[k], {lines.begin() + static_cast<std::ptrdiff_t>(s.begin),
                                                      lines.begin() + static_cast<std::ptrdiff_t>(s.end)}));
    }
    a.launches.push_back(std::move(launch));
  }
  add_operators(compiled.fused, a.launches);
  for (LaunchAccount& launch : a.launches) a.limit_us += launch.limit_us;
  if (alternatives > 0) {
    a.alternatives = alternatives_of(program, target, alternatives);
    if (!compiled.fused.kernels.empty()) add_separate(given, target, a);
  }
  return a;
}

}  // namespace zellige::explain
