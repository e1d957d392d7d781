#include "candidate/body.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "candidate/tile_writer.hpp"
#include "graph/error.hpp"
#include "graph/reductions.hpp"
#include "rewrite/rewrite.hpp"

namespace zellige::candidate {
namespace {

using Kind = Deferred::Kind;

/// Returns how many elements along the loop axis each block has.
std::int64_t elements_of_part(const GroupTiling& tiles, const Axes& axes) {
  return axes.axes[tiles.loop_axis].extent / (tiles.split < 0 ? 1 : tiles.grid[tiles.split].blocks);
}

/// Returns whether step `s` may be applied to the operand of value `maximum` instead of to the maximum: the other
/// operands of `s` are known before the loop, and the result of `s` has the shape of the maximum.
bool grows(const GroupSteps& steps, const std::vector<Deferred>& deferred, const GroupStep& s, int maximum) {
  const bool same = steps.values[s.output].shape == steps.values[maximum].shape;
  return std::ranges::all_of(
      s.inputs, [&](int v) { return v == maximum || (deferred[v].itself() && !deferred[v].after && same); });
}

/// Returns whether a value is computed of a sum or maximum that the group computes.
bool reduced_of_steps(const GroupSteps& steps, int v) {
  if (steps.values[v].loaded) return false;
  const GroupStep& s = step_of(steps, v);
  return is_reduction(s.kind) || std::ranges::any_of(s.inputs, [&](int x) { return reduced_of_steps(steps, x); });
}

/// Returns whether value `v`, which a matmul rounds to its dtype, may be rounded without its deferred factors: the dtype has
/// float32's range; or the tile is that of a tensor of this dtype, or of exponentials, which are at most 1.
bool keeps_range(const GroupSteps& steps, const std::vector<Deferred>& deferred, int v) {
  const Deferred& x = deferred[v];
  const graph::DType to = steps.values[v].dtype;
  if (x.factors.empty() || x.kind == Kind::scaled || rewrite::has_range(to) || graph::is_integer(to)) return true;
  for (std::size_t u = 0; u < deferred.size(); ++u)
    if (deferred[u].tile == x.tile && deferred[u].itself() && steps.values[u].tensor >= 0 &&
        steps.values[u].dtype == to)
      return true;
  return false;
}

/// The steps of a group that blocks of a split loop compute.
struct NeededOfPart {
  std::set<int> maxima;  // maxima that the combining kernel needs, besides the sums
  std::set<int> inside;  // reductions whose partial results are stored, and all values that they are computed from
};

/// Returns what the blocks compute if the loop is split over them: the reductions over the loop from which a second
/// kernel, which combines the blocks' partial results, can compute the outputs, and the values from which these
/// reductions are computed. Steps between these reductions and the outputs, such as a softmax's quotient, are left to
/// the second kernel. `deferred` has, by value, what a block has of it inside the unsplit loop; `sums` has, by sum over
/// the loop, the factors that are applied to it after the loop, and other values that the second kernel needs for it.
NeededOfPart needed_of_part(const GroupSteps& steps, const std::vector<Deferred>& deferred,
                            const std::map<int, std::vector<DeferredFactor>>& sums) {
  const auto is_maximum = [&](int v) { return deferred[v].kind == Deferred::Kind::maximum; };
  NeededOfPart result;
  std::vector<int> wanted(steps.outputs), needed;
  for (std::set<int> seen; !wanted.empty();) {  // by the combining kernel
    const int v = wanted.back();
    wanted.pop_back();
    if (steps.values[v].loaded || !seen.insert(v).second) continue;
    if (const auto sum = sums.find(v); sum != sums.end()) {
      needed.push_back(v);
      for (const DeferredFactor& f : sum->second) wanted.push_back(f.value);
    } else if (is_maximum(v) && deferred[v].waits()) {
      needed.push_back(v), result.maxima.insert(v);
    } else {
      const GroupStep& s = step_of(steps, v);
      wanted.insert(wanted.end(), s.inputs.begin(), s.inputs.end());
    }
  }
  while (!needed.empty()) {
    const int v = needed.back();
    needed.pop_back();
    if (steps.values[v].loaded || !result.inside.insert(v).second) continue;
    for (int x : step_of(steps, v).inputs)
      if (!deferred[x].waits() || is_maximum(x)) needed.push_back(x);
  }
  return result;
}

/// Writes what a loop leaves behind, accumulators and partial results, and what its steps use in place of a value that is
/// known only after it: a running maximum, the mean of a block's part, or a deferred factor.
class LoopResults : protected TileWriter {
 public:
  using TileWriter::TileWriter;

