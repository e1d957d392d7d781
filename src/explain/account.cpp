#include "explain/account.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "explain/bound.hpp"
#include "explain/waits.hpp"
#include "graph/infer.hpp"
#include "ir/ids.hpp"
#include "ir/ir.hpp"
#include "ir/sections.hpp"
#include "kernel/launches.hpp"
#include "predict/predict.hpp"
#include "retile/tiling.hpp"
#include "strings/expression_reader.hpp"
#include "tiling/choose_tilings.hpp"
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

/// Adds to the lines of the plan why they wait. The steps of an agent follow its line, in the order of kernel::walk().
void add_reasons(const kernel::Kernel& k, std::vector<PlanLine>& plan) {
  int agent = -1;
  std::vector<std::string> why;
  std::size_t next = 0;
  for (PlanLine& line : plan) {
    const std::string_view text = line.text;
    if (text.starts_with("  agent ")) {
      why = reasons(k, ++agent), next = 0;
    } else if (text.starts_with("  teardown")) {
      why.clear();
    } else if (agent >= 0 && text.starts_with("    ") && next < why.size()) {
      line.reason = why[next++];
    }
  }
}

KernelAccount of_kernel(const kernel::Kernel& k, const std::vector<std::string>& lines) {
  KernelAccount a{.name = k.name(), .notes = k.notes, .registers = registers(k), .timeline = timeline(k)};
  const std::vector<std::string> ids = ir::identifiers(ir::names_of(k.tensors), 's');
  for (const std::string& line : lines) a.plan.push_back({.text = line});
  add_reasons(k, a.plan);
  for (std::size_t t = 0; t < k.tensors.size(); ++t) {
    const kernel::SmemTensor& x = k.tensors[t];
    SharedAccount s{.id = ids[t],
                    .name = x.name,
                    .dtype = std::string(graph::name(x.dtype)),
                    .shape = graph::to_string(x.shape),
                    .layout = to_text(x.layout),
                    .reason = x.swizzle_reason,
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

std::vector<Alternative> alternatives_of(const emit::EmittedProgram& own, const target::Target& target, int count) {
  std::vector<Alternative> all;
  const std::string taken = retile::to_json(own.manifest.tiling);
  plan::PlanOptions options;
  options.registers_proved = false;
  for (const tiling::Tiled& t : tiling::ranked(own.graph, target, options, count).tiled) {
    const std::string text = retile::to_json(retile::tiling_of(t.graph));
    if (text != taken) all.push_back({text, lost_on(own.cost, t.cost), t.cost.us});
  }
  return all;
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
  if (alternatives > 0) a.alternatives = alternatives_of(program, target, alternatives);
  return a;
}

}  // namespace zellige::explain
