#include "candidate/kernel.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "candidate/alone.hpp"
#include "candidate/coalesce.hpp"
#include "candidate/mask_partial_tiles.hpp"
#include "candidate/merge.hpp"
#include "candidate/tiles.hpp"
#include "cost/cost_estimate.hpp"
#include "cost/estimate.hpp"
#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "reference/structure.hpp"
#include "rewrite/canonical_order.hpp"
#include "rewrite/swap_operands.hpp"
#include "target/instructions.hpp"

namespace zellige::fuse {
std::vector<int> concatenations(const graph::KernelGraph& g, const std::vector<int>& ops) {
  std::vector<int> result;
  for (int i : ops)
    if (g.ops[i].kind == graph::OpKind::concat) result.push_back(i);
  return result;
}

namespace {

using graph::KernelGraph;
using graph::KernelTensor;

/// The weight of the time with a warm L2 in a kernel's expected time. In a graph some inputs are in the L2 already. The
/// weight is small, so that it only decides between tilings which take equally long while they wait for DRAM.
constexpr double warm = 0.06;

/// Returns the expected time, in microseconds, of a kernel that is launched right after another kernel. `p` is
/// the cost of a program that consists of this kernel alone.
double us_after_another(const plan::CostEstimate& p, const target::Target& target) {
  return (1 - warm) * p.us + warm * p.warm_us - target.costs.launch + target.costs.next;
}

}  // namespace

namespace {

/// The share of the estimated time below which a plan is not expected to be. It is lower where the formula
/// overestimates matmuls: for loops of matmuls alone, if warpgroups may run them, and for two matmuls with a
/// step in between, whose results may remain in registers.
constexpr double hopeful = 0.8, hopeful_of_matmuls = 0.6, hopeful_of_chains = 0.38;

/// Returns whether the block graph has a matmul for which dtype_is(d) is true, where d is the dtype of the
/// matmul's first operand.
bool multiplies(const graph::BlockGraph& b, auto dtype_is) {
  return std::ranges::any_of(b.ops, [&](const graph::BlockOp& op) {
    return op.kind == OpKind::matmul && dtype_is(b.tensors[op.inputs[0]].dtype);
  });
}

/// Returns a fraction f such that a plan of the block graph is expected to take at least f times the
/// estimated time.
double least_share(const graph::BlockGraph& b, const target::Target& target) {
  const auto lacks = [&](auto find) {
    return multiplies(b, [&](graph::DType t) { return !find(graph::name(t)); });
  };
  if (lacks([&](auto t) { return target::find_mma(target, t, t, "f32"); })) return hopeful;
  const bool by_warps = lacks([&](auto t) { return target::find_warpgroup_mma(target, t, t, "f32", 128); });
  int products = 0, others = 0;
  for (const graph::BlockOp& op : b.ops)
    if (op.kind != OpKind::input && op.kind != OpKind::output && op.kind != OpKind::permute &&
        !b.tensors[op.outputs[0]].after_loop)
      ++(op.kind == OpKind::matmul ? products : others);
  if (products == 2 && b.loop >= plan::min_chained_iterations) return hopeful_of_chains;
  if (products == 0 || others > 0) return hopeful;
  return by_warps ? hopeful_of_matmuls : hopeful_of_chains;
}

/// Builds all kernels of one group, with loaded tensors shared between their readers or separate (`readers`).
class Making {
 public:
  Making(const KernelGraph& g, const std::vector<int>& ops, Readers readers, const target::Target& target)
      : g_(g),
        ops_(ops),
        target_(target),
        steps_(coalesced(g, steps_of(g, ops, readers), target)),
        axes_(axes_of(steps_)) {}

  /// Returns the kernels of all tilings that are possible, with the loop in one block or split over blocks. If
  /// a tiling is not possible, sets `why` to the reason.
  std::vector<Kernel> run(std::string& why) {
    for (const Tiles& t : row_splits(steps_, axes_, target_)) try_split(t);
    for (int loop_axis : loop_axes(steps_, axes_)) {
      if (loop_axis >= 0)
        for (const Tiles& t : split_tilings(steps_, axes_, loop_axis, target_)) try_split(t);
      bool refused = false;
      for (const Tiles& t : tilings(steps_, axes_, loop_axis, target_)) {
        if (!refused) refused = !try_whole(t, loop_axis >= 0, why);
        const std::size_t before = found_.size();
        const std::vector<Tiles> parts = splits(t, target_);
        for (const Tiles& s : parts) try_split(s);
        if (refused && !parts.empty() && found_.size() == before) break;
      }
    }
    return std::move(found_);
  }

