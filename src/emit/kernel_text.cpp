#include "emit/kernel_text.hpp"

#include <algorithm>
#include <limits>

#include "kernel/index_width.hpp"
#include "kernel/nests.hpp"

namespace zellige::emit {

using plan::NodeKind;
using plan::OpKind;
using plan::Section;
using plan::WorkKind;

namespace {
constexpr double lowest = -3.4028234663852886e38;
constexpr const char* min_int = "(-2147483647 - 1)";
}  // namespace

KernelText::KernelText(const plan::Kernel& plan, const plan::Program& program, Names& names, Text& out)
    : plan_(plan),
      program_(program),
      block_(plan.program),
      names_(names),
      out_(out),
      uses_(plan.program.nodes.size(), 0) {
  std::set<std::string> taken;
  for (const SmemTensor& b : plan.tensors) {
    std::string name = b.name;
    for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", b.name, i);
    tiles_.push_back(names.shared(name));
  }
  for (const Node& n : block_.nodes)
    for (int in : n.in) ++uses_[in];
}

void KernelText::emit() {
  signature();
  body();
}

void KernelText::emit_part(const std::string& name) {
  part_ = true;
  grid_comment();
  // ptxas takes seconds for dozens of inlined calls of one function.
  out_.open(
      "static __device__ __attribute__((noinline)) void {}({}, [[maybe_unused]] int block, [[maybe_unused]] "
      "int part_begin) {{",
      name, parameter_list());
  body();
}

/// Emits the body of the function and its closing brace.
void KernelText::body() {
  declarations();
  if (plan_.warp_specialized())
    roles();
  else
    run(plan_.agents.at(0).steps);
  out_.close();
}

/// Emits a comment with the grid, shared memory, iterations and stages.
void KernelText::grid_comment() {
  out_.line("// Grid {} x {} x {}, {} bytes of shared memory{}.", block_.grid.x, block_.grid.y, block_.grid.z,
            plan_.shared_bytes,
            looped() ? fmt::format(", {} iterations, {} stage{}", plan_.iterations_per_rank(), plan_.stages(),
                                   plan_.stages() > 1 ? "s" : "")
                     : "");
}

/// Returns the function's parameters: TMA descriptors, then pointers.
std::string KernelText::parameter_list() const {
  std::string list;
  for (const Parameter& p : parameters(plan_)) {
    list += list.empty() ? "" : ", ";
    list += p.node >= 0 ? fmt::format("const __grid_constant__ TmaDescriptor {}", map_name(p.node))
                        : pointer_text(p, program_, names_);
  }
  return list;
}

void KernelText::signature() {
  grid_comment();
  const std::string together = plan_.together > 0 ? fmt::format(", {}", plan_.together) : "";
  out_.open("extern \"C\" __global__ void __launch_bounds__({}{}) {}({}) {{", plan_.threads, together,
            block_.name, parameter_list());
}

/// Returns the expression of the thread's number in the block.
std::string KernelText::thread_index() const {
  std::string text = "threadIdx.x";
  if (plan_.warp_specialized()) return text;
  if (block_.block.y > 1) text += fmt::format(" + {} * threadIdx.y", block_.block.x);
  if (block_.block.z > 1) text += fmt::format(" + {} * threadIdx.z", block_.block.x * block_.block.y);
  return text;
}

/// Returns the expression of the block's coordinate along a grid axis (0: x, 1: y, 2: z). In a launch of several
/// tile programs, each of which some of the blocks run, the grid has one dimension: the coordinate is computed
/// from the block's number within its program.
std::string KernelText::block_index(int axis) const {
  if (!part_) return fmt::format("blockIdx.{}", "xyz"[axis]);
  std::int64_t before = 1, trailing = 1;
  for (int a = 0; a < 3; ++a)
    if (a != axis) (a < axis ? before : trailing) *= block_.grid[a];
  return digit(Index::named("block"), before, block_.grid[axis], trailing == 1).str();
}

/// Emits the declarations of coordinates, tensors and buffers.
void KernelText::declarations() {
  out_.line("const int tid = {};", thread_index());
  out_.line("[[maybe_unused]] const int warp = tid / 32, lane = tid % 32;");
  std::set<int> axes, tensors;
  for (const Node& n : block_.nodes) {
    for (int d = 0; d < n.view.rank(); ++d)
      if (n.view.axis(d) >= 0) axes.insert(n.view.axis(d));
    if (!accesses(n)) continue;
    if (!plan_.uses_tma(static_cast<int>(&n - block_.nodes.data()))) tensors.insert(n.tensor);
  }
  if (plan_.ranks > 1) out_.line("const int rank = cluster_ctarank();");
  if (plan_.blocks == 0)  // persistent blocks declare the coordinates per tile
    for (int a : axes) out_.line("const int b{} = {};", "xyz"[a], block_index(a));
  if (plan_.blocks == 0) declare_first_iteration();
  const std::set<int> wide = plan::wide_tensors(plan_, program_);
  for (int t : tensors) {
    const auto& tensor = program_.tensors[t];
    out_.line("const auto {} = global_tile<{}{}>({});", global(t),
              layout_text(plan::strided(tensor.shape, tensor.strides)), wide.count(t) ? ", long long" : "",
              names_.pointer(tensor.name));
  }
  for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
    const SmemTensor& b = plan_.tensors[i];
    if (in_ring(static_cast<int>(i)) || exchange(static_cast<int>(i))) continue;
    const std::string kind = b.stages > 1     ? fmt::format("ring<{}, {}", type_name(b.dtype), b.stages)
                             : b.partials > 1 ? fmt::format("sums<{}, {}", type_name(b.dtype), b.partials)
                                              : fmt::format("tile<{}", type_name(b.dtype));
    out_.line("const auto {} = shared_{}, {}>(\"{}\", {}, {});", tiles_[i], kind, buffer_layout(b),
              in_literal(b.name), b.offset, graph::elements_in(b.bytes(), b.dtype));
  }
}

