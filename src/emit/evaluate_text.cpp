#include <algorithm>
#include <zellige/layout/algebra/swizzle.hpp>

#include "emit/nest_text.hpp"
#include "emit/steps_text.hpp"
#include "kernel/widened.hpp"
#include "selection/warpgroups.hpp"

namespace zellige::emit {
namespace {

/// Emits the iterations of a nest in which every thread has an element, in loops whose loads are batched. each(batch) opens a loop over
/// `batch` iterations. Returns how many iterations the loops have in all.
std::int64_t batches(const KernelText& k, LoopNest& loop, const std::vector<Item>& items,
                     const std::function<NestAt(int)>& each, const std::function<void()>& close_each) {
  const std::int64_t full = full_steps(loop.context, 0);
  std::int64_t done = 0;
  // Long vectors delay the stores of fewer iterations, because each delayed element takes a register.
  for (int batch = std::clamp(32 / loop.context.vector(), 2, 8); batch > 1; batch = static_cast<int>(full - done)) {
    const std::int64_t end = full - (full - done) % batch;
    if (end <= done) continue;
    k.out.line("#pragma unroll 1");
    k.out.open("for (int first = {}; first < {}; first += {}) {{", done, end, batch);
    buffer_stores(
        k, loop, items, {"i"}, batch, [&] { return each(batch); }, close_each);
    k.out.close(), done = end;
  }
  return done;
}

/// Emits the loop nest of steps whose thread-value layout distributes chunks of a tile over the threads.
void blocked_nest(const KernelText& k, LoopNest loop, kernel::StepSpan steps) {
  const Context& c = loop.context;
  const std::vector<Item> items = kernel::evaluate(k.plan, steps);
  bool registers = !k.plan.rmem[steps.front().work.context].nodes.empty();
  for (const kernel::Step& step : steps) registers = registers || step.work.kind == WorkKind::accumulate;
  const char* counter = index_type(c.items(0) / c.vector() + k.threads());
  constexpr int few = 8, max_steps = 32;  // iterations that are unrolled; whose stores may wait for all loads
  const bool whole = registers || c.steps(0) <= few;
  const std::optional<ThreadShare> lines =
      c.axes() > 1 ? std::optional(share(k, c, 1, {counter, "l", "line"})) : std::nullopt;
  const std::vector<Index> line =
      lines ? coordinate(k, counter, lines->item, c, 1) : std::vector<Index>(c.domain.size());
  const Index of_line = lines ? lines->step : Index(0);
  prepare(k, items, {&loop, line, 0, of_line});
  std::optional<ThreadShare> s;
  // The iterations [from, to); with a `batch`, `batch` iterations from variable "first" on, in which every thread has an element.
  const auto each = [&](int batch, std::int64_t from, std::int64_t to) {
    s = share(k, c, 0,
              {.type = counter,
               .counter = "i",
               .item = "c",
               .unroll = whole || batch > 0 ? "" : " 4",
               .guarded = batch == 0,
               .within = batch,
               .from = from,
               .to = to});
    NestAt nest{&loop, line, of_line * c.steps(0) + s->step, of_line};
    const std::vector<Index> at = coordinate(k, counter, s->item, c, 0);
    for (std::size_t d = 0; d < at.size(); ++d)
      if (c.axes() == 1 || static_cast<int>(d) == c.inner()) nest.at[d] = at[d];
    return nest;
  };
  const std::function<void()> close_each = [&] { close(k, *s); };
  const bool delayed = reads_and_writes(items, true);
  if (delayed && whole && c.steps(0) > 1 && c.steps(0) <= max_steps) {
    const auto all = [&] { return each(0, 0, c.steps(0)); };
    buffer_stores(k, loop, items, {"i"}, static_cast<int>(c.steps(0)), all, close_each);
  } else {
    const auto reads = [](const Item& i) { return i.kind == Item::Kind::read_global && !i.invariant; };
    const bool batched = !whole && delayed && std::ranges::any_of(items, reads);
    const std::int64_t done = batched ? batches(
                                            k, loop, items, [&](int batch) { return each(batch, 0, -1); }, close_each)
                                      : 0;
    in_full_steps(c, whole, done, [&](std::int64_t from, std::int64_t to) {
      evaluate(k, items, each(0, from, to));
      close_each();
    });
  }
  if (lines) close(k, *lines);
}

}  // namespace

/// Returns the C++ type of the registers that hold a tile in an instruction's layout (block/fragment.hpp).
std::string fragment_type(const Context& c) {
  const std::size_t rank = c.domain.size();
  const kernel::WarpLayout w = kernel::warps(c);
  const std::int64_t batch = graph::size(graph::Shape(c.domain.begin(), c.domain.end() - 2));
  const Instruction* product = c.row ? c.row : c.of;
  const Instruction* const single = product ? selection::single_tiles(*product) : nullptr;
  // Fragment's default instruction is m16n8k16; wgmma leaves its accumulators in the same way.
  const bool own = product && kernel::warps_of(*product) == 1 && product->k != 16;
  return fmt::format("Fragment<{}, {}, {}, {}, {}, {}, {}{}>", batch, c.domain[rank - 2],
                     c.domain[rank - 1] / c.repeats(), w.b, w.m, w.n, w.k,
                     own      ? fmt::format(", {}", product->name)
                     : single ? fmt::format(", {}", single->name)
                              : "");
}

/// Returns the name of the accessor of class Fragment for adjacent elements of a thread: "pair" for mma.sync
/// and wgmma accumulators, "run" for FMA accumulators.
std::string runs(const Context& c) { return target::pipe(c.row) == target::Pipe::fma ? "run" : "pair"; }

/// Returns the expression for a thread's number, from 0 to lanes - 1, among `lanes` lanes of its warp: those that
/// share one row of the accumulators or, in a replicated layout `c`, those that have the same elements.
std::string lane_among(const Context& c, int lanes) {
  const int step = c.lane_step();
  return step == 1 ? fmt::format("lane % {}", lanes) : fmt::format("lane / {} % {}", step, lanes);
}

bool open_threads(const KernelText& k, const Context& c) {
  if (c.threads() >= k.threads()) return false;
  if (c.row)
    k.out.open("if (warp < {}) {{", c.threads() / 32);
  else
    k.out.open("if (tid < {}) {{", c.threads());
  return true;
}

std::string tile_at(const KernelText& k, int buffer, const Index& stage) {
  const SmemTensor& b = k.plan.tensors[buffer];
  if (const std::optional<InRing> at = in_ring(k, buffer); at && b.stages > 1)
    return fmt::format("{}.shift({})", k.tile(buffer),
                       ring_stage(k, at->channel) * graph::elements_in(b.stage_step, b.dtype));
  if (b.stages == 1 || stage == Index(0)) return k.tile(buffer);
  return fmt::format("{}.shift({})", k.tile(buffer), stage * graph::elements_in(b.stage_step, b.dtype));
}

/// Returns operand `side` of a matmul, which is in shared memory, as a tile with coordinates (batch, row, column).
std::string operand_tile(const KernelText& k, const StepPlace& place, const Work& work, int side) {
  const Node& n = k.block.nodes[work.node];
  const kernel::MatmulChoice& m = work.matmul;
  const int rank = static_cast<int>(n.shape.size());
  const int node = n.in[side];
  const SmemTensor& b = k.plan.tensors[k.plan.tensor_of(node)];
  const bool part = n.window && side == 0;
  // Layouts are colexicographic and tiles are row-major, so the batch dimensions are in reverse order. An operand
  // that all batches share has stride 0 along the batch.
  values::Value batch = empty(ValueKind::layout);
  for (int d = rank - 3; d >= 0; --d)
    if (b.padded[d] == 1 && n.shape[d] > 1)
      batch.add(mode_node(fixed(n.shape[d]), {fixed(0)}));
    else
      batch.add(b.tile()[d]);
  const values::Value first = rank == 2 ? unit() : rank == 3 ? batch[0] : batch;
  const std::int64_t step = b.stride(rank - 1);
  const values::Value last = part ? mode(fixed(m.k), {fixed(step)}) : values::Value(b.tile()[rank - 1]);
  const std::string at =
      part ? fmt::format("{}.shift({})", k.tile(k.plan.tensor_of(node)), place.iteration * (m.k * step))
           : tile_at(k, k.plan.tensor_of(node));
  return fmt::format(
      "view<{}>({})",
      layout_text(algebra::with_innermost(b.layout, bundle(ValueKind::layout, first, b.tile()[rank - 2], last))), at);
}

void mma(const KernelText& k, const StepPlace& place, const Work& work) {
  const Node& n = k.block.nodes[work.node];
  const Context& c = k.plan.layout_of(work);
  const kernel::MatmulChoice& m = work.matmul;
  if (m.pipe() == target::Pipe::tensor && (m.row->m != 16 || m.row->n != 8 || m.row->a.registers != 4))
    fail("{}: %{} is planned on {}; the kernel's Fragment multiplies in m16n8 with four registers of A", k.block.name,
         work.node, m.row->name);
  if (!n.carried) {
    registers(k, work.node, c);
    k.out.line("acc{}.clear();", work.node);
  }
  const std::string type = n.tf32 ? "tfloat32_t" : type_name(k.block.nodes[n.in[1]].dtype);
  if (const auto widened = kernel::widened_operand(k.block, work.node, m))
    return widened_product(k, place, work, *widened);
  const auto along_k = [&](int side) { return k.plan.tensors[k.plan.tensor_of(n.in[side])].along_k(side); };
  k.out.line("// {} = {} x {}: {}x{}x{} on {}, warps {}x{}x{}{}",
             n.name.empty() ? fmt::format("%{}", work.node) : printable(n.name), printable(k.block.nodes[n.in[0]].name),
             printable(k.block.nodes[n.in[1]].name), m.m, m.n, m.k,
             m.pipe() == target::Pipe::fma ? "multiply-adds" : "mma.sync", m.warps.b, m.warps.m, m.warps.n,
             m.warps.k > 1 ? fmt::format(", K over {}", m.warps.k) : "");
  const std::string columns = c.repeats() == 1 ? operand_tile(k, place, work, 1)
                                               : fmt::format("columns_from({}, slice * {})",
                                                             operand_tile(k, place, work, 1), m.n / c.repeats());
  const bool some = open_threads(k, c);
  const bool outer = m.pipe() == target::Pipe::fma, fragments = !outer && k.plan.has_fragments(work.node);
  k.out.line("multiply{}{}{}, {}>(acc{}, {}, {}, warp, lane);", outer ? "_outer<" : fmt::format("<{}, ", type), m.k,
             fragments ? "" : fmt::format(", {}", along_k(0)), along_k(1), work.node,
             fragments ? fmt::format("op{}", n.in[0]) : operand_tile(k, place, work, 0), columns);
  if (some) k.out.close();
}

/// Emits the declaration of A fragments, with zeros if some threads do not write all elements, which are multiplied,
/// too.
void operand_declaration(const KernelText& k, const Work& t) {
  k.out.line("Operand<{}, {}> op{}{};", type_name(k.block.nodes[t.node].dtype), fragment_type(k.plan.layout_of(t)),
             t.node, kernel::guards(k.plan, t).empty() ? "" : "{}");
}

/// Emits one loop nest for the works of steps with one thread-value layout, after the declarations of their results.
void nest(const KernelText& k, const StepPlace& place, kernel::StepSpan steps) {
  const Context& c = k.plan.layout_of(steps.front().work);
  for (const kernel::Step& step : steps)
    if (step.work.kind == WorkKind::to_operand && !started(k, step.work.node)) operand_declaration(k, step.work);
  for (const kernel::Step& step : steps)
    if (step.work.kind == WorkKind::to_registers) registers(k, step.work.node, c);
  for (const kernel::Step& step : steps)
    if (step.work.kind == WorkKind::to_lines)
      k.out.line("Vec<{}, 1> acc{}[{}::lines];", register_type(k.block.nodes[step.work.node].dtype), step.work.node,
                 fragment_type(c));
  const Condition within = in_slices(k, steps.front().work);
  if (!within.empty()) k.out.open("if ({}) {{", text(within));
  LoopNest loop{c, place};
  for (const kernel::Step& step : steps)
    if (in_two_passes(k, step)) raise(k, place, step), loop.raised.insert(step.work.node);
  if (c.row || c.of)
    fragment_nest(k, std::move(loop), steps);
  else
    blocked_nest(k, std::move(loop), steps);
  if (!within.empty()) k.out.close();
}

}  // namespace zellige::emit
