#include <zellige/layout/text.hpp>

#include "kernel/context.hpp"
#include "passes.hpp"
#include "select/select.hpp"
#include "steps_of.hpp"

namespace zellige::plan {
namespace {

std::string value_name(const TileProgram& p, int node) {
  return p.nodes[node].name.empty() ? fmt::format("%{}", node)
                                    : fmt::format("%{} {}", node, p.nodes[node].name);
}

std::string list(const std::vector<int>& indices) {
  std::string text;
  for (int i : indices) text += fmt::format("{}{}", text.empty() ? "" : " ", i);
  return text;
}

std::string print_split(const Cut& s, std::int64_t loop) {
  std::string index;
  if (s.axis >= 0) {
    index = std::string("block.") + "xyz"[s.axis];
    if (s.div > 1) index += fmt::format(" / {}", s.div);
    if (s.mod > 0) index += fmt::format(" % {}", s.mod);
  }
  if (s.loop) index = index.empty() ? "i" : fmt::format("({}) * {} + i", index, loop);
  std::string text = fmt::format("{} of {}", s.tile, s.extent);
  if (!index.empty()) text += " at " + index;
  if (s.offset) text += fmt::format(" from {}", s.offset);
  return text + (s.overhang ? ", overhanging" : "");
}

std::string print_lower(const Kernel& k, const Program& program) {
  std::string out = print(k.program, program);
  for (std::size_t i = 0; i < k.program.nodes.size(); ++i) {
    const Node& n = k.program.nodes[i];
    if (n.tensor < 0) continue;
    out += fmt::format("  %{} {} {}:", i, n.kind == NodeKind::store ? "to" : "from",
                       program.tensors[n.tensor].name);
    for (std::size_t d = 0; d < n.view.cuts.size(); ++d)
      out += fmt::format("{} {}", d ? ";" : "", print_split(n.view.cuts[d], k.program.loop));
    out += "\n";
  }
  return out;
}

std::string print_select(const Kernel& k) {
  std::string out;
  for (int node = 0; node < static_cast<int>(k.program.nodes.size()); ++node) {
    const Work* work = k.product_of(node);
    if (!work) continue;
    const Node& n = k.program.nodes[node];
    const MatmulChoice& m = work->matmul;
    const std::int64_t rows = n.shape[n.shape.size() - 2], columns = n.shape.back();
    out += fmt::format("  {}: {} x {} x {} x {}, ", value_name(k.program, node),
                       graph::size(n.shape) / (rows * columns), rows, columns,
                       m.row ? m.k : k.contexts[work->context].domain.back());
    if (!m.row) {
      out += "ordinary products\n";
      continue;
    }
    out += fmt::format(
        "{}, warps {} x {} x {} x {}, {} accumulators a thread{}\n",
        m.by_warpgroup() ? fmt::format("wgmma m{}n{}k{}", m.row->m, m.row->n, m.row->k) : "mma.sync",
        m.warps.b, m.warps.m, m.warps.n, m.warps.k, accumulator_registers(m, m.warps),
        m.a_from >= 0 ? fmt::format(", A from the registers of %{}", m.a_from) : "");
  }
  return out;
}

std::string print_layouts(const Kernel& k) {
  std::string out;
  for (int node = 0; node < static_cast<int>(k.program.nodes.size()); ++node)
    if (const Node& n = k.program.nodes[node]; n.inner >= 0)
      out += fmt::format("  {} {} {}: stride 1 along {}\n", name(n.kind), value_name(k.program, node),
                         to_string(n.shape), n.inner);
  return out;
}

std::string print_group(const Kernel& k) {
  std::string out;
  for (std::size_t i = 0; i < k.contexts.size(); ++i)
    out += fmt::format("  context {}: {}: {}\n", i, print(k.contexts[i]), layouts(k.contexts[i]));
  for (std::size_t i = 0; i < k.tensors.size(); ++i) {
    const SmemTensor& b = k.tensors[i];
    out += fmt::format("  buffer {} {}: {}{}", i, b.name, graph::name(b.dtype), to_string(b.shape));
    if (b.padded != b.shape) out += " padded to " + to_string(b.padded);
    if (b.partials > 1) out += fmt::format(", {} partial results", b.partials);
    out += b.matmul_operand ? ", a matmul's operand\n" : "\n";
  }
  for (const Step* step : steps_of(k)) {
    const Work& t = step->work;
    out += fmt::format("  {}, {} {} in context {}", name(t.section), name(t.kind),
                       value_name(k.program, t.node), t.context);
    std::vector<int> other, same;  // buffers, of which a thread reads what others, or itself, wrote
    for (const Access& a : step->reads) (a.same_thread ? same : other).push_back(a.tensor);
    if (!other.empty()) out += fmt::format(", reads buffers {}", list(other));
    if (!same.empty()) out += fmt::format(", reads its own of buffers {}", list(same));
    if (t.buffer >= 0 && t.kind != WorkKind::to_global) out += fmt::format(", writes buffer {}", t.buffer);
    out += "\n";
  }
  for (const auto& [node, context] : k.context_of)
    out += fmt::format("  {} stays in registers of context {}\n", value_name(k.program, node), context);
  return out;
}

std::string print_copies(const Kernel& k) {
  std::string out;
  for (int node = 0; node < static_cast<int>(k.program.nodes.size()); ++node) {
    const Node& n = k.program.nodes[node];
    const CopyChoice* copy = k.copy_of(node);
    if (!copy && k.in_place(node) == 0) continue;
    const int vector = k.vector_of(node);
    out += fmt::format("  {} {}: {} elements, {} bytes{}\n", n.kind == NodeKind::load ? "load" : "store",
                       value_name(k.program, node), vector, vector * graph::whole_bytes(n.dtype),
                       !copy                   ? ", read where it is used"
                       : copy->async()         ? ", cp.async"
                       : copy->by_tensor_map() ? fmt::format(", {}", copy->row->name)
                                               : "");
  }
  return out;
}

std::string print_swizzle(const Kernel& k) {
  std::string out;
  for (const SmemTensor& b : k.tensors) {
    out += fmt::format("  {}: {} {}", b.name, graph::name(b.dtype), to_text(b.layout));
    if (b.partials > 1) out += fmt::format(", {} parts of {} bytes", b.partials, b.part_step);
    out += fmt::format(", {} bytes\n    {}\n", b.stage_bytes(),
                       b.swizzle_reason.empty() ? "nothing to choose" : b.swizzle_reason);
  }
  return out;
}

std::string print_memory(const Kernel& k) {
  std::string out = fmt::format("  {} bytes of shared memory\n", k.shared_bytes);
  for (const SmemTensor& b : k.tensors)
    out += fmt::format("  [{}, {}) {}{}\n", b.offset, b.offset + b.bytes(), b.name,
                       b.stages > 1 ? fmt::format(", {} stages", b.stages) : "");
  for (const std::string& note : k.notes) out += "  note: " + note + "\n";
  return out;
}

std::string print_kernel(Pass pass, const Kernel& k, const Program& program) {
  switch (pass) {
    case Pass::lower:
      return print_lower(k, program);
    case Pass::select:
      return print_select(k);
    case Pass::layouts:
      return print_layouts(k);
    case Pass::group:
      return print_group(k);
    case Pass::copies:
      return print_copies(k);
    case Pass::swizzle:
      return print_swizzle(k);
    case Pass::memory:
      return print_memory(k);
    case Pass::agents:
      return print(k);
  }
  return "";
}

}  // namespace

std::string_view name(Pass pass) {
  static constexpr std::string_view names[] = {"lower",  "select",  "layouts", "group",
                                               "copies", "swizzle", "agents",  "memory"};
  return names[static_cast<int>(pass)];
}

std::string print_pass(Pass pass, const Plan& plan) {
  std::string out;
  const Program& p = plan.program;
  if (pass == Pass::layouts)
    for (const auto& t : p.tensors)
      out +=
          fmt::format("{} {}{}:{}\n", t.name, graph::name(t.dtype), to_string(t.shape), to_string(t.strides));
  for (const Kernel& k : plan.kernels)
    out += (pass == Pass::lower ? "" : k.program.name + "\n") + print_kernel(pass, k, p);
  if (pass == Pass::memory)
    for (std::size_t t = 0; t < p.tensors.size(); ++t)
      if (plan.device.offset[t] >= 0)
        out += fmt::format("workspace [{}, {}) {}\n", plan.device.offset[t],
                           plan.device.offset[t] + plan.device.bytes[t], p.tensors[t].name);
  return out;
}

}  // namespace zellige::plan