/// Emits the declaration and initialisation of what a work accumulates over the loop: accumulators, a loop
/// state, the partial results of a reduction, or A fragments.
void KernelText::start(const Work& t) {
  const auto registers = [&](int node, const Context& c, const std::string& start) {
    const std::string name = fmt::format("acc{}", node);
    const std::int64_t vectors = c.values() / c.vector();
    const Counted i = counted("i", vectors), v = counted("v", c.vector());
    out_.line("Vec<{}, {}> {}[{}];", register_type(block_.nodes[node].dtype), c.vector(), name, vectors);
    out_.line("{}{}{}[{}][{}] = {};", i.head, v.head, name, i.at, v.at, start);
  };
  const Node& n = block_.nodes[t.node];
  const Context* c = t.context >= 0 ? &plan_.contexts[t.context] : nullptr;
  if (t.kind == WorkKind::mma) {
    out_.line("{} acc{};", fragment_type(*c), t.node);
    if (!overwritten(t.node)) out_.line("acc{}.clear();", t.node);
  } else if (t.kind == WorkKind::accumulate) {
    const bool max = n.kind == NodeKind::running_max || n.op == OpKind::accum_max;
    const bool integer = graph::is_integer(n.dtype);
    const std::string start = integer ? max ? min_int : "0" : max ? float_literal(lowest) : "0.0f";
    if (t.buffer >= 0) {
      const Share s = share(*c, 0, {"int", "i", "c", " 1"});
      const std::vector<Index> at = coordinate("int", s.item, *c, 0);
      for (int v = 0; v < c->vector(); ++v)
        out_.line("write<1>({}({}), Vec<{}, 1>{{{}}});", tile(t.buffer),
                  fmt::join(neighbour(at, c->inner(), v), ", "), register_type(n.dtype), start);
      close(s);
    } else if (c->row) {
      out_.line("{} acc{};", fragment_type(*c), t.node);
      out_.line("acc{}.fill({});", t.node, start);
    } else {
      registers(t.node, *c, start);
      for (int i : block_.consumers(t.node))
        if (block_.nodes[i].kind == NodeKind::running_diff) registers(i, *c, "0.0f");
    }
  } else if (t.kind == WorkKind::reduce) {
    sum_declaration(t);
    started_.insert(t.node);
  } else if (t.kind == WorkKind::to_operand) {
    operand_declaration(t);
    started_.insert(t.node);
  }
}

