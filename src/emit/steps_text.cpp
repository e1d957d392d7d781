// Emits the schedule of a kernel, step by step: what steps accumulate in, loops, and works in order (kernel_text.hpp).
#include <algorithm>
#include <cmath>
#include <limits>

#include "emit/kernel_text.hpp"
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
  return std::isinf(number) ? "-zellige::infinity" : float_literal(number);
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

}  // namespace

/// Emits the declaration of the registers that hold the value of a node in a thread-value layout.
void KernelText::registers(int node, const Context& c) {
  if (c.row) return out_.line("{} acc{};", fragment_type(c), node);
  out_.line("Vec<{}, {}> acc{}[{}];", register_type(block_.nodes[node].dtype), c.vector(), node,
            c.values() / c.vector());
}

/// Emits the declaration and initialisation of what a work accumulates over the loop: accumulators, a loop
/// state, the partial results of a reduction, or A fragments.
void KernelText::start(const Work& t) {
  const auto filled = [&](int node, const Context& c, const std::string& start) {
    registers(node, c);
    if (c.row) return out_.line("acc{}.fill({});", node, start);
    const CountedLoop i = counted("i", c.values() / c.vector()), v = counted("v", c.vector());
    out_.line("{}{}acc{}[{}][{}] = {};", i.head, v.head, node, i.at, v.at, start);
  };
  const Node& n = block_.nodes[t.node];
  const Context* c = t.context >= 0 ? &plan_.layout_of(t) : nullptr;
  if (t.kind == WorkKind::mma) {
    registers(t.node, *c);
    if (const auto widened = kernel::widened_operand(block_, t.node, t.matmul); widened && widened->side == 0)
      start_widened(t, *widened);
    if (overwritten(plan_, t.node)) return;
    out_.line("acc{}.clear();", t.node);
    if (const auto column = columns_.first.find(t.node); column != columns_.first.end())
      out_.line("products.clear<{}>();", column->second);
  } else if (t.kind == WorkKind::accumulate) {
    const graph::Monoid& of = n.kind == NodeKind::running_max ? graph::monoids::max : graph::monoid_of(n.op);
    const std::string start = start_of(of.start, n.dtype);
    if (t.tensor >= 0) {
      const ThreadShare s = share(*c, 0, {"int", "i", "c", " 1"});
      const std::vector<Index> at = coordinate("int", s.item, *c, 0);
      for (int v = 0; v < c->vector(); ++v)
        out_.line("write<1>({}({}), Vec<{}, 1>{{{}}});", tile(t.tensor), fmt::join(neighbour(at, c->inner(), v), ", "),
                  register_type(n.dtype), start);
      close(s);
    } else {
      filled(t.node, *c, start);
      for (int i : block_.consumers(t.node))
        if (!c->row && block_.nodes[i].kind == NodeKind::running_diff) filled(i, *c, "0.0f");
    }
  } else if (t.kind == WorkKind::reduce) {
    sum_declaration(t);
  } else if (t.kind == WorkKind::to_operand) {
    operand_declaration(t);
  }
}

/// Returns whether a `start` step has declared what the node's value is accumulated in.
bool KernelText::started(int node) const {
  return kernel::find_step(
      plan_, [&](const kernel::Step& step) { return step.work.node == node && kernel::as<kernel::Start>(step); });
}

/// Emits the declaration of a reduction's partial results, with their initial values.
void KernelText::sum_declaration(const Work& t) {
  const Node& n = block_.nodes[t.node];
  const Context& c = plan_.layout_of(t);
  const graph::Monoid& of = graph::monoid_of(n.op);
  if (!of.carrier.empty())  // its constructor makes the identity
    return out_.line("{} sum{}[{}];", of.carrier, t.node, sums_of(c));
  const std::string type = register_type(n.dtype), start = start_of(of.identity, n.dtype);
  if (c.row) {
    out_.line("Vec<{}, {}> sum{};", type, sums_of(c), t.node);
    out_.line("for (int i = 0; i < {}; ++i) sum{}[i] = {};", sums_of(c), t.node, start);
    return;
  }
  const std::int64_t count = c.steps(1);
  const CountedLoop i = counted("i", count);
  out_.line("Vec<{}, {}> sum{};", type, count, t.node);
  out_.line("{}sum{}[{}] = {};", i.head, t.node, i.at, start);
}

/// Emits the code of steps, in order. Adjacent steps that can share a loop nest are emitted as one.
void KernelText::run(const std::vector<kernel::Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const kernel::Step& step = steps[i];
    const auto together = [&](int guard_lag) {
      const kernel::StepSpan adjacent = kernel::side_by_side(plan_, steps, i);
      kernel::is_global_load(step.work.kind) ? copy(adjacent, guard_lag) : work(adjacent);
      i += adjacent.size() - 1;
    };
    kernel::match(
        step, [&](const kernel::Start&) { start(step.work); },
        [&](const kernel::Mma& mma) { issue(step.work, mma.peeled); },
        [&](const kernel::Copy& of) { step.work.copy.by_tensor_map() ? box(step, of) : together(of.guard_lag); },
        [&](const kernel::Compute& of) { together(of.guard_lag); },
        [&](const kernel::Sync& sync) { handover(step, sync); },
        [&](const kernel::Loop& of) {
          if (of.kind == kernel::Loop::tiles) return tiles(of);
          if (of.kind != kernel::Loop::slices) return loop(of);
          out_.line("#pragma unroll 1");
          out_.open("for (int slice = 0; slice < {}; ++slice) {{", of.trip_count);
          run(of.body);
          out_.close();
        });
  }
}

