#include <algorithm>
#include <optional>

#include "kernel/evaluated_layout.hpp"
#include "verify/proofs.hpp"
#include "verify/rejected.hpp"

namespace zellige::verify {
namespace {

using kernel::EvaluatedLayout;

/// Returns the thread-value layout whose chunks are dealt to threads with the vector, order and threads of `c`; nullopt if
/// there is none.
std::optional<Context> as_blocked(const Context& c) {
  const std::vector<Mode> tile = kernel::modes(values::View(c.tile)[0]),
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
std::optional<Context> as_accumulators(const Context& c) {
  const values::View share = c.share;
  if (!c.row || c.rank() < 2 || share[0].rank() != 2 || share[0].is_leaf() || kernel::modes(share[0][1]).size() != 4)
    return {};
  std::int64_t count = 1;
  for (const Mode& m : kernel::modes(share[0])) count *= m.extent;
  const int slices = c.repeats();
  if (count % 32 != 0 || count > 4096 || slices < 1 || c.domain.back() % slices != 0) return {};
  const kernel::WarpLayout w = kernel::warps(c);
  if (w.b < 1 || w.m < kernel::warps_of(*c.row) || w.m % kernel::warps_of(*c.row) != 0 || w.n < 1 || w.k < 1) return {};
  return kernel::accumulators(c.domain, w, *c.row, slices);
}

/// Returns the layout of summands with the dimension, distance, vector and lanes of `c`; nullopt if there is none.
std::optional<Context> as_summands(const Context& c) {
  const values::View share = c.share, tile = c.tile;
  if (c.row || c.axes() != 2) return {};
  const std::vector<Mode> along = kernel::modes(tile[0]), sums = kernel::modes(tile[1]),
                          threads = kernel::modes(share[0]);
  if (along.size() != 2 || threads.size() != 3 || sums.empty()) return {};
  kernel::Summation s;
  s.domain = c.domain;
  s.dim = along[0].basis, s.to = along[0].stride, s.length = along[0].extent * along[1].extent;
  s.sums.assign(sums.size(), 1);
  for (std::size_t i = 0; i < sums.size(); ++i) s.sums[sums.size() - 1 - i] = sums[i].extent;
  Shape whole = s.domain;
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
bool is_of_rows(const Kernel& k, const Context& c) {
  return std::ranges::any_of(k.rmem, [&](const kernel::RmemTensor& other) {
    const Context& of = other.layout;
    if (of.row != c.of || of.rank() != c.rank() || (of.row ? of.axes() != 3 : of.axes() != 2)) return false;
    if (kernel::lines(of) == c) return true;
    const bool sliced = of.row && of.repeats() > 1;
    return sliced && kernel::lines(kernel::accumulators(of.domain, kernel::warps(of), *of.row)) == c;
  });
}

bool multiplies(const Instruction& row) { return row.m > 0 && row.n > 0 && row.k > 0; }

/// Throws Rejected unless layout number `i` has a form that the emitter prints.
void check_form(const Kernel& k, std::size_t i) {
  const Context& c = k.rmem[i].layout;
  if (c.domain.empty() || *std::ranges::min_element(c.domain) < 1)
    reject(k, "layout t{} is of a tile of {}", i, to_string(c.domain));
  for (const Instruction* row : {c.row, c.of})
    if (row && !multiplies(*row)) reject(k, "layout t{} is by {}, which multiplies nothing", i, row->name);
  std::optional<Context> of;
  if (c.row && !c.of) of = as_accumulators(c);
  if (!c.row && !c.of) of = c.axes() == 1 ? as_blocked(c) : as_summands(c);
  if ((of && *of == c) || (!c.row && is_of_rows(k, c))) return;
  if (!of)
    reject(k, "layout t{} of {} deals no tile to threads as copies, products, sums or rows do", i, to_string(c.domain));
  const auto differ = [&](const char* what, auto mine, auto right) {
    if (mine != right)
      reject(k, "layout t{} of {} has {} {}; the layout with its threads, vector and order has {}", i,
             to_string(c.domain), mine, what, right);
  };
  differ("values a thread", c.values(), of->values());
  differ("passes", c.repeats(), of->repeats());
  for (int axis = 0; axis < c.axes() && axis < of->axes(); ++axis)
    differ("items along an axis", c.items(axis), of->items(axis));
  const EvaluatedLayout mine(c), right(*of);
  kernel::for_each(mine, [&](int thread, int value, const Shape& at) {
    const Shape wanted = right.at(thread, value);
    if (at != wanted)
      reject(k, "layout t{} has {} as value {} of thread {}; the layout with its threads, vector and order has {}", i,
             to_string(at), value, thread, to_string(wanted));
  });
  reject(k, "layout t{} of {} is not written as its threads, vector and order make it", i, to_string(c.domain));
}

/// Returns the shape of the tile over which work `w` has to run.
Shape tile_of(const Kernel& k, const Work& w, const Context& c) {
  const Node& n = k.program.nodes[w.node];
  if (w.kind == WorkKind::copy_in) return k.tensors[w.tensor].padded;
  if (w.kind == WorkKind::to_shared && n.kind == NodeKind::round && !c.row) return k.tensors[w.tensor].padded;
  if (w.kind != WorkKind::reduce && w.kind != WorkKind::finish) return n.shape;
  if (n.kind == NodeKind::reduce) return k.program.nodes[n.in[0]].shape;
  Shape all = n.shape;
  const std::int64_t k_of_all = k.program.nodes[n.in[0]].shape.back();
  all.push_back(n.window ? k_of_all / k.program.loop : k_of_all);
  return all;
}

/// Returns a set of kinds of nodes, a bit for each.
template <class... Kind>
constexpr unsigned any_of(Kind... kinds) {
  return ((1u << static_cast<unsigned>(kinds)) | ...);
}

/// What work of a kind is done with, whether it names a tensor, and over layouts of which form the emitter prints it.
struct WorkForm {
  WorkKind kind;
  unsigned nodes;
  enum class Tensor : std::uint8_t { none, may, must } tensor;
  enum class Over : std::uint8_t { any, chunks, accumulators, summands } over;
};

const WorkForm& form_of(WorkKind kind) {
  using enum WorkKind;
  using enum WorkForm::Tensor;
  using enum WorkForm::Over;
  static constexpr WorkForm forms[] = {
      {copy_in, any_of(NodeKind::load), must, chunks},
      {fetch, any_of(NodeKind::load), none, chunks},
      {mma, any_of(NodeKind::matmul), none, accumulators},
      {to_shared, ~any_of(NodeKind::load), must, any},
      {to_operand, any_of(NodeKind::round), none, accumulators},
      {to_global, any_of(NodeKind::store), may, chunks},
      {accumulate, any_of(NodeKind::accumulate, NodeKind::running_max), may, any},
      {to_lines, any_of(NodeKind::map, NodeKind::load), none, any},
      {to_registers, any_of(NodeKind::map, NodeKind::load), none, any},
      {rescale, any_of(NodeKind::matmul), none, accumulators},
      {reduce, any_of(NodeKind::reduce, NodeKind::matmul), none, summands},
      {finish, any_of(NodeKind::reduce, NodeKind::matmul), may, summands},
      {to_cluster, any_of(NodeKind::matmul), must, accumulators},
      {from_cluster, any_of(NodeKind::matmul), none, accumulators},
  };
  return *std::ranges::find(forms, kind, &WorkForm::kind);
}

/// Throws Rejected unless work `w` has the tensor that its kind writes.
void check_buffer_of(const Kernel& k, const Work& w) {
  const Node& n = k.program.nodes[w.node];
  const WorkForm::Tensor names = form_of(w.kind).tensor;
  if (w.tensor < 0 && names == WorkForm::Tensor::must) reject(k, w, "says not into which tensor it writes");
  if (w.tensor < 0) return;
  const SmemTensor& b = k.tensors[w.tensor];
  if (names == WorkForm::Tensor::none) reject(k, w, "names tensor {}, and writes none", b.name);
  const int of = b.node;
  const bool stores = n.kind == NodeKind::store;
  const bool right = w.kind == WorkKind::to_cluster ? of < 0 && kernel::exchange_of(k, w.tensor) >= 0
                     : stores                       ? of >= 0 && k.program.nodes[of].kind == NodeKind::store
                                                    : of == w.node;
  if (!right)
    reject(k, w, "names tensor {}, which holds {}", b.name, of < 0 ? std::string("no value") : fmt::format("%{}", of));
}

/// Returns whether the emitter prints work `w` over a layout of the form of `c`.
bool printed_over(const Work& w, const Context& c, const Node& n) {
  using enum WorkKind;
  // Several warps have each element, with a part of its sum over K.
  if (c.row && c.holders() > 1 && w.kind != mma && w.kind != rescale &&
      !(w.kind == to_shared && n.kind == NodeKind::matmul))
    return false;
  switch (form_of(w.kind).over) {
    case WorkForm::Over::chunks:
      return (!c.row && !c.of && c.axes() == 1) || (w.kind == to_global && w.tensor < 0);
    case WorkForm::Over::accumulators:
      return c.row != nullptr;
    case WorkForm::Over::summands:
      return c.row || (!c.of && c.axes() == 2);
    case WorkForm::Over::any:
      return true;
  }
  return false;
}

/// Throws Rejected unless work `w` runs over all elements of its tile, in threads that carry out its step.
void check_work(const Kernel& k, const Work& w) {
  const Node& n = k.program.nodes[w.node];
  if ((form_of(w.kind).nodes & any_of(n.kind)) == 0 || (w.kind == WorkKind::rescale && kernel::rescaled_by(n) < 0))
    reject(k, w, "is done with a {}", tile::name(n.kind));
  if (w.context < 0) reject(k, w, "says not over which layout");
  check_buffer_of(k, w);
  const Context& c = k.layout_of(w);
  if (!printed_over(w, c, n))
    reject(k, w, "runs over layout t{}, a {}; it does not divide its tile so", w.context, kernel::print(c));
  const Shape tile = tile_of(k, w, c);
  if (c.domain != tile)
    reject(k, w, "runs over layout t{} of {}; its tile is {}", w.context, to_string(c.domain), to_string(tile));
  const int threads = k.program.threads();
  const bool all = !c.row && !c.of && c.axes() == 1;
  if (all ? c.threads() != threads : c.threads() > threads)
    reject(k, w, "runs over layout t{} of {} threads; {} threads do it", w.context, c.threads(), threads);
  if (all && w.kind != WorkKind::copy_in && c.domain[c.inner()] % c.vector() != 0)
    reject(k, w, "takes {} elements at a time of rows of {}, which they do not divide", c.vector(),
           c.domain[c.inner()]);
  if (w.kind == WorkKind::reduce && n.kind == NodeKind::reduce && !c.row) {
    const Mode along = kernel::modes(values::View(c.tile)[0]).front();
    if (c.axes() != 2 || along.basis != n.dim || along.stride != n.to)
      reject(k, w, "adds up along dimension {}, {} apart, over layout t{} of summands along {}, {} apart", n.dim, n.to,
             w.context, along.basis, along.stride);
  }
}

/// Throws Rejected unless the threads that carry out works are the first ones of the block, and their number is the
/// tile program's. Of other warp roles one thread issues copies, or products.
void check_threads_of_agents(const Kernel& k) {
  const int threads = k.program.threads();
  for (const Agent& agent : k.agents) {
    const bool computes =
        find_step(agent.steps, [](const Step& s) { return s.work.node >= 0 && !s.work.copy.by_tensor_map(); });
    if (!computes || kernel::multiplies_into(k, agent) >= 0) continue;
    if (&agent != k.agents.data())
      reject(k, "{} computes, and is not the first warp role: its threads are not numbered from 0", agent.name);
    if (k.warp_specialized() && target::warp_threads * agent.warps != threads)
      reject(k, "{} has {} warps; {} threads compute", agent.name, agent.warps, threads);
  }
}

}  // namespace

void verify_forms(const Kernel& k) {
  for (const Work& w : kernel::works(k))
    if (w.matmul.row && !multiplies(*w.matmul.row))
      reject(k, w, "is by {}, which multiplies nothing", w.matmul.row->name);
  for (std::size_t i = 0; i < k.rmem.size(); ++i) check_form(k, i);
}

void verify_layouts(const Kernel& k) {
  for (std::size_t i = 0; i < k.rmem.size(); ++i)
    for (const int node : k.rmem[i].nodes)
      if (const int first = k.rmem_of(node);
          first != static_cast<int>(i) || std::ranges::count(k.rmem[i].nodes, node) > 1)
        reject(k, "%{} is held in layout t{} and in layout t{}; a value is in one", node, first, i);
  for (std::size_t t = 0; t < k.tensors.size(); ++t)
    if (const int node = k.tensors[t].node; node >= 0 && k.tensor_of(node) != static_cast<int>(t))
      reject(k, "%{} lies in {} and in {}; a value lies in one tensor", node, k.tensors[k.tensor_of(node)].name,
             k.tensors[t].name);
  check_threads_of_agents(k);
  const std::vector<Work> all = kernel::works(k);
  for (const Work& w : all) {
    // What widens an operand has parts.
    const auto first = std::ranges::find_if(all, [&](const Work& o) {
      return o.kind == w.kind && o.node == w.node && (o.kind != WorkKind::to_operand || o.part == w.part);
    });
    if (&*first != &w)
      reject(k, w, "is done in two ways; all steps that do it have the same layout, tensor, instruction and sizes");
    check_work(k, w);
  }
}

}  // namespace zellige::verify