/// Emits the declaration of a reduction's partial results, with their initial values.
void KernelText::sum_declaration(const Work& t) {
  const Node& n = block_.nodes[t.node];
  const Context& c = plan_.contexts[t.context];
  const bool max = n.kind == NodeKind::reduce && n.op == OpKind::reduction_max;
  const std::string type = register_type(n.dtype);
  const char* start = type == "int" ? max ? min_int : "0" : max ? "-zellige::infinity" : "0.0f";
  if (c.row) {
    const std::string fragment = fragment_type(c);
    out_.line("Vec<{}, {}::lines> sum{};", type, fragment, t.node);
    out_.line("for (int i = 0; i < {}::lines; ++i) sum{}[i] = {};", fragment, t.node, start);
    return;
  }
  const std::int64_t count = c.steps(1);
  const Counted i = counted("i", count);
  out_.line("Vec<{}, {}> sum{};", type, count, t.node);
  out_.line("{}sum{}[{}] = {};", i.head, t.node, i.at, start);
}

/// Emits the code of steps, in order. Adjacent steps that can share a loop nest are emitted as one.
void KernelText::run(const std::vector<plan::Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const plan::Step& step = steps[i];
    const auto together = [&](int guard_lag) {
      const plan::Steps adjacent = plan::side_by_side(plan_, steps, i);
      plan::is_global_load(step.work.kind) ? copy(adjacent, guard_lag) : work(adjacent);
      i += adjacent.size() - 1;
    };
    plan::match(
        step, [&](const plan::Start&) { start(step.work); },
        [&](const plan::Mma& mma) { multiply_by_warpgroups(step.work, mma.peeled); },
        [&](const plan::Copy& of) {
          step.work.copy.by_tensor_map() ? box(step, of) : together(of.guard_lag);
        },
        [&](const plan::Compute& of) { together(of.guard_lag); },
        [&](const plan::Sync& sync) { handover(step, sync); },
        [&](const plan::Loop& of) {
          if (of.kind == plan::Loop::slices)
            slices(of);
          else if (of.kind == plan::Loop::tiles)
            tiles(of);
          else
            loop(of);
        });
  }
}

/// Emits the loop `begin` of the schedule: the loop over a kernel's iterations or, if it is the prologue, the
/// loop that starts the copies of the first iterations.
void KernelText::loop(const plan::Loop& begin) {
  const bool ring = begin.kind == plan::Loop::iterations && plan_.stages() > 1 && !plan_.warp_specialized();
  const bool round = ring && plan_.stages() < block_.loop;  // otherwise all stages are filled before the loop
  if (round) out_.line("int stage = 0, next = {};", plan_.stages() - 1);
  const Counted it = counted("it", begin.trip_count, "int", begin.from);
  if (begin.trip_count > begin.from + 1 && !begin.bounded)
    out_.line("#pragma unroll{}", begin.kind == plan::Loop::prologue ? "" : " 1");
  if (begin.bounded)
    bounded(begin);
  else
    out_.open("{}{{", it.head);
  iteration_ = begin.bounded ? Index::named("it") : it.at;
  from_ = begin.from, whole_ = begin.whole;
  section_ = begin.kind == plan::Loop::iterations ? Section::inside : Section::after;
  if (ring && !round) out_.line("const int stage = it;");
  run(begin.body);
  iteration_ = 0;
  section_ = Section::after, whole_ = false;
  if (round) {
    out_.line("stage = stage + 1 == {} ? 0 : stage + 1;", plan_.stages());
    out_.line("next = next + 1 == {} ? 0 : next + 1;", plan_.stages());
  }
  out_.close();
}

/// Emits the variable `begin`: the first iteration in which the mask keeps an element for this block. Emits
/// nothing if all blocks begin with iteration 0. Requires that the block's coordinates have been emitted.
void KernelText::declare_first_iteration() {
  if (!plan_.loop_bounds || !plan_.loop_bounds->from) return;
  const plan::MaskedLoopBounds& t = *plan_.loop_bounds;
  const Index first = global_start(t.rows, false, 0) + *t.from;
  out_.line("const int begin = {} > 0 ? ({}) / {} : 0;  // a mask leaves nothing of the iterations before",
            first, first, t.each);
}

