#include "ir/check.hpp"

#include <algorithm>
#include <zellige/layout/runtime.hpp>

namespace zellige::ir {
namespace {

using kernel::WorkKind;

/// Returns how many operands a node has, at least and at most.
std::pair<std::size_t, std::size_t> operands(const tile::Node& n) {
  using enum tile::NodeKind;
  constexpr std::size_t any = 1000;
  constexpr struct {
    tile::NodeKind kind;
    std::size_t min_inputs, max_inputs;
  } rows[] = {{load, 0, 1},       {matmul, 2, 3}, {rotate, 3, 3},  {store, 1, 2},
              {accumulate, 0, 2}, {map, 1, any},  {concat, 1, any}};
  for (const auto& row : rows)
    if (row.kind == n.kind) return {row.min_inputs, row.max_inputs};
  return {1, 1};
}

bool some_elements(const graph::Shape& shape) {
  return std::ranges::all_of(shape, [](std::int64_t extent) { return extent >= 1; });
}

/// Returns batch, M, N and K of a matmul: as they are selected, and as its operands have them.
graph::Shape size_of(const kernel::MatmulChoice& m) { return {m.batch, m.m, m.n, m.k}; }
graph::Shape size_of(const tile::TileProgram& p, const tile::Node& n) {
  const graph::Shape& b = p.nodes[n.in[1]].shape;
  const std::size_t r = n.shape.size();
  return {graph::size(n.shape) / (n.shape[r - 2] * n.shape[r - 1]), n.shape[r - 2], n.shape[r - 1], b[b.size() - 2]};
}

/// Returns what is wrong with a node; "" if nothing is.
std::string wrong(const kernel::Kernel& k, int i, const tile::TilePrograms& whole) {
  const tile::Node& n = k.program.nodes[i];
  const auto [min_inputs, max_inputs] = operands(n);
  const auto rank = static_cast<int>(n.shape.size());
  if (!some_elements(n.shape)) return "its tile has an extent below 1";
  if (n.in.size() < min_inputs || n.in.size() > max_inputs)
    return fmt::format(
        "{} has {} operands; it takes {}", tile::name(n.kind), n.in.size(),
        min_inputs == max_inputs ? fmt::format("{}", min_inputs) : fmt::format("{} to {}", min_inputs, max_inputs));
  if (tile::accesses(n)) {
    const graph::KernelTensor& tensor = whole.tensors[n.tensor];
    if (n.view.rank() != rank || static_cast<int>(tensor.shape.size()) != rank)
      return fmt::format("its tile has {} dimensions, its view {}, its tensor {}", rank, n.view.rank(),
                         tensor.shape.size());
    if (n.dtype != tensor.dtype)
      return fmt::format("it is {}, its tensor {}", graph::name(n.dtype), graph::name(tensor.dtype));
    if (const kernel::GmemTensor* read = k.in_place(i); read && read->vector < 1)
      return "it is read in_place in vectors of 1 element or more";
    if (!k.copy_of(i) && !k.in_place(i) && k.program.needed()[i])
      return fmt::format("no step copies this {}, and its line does not say that it is read in_place",
                         tile::name(n.kind));
  }
  const bool by_index = n.kind == tile::NodeKind::map && n.op == graph::OpKind::mask;
  if ((by_index || !n.view.empty()) && n.view.rank() != rank)
    return fmt::format("its tile has {} dimensions, its view {}", rank, n.view.rank());
  for (int d = 0; d < n.view.rank(); ++d)
    if (tile::accesses(n) && tile::number_of(n) < 0 && n.view.tile(d) != n.shape[d])
      return fmt::format("its tile has {} elements along dimension {}, its view {}", n.shape[d], d, n.view.tile(d));
  if (n.dim < 0 || (rank > 0 && n.dim >= rank + 1) || n.key < 0 || (rank > 0 && n.key >= rank))
    return fmt::format("it has {} dimensions, numbered from 0", rank);
  if (n.kind == tile::NodeKind::matmul) {
    if (rank < 2) return "a matmul has two dimensions at least";
    for (const int in : n.in)
      if (k.program.nodes[in].shape.size() < 2) return fmt::format("%{} is no matrix", in);
    const kernel::Work* product = k.product_of(i);
    if (!product && k.program.needed()[i]) return "no step does this matmul";
    if (product && product->kind == kernel::WorkKind::mma && size_of(product->matmul) != size_of(k.program, n))
      return fmt::format("its size is {} (batch, M, N, K)", graph::to_string(size_of(k.program, n)));
  }
  const bool lies = tile::accesses(n) || n.kind == tile::NodeKind::round;  // in memory
  if (n.inner < (lies ? 0 : -1) || n.inner >= std::max(1, rank))
    return fmt::format("its inner dimension is {} of {}", n.inner, rank);
  return "";
}

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
  using enum tile::NodeKind;
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
    return "it accesses no tensor that the blocks of a cluster exchange";
  if (!stored || exchange) return "";
  const int of = k.tensors[w.tensor].node;
  const bool same = of == w.node || (of >= 0 && n.kind == tile::NodeKind::store &&
                                     k.program.nodes[of].kind == tile::NodeKind::store);  // one after another
  return same ? ""
              : fmt::format("{} is the tensor of {}, not of %{}", k.tensors[w.tensor].name,
                            of < 0 ? "no value" : fmt::format("%{}", of), w.node);
}

/// Returns what is wrong with a step of a kernel whose values and layouts are right; "" if nothing is.
std::string wrong_step(const kernel::Kernel& k, const kernel::Step& step) {
  for (const std::vector<kernel::Access>* list : {&step.reads, &step.writes})
    for (const kernel::Access& a : *list)
      if (a.tensor < 0) return "it accesses no tensor";
  if (const kernel::Loop* loop = kernel::as<kernel::Loop>(step)) {
    // Of a loop over iterations nothing may be needed; it separates what is before it from what is after it.
    if (loop->body.empty() && loop->kind != kernel::Loop::iterations) return "it has no steps";
    if ((loop->bounded || loop->whole) && !k.loop_bounds && !(loop->bounded && k.program.has_sized_loop()))
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

/// Returns whether a warp role has a loop over output tiles.
bool has_tiles(const kernel::Kernel& k) {
  return kernel::find_step(k, [](const kernel::Step& step) {
    const kernel::Loop* loop = kernel::as<kernel::Loop>(step);
    return loop && loop->kind == kernel::Loop::tiles;
  });
}

/// Returns whether every leaf of a layout has an extent of 1 or more and a stride of 0 or more, along one of `bases` axes;
/// none: along no axis.
bool is_compact(values::View layout, int bases) {
  for (const ValueNode* node = layout.begin(); node != layout.end(); ++node) {
    if (node->kind != ValueKind::layout || node->s.v < 0 || node->d.v < 0) return false;
    if (node->kids >= 0) continue;
    const bool along = bases > 0 && node->e > 0 && node->e <= bases;  // a basis element E<i> is i + 1
    if (node->s.v < 1 || (!along && node->e != 0) || (bases > 0 && node->e == 0 && node->d.v != 0)) return false;
  }
  return true;
}

/// Returns what is wrong with a layout of values over threads; "" if nothing is.
std::string wrong(const kernel::Context& c) {
  constexpr std::int64_t max_elements = 1 << 24;  // elements of a tile
  if (!c.share.is_layout() || !c.tile.is_layout() || c.share.rank() != 3 || c.tile.is_leaf())
    return "a share has three modes, threads, values and passes, and a tile one for each axis of its items";
  if (!is_compact(c.share, c.tile.rank()) || !is_compact(c.tile, c.rank()))
    return fmt::format("strides of the share are along {} axes, those of the tile along {} dimensions", c.tile.rank(),
                       c.rank());
  if (size(c.share) > max_elements || size(c.tile) > max_elements)
    return fmt::format("it has more than {} elements", max_elements);
  return "";
}

/// Returns what is wrong with a tensor in shared memory; "" if nothing is.
std::string wrong(const kernel::SmemTensor& t) {
  const values::View all = t.layout;
  const bool form = !t.swizzled() || (all[0].is(ValueKind::swizzle) && all[1].is_number() && all[1].root().s.v == 0);
  const values::View tile = t.swizzled() ? all[2] : all;
  bool flat = form && !tile.is_leaf() && is_compact(tile, 0);
  for (int d = 0; flat && d < tile.rank(); ++d)
    for (int i = 0; i < tile[d].rank(); ++i) flat = flat && (tile[d].is_leaf() || tile[d][i].is_leaf());
  if (!some_elements(t.shape) || !some_elements(t.padded)) return "it has an extent below 1";
  return flat ? "" : "its layout is a mode for each dimension, or a swizzle of such a layout with offset 0";
}

/// A place in a source that a message names: what it is called, and where its line is.
struct Named {
  std::string name;
  Position at;
};

}  // namespace

void check(const File& f, const std::string& file) {
  const target::Target& target = target::find(f.plan.target);
  for (std::size_t t = 0; t < f.plan.program.tensors.size(); ++t) {
    const graph::KernelTensor& of = f.plan.program.tensors[t];
    if (!some_elements(of.shape)) throw Mistake(file, f.tensors[t], of.name + " has an extent below 1");
    if (of.strides.size() != of.shape.size())
      throw Mistake(file, f.tensors[t],
                    fmt::format("{} has {} dimensions and {} strides", of.name, of.shape.size(), of.strides.size()));
  }
  for (const auto& [t, view] : f.plan.program.views)
    if (view.value < 0)
      throw Mistake(file, f.tensors[t],
                    fmt::format("the view {} says not whose value it has: value", f.plan.program.tensors[t].name));
  for (const auto& [t, view] : f.plan.program.views)
    if (const graph::KernelTensor& of = f.plan.program.tensors[t];
        view.shape.size() != of.shape.size() || view.starts.size() != of.shape.size())
      throw Mistake(file, f.tensors[t], fmt::format("{} has {} dimensions, its view others", of.name, of.shape.size()));
  for (std::size_t i = 0; i < f.plan.kernels.size(); ++i) {
    const kernel::Kernel& k = f.plan.kernels[i];
    const KernelPositions& at = f.positions[i];
    const auto refuse = [&](const Position& here, const std::string& of, const std::string& what) {
      if (!what.empty()) throw Mistake(file, here, fmt::format("{}: {}", of, what));
    };
    const auto require = [&](bool so, const std::string& otherwise) {
      refuse(at.kernel, k.name(), so ? "" : otherwise);
    };
    for (std::size_t j = 0; j < i; ++j)
      require(f.plan.kernels[j].name() != k.name(), "a kernel before it has this name, too");
    require(k.shared_bytes <= target.shared_per_block,
            fmt::format("{} bytes of shared memory; {} has {} a block", k.shared_bytes, target.name,
                        target.shared_per_block));
    require(k.warp_specialized() || k.threads == k.program.threads(),
            fmt::format("{} threads in a block of {}", k.threads, k.program.threads()));
    require((k.blocks > 0) == has_tiles(k), "blocks that take several tiles have a loop over tiles, others have none");
    for (std::size_t n = 0; n < k.program.nodes.size(); ++n)
      refuse(at.nodes[n], fmt::format("%{}", n), wrong(k, static_cast<int>(n), f.plan.program));
    for (std::size_t c = 0; c < k.rmem.size(); ++c)
      refuse(at.layouts[c], fmt::format("t{}", c), wrong(k.rmem[c].layout));
    for (std::size_t t = 0; t < k.tensors.size(); ++t) refuse(at.tensors[t], k.tensors[t].name, wrong(k.tensors[t]));
    for (std::size_t c = 0; c < k.rmem.size(); ++c)
      for (const int n : k.rmem[c].nodes)
        if (k.rmem[c].layout.domain != k.program.nodes[n].shape)
          throw Mistake(file, at.layouts[c], fmt::format("%{}, which t{} holds, is of another shape", n, c));
    for (std::size_t a = 0; a < k.agents.size(); ++a)
      kernel::walk(k.agents[a].steps, [&](const kernel::Step& step, const kernel::StepPosition& p) {
        refuse(at.agents[a][p.index], kernel::describe(step, p.index), wrong_step(k, step));
      });
  }
}

void check_complete(const File& f, const std::string& file) {
  for (std::size_t i = 0; i < f.plan.kernels.size(); ++i) {
    const kernel::Kernel& k = f.plan.kernels[i];
    const KernelPositions& at = f.positions[i];
    if (k.registers < 1) throw Mistake(file, at.kernel, fmt::format("{}: a thread needs 1 register or more", k.name()));
    for (const kernel::Channel& c : k.channels)
      if (c.offset < 0 && kernel::barrier_bytes(c) > 0)
        throw Mistake(file, at.kernel,
                      fmt::format("{}: channel {} says not where its mbarriers lie: at", k.name(), c.name));
    for (std::size_t a = 0; a < k.agents.size(); ++a)
      kernel::walk(k.agents[a].steps, [&](const kernel::Step& step, const kernel::StepPosition& p) {
        if (step.work.node < 0 && !kernel::as<kernel::Loop>(step) && !std::get_if<kernel::Sync>(&step.is))
          throw Mistake(file, at.agents[a][p.index],
                        fmt::format("{} does nothing with a value: do", kernel::describe(step, p.index)));
      });
  }
}

Position position(const kernel::Kernel& k, const KernelPositions& at, std::string_view message) {
  std::vector<Named> steps, others;
  for (std::size_t a = 0; a < k.agents.size(); ++a) {
    const bool named = message.find(k.agents[a].name) != message.npos;
    kernel::walk(k.agents[a].steps, [&](const kernel::Step& step, const kernel::StepPosition& p) {
      const Position here = at.agents[a][p.index];
      if (named) steps.push_back({kernel::describe(step, p.index), here});
      if (step.work.node >= 0)
        others.push_back({fmt::format("'{} %{}'", kernel::name(step.work.kind), step.work.node), here});
    });
  }
  for (std::size_t s = 0; s < k.setup.size(); ++s)
    steps.push_back({kernel::describe(k.setup[s], static_cast<int>(s)), at.setup[s]});
  for (std::size_t n = 0; n < at.nodes.size(); ++n) {
    const tile::Node& node = k.program.nodes[n];
    others.push_back({fmt::format("%{}", n), at.nodes[n]});
    if (tile::accesses(node)) others.push_back({fmt::format("{} {}", tile::name(node.kind), node.name), at.nodes[n]});
  }
  for (std::size_t t = 0; t < at.tensors.size(); ++t) others.push_back({k.tensors[t].name, at.tensors[t]});
  for (std::size_t t = 0; t < at.layouts.size(); ++t) others.push_back({fmt::format("layout t{}", t), at.layouts[t]});
  for (const std::vector<Named>& all : {steps, others}) {
    std::size_t first = message.npos;
    const Named* found = nullptr;
    for (const Named& one : all) {
      const std::size_t where = message.find(one.name, std::min(k.name().size(), message.size()));
      if (where < first || (found && where == first && where != message.npos && one.name.size() > found->name.size()))
        first = where, found = &one;
    }
    if (found) return found->at;
  }
  return at.kernel;
}

}  // namespace zellige::ir