 protected:
  /// A running maximum of the loop (online softmax). Its members are tiles of the block graph, except dim and like.
  struct Running {
    int of, dim;          // the operand, and the dimension along which the maximum is taken
    int maximum, fallen;  // after this iteration; the value before this iteration minus it
    int like;             // the value of the steps whose tile is `of` or from which `of` is computed
    int exact = -1;       // of a block with one tile of rows: the maximum before its clamp
    int partial = -1;     // index of the partial result that stores it; -1: none yet
  };

  /// Returns the tile in the type in which kernels compute with its numbers.
  int widened(int tile) { return cast(tile, graph::computed_in(dtype(tile))); }
  /// Records a partial result, which will be stored from tile `tile`. Returns its index in body_.partials.
  int add_partial(PartialResult p, int tile) {
    p.dtype = dtype(tile);
    body_.partials.push_back(std::move(p));
    partial_tiles_.push_back(tile);
    return static_cast<int>(body_.partials.size()) - 1;
  }
  /// Returns the index of the partial result that stores runnings_[running], a running maximum, after the
  /// block's last iteration. Adds the partial result at the first call.
  int partial_of(int running) {
    Running& r = runnings_[running];
    if (r.partial >= 0) return r.partial;
    graph::Shape kept = shape(r.like);
    kept[r.dim] = 1;
    const int last = exact_maxima() ? r.exact : one_tile() ? r.maximum : emit(graph::OpKind::accum_max, {r.maximum});
    return r.partial =
               add_partial({.value = r.like, .dim = r.dim, .shape = kept, .exact = exact_maxima()}, widened(last));
  }

  /// Throws Error if maximum `v` has no finite lower bound. Its accumulator starts at the lowest finite
  /// float32, which would be wrong for a row of minus infinities.
  void bounded(int v) const {
    if (!deferred_[v].bounded_below()) fail("the maximum {} would be that of finite numbers", called(v));
  }

  /// Returns the tile of value `v` as it is after the loop. Requires that the value has no deferred factor or offset
  /// (one that is applied after the loop). For a maximum over the loop, emits the accumulator at the first call.
  int known(int v) {
    Deferred& h = deferred_[v];
    if (h.kind != Kind::maximum || h.tile >= 0) return h.tile;
    if (!exact_maxima()) bounded(v);
    if (one_tile()) return h.tile = runnings_[running_of(h)].maximum;
    const int x = inner(h);
    for (const Running& r : runnings_)
      if (r.of == x && r.dim == h.dim) return h.tile = emit(graph::OpKind::accum_max, {r.maximum});
    return h.tile = emit(graph::OpKind::accum_max, {emit(graph::OpKind::amax, {x}, {.dim = h.dim, .keepdim = true})});
  }

  /// Returns the tile of which `h` is the maximum: the maximum's operand, with the monotone steps that follow the
  /// maximum applied to it. They may be applied first, because f(max x) = max f(x).
  int inner(const Deferred& h) {
    int x = deferred_[h.of].tile;
    for (const GroupStep& s : h.monotone) {
      if (s.kind == graph::OpKind::maximum && s.inputs.size() == 1 &&
          s.attributes.scalar == graph::monoids::max.start && !one_tile())
        continue;  // the initial value of a running maximum
      x = emit_once(s.kind, s.inputs.size() == 1 ? std::vector{x} : std::vector{x, deferred_[s.inputs[1]].tile},
                    s.attributes);
    }
    return x;
  }

  /// Returns the index in `runnings_` of the running maximum that replaces maximum `h` inside the loop. Emits
  /// the running maximum at the first call.
  int running_of(const Deferred& h) {
    const int x = inner(h);
    for (std::size_t i = 0; i < runnings_.size(); ++i)
      if (runnings_[i].of == x && runnings_[i].dim == h.dim) return static_cast<int>(i);
    if (one_tile()) {  // the initial value of a running maximum
      const int maximum = emit(graph::OpKind::amax, {x}, {.dim = h.dim, .keepdim = true});
      const int finite = emit(graph::OpKind::maximum, {maximum}, {.scalar = graph::monoids::max.start});
      runnings_.push_back({x, h.dim, finite, -1, h.of, maximum});
    } else {
      const int maximum = emit(graph::OpKind::reduction_max, {x}, {.dim = h.dim}), fallen = tile(dtype(maximum));
      body_.block.ops.back().outputs.push_back(fallen);
      runnings_.push_back({x, h.dim, maximum, fallen, h.of});
    }
    return static_cast<int>(runnings_.size()) - 1;
  }