/// Emits the head of the loop `begin`, whose bounds depend on a mask. This is the loop over the iterations in which
/// the mask keeps every element, the loop over the iterations after those, or one loop over all iterations.
void KernelText::bounded(const plan::Loop& begin) {
  const plan::MaskedLoopBounds& t = *plan_.loop_bounds;
  const Index first = global_start(t.rows, false, 0);
  const bool trailing = begin.from == begin.trip_count;  // the loop follows one of unmasked iterations
  // Largest number of iterations that a block would run if the loop had no end.
  std::int64_t maximum = 0;
  for (std::int64_t block = 0; block < block_.grid[t.rows.axis()]; ++block)
    maximum = std::max(maximum, t.of(block, std::numeric_limits<std::int64_t>::max()) + t.start(block));
  const auto bounded = [&](const Index& keys, const std::string& by) {
    const std::string text = fmt::format("({}) / {}", keys, t.each);
    return maximum > block_.loop ? fmt::format("at_most({}, {})", text, by) : text;
  };
  const bool every = t.last >= block_.loop * t.each;  // no row ends before the loop does
  if (!trailing && every)
    out_.line("const int trips = {};", block_.loop);
  else if (!trailing)
    out_.line("const int trips = {} + 1{};  // a mask leaves nothing of the others",
              bounded(first + t.last, fmt::format("{}", block_.loop - 1)), t.from ? " - begin" : "");
  if (begin.whole) {
    const std::string by_end = t.end ? fmt::format("{}", *t.end / t.each) : "";
    std::string whole = every ? by_end : bounded(first + *t.all, "trips");
    if (t.end && !every) whole = fmt::format("at_most({}, {})", whole, by_end);
    out_.line("const int whole = {};  // and all of these", whole);
  }
  out_.line("#pragma unroll 1");
  out_.open("for (int it = {}; it < {}; ++it) {{",
            trailing ? "whole > 1 ? whole : 1" : fmt::format("{}", begin.from),
            begin.whole ? "whole" : "trips");
}

/// Emits the loop over the slices of N that a matmul computes one after another, with the loop's body.
void KernelText::slices(const plan::Loop& begin) {
  out_.line("#pragma unroll 1");
  out_.open("for (int slice = 0; slice < {}; ++slice) {{", begin.trip_count);
  run(begin.body);
  out_.close();
}

/// Emits the steps, which load tiles. If `distance` > 0, they load the tiles of the iteration that is
/// `distance` later, if the loop has such an iteration. If `distance` is 0, they load the tiles of the
/// current iteration or, before the loop, of the first iteration.
void KernelText::copy(plan::Steps steps, int distance) {
  if (distance > 0) {
    out_.open("if (it + {} < {}) {{", distance, block_.loop);
    out_.line("const int ahead = it + {};", distance);
  }
  for (const plan::Step& step : steps) {
    const Work& t = step.work;
    if (t.kind == WorkKind::fetch) {
      fetch(t);
      continue;
    }
    const bool staged = plan_.tensors[t.buffer].stages > 1;
    const Index stage = !staged ? 0 : distance > 0 ? Index::named("next") : iteration_;
    copy_in(step, stage, distance > 0 ? Index::named("ahead") : iteration_);
  }
  if (distance > 0) out_.close();
}

/// Emits the works of steps, in order; those that can share a loop nest are emitted as one nest.
void KernelText::work(plan::Steps steps) {
  for (const plan::Steps& together : plan::nests(plan_, steps)) {
    for (const plan::Step& step : together)
      if (step.work.kind == WorkKind::reduce && !started_.contains(step.work.node))
        sum_declaration(step.work);
    const Work& t = together.front().work;
    if (plan::in_nest(plan_, t)) {
      nest(together);
      continue;
    }
    switch (t.kind) {
      case WorkKind::mma:
        mma(t);
        break;
      case WorkKind::reduce:
        lanes_nest(together.front());
        break;
      case WorkKind::finish:
        finish(t);
        break;
      case WorkKind::to_global:
        staged_store(t);
        break;
      case WorkKind::to_cluster:
        out_.line("exchange.send(acc{}, rank);", t.node);
        break;
      case WorkKind::from_cluster:
        out_.line("exchange.add(acc{}, rank);", t.node);
        break;
      default:
        break;
    }
  }
}

}  // namespace zellige::emit