/// Emits the loop over a kernel's iterations, or the prologue that starts the copies of the first ones.
void KernelText::loop(const kernel::Loop& begin) {
  const bool ring = begin.kind == kernel::Loop::iterations && plan_.stages() > 1 && !plan_.warp_specialized();
  const bool round = ring && plan_.stages() < block_.loop;  // otherwise all stages are filled before the loop
  if (round) out_.line("int stage = 0, next = {};", plan_.stages() - 1);
  const CountedLoop it = counted("it", begin.trip_count, "int", begin.from);
  const bool is_bounded = begin.bounded && begin.kind == kernel::Loop::iterations;
  if (begin.trip_count > begin.from + 1 && !is_bounded)
    out_.line("#pragma unroll{}", begin.kind == kernel::Loop::prologue ? "" : " 1");
  if (is_bounded)
    plan_.loop_bounds ? bounded(begin) : sized(begin);
  else
    out_.open("{}{{", it.head);
  iteration_ = is_bounded ? Index::named("it") : it.at;
  from_ = begin.from, whole_ = begin.whole, skips_ = begin.bounded && !is_bounded;
  if (ring && !round) out_.line("const int stage = it;");
  ++loops_;
  run(begin.body);
  --loops_;
  iteration_ = 0;
  whole_ = skips_ = false;
  if (round) {
    out_.line("stage = stage + 1 == {} ? 0 : stage + 1;", plan_.stages());
    out_.line("next = next + 1 == {} ? 0 : next + 1;", plan_.stages());
  }
  out_.close();
}

/// Emits the head of the loop `begin`, whose number of iterations a size decides.
void KernelText::sized(const kernel::Loop& begin) {
  out_.line("#pragma unroll 1");
  out_.open("for (int it = {}; it < {}; ++it) {{", begin.from,
            Index::named("trips") + (begin.trip_count - block_.loop));
}

/// Returns the expression for a number of keys in iterations of the loop, of which a mask leaves some: at most `by`.
std::string KernelText::in_iterations(const Index& keys, const std::string& by) const {
  const kernel::MaskedLoopBounds& t = *plan_.loop_bounds;
  std::int64_t maximum = 0;  // of iterations that a block would run if the loop had no end
  for (std::int64_t block = 0; block < t.row_blocks(block_); ++block)
    maximum = std::max(maximum, t.of(block, std::numeric_limits<std::int64_t>::max()) + t.start(block));
  const std::string text = fmt::format("({}) / {}", keys, t.each);
  return maximum > block_.loop || block_.has_sized_loop() ? fmt::format("at_most({}, {})", text, by) : text;
}

/// Emits the variable `name`: the integer that a load has for the block, from 0 to the number of keys; of one for each of its rows
/// the least or the largest. Rows beyond the tensor's end have none.
void KernelText::declare_of_rows(const std::string& name, int load, std::string_view extreme) {
  const Node& n = block_.nodes[load];
  const Node& mask = block_.nodes[plan_.loop_bounds->mask];
  const std::int64_t reach = mask.view.along(mask.key, block_).reach();
  std::vector<Index> at(n.shape.size(), 0);
  const auto rows = std::ranges::find_if(n.shape, [](std::int64_t extent) { return extent > 1; });
  const auto read = [&] {
    return fmt::format("numbered({}({}), {})", global(n.tensor), fmt::join(position(n, 0, at), ", "), reach);
  };
  if (rows == n.shape.end()) return out_.line("const int {} = {};", name, read());
  const int dim = static_cast<int>(rows - n.shape.begin());
  at[dim] = Index::named("row");
  out_.line("int {} = {};", name, extreme == "max" ? 0 : reach);
  out_.line("#pragma unroll 8");
  out_.open("for (int row = 0; row < {}; ++row) {{", *rows);
  const std::string inside = n.view.predicated(dim) ? fmt::format("if ({} < {}) ", position(n, 0, at)[dim],
                                                                  global_end(n.view.along(dim, block_)))
                                                    : "";
  out_.line("{0}{1} = {2}({1}, {3});", inside, name, extreme, read());
  out_.close();
}