  /// Emits the factor by which earlier sums are multiplied when the running maximum of `h` changes from m' to m: exp(c
  /// (m - m')), where c is h.coefficient. Returns the factor's tile.
  int rescale_of(const Deferred& h) {
    const Running& r = runnings_[h.running];
    const int fallen = widened(r.fallen);
    if (h.coefficient == -1) return emit_once(graph::OpKind::exp, {fallen});
    return emit_once(graph::OpKind::exp, {emit_once(graph::OpKind::mul_scalar, {fallen}, {.scalar = -h.coefficient})});
  }

  /// Emits step `s` inside the loop, and returns its result. One of its two operands, `x` or `y`, is known only after
  /// the loop. If that operand is a factor or divisor, it becomes a deferred factor of the other operand (applied after
  /// the loop). If it is a maximum that is subtracted, the running maximum is subtracted instead. Throws Error for any
  /// other step.
  Deferred waited(const GroupStep& s, Deferred x, const Deferred& y) {
    if (s.kind == graph::OpKind::mul && x.waits()) {
      Deferred h = y;
      if (h.kind == Kind::offset || h.centre >= 0) refuse(s);
      h.factors.push_back({s.inputs[0], false});
      return h;
    }
    if (x.waits() || x.centre >= 0) refuse(s);
    if (s.kind == graph::OpKind::mul || s.kind == graph::OpKind::div) {
      if (x.kind == Kind::offset) refuse(s);
      x.factors.push_back({s.inputs[1], s.kind == graph::OpKind::div});
      return x;
    }
    if (s.kind != graph::OpKind::sub || !x.itself()) refuse(s);
    if (y.kind != Kind::maximum) return centred(s, x);
    x.running = running_of(y);
    x.kind = Kind::offset, x.coefficient = -1;
    x.tile = emit(graph::OpKind::sub, {x.tile, runnings_[x.running].maximum});
    return x;
  }

  /// Emits step `s`, which subtracts from `x`, the operand of a sum over the loop, a value that is known only after the
  /// loop. Subtracts the mean of the block's part instead. Throws Error if there is no such sum yet, if a block has
  /// several tiles, if the last one is partial, or if `x` is broadcast.
  Deferred centred(const GroupStep& s, Deferred x) {
    const auto sum = std::ranges::find_if(
        part_sums_, [&](const auto& of) { return same_numbers(steps_, of.second.first, s.inputs[0]); });
    if (!exact_maxima() || tiles_.extents.contains(tiles_.loop_axis) || sum == part_sums_.end() ||
        shape(s.output) != shape(s.inputs[0]))
      refuse(s);
    const int total = widened(sum->second.second);
    const int mean = emit_once(graph::OpKind::mul_scalar, {total},
                               {.scalar = 1 / static_cast<double>(elements_of_part(tiles_, axes_))});
    x.kind = Kind::centred, x.centre = s.inputs[1], x.about = sum->first;
    x.tile = emit(graph::OpKind::sub, {x.tile, mean});
    return x;
  }

  /// Returns whether the deferred factors of `h` (those applied after the loop) and its running maximum are constant
  /// along a dimension that is to be reduced, so that they can be applied after the reduction. The dimension is the one
  /// `back` positions before the last.
  bool passes(const Deferred& h, std::size_t back) const {
    for (const DeferredFactor& f : h.factors)
      if (from_last(shape(f.value), back) != 1) return false;
    if (h.running < 0) return true;
    const Running& r = runnings_[h.running];
    const graph::Shape& like = shape(r.like);
    return back == like.size() - 1 - static_cast<std::size_t>(r.dim) || from_last(like, back) == 1;
  }

