// Emits the schedule of a kernel, step by step: what steps accumulate in, loops, and works in order (kernel_text.hpp).
#include "emit/steps_text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "emit/nest_text.hpp"
#include "emit/tensor_index.hpp"
#include "graph/dtype.hpp"
#include "graph/reductions.hpp"
#include "kernel/widened.hpp"

namespace zellige::emit {
namespace {

/// Returns the number from which elements are joined as a number of a kernel. No integer is below the result if the
/// number is below 0.
std::string start_of(double number, graph::DType dtype) {
  if (graph::is_integer(dtype))
    return int_literal(number < 0 ? graph::format(tile::kept_in(dtype)).lowest : number, tile::kept_in(dtype));
  return std::isinf(number) ? "-zellige::infinity" : literal(number, dtype);
}

/// Returns whether the first wgmma of matmul `node` overwrites the accumulators, so that they need not be
/// cleared. If two matmuls of one wgmma group have cleared accumulators, ptxas (CUDA 13.0) inserts fences
/// and serialises all wgmma of the kernel (its note C7520).
bool overwritten(const kernel::Kernel& kernel, int node) {
  return kernel::find_step(kernel, [&](const kernel::Step& step) {
    const kernel::Mma* mma = kernel::as<kernel::Mma>(step);
    return mma && mma->peeled && step.work.node == node;
  });
}

/// Emits the declaration and initialisation of what a work accumulates over the loop: accumulators, a loop
/// state, the partial results of a reduction, or A fragments.
void start(const KernelText& k, const Work& t) {
  const auto filled = [&](int node, const Context& c, const std::string& start) {
    registers(k, node, c);
    if (c.row) return k.out.line("acc{}.fill({});", node, start);
    const CountedLoop i = counted("i", c.values() / c.vector()), v = counted("v", c.vector());
    k.out.line("{}{}acc{}[{}][{}] = {};", i.head, v.head, node, i.at, v.at, start);
  };
  const Node& n = k.block.nodes[t.node];
  const Context* c = t.context >= 0 ? &k.plan.layout_of(t) : nullptr;
  if (t.kind == WorkKind::mma) {
    if (k.columns.sets > 0) return k.out.line("products.clear<{}>();", k.columns.first.at(t.node));
    registers(k, t.node, *c);
    if (overwritten(k.plan, t.node)) return;
    k.out.line("acc{}.clear();", t.node);
    if (const auto column = k.columns.first.find(t.node); column != k.columns.first.end())
      k.out.line("products.clear<{}>();", column->second);
  } else if (t.kind == WorkKind::accumulate) {
    const graph::Monoid& of = n.kind == NodeKind::running_max ? graph::monoids::max : graph::monoid_of(n.op);
    const std::string start = start_of(graph::start_in(of, n.dtype), n.dtype);
    if (t.tensor >= 0) {
      const ThreadShare s = share(k, *c, 0, {"int", "i", "c", " 1"});
      const std::vector<Index> at = coordinate(k, "int", s.item, *c, 0);
      for (int v = 0; v < c->vector(); ++v)
        k.out.line("write<1>({}({}), Vec<{}, 1>{{{}}});", k.tile(t.tensor),
                   fmt::join(neighbour(at, c->inner(), v), ", "), register_type(n.dtype), start);
      close(k, s);
    } else {
      filled(t.node, *c, start);
      for (int i : k.block.consumers(t.node))
        if (!c->row && k.block.nodes[i].kind == NodeKind::running_diff) filled(i, *c, "0.0f");
    }
  } else if (t.kind == WorkKind::reduce) {
    sum_declaration(k, t);
  } else if (t.kind == WorkKind::to_operand) {
    operand_declaration(k, t);
    if (const auto widened = kernel::widened_by(k.plan, t)) bytes_declaration(k, t, *widened);
  }
}

/// Emits the head of the loop `begin`, whose number of iterations a size decides.
void sized(const KernelText& k, const kernel::Loop& begin) {
  k.out.line("#pragma unroll 1");
  k.out.open("for (int it = {}; it < {}; ++it) {{", begin.from,
             Index::named("trips") + (begin.trip_count - k.block.loop));
}

/// Returns the expression for a number of keys in iterations of the loop, of which a mask leaves some: at most `by`.
std::string in_iterations(const KernelText& k, const Index& keys, const std::string& by) {
  const kernel::MaskedLoopBounds& t = *k.plan.loop_bounds;
  std::int64_t maximum = 0;  // of iterations that a block would run if the loop had no end
  for (std::int64_t block = 0; block < t.row_blocks(k.block); ++block)
    maximum = std::max(maximum, t.of(block, std::numeric_limits<std::int64_t>::max()) + t.start(block));
  const std::string text = fmt::format("({}) / {}", keys, t.each);
  return maximum > k.block.loop || k.block.has_sized_loop() ? fmt::format("at_most({}, {})", text, by) : text;
}

/// Emits the head of the loop `begin`, whose bounds depend on a mask. This is the loop over the iterations in which
/// the mask keeps every element, the loop over the iterations after those, or one loop over all iterations. What it leaves to steps
/// after it, the block leaves out at the end of those that it runs.
void bounded(const KernelText& k, const kernel::Loop& begin) {
  const kernel::MaskedLoopBounds& t = *k.plan.loop_bounds;
  const Index first = global_start(k, t.rows, false, 0);
  const bool trailing = begin.from == begin.trip_count;  // the loop follows one of unmasked iterations
  const std::int64_t left = k.plan.iterations_per_block() - begin.trip_count;
  const std::string end = (Index::named("trips") - left).str();
  const Node& mask = k.block.nodes[t.mask];
  if (!trailing && !reads_trips_first(k.plan)) declare_masked_trips(k);
  if (begin.whole) {
    const std::string by_end = !t.end ? ""
                               : mask.length_size < 0
                                   ? fmt::format("{}", *t.end / t.each)
                                   : fmt::format("({}) / {}", bound(k, *t.end, mask.length_size), t.each);
    const bool every = t.last >= k.block.loop * t.each;
    std::string whole = every ? by_end : in_iterations(k, first + bound(k, *t.all, mask.tril_size), end);
    if (t.end && !every) whole = fmt::format("at_most({}, {})", whole, by_end);
    if (left > 0) whole = fmt::format("at_most({}, {})", whole, end);
    k.out.line("const int whole = {};  // and all of these", whole);
  }
  k.out.line("#pragma unroll 1");
  k.out.open("for (int it = {}; it < {}; ++it) {{", trailing ? "whole > 1 ? whole : 1" : fmt::format("{}", begin.from),
             begin.whole ? "whole" : end);
}

/// Emits the loop over a kernel's iterations, or the prologue that starts the copies of the first ones.
void iterations(const KernelText& k, const StepPlace& place, const kernel::Loop& begin) {
  const bool ring = begin.kind == kernel::Loop::iterations && k.plan.stages() > 1 && !k.plan.warp_specialized();
  const bool round = ring && k.plan.stages() < k.block.loop;  // otherwise all stages are filled before the loop
  if (round) k.out.line("int stage = 0, next = {};", k.plan.stages() - 1);
  const CountedLoop it = counted("it", begin.trip_count, "int", begin.from);
  const bool is_bounded = begin.bounded && begin.kind == kernel::Loop::iterations;
  if (begin.trip_count > begin.from + 1 && !is_bounded)
    k.out.line("#pragma unroll{}", begin.kind == kernel::Loop::prologue ? "" : " 1");
  if (is_bounded)
    k.plan.loop_bounds ? bounded(k, begin) : sized(k, begin);
  else
    k.out.open("{}{{", it.head);
  const StepPlace inside{.agent = place.agent,
                         .iteration = is_bounded ? Index::named("it") : it.at,
                         .from = begin.from,
                         .whole = begin.whole,
                         .skips = begin.bounded && !is_bounded,
                         .in_loop = true};
  if (ring && !round) k.out.line("const int stage = it;");
  run(k, inside, begin.body);
  if (round) {
    k.out.line("stage = stage + 1 == {} ? 0 : stage + 1;", k.plan.stages());
    k.out.line("next = next + 1 == {} ? 0 : next + 1;", k.plan.stages());
  }
  k.out.close();
}

/// Emits the steps, which load tiles. If `distance` > 0, they load the tiles of the iteration that is
/// `distance` later, if the loop has such an iteration. If `distance` is 0, they load the tiles of the
/// current iteration or, before the loop, of the first iteration.
void copy(const KernelText& k, const StepPlace& place, kernel::StepSpan steps, int distance) {
  if (distance > 0) {
    k.out.open("if (it + {} < {}) {{", distance,
               kernel::has_open_loop(k.plan) ? "trips" : fmt::format("{}", k.block.loop));
    k.out.line("const int ahead = it + {};", distance);
  } else if (place.skips) {
    k.out.open("if ({} < trips) {{", place.iteration);
  }
  for (const kernel::Step& step : steps) {
    const Work& t = step.work;
    if (t.kind == WorkKind::fetch) {
      fetch(k, place, t);
      continue;
    }
    const bool staged = k.plan.tensors[t.tensor].stages > 1;
    const Index stage = !staged ? 0 : distance > 0 ? Index::named("next") : place.iteration;
    copy_in(k, step, stage, distance > 0 ? Index::named("ahead") : place.iteration);
  }
  if (distance > 0 || place.skips) k.out.close();
}

/// Emits the works of steps, in order; those that can share a loop nest are emitted as one nest.
void work(const KernelText& k, const StepPlace& place, kernel::StepSpan steps) {
  for (const kernel::StepSpan& together : kernel::nests(k.plan, steps)) {
    for (const kernel::Step& step : together)
      if (step.work.kind == WorkKind::reduce && !started(k, step.work.node)) sum_declaration(k, step.work);
    const Work& t = together.front().work;
    if (const auto widened = kernel::widened_by(k.plan, t))
      widened_rows(k, place, t, *widened);
    else if (kernel::in_nest(k.plan, t))
      nest(k, place, together);
    else if (t.kind == WorkKind::mma)
      mma(k, place, t);
    else if (t.kind == WorkKind::reduce)
      lanes_nest(k, place, together.front());
    else if (t.kind == WorkKind::finish)
      finish(k, t);
    else if (t.kind == WorkKind::to_global)
      staged_store(k, place, t);
    else if (t.kind == WorkKind::to_cluster)
      k.out.line("exchange.send(acc{}, block_rank);", t.node);
    else if (t.kind == WorkKind::from_cluster)
      k.out.line("exchange.add(acc{}, block_rank);", t.node);
  }
}

}  // namespace

/// Emits the declaration of the registers that hold the value of a node in a thread-value layout.
void registers(const KernelText& k, int node, const Context& c) {
  if (c.row) return k.out.line("{} acc{};", fragment_type(c), node);
  k.out.line("Vec<{}, {}> acc{}[{}];", register_type(k.block.nodes[node].dtype), c.vector(), node,
             c.values() / c.vector());
}

bool reads_trips_first(const kernel::Kernel& kernel) {
  return kernel.loop_bounds && kernel.loop_bounds->reads() && kernel.blocks == 0;
}

/// Returns whether a `start` step has declared what the node's value is accumulated in.
bool started(const KernelText& k, int node) {
  return kernel::find_step(
      k.plan, [&](const kernel::Step& step) { return step.work.node == node && kernel::as<kernel::Start>(step); });
}

/// Emits the declaration of a reduction's partial results, with their initial values.
void sum_declaration(const KernelText& k, const Work& t) {
  const Node& n = k.block.nodes[t.node];
  const Context& c = k.plan.layout_of(t);
  const graph::Monoid& of = graph::monoid_of(n.op);
  if (!of.carrier.empty())  // its constructor makes the identity
    return k.out.line("{} sum{}[{}];", carrier(of, n.dtype), t.node, sums_of(c));
  const std::string type = register_type(n.dtype), start = start_of(of.identity, n.dtype);
  if (c.row) {
    k.out.line("Vec<{}, {}> sum{};", type, sums_of(c), t.node);
    k.out.line("for (int i = 0; i < {}; ++i) sum{}[i] = {};", sums_of(c), t.node, start);
    return;
  }
  const std::int64_t count = c.steps(1);
  const CountedLoop i = counted("i", count);
  k.out.line("Vec<{}, {}> sum{};", type, count, t.node);
  k.out.line("{}sum{}[{}] = {};", i.head, t.node, i.at, start);
}

/// Emits the code of steps, in order. Adjacent steps that can share a loop nest are emitted as one.
void run(const KernelText& k, const StepPlace& place, const std::vector<kernel::Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const kernel::Step& step = steps[i];
    const auto together = [&](int guard_lag) {
      const kernel::StepSpan adjacent = kernel::side_by_side(k.plan, steps, i);
      kernel::is_global_load(step.work.kind) ? copy(k, place, adjacent, guard_lag) : work(k, place, adjacent);
      i += adjacent.size() - 1;
    };
    kernel::match(
        step, [&](const kernel::Start&) { start(k, step.work); },
        [&](const kernel::Mma& mma) { issue(k, step.work, mma.peeled); },
        [&](const kernel::Copy& of) {
          step.work.copy.by_tensor_map() ? box(k, place, step, of) : together(of.guard_lag);
        },
        [&](const kernel::Compute& of) { together(of.guard_lag); },
        [&](const kernel::Sync& sync) { handover(k, place, step, sync); },
        [&](const kernel::Loop& of) {
          if (of.kind == kernel::Loop::tiles) return tiles(k, place, of);
          if (of.kind != kernel::Loop::slices) return iterations(k, place, of);
          k.out.line("#pragma unroll 1");
          k.out.open("for (int slice = 0; slice < {}; ++slice) {{", of.trip_count);
          run(k, place, of.body);
          k.out.close();
        });
  }
}