 private:
  /// Returns the launch that runs the block graph of `body`.
  static Part part(Body body) {
    Part p{std::make_shared<graph::BlockGraph>(std::move(body.block)), {}, {}, {}, {}};
    for (const Seen& s : body.loads) p.loads.push_back(s.tensor), p.loaded.push_back(s.shape);
    for (const Seen& s : body.stores) p.stores.push_back(s.tensor), p.stored.push_back(s.shape);
    return p;
  }

  /// Returns kernel `k` with inferred shapes, with its estimated time and the lower bound of its plan's time.
  Kernel finished(Kernel k) const { return finished(std::move(k), g_); }
  /// Returns kernel `k` with inferred shapes, with its estimated time and the lower bound of its plan's time.
  /// `g` is the graph that has the kernel's tensors.
  Kernel finished(Kernel k, const KernelGraph& g) const {
    const KernelGraph a = graph::infer(alone(g, k));
    k.us = -target_.costs.launch;
    const std::size_t before = a.ops.size() - k.parts.size();  // concatenations
    for (std::size_t i = 0; i < k.parts.size(); ++i) {
      k.parts[i].block = a.ops[before + i].block;
      k.us += plan::estimate(a, static_cast<int>(before + i), target_) - target_.costs.launch +
              target_.costs.next;
    }
    k.us += target_.costs.launch;
    const graph::BlockGraph& b = *k.parts[0].block;
    k.one_by_one = multiplies(b, [](graph::DType t) { return graph::is_integer(t); });
    k.lower_bound_us = k.us * least_share(b, target_);
    return k;
  }

  /// Adds the kernel to the result. If swap_operands applies to it, also adds a second kernel with A and B
  /// swapped.
  void offer(Kernel k) {
    Kernel other = k;
    bool any = false;
    for (Part& p : other.parts)
      if (auto block = swap_operands(*p.block, target_)) {
        p.block = std::make_shared<graph::BlockGraph>(*std::move(block));
        any = true;
      }
    found_.push_back(std::move(k));
    if (any) found_.push_back(finished(std::move(other)));
  }

  /// Adds the kernel of a tiling without a split loop. Returns false if no block graph computes the group
  /// under this tiling. The reason is then stored in `why`, unless `why` has one already and `loops` (the
  /// tiling has a loop) is false.
  bool try_whole(const Tiles& t, bool loops, std::string& why) {
    try {
      offer(finished({ops_, {part(body_of(g_, steps_of_tiles(t), axes_of_tiles(t), t))}}));
      return true;
    } catch (const Fault&) {
      throw;
    } catch (const Error& e) {
      if (why.empty() || loops) why = e.what();
      return false;
    }
  }

  /// Adds the kernels of a tiling whose loop is split over blocks. Adds none if the group does not allow the
  /// split.
  void try_split(const Tiles& t) {
    try {
      split(t);
    } catch (const Fault&) {
      throw;
    } catch (const Error&) {  // some partial result would be written by several blocks, or read too early
    }
  }

  /// Returns the axes that have a partial tile.
  static std::vector<int> partial_axes(const Tiles& t) {
    std::vector<int> axes;
    for (const auto& [axis, extent] : t.extents) axes.push_back(axis);
    return axes;
  }
  /// Returns the group's steps, with masks for the axes that have a partial tile under tiling `t`.
  const Steps& steps_of_tiles(const Tiles& t) { return masked(t).first; }
  /// Returns the axes of steps_of_tiles(t).
  const Axes& axes_of_tiles(const Tiles& t) { return masked(t).second; }
  /// Returns the group's steps with masks for the axes that have a partial tile under tiling `t`, and the
  /// axes of these steps. Both are computed once per set of axes that have a partial tile.
  const std::pair<Steps, Axes>& masked(const Tiles& t) {
    const auto [at, is_new] = masked_.try_emplace(partial_axes(t), steps_, axes_);
    if (is_new && !t.extents.empty()) {
      at->second.first = mask_partial_tiles(steps_, t.extents);
      at->second.second = axes_of(at->second.first);
    }
    return at->second;
  }

