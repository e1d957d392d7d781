// Checks that each step says what its kind of work needs: a value of the right kind, and where that comes from and goes.
#include <algorithm>

#include "ir/check.hpp"

namespace zellige::ir {
namespace {

using enum tile::NodeKind;
using kernel::WorkKind;

/// Whether a work names a tensor in shared memory.
enum class SharedOperand : std::uint8_t { none, either, needed };
/// Which layouts hold the value of a work: none need to, that of the work, that of the work where it names no tensor, or some
/// layout where it names none.
enum class InRegisters : std::uint8_t { no, here, here_or_stored, somewhere_or_stored };

/// What a kind of work needs.
struct Need {
  WorkKind kind;
  std::vector<tile::NodeKind> of;  // the value's kinds; empty: any
  const char* otherwise;           // what the value is not
  SharedOperand buffer = SharedOperand::none;
  InRegisters in_registers = InRegisters::no;
};

const std::vector<Need>& needs() {
  static const std::vector<Need> all{
      {WorkKind::copy_in, {load}, "load", SharedOperand::needed},
      {WorkKind::fetch, {load}, "load", SharedOperand::none, InRegisters::here},
      {WorkKind::mma, {matmul}, "matmul"},
      {WorkKind::to_shared, {}, "", SharedOperand::needed},
      {WorkKind::to_operand, {tile::NodeKind::round}, "rounded value", SharedOperand::none, InRegisters::here},
      {WorkKind::to_global, {store}, "store", SharedOperand::either},
      {WorkKind::accumulate,
       {tile::NodeKind::accumulate, running_max},
       "state of the loop",
       SharedOperand::either,
       InRegisters::here_or_stored},
      {WorkKind::to_lines, {map}, "map", SharedOperand::none, InRegisters::here},
      {WorkKind::to_registers, {map, load}, "map or load", SharedOperand::none, InRegisters::here},
      {WorkKind::rescale, {matmul}, "matmul"},
      {WorkKind::reduce, {tile::NodeKind::reduce, matmul}, "sum"},
      {WorkKind::finish,
       {tile::NodeKind::reduce, matmul},
       "sum",
       SharedOperand::either,
       InRegisters::somewhere_or_stored},
      {WorkKind::to_cluster, {matmul}, "matmul", SharedOperand::needed},
      {WorkKind::from_cluster, {matmul}, "matmul"},
  };
  return all;
}

/// Returns what is wrong with the width of a copy; "" if nothing is.
std::string wrong(const kernel::CopyChoice& c, graph::DType dtype) {
  const std::int64_t bytes = graph::bytes_of(std::max(1, c.vector), dtype);
  if (bytes != c.bytes)
    return fmt::format("{} elements of {} are {} bytes, not {}", c.vector, graph::name(dtype), bytes, c.bytes);
  if (c.async() && c.row->a.bits != 8 * c.bytes)
    return fmt::format("{} copies {} bytes, not {}", c.row->name, c.row->a.bits / 8, c.bytes);
  return "";
}

/// Returns what is wrong with where a work's value is; "" if nothing is.
std::string wrong(const kernel::Kernel& k, const kernel::Step& step, const kernel::Work& w) {
  const Need& need = *std::ranges::find(needs(), w.kind, &Need::kind);
  const tile::Node& n = k.program.nodes[w.node];
  if (!need.of.empty() && std::ranges::count(need.of, n.kind) == 0)
    return fmt::format("%{} is no {}", w.node, need.otherwise);
  if (w.tensor < 0 && need.buffer == SharedOperand::needed) return "it says not into which tensor";
  if (w.tensor >= 0 && need.buffer == SharedOperand::none)
    return fmt::format("{} names {}, and takes no tensor", kernel::name(w.kind), k.tensors[w.tensor].name);
  const bool stored = w.tensor >= 0, here = k.rmem[w.context].holds(w.node);
  if ((need.in_registers == InRegisters::here || (need.in_registers == InRegisters::here_or_stored && !stored)) &&
      !here)
    return fmt::format("it leaves %{} in registers, and t{} does not hold it", w.node, w.context);
  if (need.in_registers == InRegisters::somewhere_or_stored && !stored && k.rmem_of(w.node) < 0)
    return fmt::format("it leaves %{} in registers, and no layout holds it", w.node);
  const bool exchange = w.kind == WorkKind::to_cluster || w.kind == WorkKind::from_cluster;
  const std::vector<kernel::Access>& sent = w.kind == WorkKind::to_cluster ? step.writes : step.reads;
  if (exchange &&
      (sent.size() != 1 || kernel::exchange_of(k, sent[0].tensor) < 0 || (stored && sent[0].tensor != w.tensor)))
    return "it accesses no tensor that the ranks exchange";
  if (!stored || exchange) return "";
  const int of = k.tensors[w.tensor].node;
  const bool same =
      of == w.node || (of >= 0 && n.kind == store && k.program.nodes[of].kind == store);  // one after another
  return same ? ""
              : fmt::format("{} is the tensor of {}, not of %{}", k.tensors[w.tensor].name,
                            of < 0 ? "no value" : fmt::format("%{}", of), w.node);
}

}  // namespace

std::string wrong_step(const kernel::Kernel& k, const kernel::Step& step) {
  for (const std::vector<kernel::Access>* list : {&step.reads, &step.writes})
    for (const kernel::Access& a : *list)
      if (a.tensor < 0) return "it accesses no tensor";
  if (const kernel::Loop* loop = kernel::as<kernel::Loop>(step)) {
    // Of a loop over iterations nothing may be needed; it separates what is before it from what is after it.
    if (loop->body.empty() && loop->kind != kernel::Loop::iterations) return "it has no steps";
    if ((loop->bounded || loop->whole) && !k.loop_bounds)
      return "it runs as many iterations as a mask leaves, and no line bounds says how many these are";
  }
  const kernel::Work& w = step.work;
  if (w.node < 0) return "";
  if (w.context < 0) return "it says not over which layout";
  const tile::Node& n = k.program.nodes[w.node];
  if (k.layout_of(w).domain.size() < n.shape.size())
    return fmt::format("t{} has {} dimensions, %{} {}", w.context, k.layout_of(w).rank(), w.node, n.shape.size());
  const bool copies = kernel::is_global_load(w.kind) || w.kind == kernel::WorkKind::to_global;
  if (copies && step.global == kernel::Global::nothing) return "it accesses global memory and says not which: global";
  if (copies)
    if (std::string what = wrong(w.copy, n.dtype); !what.empty()) return what;
  return wrong(k, step, w);
}

}  // namespace zellige::ir
