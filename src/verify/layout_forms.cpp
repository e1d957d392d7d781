#include "verify/layout_forms.hpp"

#include <algorithm>
#include <optional>

#include "verify/register_proof.hpp"

namespace zellige::verify {
namespace {

/// Returns the thread-value layout whose chunks are dealt to threads with the vector, order and threads of `c`; nullopt if
/// there is none.
std::optional<kernel::Context> as_blocked(const kernel::Context& c) {
  const std::vector<kernel::Mode> tile = kernel::modes(values::View(c.tile)[0]),
                                  threads = kernel::modes(values::View(c.share)[0]);
  if (c.row || c.axes() != 1 || static_cast<int>(tile.size()) != c.rank() + 1 || threads.size() != 1) return {};
  std::vector<int> order, sorted;
  for (std::size_t i = 1; i < tile.size(); ++i) order.push_back(tile[i].basis);
  std::ranges::sort(sorted = order);
  for (int d = 0; d < c.rank(); ++d)
    if (sorted[static_cast<std::size_t>(d)] != d) return {};
  return kernel::blocked_layout(c.domain, order, static_cast<int>(tile[0].extent), static_cast<int>(threads[0].extent));
}

/// Returns the accumulators of the instruction of `c`, under its warps and in its slices; nullopt if there are none.
std::optional<kernel::Context> as_accumulators(const kernel::Context& c) {
  const values::View share = c.share;
  if (!c.row || c.rank() < 2 || share[0].rank() != 2 || share[0].is_leaf() || kernel::modes(share[0][1]).size() != 4)
    return {};
  std::int64_t count = 1;
  for (const kernel::Mode& m : kernel::modes(share[0])) count *= m.extent;
  const int slices = c.repeats();
  if (count % 32 != 0 || count > 4096 || slices < 1 || c.domain.back() % slices != 0) return {};
  const kernel::WarpLayout w = kernel::warps(c);
  if (w.b < 1 || w.m < kernel::warps_of(*c.row) || w.m % kernel::warps_of(*c.row) != 0 || w.n < 1 || w.k < 1) return {};
  return kernel::accumulators(c.domain, w, *c.row, slices);
}

/// Returns the layout of summands with the dimension, distance, vector and lanes of `c`; nullopt if there is none.
std::optional<kernel::Context> as_summands(const kernel::Context& c) {
  const values::View share = c.share, tile = c.tile;
  if (c.row || c.axes() != 2) return {};
  const std::vector<kernel::Mode> along = kernel::modes(tile[0]), sums = kernel::modes(tile[1]),
                                  threads = kernel::modes(share[0]);
  if (along.size() != 2 || threads.size() != 3 || sums.empty()) return {};
  kernel::Summation s;
  s.domain = c.domain;
  s.dim = along[0].basis, s.to = along[0].stride, s.length = along[0].extent * along[1].extent;
  s.sums.assign(sums.size(), 1);
  for (std::size_t i = 0; i < sums.size(); ++i) s.sums[sums.size() - 1 - i] = sums[i].extent;
  graph::Shape whole = s.domain;
  const auto dim = static_cast<std::size_t>(s.dim);
  if (s.to < 1 || dim >= whole.size() || whole[dim] != s.length * s.to) return {};
  if (s.sums.size() < whole.size() && dim + 1 == whole.size() && s.to == 1)
    whole.pop_back();
  else
    whole[dim] = s.to;
  if (whole != s.sums) return {};
  s.vector = static_cast<int>(along[0].extent), s.lanes = static_cast<int>(threads[0].extent);
  s.splits = static_cast<int>(threads[1].extent), s.groups = static_cast<int>(threads[2].extent);
  if (s.vector < 1 || s.length % s.vector != 0 || s.lanes > target::warp_threads || target::warp_threads % s.lanes != 0)
    return {};
  return kernel::summands(s);
}

/// Returns whether `c` has one value for each row of another layout of the kernel.
bool is_of_rows(const kernel::Kernel& k, const kernel::Context& c) {
  return std::ranges::any_of(k.rmem, [&](const kernel::RmemTensor& other) {
    const kernel::Context& of = other.layout;
    if (of.row != c.of || of.rank() != c.rank() || (of.row ? of.axes() != 3 : of.axes() != 2)) return false;
    if (kernel::lines(of) == c) return true;
    const bool sliced = of.row && of.repeats() > 1;
    return sliced && kernel::lines(kernel::accumulators(of.domain, kernel::warps(of), *of.row)) == c;
  });
}

bool multiplies(const Instruction& row) { return row.m > 0 && row.n > 0 && row.k > 0; }

/// Throws Rejected unless layout number `i` has a form that the emitter prints.
void check_form(const kernel::Kernel& k, std::size_t i) {
  const kernel::Context& c = k.rmem[i].layout;
  if (c.domain.empty() || *std::ranges::min_element(c.domain) < 1)
    reject("{}: layout t{} is of a tile of {}", k.name(), i, graph::to_string(c.domain));
  for (const Instruction* row : {c.row, c.of})
    if (row && !multiplies(*row)) reject("{}: layout t{} is by {}, which multiplies nothing", k.name(), i, row->name);
  std::optional<kernel::Context> of;
  if (c.row && !c.of) of = as_accumulators(c);
  if (!c.row && !c.of) of = c.axes() == 1 ? as_blocked(c) : as_summands(c);
  if ((of && *of == c) || (!c.row && is_of_rows(k, c))) return;
  if (!of)
    reject("{}: layout t{} of {} deals no tile to threads as copies, products, sums or rows do", k.name(), i,
           graph::to_string(c.domain));
  const auto differ = [&](const char* what, auto mine, auto right) {
    if (mine != right)
      reject("{}: layout t{} of {} has {} {}; the layout with its threads, vector and order has {}", k.name(), i,
             graph::to_string(c.domain), mine, what, right);
  };
  differ("values a thread", c.values(), of->values());
  differ("passes", c.repeats(), of->repeats());
  for (int axis = 0; axis < c.axes() && axis < of->axes(); ++axis)
    differ("items along an axis", c.items(axis), of->items(axis));
  const kernel::EvaluatedLayout mine(c), right(*of);
  kernel::for_each(mine, [&](int thread, int value, const graph::Shape& at) {
    const graph::Shape wanted = right.at(thread, value);
    if (at != wanted)
      reject("{}: layout t{} has {} as value {} of thread {}; the layout with its threads, vector and order has {}",
             k.name(), i, graph::to_string(at), value, thread, graph::to_string(wanted));
  });
  reject("{}: layout t{} of {} is not written as its threads, vector and order make it", k.name(), i,
         graph::to_string(c.domain));
}

/// Returns the shape of the tile over which work `w` has to run.
graph::Shape tile_of(const kernel::Kernel& k, const kernel::Work& w, const kernel::Context& c) {
  const tile::Node& n = k.program.nodes[w.node];
  if (w.kind == kernel::WorkKind::copy_in) return k.tensors[w.tensor].padded;
  if (w.kind == kernel::WorkKind::to_shared && n.kind == tile::NodeKind::round && !c.row)
    return k.tensors[w.tensor].padded;
  if (w.kind != kernel::WorkKind::reduce && w.kind != kernel::WorkKind::finish) return n.shape;
  if (n.kind == tile::NodeKind::reduce) return k.program.nodes[n.in[0]].shape;
  graph::Shape all = n.shape;
  const std::int64_t k_of_all = k.program.nodes[n.in[0]].shape.back();
  all.push_back(n.window ? k_of_all / k.program.loop : k_of_all);
  return all;
}

/// Returns whether work of this kind may be done with the value of node `n`.
bool suits(kernel::WorkKind kind, const tile::Node& n) {
  using enum kernel::WorkKind;
  switch (kind) {
    case copy_in:
    case fetch:
      return n.kind == tile::NodeKind::load;
    case mma:
    case to_cluster:
    case from_cluster:
      return n.kind == tile::NodeKind::matmul;
    case rescale:
      return kernel::rescaled_by(n) >= 0;
    case to_shared:
      return n.kind != tile::NodeKind::load;
    case to_operand:
      return n.kind == tile::NodeKind::round;
    case to_global:
      return n.kind == tile::NodeKind::store;
    case accumulate:
      return n.kind == tile::NodeKind::accumulate || n.kind == tile::NodeKind::running_max;
    case to_lines:
    case to_registers:
      return n.kind == tile::NodeKind::map || n.kind == tile::NodeKind::load;
    case reduce:
    case finish:
      return n.kind == tile::NodeKind::reduce || n.kind == tile::NodeKind::matmul;
  }
  return false;
}

/// Throws Rejected unless work `w` has the tensor that its kind writes.
void check_buffer_of(const kernel::Kernel& k, const kernel::Work& w) {
  const tile::Node& n = k.program.nodes[w.node];
  const bool must = w.kind == kernel::WorkKind::copy_in || w.kind == kernel::WorkKind::to_shared ||
                    w.kind == kernel::WorkKind::to_cluster;
  const bool may = must || w.kind == kernel::WorkKind::to_global || w.kind == kernel::WorkKind::accumulate ||
                   w.kind == kernel::WorkKind::finish;
  if (w.tensor < 0 && must) reject("{}: {} says not into which tensor it writes", k.name(), describe(w));
  if (w.tensor < 0) return;
  const kernel::SmemTensor& b = k.tensors[w.tensor];
  if (!may) reject("{}: {} names tensor {}, and writes none", k.name(), describe(w), b.name);
  const int of = b.node;
  const bool stores = n.kind == tile::NodeKind::store;
  const bool right = w.kind == kernel::WorkKind::to_cluster ? of < 0 && kernel::exchange_of(k, w.tensor) >= 0
                     : stores ? of >= 0 && k.program.nodes[of].kind == tile::NodeKind::store
                              : of == w.node;
  if (!right)
    reject("{}: {} names tensor {}, which holds {}", k.name(), describe(w), b.name,
           of < 0 ? std::string("no value") : fmt::format("%{}", of));
}

/// Returns whether the emitter prints work `w` over a layout of the form of `c`.
bool printed_over(const kernel::Work& w, const kernel::Context& c, const tile::Node& n) {
  using enum kernel::WorkKind;
  const bool blocked = !c.row && !c.of && c.axes() == 1;
  // Several warps have each element, with a part of its sum over K.
  if (c.row && c.holders() > 1 && w.kind != mma && w.kind != rescale &&
      !(w.kind == to_shared && n.kind == tile::NodeKind::matmul))
    return false;
  switch (w.kind) {
    case copy_in:
    case fetch:
      return blocked;
    case to_global:
      return blocked || w.tensor < 0;
    case mma:
    case to_operand:
    case rescale:
    case to_cluster:
    case from_cluster:
      return c.row != nullptr;
    case reduce:
    case finish:
      return c.row || (!c.of && c.axes() == 2);
    default:
      return true;
  }
}

/// Throws Rejected unless work `w` runs over all elements of its tile, in threads that carry out its step.
void check_work(const kernel::Kernel& k, const kernel::Work& w) {
  const tile::Node& n = k.program.nodes[w.node];
  if (!suits(w.kind, n)) reject("{}: {} is done with a {}", k.name(), describe(w), tile::name(n.kind));
  if (w.context < 0) reject("{}: {} says not over which layout", k.name(), describe(w));
  check_buffer_of(k, w);
  const kernel::Context& c = k.layout_of(w);
  if (!printed_over(w, c, n))
    reject("{}: {} runs over layout t{}, a {}; it does not divide its tile so", k.name(), describe(w), w.context,
           kernel::print(c));
  const graph::Shape tile = tile_of(k, w, c);
  if (c.domain != tile)
    reject("{}: {} runs over layout t{} of {}; its tile is {}", k.name(), describe(w), w.context,
           graph::to_string(c.domain), graph::to_string(tile));
  const int threads = k.program.threads();
  const bool all = !c.row && !c.of && c.axes() == 1;
  if (all ? c.threads() != threads : c.threads() > threads)
    reject("{}: {} runs over layout t{} of {} threads; {} threads do it", k.name(), describe(w), w.context, c.threads(),
           threads);
  if (all && w.kind != kernel::WorkKind::copy_in && c.domain[c.inner()] % c.vector() != 0)
    reject("{}: {} takes {} elements at a time of rows of {}, which they do not divide", k.name(), describe(w),
           c.vector(), c.domain[c.inner()]);
  if (w.kind == kernel::WorkKind::reduce && n.kind == tile::NodeKind::reduce && !c.row) {
    const kernel::Mode along = kernel::modes(values::View(c.tile)[0]).front();
    if (c.axes() != 2 || along.basis != n.dim || along.stride != n.to)
      reject("{}: {} adds up along dimension {}, {} apart, over layout t{} of summands along {}, {} apart", k.name(),
             describe(w), n.dim, n.to, w.context, along.basis, along.stride);
  }
}

/// Throws Rejected unless the threads that carry out works are the first ones of the block, and their number is the
/// tile program's. Of other warp roles one thread issues copies.
void check_threads_of_agents(const kernel::Kernel& k) {
  const int threads = k.program.threads();
  for (const kernel::Agent& agent : k.agents) {
    const bool computes = kernel::find_step(
        agent.steps, [](const kernel::Step& s) { return s.work.node >= 0 && !s.work.copy.by_tensor_map(); });
    if (!computes) continue;
    if (&agent != k.agents.data())
      reject("{}: {} computes, and is not the first warp role: its threads are not numbered from 0", k.name(),
             agent.name);
    if (k.warp_specialized() && target::warp_threads * agent.warps != threads)
      reject("{}: {} has {} warps; {} threads compute", k.name(), agent.name, agent.warps, threads);
  }
}

}  // namespace

void verify_forms(const kernel::Kernel& k) {
  for (const kernel::Work& w : kernel::works(k))
    if (w.matmul.row && !multiplies(*w.matmul.row))
      reject("{}: {} is by {}, which multiplies nothing", k.name(), describe(w), w.matmul.row->name);
  for (std::size_t i = 0; i < k.rmem.size(); ++i) check_form(k, i);
}

void verify_layouts(const kernel::Kernel& k) {
  for (std::size_t i = 0; i < k.rmem.size(); ++i)
    for (const int node : k.rmem[i].nodes)
      if (const int first = k.rmem_of(node);
          first != static_cast<int>(i) || std::ranges::count(k.rmem[i].nodes, node) > 1)
        reject("{}: %{} is held in layout t{} and in layout t{}; a value is in one", k.name(), node, first, i);
  for (std::size_t t = 0; t < k.tensors.size(); ++t)
    if (const int node = k.tensors[t].node; node >= 0 && k.tensor_of(node) != static_cast<int>(t))
      reject("{}: %{} lies in {} and in {}; a value lies in one tensor", k.name(), node,
             k.tensors[k.tensor_of(node)].name, k.tensors[t].name);
  check_threads_of_agents(k);
  const std::vector<kernel::Work> all = kernel::works(k);
  for (const kernel::Work& w : all) {
    const auto first =
        std::ranges::find_if(all, [&](const kernel::Work& o) { return o.kind == w.kind && o.node == w.node; });
    if (&*first != &w)
      reject("{}: {} is done in two ways; all steps that do it have the same layout, tensor, instruction and sizes",
             k.name(), describe(w));
    check_work(k, w);
  }
}

}  // namespace zellige::verify