  /// Adds a kernel of two launches for tiling `t`, whose loop is split over blocks: the first launch computes
  /// partial results, the second combines them. If other reductions over the loop axis need the combined
  /// results, also adds kernels of three launches.
  void split(const Tiles& t) {
    Kernel k{ops_, {}};
    KernelGraph g = g_;
    std::vector<int> tensors;
    const Body first = add_parts(masked(t), t, k, g, tensors);
    if (const std::optional<Part>& after = after_split(t, first, g, tensors)) {
      Kernel two = k;
      two.parts.push_back(*after);
      offer(finished(std::move(two)));
    }
    if (!first.reduces_again) return;
    const Steps second = merged(steps_, first, t.grid[t.split].blocks, tensors);
    for (const Tiles& again : row_splits(second, axes_of(second), target_)) split_again(second, again, k, g);
  }

  /// Adds a kernel of three launches. `k` has the first launch, which stores partial results. The second
  /// launch runs the steps `second`, which combine the first launch's partial results, under tiling `t` with
  /// a split loop, and stores partial results itself. The third launch combines the second launch's partial
  /// results.
  void split_again(const Steps& second, const Tiles& t, Kernel k, KernelGraph g) {
    const Steps steps = mask_partial_tiles(second, t.extents);
    std::vector<int> tensors;
    const Body body = add_parts({steps, axes_of(steps)}, t, k, g, tensors);
    const std::optional<Part> last = cheapest(merged(second, body, t.grid[t.split].blocks, tensors), g);
    if (!last) return;
    k.parts.push_back(*last);
    offer(finished(std::move(k)));
  }

  /// Appends to `k` a launch that computes partial results of the steps `of` under tiling `t`, with a split
  /// loop. The launch stores new tensors: appends them to `k.between` and to `g`, and appends their indices
  /// to `tensors`. Returns the launch's body.
  Body add_parts(const std::pair<Steps, Axes>& of, const Tiles& t, Kernel& k, KernelGraph& g,
                 std::vector<int>& tensors) const {
    const auto& [steps, axes] = of;
    Body body = body_of(g, steps, axes, t);
    for (const Partial& p : body.partials) {
      Shape shape = p.shape;
      shape.insert(shape.begin(), t.grid[t.split].blocks);
      const int tensor = steps.values[p.value].tensor;
      std::string name = tensor >= 0 ? g.tensors[tensor].name : g.tensors[g.ops[ops_.back()].outputs[0]].name;
      name += parts_suffix;
      if (p.dim >= 0) name += "_max";
      while (std::ranges::any_of(g.tensors, [&](const KernelTensor& other) { return other.name == name; }))
        name += '_';
      tensors.push_back(static_cast<int>(g.tensors.size()));
      k.between.push_back({graph::DType::f32, shape, {}, name});
      g.tensors.push_back(k.between.back());
    }
    Part& p = k.parts.emplace_back(part(body));
    p.stores = tensors;
    for (int tensor : tensors) p.stored.push_back(g.tensors[tensor].shape);
    return body;
  }

  /// Identifies what a split loop stores, as key of after_: axes with partial tiles; the integers and the
  /// coefficients of its partial results; by value, the indices of the partial results of maxima and sums.
  using LeftBy = std::tuple<std::vector<int>, std::vector<std::int64_t>, std::vector<double>,
                            std::map<int, int>, std::map<int, int>>;

  /// Returns the launch that combines the partial results `tensors` of a split loop, with the tiling of the
  /// least estimated time, or nullopt if no tiling is possible. The launch depends on what the split loop
  /// stores, not on the loop's tiles, so it is cached.
  const std::optional<Part>& after_split(const Tiles& t, const Body& first, const KernelGraph& g,
                                         const std::vector<int>& tensors) {
    const auto [at, is_new] = after_.try_emplace(left_by(t, first));
    if (!is_new) return at->second;
    return at->second = cheapest(merged(steps_, first, t.grid[t.split].blocks, tensors), g);
  }