  /// Emits the accumulator of a reduction or matmul `s` over the loop, and returns its result. `sum` is the kind of
  /// the accumulator's operator. `x` is the value that is accumulated. After the loop, the result is
  /// multiplied by the deferred factors of x. If the loop is split over blocks, records a partial result
  /// instead, and the second kernel multiplies by the factors.
  Deferred settled(const GroupStep& s, const Deferred& x, graph::OpKind sum) {
    int t = x.tile;
    if (one_tile()) {
      if (sum == graph::OpKind::accum_red_sum) t = emit(graph::OpKind::reduction, {t}, {.dim = s.attributes.dim});
    } else if (x.kind == Kind::scaled)
      t = emit(sum == graph::OpKind::accum ? graph::OpKind::accum_rescale : graph::OpKind::accum_red_sum_rescale,
               {x.tile, rescale_of(x)});
    else
      t = emit(sum, {x.tile});
    factors_[s.output] = x.factors;
    if (x.kind == Kind::squared) factors_[s.output].insert(factors_[s.output].end(), {{x.centre}, {x.about}});
    if (x.itself() && s.kind == graph::OpKind::reduction) part_sums_[s.output] = {s.inputs[0], t};
    if (tiles_.split >= 0) {
      PartialResult p{s.output, -1, -1, x.coefficient, x.factors, shape(s.output)};
      if (&graph::monoid_of(s.kind) != &graph::monoids::sum) p.join = s.kind;
      if (x.kind == Kind::scaled) p.below = partial_of(x.running);
      if (x.kind == Kind::squared)
        p.about = body_.sums.at(x.about), p.count = elements_of_part(tiles_, axes_), p.centre = x.centre;
      body_.sums[s.output] = add_partial(std::move(p), widened(t));
      return {.after = true};
    }
    for (const DeferredFactor& f : x.factors)
      t = emit(f.divide ? graph::OpKind::div : graph::OpKind::mul, {t, known(f.value)});
    return {.tile = t, .after = true};
  }

  std::vector<Running> runnings_;
  // By sum over the loop: the factors deferred to its end, and the other values with which its parts are combined.
  std::map<int, std::vector<DeferredFactor>> factors_;
  std::map<int, std::pair<int, int>> part_sums_;  // by sum over the loop: its operand, and its tile
  std::vector<int> partial_tiles_;                // by partial result: the tile that is stored
};

/// Writes the block graph of a group step by step.
class Emission : LoopResults {
 public:
  using LoopResults::LoopResults;

  /// Emits all steps and, unless the loop is split over blocks, the stores of the group's outputs. Returns the block
  /// graph with its loads and stores. Throws Error if a step needs a value that is not yet available.
  GroupBody run() {
    for (const GroupStep& s : steps_.steps) split_ ? step_before_split(s) : step(s);
    require_nan_rows(steps_, deferred_, exact_maxima());
    if (!split_)
      for (int v : steps_.outputs) store(v, known(v));
    return std::move(body_);
  }

  /// Emits and returns the block graph of one block of a split loop: the steps up to the partial results, and the
  /// stores of the partial results. `whole` must be the Emission of the same group with an unsplit loop, after its
  /// run().
  GroupBody run_part(Emission& whole) {
    const auto [maxima, inside] = needed_of_part(steps_, whole.deferred_, whole.factors_);
    for (const GroupStep& s : steps_.steps)
      if (inside.count(s.output) > 0)
        step(s);
      else
        deferred_[s.output].after = whole.deferred_[s.output].after;
    for (int v : maxima) {
      if (!exact_maxima()) bounded(v);
      body_.maxima[v] = partial_of(running_of(deferred_[v]));
    }
    for (std::size_t p = 0; p < body_.partials.size(); ++p) store_partial(static_cast<int>(p), partial_tiles_[p]);
    return std::move(body_);
  }

 private:
  /// Emits the loads of a step's operands, then the block operators of the step. Throws Error if the step
  /// needs a value that is not yet available.
  void step(const GroupStep& s) {
    for (int v : s.inputs) load(v);
    const Deferred h = deferred_[s.output] = lower(s);
    if (h.tile >= 0 && h.itself()) name_after(s.output, h.tile);
  }
  /// Emits a step of a group whose loop will be split over blocks. If each block runs a single iteration, a
  /// step that needs a value known only after the loop is postponed to another kernel, and so are all steps
  /// that depend on its result.
  void step_before_split(const GroupStep& s) {
    if (!exact_maxima()) return step(s);
    if (std::ranges::none_of(s.inputs, [&](int v) { return postponed_.contains(v); }) && !refused([&] { step(s); }))
      return;
    postponed_.insert(s.output);
    body_.reduces_again = body_.reduces_again || is_along(s);
  }