void declare_of_rows(const KernelText& k, const std::string& name, int load, bool maximum) {
  constexpr int few = 8;  // rows that a thread reads one by one
  const Node& n = k.block.nodes[load];
  const Node& mask = k.block.nodes[k.plan.loop_bounds->mask];
  const std::int64_t reach = mask.view.along(mask.key, k.block).reach();
  std::vector<Index> at(n.shape.size(), 0);
  const auto rows = std::ranges::find_if(n.shape, [](std::int64_t extent) { return extent > 1; });
  const auto read = [&] {
    return fmt::format("numbered({}({}), {})", k.global(n.tensor), fmt::join(position(k, n, 0, at), ", "), reach);
  };
  if (rows == n.shape.end()) return k.out.line("const int {} = {};", name, read());
  const int dim = static_cast<int>(rows - n.shape.begin());
  at[dim] = Index::named("row");
  const bool by_lanes = k.plan.blocks == 0 && *rows > few;  // else a role of one thread may read them
  k.out.line("int {} = {};", name, maximum ? 0 : reach);
  k.out.line("#pragma unroll {}", few);
  if (by_lanes)
    k.out.open("for (int row = lane; row < {}; row += 32) {{", *rows);
  else
    k.out.open("for (int row = 0; row < {}; ++row) {{", *rows);
  const std::string inside = n.view.predicated(dim) ? fmt::format("if ({} < {}) ", position(k, n, 0, at)[dim],
                                                                  global_end(k, n.view.along(dim, k.block)))
                                                    : "";
  k.out.line("{0}{1} = {2}({1}, {3});", inside, name, maximum ? "max" : "min", read());
  k.out.close();
  if (by_lanes) k.out.line("{0} = {1}max_lanes<32>({1}{0});", name, maximum ? "" : "-");
}