  /// Returns one launch that runs the steps without a loop, with the tiling of the least estimated time, or
  /// nullopt if no tiling is possible.
  std::optional<Part> cheapest(const Steps& steps, const KernelGraph& g) const {
    const Axes axes = axes_of(steps);
    std::optional<Part> best;
    double us = 0;
    for (const Tiles& t : tilings(steps, axes, -1, target_)) {
      const Steps inside = mask_partial_tiles(steps, t.extents);
      Part way = part(body_of(g, inside, t.extents.empty() ? axes : axes_of(inside), t));
      const double way_us = finished({ops_, {way}}, g).us;
      if (!best || way_us < us) us = way_us, best = std::move(way);
    }
    return best;
  }

  /// Returns the key of the cache after_: everything on which the launch that combines partial results
  /// depends.
  static LeftBy left_by(const Tiles& t, const Body& first) {
    LeftBy key{partial_axes(t), {t.grid[t.split].blocks}, {}, first.maxima, first.sums};
    for (const Partial& p : first.partials) {
      auto& [axes, numbers, coefficients, maxima, sums] = key;
      numbers.insert(numbers.end(), {p.value, p.dim, p.below, p.about, p.count, p.centre,
                                     std::ssize(p.factors), std::ssize(p.shape)});
      for (const Factor& f : p.factors) numbers.insert(numbers.end(), {f.value, std::int64_t{f.divide}});
      numbers.insert(numbers.end(), p.shape.begin(), p.shape.end());
      coefficients.push_back(p.coefficient);
    }
    return key;
  }

  const KernelGraph& g_;
  const std::vector<int>& ops_;
  const target::Target& target_;
  Steps steps_;
  Axes axes_;
  std::map<std::vector<int>, std::pair<Steps, Axes>> masked_;  // by the axes with partial tiles
  std::map<LeftBy, std::optional<Part>> after_;                // launches that combine partial results
  std::vector<Kernel> found_;
};

}  // namespace

std::vector<Kernel> kernels_of(const KernelGraph& g, const std::vector<int>& ops,
                               const target::Target& target, std::string& why) {
  std::vector<Kernel> found;
  why.clear();
  for (const Readers readers : {Readers::together, Readers::separate}) {
    try {
      found = Making(g, ops, readers, target).run(why);
    } catch (const Fault&) {
      throw;
    } catch (const Error& e) {
      if (why.empty()) why = e.what();
    }
    if (!found.empty()) break;
  }
  if (found.empty() && why.empty()) why = "its tiles do not fit into shared memory";
  std::ranges::stable_sort(found, {}, &Kernel::us);
  return found;
}

namespace {

/// Plans a graph that consists of one kernel, and returns its expected time in microseconds, assuming that it
/// is launched right after another kernel. Returns nullopt and sets `refusal` if the graph cannot be planned.
/// If the verifier has rejected the plan, records its message in `known`.
std::optional<double> plan_alone(const KernelGraph& a, const target::Target& target, CostCache& known,
                                 Refusal& refusal) {
  std::optional<double> us;
  tried(known, refusal, [&] {
    const plan::Plan plan = plan::make_plan(a, target, {.registers_proved = false});
    us = us_after_another(plan::estimate_cost(plan, target), target);
  });
  return us;
}

/// Returns the expected time, in microseconds, of a graph that consists of one kernel, assuming that it is
/// launched right after another kernel. Looks the time up in the cache `known`; if it is missing, plans the
/// graph and stores the time there. Returns nullopt and sets `refusal` if the graph cannot be planned.
std::optional<double> planned(const KernelGraph& given, const target::Target& target, CostCache& known,
                              Refusal& refusal) {
  const KernelGraph a = in_one_order(given);
  const std::string text = graph::structure(a);
  if (const std::optional<double> us = known.find(text)) return us;
  const std::optional<double> us = plan_alone(a, target, known, refusal);
  if (us) known.add(text, *us);  // no error is kept, because it names this graph's tensors
  return us;
}

}  // namespace

void raise(const Refusal& refusal) {
  if (refusal.rejected) throw Rejected(refusal.why);
  throw Error(refusal.why);
}

std::optional<double> CostCache::find(const std::string& structure) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = added_.find(structure); at != added_.end()) return at->second;
  }
  return before_ ? before_(structure) : std::nullopt;
}

void CostCache::add(const std::string& structure, double us) {
  const std::lock_guard lock(mutex_);
  added_.insert_or_assign(structure, us);
}

void CostCache::drop(const Rejected& plan) {
  const std::lock_guard lock(mutex_);
  plan::drop(plan, rejected_);
}