/// Emits the variable `trips`: the number of iterations of which a mask leaves something. What a kernel before this one may have
/// written is there before a length is read.
void KernelText::declare_masked_trips() {
  const kernel::MaskedLoopBounds& t = *plan_.loop_bounds;
  const Node& mask = block_.nodes[t.mask];
  const Index all = number(block_.iterations(program_.sizes)), first = global_start(t.rows, false, 0);
  const bool every = t.last >= block_.loop * t.each;  // no row ends before the loop does
  const std::string most =
      every ? all.str() : in_iterations(first + bound(t.last, mask.tril_size), (all - 1).str()) + " + 1";
  const char* const loses = "the others lie beyond the sequence's end";
  std::string stop = most;
  if (t.lengths >= 0) {
    const tile::Interval keys = mask.view.along(mask.key, block_);
    if (plan_.programmatic) out_.line("griddep_wait();");
    declare_of_rows("length", t.lengths, "max");
    // where blocks begin later, `begin` is subtracted below
    const Index left = Index::named("length") - (t.starts >= 0 ? Index(0) : global_start(keys, false, 0));
    stop = fmt::format("at_most(({}) / {}, {})", left + (t.each - 1), t.each, most);
    if (t.starts < 0) return out_.line("const int trips = {} < 1 ? 1 : {};  // {}", left, stop, loses);
  }
  if (t.starts >= 0) {
    out_.line("const int stop = {} - begin;", stop);
    out_.line("const int trips = stop < 1 ? 1 : stop;  // {}",
              t.lengths >= 0 ? loses : "a mask leaves nothing of the others");
  } else if (every) {
    out_.line("const int trips = {};", all);
  } else {
    out_.line("const int trips = {}{};  // a mask leaves nothing of the others", most, t.from ? " - begin" : "");
  }
}

/// Emits the head of the loop `begin`, whose bounds depend on a mask. This is the loop over the iterations in which
/// the mask keeps every element, the loop over the iterations after those, or one loop over all iterations. What it leaves to steps
/// after it, the block leaves out at the end of those that it runs.
void KernelText::bounded(const kernel::Loop& begin) {
  const kernel::MaskedLoopBounds& t = *plan_.loop_bounds;
  const Index first = global_start(t.rows, false, 0);
  const bool trailing = begin.from == begin.trip_count;  // the loop follows one of unmasked iterations
  const std::int64_t left = plan_.iterations_per_block() - begin.trip_count;
  const std::string end = (Index::named("trips") - left).str();
  const Node& mask = block_.nodes[t.mask];
  if (!trailing && !has_trips_) declare_masked_trips();
  if (begin.whole) {
    const std::string by_end = !t.end ? ""
                               : mask.length_size < 0
                                   ? fmt::format("{}", *t.end / t.each)
                                   : fmt::format("({}) / {}", bound(*t.end, mask.length_size), t.each);
    const bool every = t.last >= block_.loop * t.each;
    std::string whole = every ? by_end : in_iterations(first + bound(*t.all, mask.tril_size), end);
    if (t.end && !every) whole = fmt::format("at_most({}, {})", whole, by_end);
    if (left > 0) whole = fmt::format("at_most({}, {})", whole, end);
    out_.line("const int whole = {};  // and all of these", whole);
  }
  out_.line("#pragma unroll 1");
  out_.open("for (int it = {}; it < {}; ++it) {{", trailing ? "whole > 1 ? whole : 1" : fmt::format("{}", begin.from),
            begin.whole ? "whole" : end);
}

/// Emits the steps, which load tiles. If `distance` > 0, they load the tiles of the iteration that is
/// `distance` later, if the loop has such an iteration. If `distance` is 0, they load the tiles of the
/// current iteration or, before the loop, of the first iteration.
void KernelText::copy(kernel::StepSpan steps, int distance) {
  if (distance > 0) {
    out_.open("if (it + {} < {}) {{", distance,
              kernel::has_open_loop(plan_) ? "trips" : fmt::format("{}", block_.loop));
    out_.line("const int ahead = it + {};", distance);
  } else if (skips_) {
    out_.open("if ({} < trips) {{", iteration_);
  }
  for (const kernel::Step& step : steps) {
    const Work& t = step.work;
    if (t.kind == WorkKind::fetch) {
      fetch(t);
      continue;
    }
    const bool staged = plan_.tensors[t.tensor].stages > 1;
    const Index stage = !staged ? 0 : distance > 0 ? Index::named("next") : iteration_;
    copy_in(step, stage, distance > 0 ? Index::named("ahead") : iteration_);
  }
  if (distance > 0 || skips_) out_.close();
}

/// Emits the works of steps, in order; those that can share a loop nest are emitted as one nest.
void KernelText::work(kernel::StepSpan steps) {
  for (const kernel::StepSpan& together : kernel::nests(plan_, steps)) {
    for (const kernel::Step& step : together)
      if (step.work.kind == WorkKind::reduce && !started(step.work.node)) sum_declaration(step.work);
    const Work& t = together.front().work;
    if (kernel::in_nest(plan_, t))
      nest(together);
    else if (t.kind == WorkKind::mma)
      mma(t);
    else if (t.kind == WorkKind::reduce)
      lanes_nest(together.front());
    else if (t.kind == WorkKind::finish)
      finish(t);
    else if (t.kind == WorkKind::to_global)
      staged_store(t);
    else if (t.kind == WorkKind::to_cluster)
      out_.line("exchange.send(acc{}, block_rank);", t.node);
    else if (t.kind == WorkKind::from_cluster)
      out_.line("exchange.add(acc{}, block_rank);", t.node);
  }
}

}  // namespace zellige::emit