  /// Returns the tiles of a step's operands. Throws Error if a factor or offset of one is deferred (applied after the
  /// loop), or if one is known only after the loop.
  std::vector<int> exact_operands(const GroupStep& s) const {
    std::vector<int> in;
    for (int v : s.inputs) {
      if (!deferred_[v].itself() || deferred_[v].waits()) refuse(s);
      in.push_back(deferred_[v].tile);
    }
    return in;
  }

  /// Emits step `s`, and returns its result. Called if blocks split one reduced axis, each block loops along another
  /// one (inner_axis), and an operand of `s` changes with the iteration. A sum or matmul over inner_axis becomes an
  /// accumulator. Throws Error for a maximum over inner_axis, or if a factor or offset of an operand is deferred
  /// (applied after the loop).
  Deferred within(const GroupStep& s) {
    Deferred h{.varies = std::ranges::any_of(s.inputs, [&](int v) { return deferred_[v].varies; })};
    const bool along = axes_.reduces(s, tiles_.inner_axis);
    if (along && &graph::monoid_of(s.kind) != &graph::monoids::sum) refuse(s);
    h.tile = placed(s, exact_operands(s)), h.inner = !along;
    if (along) h.tile = emit(graph::OpKind::accum, {h.tile});
    return h;
  }

  /// Emits a step. Returns its result: a tile, with the factors or offset that are applied after the loop. Throws Error
  /// if the step needs inside the loop a value that is known only after the loop, and the use of that value cannot be
  /// moved to the end of the loop by a law of deferred.hpp.
  Deferred lower(const GroupStep& s) {
    if (std::ranges::any_of(s.inputs, [&](int v) { return deferred_[v].inner; })) return within(s);
    if (std::ranges::none_of(s.inputs, [&](int v) { return deferred_[v].varies; })) return outside(s);
    return is_matmul(s) ? product(s) : is_reduction(s.kind) ? reduced(s) : mapped(s);
  }

  /// Emits step `s`, whose operands do not change with the loop iteration, and returns its result. A monotone step on a
  /// maximum is not emitted but recorded, because it will be applied to the maximum's operand.
  Deferred outside(const GroupStep& s) {
    const auto x = std::ranges::find_if(s.inputs, [&](int v) { return deferred_[v].kind == Kind::maximum; });
    if (x != s.inputs.end() && grows(steps_, deferred_, s, *x))
      if (Deferred h = deferred_[*x]; through(s, h)) {
        if (x != s.inputs.begin()) std::ranges::reverse(h.monotone.back().inputs);
        return h;
      }
    Deferred h;
    std::vector<int> in;
    for (int v : s.inputs) in.push_back(known(v)), h.after = h.after || deferred_[v].after;
    h.tile = placed(s, std::move(in));
    return h;
  }

  /// Emits a step on the tiles `in` and returns the tile of its result. Rounds the operands of a matmul to their
  /// dtypes, gives a mask the offset of its tile in the tensor, and omits a cast from float32 to float32.
  int placed(const GroupStep& s, std::vector<int> in) {
    if (is_matmul(s))
      for (std::size_t i = 0; i < 2; ++i) in[i] = rounded(in[i], s.inputs[i]);
    if (rewrite::is_widening(s.kind, s.attributes) && dtype(in[0]) == graph::DType::f32) return in[0];
    const int t = emit(s.kind, std::move(in), s.attributes);
    if (s.kind == graph::OpKind::mask) {
      body_.block.ops.back().map = map_of(s.inputs[0]);
      body_.block.ops.back().loop_dim = cut_by_loop(s.inputs[0]);
    }
    return t;
  }

  /// Returns whether a mask by indices lets no block skip iterations: the loop is split over blocks, or the indices are computed in the
  /// block, which reads them from memory before its loop begins.
  bool reads_no_indices(const GroupStep& mask) const {
    return (split_ && mask.attributes.kept.first) || reduced_of_steps(steps_, mask.inputs[1]);
  }