plan::Rejections CostCache::take_rejected() {
  const std::lock_guard lock(mutex_);
  return std::exchange(rejected_, {});
}

std::optional<double> planned_us(const KernelGraph& g, const Kernel& k, const target::Target& target,
                                 CostCache& known, Refusal& refusal) {
  return planned(alone(g, k), target, known, refusal);
}

std::optional<double> planned_us(const KernelGraph& g, int index, const target::Target& target,
                                 CostCache& known, Refusal& refusal) {
  const graph::KernelOp& op = g.ops[index];
  KernelGraph a;
  a.name = g.name;
  std::map<int, int> at;
  const auto tensor = [&](int t, const KernelTensor& as) {
    const auto [found, is_new] = at.insert({t, static_cast<int>(a.tensors.size())});
    if (is_new) a.tensors.push_back(as);
    return found->second;
  };
  graph::KernelOp copy = op;
  for (int& t : copy.inputs) {
    t = tensor(t, outside(g, t));
    if (std::ranges::find(a.inputs, t) == a.inputs.end()) a.inputs.push_back(t);
  }
  for (int& t : copy.outputs) {
    const KernelTensor& whole = g.tensors[t];
    const int memory = whole.memory < 0 ? -1 : copy.inputs[0];
    t = tensor(t, {whole.dtype, whole.shape, whole.strides, whole.name, memory});
  }
  a.outputs = copy.outputs;
  a.ops.push_back(std::move(copy));
  return planned(a, target, known, refusal);
}

namespace {

/// Returns the fraction of a matrix's elements that a causal mask keeps, or 1 for another mask. `shape` ends
/// with the matrix's rows and columns.
double kept_share(const graph::Attributes& a, const Shape& shape) {
  if (!a.kept.tril || !a.sizes.empty() || shape.size() < 2) return 1;
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  double kept = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    kept += static_cast<double>(std::clamp<std::int64_t>(i + *a.kept.tril + 1, 0, columns));
  return kept / static_cast<double>(rows * columns);
}

}  // namespace

double floor_us(const KernelGraph& g, const std::vector<int>& ops, const target::Target& target) {
  std::set<int> made, moved;
  for (int i : ops) made.insert(g.ops[i].outputs.begin(), g.ops[i].outputs.end());
  double cycles = 0, kept = 1;  // cycles of one multiprocessor; the share of results that masks keep
  for (int i : ops) {
    const graph::KernelOp& op = g.ops[i];
    for (int t : op.inputs)
      if (made.count(t) == 0) moved.insert(t);
    for (int t : op.outputs) {
      bool read = std::ranges::count(g.outputs, t) > 0;
      for (std::size_t r = 0; r < g.ops.size(); ++r)
        read = read || (std::ranges::find(ops, static_cast<int>(r)) == ops.end() &&
                        std::ranges::count(g.ops[r].inputs, t) > 0);
      if (read) moved.insert(t);
    }
    if (op.kind == OpKind::mask)
      kept = std::min(kept, kept_share(op.attributes, g.tensors[op.outputs[0]].shape));
    if (op.kind != OpKind::matmul) continue;
    const graph::DType dtype = g.tensors[op.inputs[0]].dtype;
    const double products = static_cast<double>(graph::size(g.tensors[op.outputs[0]].shape)) *
                            static_cast<double>(g.tensors[op.inputs[0]].shape.back());
    // A warpgroup's instruction uses all four tensor cores of a multiprocessor, a warp's instruction one of
    // them.
    const auto a = graph::name(dtype);
    if (const Instruction* row = target::find_warpgroup_mma(target, a, a, "f32", 128))
      cycles += products / (row->m * row->n * row->k) * row->cycles;
    else if (const Instruction* warp = target::find_mma(target, a, a, "f32"))
      cycles += products / (warp->m * warp->n * warp->k) * warp->cycles / 4;
    else
      cycles += products / 128;
  }
  double bytes = 0;
  for (int t : moved)
    bytes += static_cast<double>(graph::bytes_of(graph::size(g.tensors[t].shape), g.tensors[t].dtype));
  return std::max(bytes / target.costs.dram * 1e-3,
                  kept * cycles / target.multiprocessors / target.costs.clock * 1e-3);
}

}  // namespace zellige::fuse