/// Emits the variable `trips`: the number of iterations of which a mask leaves something. What a kernel before this one may have
/// written is there before a length is read.
void declare_masked_trips(const KernelText& k) {
  const kernel::MaskedLoopBounds& t = *k.plan.loop_bounds;
  const Node& mask = k.block.nodes[t.mask];
  const Index all = number(k, k.block.iterations(k.program.sizes)), first = global_start(k, t.rows, false, 0);
  const bool every = t.last >= k.block.loop * t.each;  // no row ends before the loop does
  const std::string maximum =
      every ? all.str() : in_iterations(k, first + bound(k, t.last, mask.tril_size), (all - 1).str()) + " + 1";
  const char* const loses = "the others lie beyond the sequence's end";
  std::string stop = maximum;
  if (t.lengths >= 0) {
    const tile::Interval keys = mask.view.along(mask.key, k.block);
    if (k.plan.programmatic) k.out.line("griddep_wait();");
    declare_of_rows(k, "length", t.lengths, true);
    // where blocks begin later, `begin` is subtracted below
    const Index left = Index::named("length") - (t.starts >= 0 ? Index(0) : global_start(k, keys, false, 0));
    stop = fmt::format("at_most(({}) / {}, {})", left + (t.each - 1), t.each, maximum);
    if (t.starts < 0) return k.out.line("const int trips = {} < 1 ? 1 : {};  // {}", left, stop, loses);
  }
  if (t.starts >= 0) {
    k.out.line("const int stop = {} - begin;", stop);
    k.out.line("const int trips = stop < 1 ? 1 : stop;  // {}",
               t.lengths >= 0 ? loses : "a mask leaves nothing of the others");
  } else if (every) {
    k.out.line("const int trips = {};", all);
  } else {
    k.out.line("const int trips = {}{};  // a mask leaves nothing of the others", maximum, t.from ? " - begin" : "");
  }
}

}  // namespace zellige::emit