  /// Emits an elementwise step, mask or rotary embedding inside the loop, and returns its result. Throws Error if a
  /// factor or offset of an operand is deferred (applied after the loop), and the step does not commute with it.
  Deferred mapped(const GroupStep& s) {
    Deferred x = deferred_[s.inputs[0]];
    if (s.inputs.size() == 1) {
      if (!through(s, x)) refuse(s);
      x.tile = placed(s, {x.tile});
      return x;
    }
    if (s.kind == graph::OpKind::mask && std::isinf(s.attributes.value) && reads_no_indices(s)) refuse(s);
    if (s.inputs.size() > 2) return {.tile = placed(s, exact_operands(s)), .varies = true};
    Deferred y = deferred_[s.inputs[1]];
    if (y.waits() || x.waits()) return waited(s, x, y);
    const int left = x.tile, right = y.tile;
    if (!through(s, x, &y)) refuse(s);
    x.tile = placed(s, {left, right}), x.varies = true;
    return x;
  }

  /// Emits a sum or maximum of a value inside the loop, and returns its result. A reduction over the loop axis becomes
  /// an accumulator. Throws Error if the operand has a deferred factor or offset (applied after the loop) that is not
  /// constant along the reduced dimension.
  Deferred reduced(const GroupStep& s) {
    const int v = s.inputs[0], dim = s.attributes.dim;
    Deferred x = deferred_[v];
    const bool along = is_along(s), last = dim + 1 == static_cast<int>(shape(v).size());
    if (const graph::Monoid& of = graph::monoid_of(s.kind); &of != &graph::monoids::sum) {
      const graph::ReductionRow* accumulator = graph::accumulator_of(s.kind);
      if (!x.itself() || (along && !accumulator)) refuse(s);
      if (along && &of == &graph::monoids::max) return {.kind = Kind::maximum, .after = true, .of = v, .dim = dim};
      x.tile = emit(s.kind, {x.tile}, s.attributes);
      return along ? settled(s, x, accumulator->kind) : x;
    }
    const bool differences = x.kind == Kind::centred || (x.kind == Kind::squared && !along);
    if (differences || x.kind == Kind::offset || !passes(x, shape(v).size() - 1 - static_cast<std::size_t>(dim)))
      refuse(s);
    if (along && x.kind == Kind::scaled) x.tile = widened(x.tile);
    if (!along || !last) x.tile = emit(s.kind, {x.tile}, s.attributes);
    return along ? settled(s, x, last ? graph::OpKind::accum_red_sum : graph::OpKind::accum) : x;
  }

  /// Emits a matmul inside the loop, and returns its result. If the loop runs along K, the result becomes an
  /// accumulator. Throws Error if an operand has a deferred factor or offset (applied after the loop) that is not
  /// constant along K.
  Deferred product(const GroupStep& s) {
    Deferred x = deferred_[s.inputs[0]], y = deferred_[s.inputs[1]];
    if (x.waits() || y.waits() || x.kind == Kind::offset || y.kind == Kind::offset || !passes(x, 0) || !passes(y, 1) ||
        !keeps_range(steps_, deferred_, s.inputs[0]) || !keeps_range(steps_, deferred_, s.inputs[1]))
      refuse(s);
    const int product = placed(s, {x.tile, y.tile});
    GroupStep times;
    times.kind = graph::OpKind::mul, times.inputs = s.inputs;
    if (!through(times, x, &y)) refuse(s);
    x.tile = product, x.varies = true;
    if (!is_along(s)) return x;
    if (x.kind == Kind::scaled) x.tile = widened(x.tile);
    return settled(s, x, graph::OpKind::accum);
  }

  std::set<int> postponed_;  // of a split loop: values that another kernel computes
};

}  // namespace

GroupBody body_of(const graph::KernelGraph& g, const GroupSteps& steps, const Axes& axes, const GroupTiling& tiles) {
  if (tiles.split < 0) return Emission(g, steps, axes, tiles, false).run();
  GroupTiling unsplit = tiles;
  unsplit.grid[tiles.split] = {};
  unsplit.split = -1;
  Emission whole(g, steps, axes, unsplit, true);
  const bool again = whole.run().reduces_again;
  GroupBody part = Emission(g, steps, axes, tiles, true).run_part(whole);
  part.reduces_again = again;
  return part;
}

}  // namespace zellige::candidate
