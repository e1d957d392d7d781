#include <algorithm>
#include <zellige/layout/algebra/swizzle.hpp>

#include "emit/kernel_text.hpp"
#include "graph/elementwise.hpp"
#include "graph/reductions.hpp"
#include "kernel/widened.hpp"
#include "selection/warpgroups.hpp"

namespace zellige::emit {

/// Returns the C++ type of the registers that hold a tile in an instruction's layout (block/fragment.hpp).
std::string KernelText::fragment_type(const Context& c) const {
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
std::string KernelText::runs(const Context& c) { return target::pipe(c.row) == target::Pipe::fma ? "run" : "pair"; }

/// Returns the expression for a thread's number, from 0 to lanes - 1, among `lanes` lanes of its warp: those that
/// share one row of the accumulators or, in a replicated layout `c`, those that have the same elements.
std::string KernelText::lane_among(const Context& c, int lanes) {
  const int step = c.lane_step();
  return step == 1 ? fmt::format("lane % {}", lanes) : fmt::format("lane / {} % {}", step, lanes);
}

bool KernelText::open_threads(const Context& c) {
  if (c.threads() >= threads()) return false;
  if (c.row)
    out_.open("if (warp < {}) {{", c.threads() / 32);
  else
    out_.open("if (tid < {}) {{", c.threads());
  return true;
}

std::string KernelText::tile_at(int buffer, const Index& stage) const {
  const SmemTensor& b = plan_.tensors[buffer];
  if (const std::optional<InRing> at = in_ring(buffer); at && b.stages > 1)
    return fmt::format("{}.shift({})", tile(buffer),
                       Index::named(ring(at->channel) + "_at.index") * graph::elements_in(b.stage_step, b.dtype));
  if (b.stages == 1 || stage == Index(0)) return tile(buffer);
  return fmt::format("{}.shift({})", tile(buffer), stage * graph::elements_in(b.stage_step, b.dtype));
}

/// Returns operand `side` of a matmul, which is in shared memory, as a tile with coordinates (batch, row, column).
std::string KernelText::operand_tile(const Work& work, int side) {
  const Node& n = block_.nodes[work.node];
  const kernel::MatmulChoice& m = work.matmul;
  const int rank = static_cast<int>(n.shape.size());
  const int node = n.in[side];
  const SmemTensor& b = plan_.tensors[plan_.tensor_of(node)];
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
  const std::string at = part ? fmt::format("{}.shift({})", tile(plan_.tensor_of(node)), iteration_ * (m.k * step))
                              : tile_at(plan_.tensor_of(node));
  return fmt::format(
      "view<{}>({})",
      layout_text(algebra::with_innermost(b.layout, bundle(ValueKind::layout, first, b.tile()[rank - 2], last))), at);
}

void KernelText::mma(const Work& work) {
  const Node& n = block_.nodes[work.node];
  const Context& c = plan_.layout_of(work);
  const kernel::MatmulChoice& m = work.matmul;
  if (m.pipe() == target::Pipe::tensor && (m.row->m != 16 || m.row->n != 8 || m.row->a.registers != 4))
    fail("{}: %{} is planned on {}; the kernel's Fragment multiplies in m16n8 with four registers of A", block_.name,
         work.node, m.row->name);
  if (!n.carried) {
    registers(work.node, c);
    out_.line("acc{}.clear();", work.node);
  }
  const std::string type = n.tf32 ? "tfloat32_t" : type_name(block_.nodes[n.in[1]].dtype);
  if (const auto widened = kernel::widened_operand(block_, work.node, m)) return widened_product(work, *widened);
  const auto along_k = [&](int side) { return plan_.tensors[plan_.tensor_of(n.in[side])].along_k(side); };
  out_.line("// {} = {} x {}: {}x{}x{} on {}, warps {}x{}x{}{}",
            n.name.empty() ? fmt::format("%{}", work.node) : printable(n.name), printable(block_.nodes[n.in[0]].name),
            printable(block_.nodes[n.in[1]].name), m.m, m.n, m.k,
            m.pipe() == target::Pipe::fma ? "multiply-adds" : "mma.sync", m.warps.b, m.warps.m, m.warps.n,
            m.warps.k > 1 ? fmt::format(", K over {}", m.warps.k) : "");
  const std::string columns =
      c.repeats() == 1 ? operand_tile(work, 1)
                       : fmt::format("columns_from({}, slice * {})", operand_tile(work, 1), m.n / c.repeats());
  const bool some = open_threads(c);
  const bool outer = m.pipe() == target::Pipe::fma, fragments = !outer && plan_.has_fragments(work.node);
  out_.line("multiply{}{}{}, {}>(acc{}, {}, {}, warp, lane);", outer ? "_outer<" : fmt::format("<{}, ", type), m.k,
            fragments ? "" : fmt::format(", {}", along_k(0)), along_k(1), work.node,
            fragments ? fmt::format("op{}", n.in[0]) : operand_tile(work, 0), columns);
  if (some) out_.close();
}

/// Emits the declaration of A fragments, with zeros if some threads do not write all elements, which are multiplied,
/// too.
void KernelText::operand_declaration(const Work& t) {
  out_.line("Operand<{}, {}> op{}{};", type_name(block_.nodes[t.node].dtype), fragment_type(plan_.layout_of(t)), t.node,
            kernel::guards(plan_, t).empty() ? "" : "{}");
}

/// Emits one loop nest for the works of steps with one thread-value layout, after the declarations of their results.
void KernelText::nest(kernel::StepSpan steps) {
  const Context& c = plan_.layout_of(steps.front().work);
  for (const kernel::Step& step : steps)
    if (step.work.kind == WorkKind::to_operand && !started(step.work.node)) operand_declaration(step.work);
  for (const kernel::Step& step : steps)
    if (step.work.kind == WorkKind::to_registers) registers(step.work.node, c);
  for (const kernel::Step& step : steps)
    if (step.work.kind == WorkKind::to_lines)
      out_.line("Vec<{}, 1> acc{}[{}::lines];", register_type(block_.nodes[step.work.node].dtype), step.work.node,
                fragment_type(c));
  const Condition within = in_slices(steps.front().work);
  if (!within.empty()) out_.open("if ({}) {{", text(within));
  for (const kernel::Step& step : steps)
    if (in_two_passes(step)) raise(step);
  if (c.row || c.of)
    fragment_nest(steps);
  else
    blocked_nest(steps);
  raised_.clear();
  if (!within.empty()) out_.close();
}

/// Returns the condition under which a block stores its tile of the work's output; empty: always (kernel/sliced.hpp).
Condition KernelText::in_slices(const Work& work) const {
  Condition all;
  for (const kernel::Slice& slice : kernel::slices(plan_, work)) {
    const Index tile = tile_number(slice.along);
    if (slice.from > 0) all.push_back({slice.from - 1, tile});
    if (slice.to < slice.along.tiles()) all.push_back({tile, slice.to});
  }
  return all;
}

/// Emits the loop nest of steps whose thread-value layout distributes chunks of a tile over the threads.
void KernelText::blocked_nest(kernel::StepSpan steps) {
  const Context& c = plan_.layout_of(steps.front().work);
  const std::vector<Item> items = kernel::evaluate(plan_, steps);
  bool registers = !plan_.rmem[steps.front().work.context].nodes.empty();
  for (const kernel::Step& step : steps) registers = registers || step.work.kind == WorkKind::accumulate;
  const char* counter = index_type(c.items(0) / c.vector() + threads());
  constexpr int few = 8, max_steps = 32;  // iterations that are unrolled; whose stores may wait for all loads
  const bool whole = registers || c.steps(0) <= few;
  const std::optional<ThreadShare> lines =
      c.axes() > 1 ? std::optional(share(c, 1, {counter, "l", "line"})) : std::nullopt;
  const std::vector<Index> line = lines ? coordinate(counter, lines->item, c, 1) : std::vector<Index>(c.domain.size());
  const Index of_line = lines ? lines->step : Index(0);
  prepare(items, {&c, line, 0, of_line});
  std::optional<ThreadShare> s;
  // The iterations [from, to); with a `batch`, as many from variable "first" on, in which every thread has an element.
  const auto each = [&](int batch, std::int64_t from, std::int64_t to) {
    s = share(c, 0,
              {.type = counter,
               .counter = "i",
               .item = "c",
               .unroll = whole || batch > 0 ? "" : " 4",
               .guarded = batch == 0,
               .within = batch,
               .from = from,
               .to = to});
    NestAt nest{&c, line, of_line * c.steps(0) + s->step, of_line};
    const std::vector<Index> at = coordinate(counter, s->item, c, 0);
    for (std::size_t d = 0; d < at.size(); ++d)
      if (c.axes() == 1 || static_cast<int>(d) == c.inner()) nest.at[d] = at[d];
    return nest;
  };
  const std::function<void()> close_each = [&] { close(*s); };
  const bool delayed = reads_and_writes(items, true);
  if (delayed && whole && c.steps(0) > 1 && c.steps(0) <= max_steps) {
    const auto all = [&] { return each(0, 0, c.steps(0)); };
    buffer_stores(items, c, "i", static_cast<int>(c.steps(0)), all, close_each);
  } else {
    std::int64_t done = 0;  // iterations whose loads are batched
    const auto reads = [](const Item& i) { return i.kind == Item::Kind::read_global && !i.invariant; };
    if (!whole && delayed && std::ranges::any_of(items, reads)) {
      const std::int64_t full = full_steps(c, 0);
      // Long vectors delay the stores of fewer iterations, because each delayed element takes a register.
      for (int batch = std::clamp(32 / c.vector(), 2, 8); batch > 1; batch = static_cast<int>(full - done)) {
        const std::int64_t end = full - (full - done) % batch;
        if (end > done) {
          out_.line("#pragma unroll 1");
          out_.open("for (int first = {}; first < {}; first += {}) {{", done, end, batch);
          buffer_stores(
              items, c, "i", batch, [&] { return each(batch, 0, -1); }, close_each);
          out_.close(), done = end;
        }
      }
    }
    in_full_steps(c, whole, done, [&](std::int64_t from, std::int64_t to) {
      evaluate(items, each(0, from, to));
      close_each();
    });
  }
  if (lines) close(*lines);
}

/// Emits `item`, what a work does with its operator's value: a store, an accumulation, or the assignment to an operand.
void KernelText::leave(const Item& item, const NestAt& nest) {
  const int vector = nest.context->vector();
  if (keeps_ && is_kept(item)) {
    const std::string r = store_value(values_[item.in[0]], vector);
    return out_.line("{}[{}] = {};", kept_name(item), keeps_, r);
  }
  switch (item.work->kind) {
    case WorkKind::to_shared:
      return to_shared(item, nest);
    case WorkKind::to_global:
      return to_global(item, nest);
    case WorkKind::accumulate:
      return accumulate(item, nest);
    case WorkKind::to_lines:
      return out_.line("{} = {};", accumulator(item.node, nest, 1), values_[item.in[0]].text);
    case WorkKind::to_registers: {
      const std::string r = store_value(values_[item.in[0]], vector);
      const CountedLoop v = counted("v", vector);
      return out_.line("{}{} = {}[{}];", v.head, accumulator(item.node, nest, vector), r, v.at);
    }
    case WorkKind::rescale:
      return out_.line("{}{} *= {};", counted("v", vector).head, accumulator(item.node, nest, vector),
                       values_[item.in[0]].text);
    case WorkKind::to_operand: {
      const std::string r = store_value(values_[item.in[0]], 2);
      return out_.line("op{}.put({}, {}[0], {}[1]);", item.node, nest.chunk, r, r);
    }
    case WorkKind::reduce:
      return reduce(item, nest);
    default:
      return;
  }
}

/// Emits one step of a reduction: joins the value of `item` with the thread's partial result. For a matmul that uses no
/// matrix instruction, adds the product of its two values. `nest` has the coordinate.
void KernelText::reduce(const Item& item, const NestAt& nest) {
  const Node& n = block_.nodes[item.node];
  const Context& c = *nest.context;
  const NodeValue& x = values_[item.in[0]];
  if (n.kind == NodeKind::matmul) {
    const char* product = graph::is_integer(n.dtype) ? "{0} = zellige::wrap_add({0}, {1} * {2});" : "{0} += {1} * {2};";
    out_.line("{}", fmt::format(fmt::runtime(product), nest.sum, x.text, values_[item.in[1]].text));
    return;
  }
  const CountedLoop v = counted("v", c.vector());
  std::string head = v.head, sum = nest.sum;
  if (c.row) {
    const std::int64_t columns = block_.nodes[n.in[0]].shape.back();
    if (columns % c.vector()) head += fmt::format("if ({} < {}) ", Index::named("at.n") + v.at, columns);
    sum = fmt::format("{}{}[{}::line(i)]", finds_maximum_ ? "most" : "sum", item.node, fragment_type(c));
  }
  const graph::Monoid& of = graph::monoid_of(n.op);
  if (nest.gathers) return out_.line("{}{} = {};", head, sum, x.text);
  if (!of.carrier.empty() && !finds_maximum_) {
    if (raised_.contains(item.node)) return out_.line("{}{}.add_below({});", head, sum, x.text);
    if (c.vector() == 1 || (c.row && block_.nodes[n.in[0]].shape.back() % c.vector() != 0))
      return out_.line("{}{}.add({});", head, sum, x.text);
    return out_.line("{}.add({});", sum, store_value(x, c.vector()));
  }
  const graph::Elementwise& join = graph::elementwise(finds_maximum_ ? OpKind::maximum : of.join);
  const bool integer = graph::is_integer(n.dtype);
  if (join.kind == OpKind::add && !integer)
    out_.line("{}{} += {};", head, sum, x.text);
  else
    out_.line("{}{} = {};", head, sum, fmt::format(fmt::runtime(integer ? join.integers : join.text), sum, x.text));
}

/// Emits stores of the elements of a vector, the variable `value`, with `piece` elements per store instruction. `to`
/// is the beginning of the address expression, `at` the coordinate of the first element in the destination. If there
/// is a `limit`, elements whose coordinate in the loop nest, along the contiguous dimension, is `limit` or more are
/// not stored. `first_is_inside`: the first element is not beyond it.
void KernelText::write_pieces(const std::string& value, const NestAt& nest, int piece, const std::string& to,
                              const std::vector<Index>& at, const std::optional<Index>& limit, bool first_is_inside) {
  const int inner = nest.context->inner(), vector = nest.context->vector();
  if (piece == 1 && vector % 2 == 0 && !limit) {
    const auto place = [&](int v) { return fmt::format("{}{})", to, fmt::join(neighbour(at, inner, v), ", ")); };
    for (int v = 0; v < vector; v += 2)
      out_.line("write_apart({}, {}, {}{});", place(v), place(v + 1), value, v ? fmt::format(", {}", v) : "");
    return;
  }
  for (int v = 0; v < vector; v += piece) {
    const bool checked = limit && !(first_is_inside && v == 0);
    const std::string guard = checked ? fmt::format("if ({}) ", text({{nest.at[inner] + v, *limit}})) : "";
    out_.line("{}write<{}>({}{}), {}{});", guard, piece, to, fmt::join(neighbour(at, inner, v), ", "), value,
              v ? fmt::format(", {}", v) : "");
  }
}

/// Emits `item`, the store of a value to a buffer in shared memory, at the coordinate in `nest`. If several threads
/// have the value, one of them stores it. If the warps divide K among themselves, each warp stores its partial
/// result to its own part of the buffer.
void KernelText::to_shared(const Item& item, const NestAt& nest) {
  const SmemTensor& b = plan_.tensors[item.buffer];
  const int inner = nest.context->inner(), vector = nest.context->vector();
  NodeValue v = values_[item.in[0]];
  if (!item.zeros.empty()) {
    Condition inside;
    for (const auto& [d, extent] : item.zeros)
      inside.push_back({d == inner ? nest.at[d] + one_of(vector) : nest.at[d], extent});
    v = {fmt::format("({} ? {} : {})", text(inside), v.text, v.type == "float" ? "0.0f" : v.type + "(0)"), vector > 1,
         "", v.type};
  }
  const std::string r = store_value(v, vector);
  std::optional<Index> limit;
  if (item.edge > 0) limit = item.edge;
  const bool by_one = nest.context->replicated(), by_parts = !by_one && b.partials > 1;
  if (by_one) out_.open("if ({} == 0) {{", lane_among(*nest.context, nest.context->holders()));
  if (by_parts) {
    out_.open("{{");
    out_.line("const int part = {}::warp_k(warp);", fragment_type(*nest.context));
  }
  write_pieces(r, nest, item.width, tile(item.buffer) + (by_parts ? "(part, " : "("), nest.at, limit);
  if (by_one || by_parts) out_.close();
}

/// Emits `item`, the store of a value to global memory, at the coordinate in `nest`.
void KernelText::to_global(const Item& item, const NestAt& nest) {
  const Node& n = block_.nodes[item.node];
  const Context& c = *nest.context;
  const int inner = c.inner(), vector = c.vector();
  const std::string r = store_value(values_[item.in[0]], vector);
  const bool along = program_.tensors[n.tensor].strides[inner] == 1 && n.view.tile(inner) > 1;
  int w = along ? std::min(vector, item.work->copy.vector) : 1;
  std::optional<Index> limit;
  bool first_is_inside = false;
  if (c.row && n.shape[inner] % vector != 0) w = 1, limit = n.shape[inner];
  if (n.view.straddles_end(inner, vector)) {
    // If a chunk may cross the tensor's edge, each element is checked. The first one begins inside, or is checked for all.
    w = 1, first_is_inside = n.view.predicated(inner);
    limit = global_end(n.view.along(inner, block_)) - global_start(n, inner, iteration_);
  }
  if (c.replicated()) out_.open("if ({} == 0) {{", lane_among(c, c.holders()));
  write_pieces(r, nest, w, global(n.tensor) + "(", position(n, iteration_, nest.at), limit, first_is_inside);
  if (c.replicated()) out_.close();
}

/// Emits `item`, the update of a loop state, such as a running maximum, with a new value, at the coordinate in `nest`.
void KernelText::accumulate(const Item& item, const NestAt& nest) {
  const Node& n = block_.nodes[item.node];
  const int vector = nest.context->vector();
  const std::string acc = accumulator(item.node, nest, vector);
  const NodeValue& x = values_[item.in[0]];
  if (n.kind == NodeKind::running_max) {
    const std::string r = store_value(x, vector);
    int diff = -1;
    for (int i : block_.consumers(item.node))
      if (block_.nodes[i].kind == NodeKind::running_diff) diff = i;
    const CountedLoop v = counted("v", vector);
    const std::string raise = fmt::format("raise_max({}, {}[{}])", acc, r, v.at);
    if (diff < 0) return out_.line("{}{};", v.head, raise);
    // The first difference is 0, not that from the lowest number (docs/reference/graph-ir.md).
    const std::string by = accumulator(diff, nest, vector);
    if (iteration_ == Index(0)) return out_.line("{}{}, {} = 0.0f;", v.head, raise, by);
    if (from_ > 0) return out_.line("{}{} = {};", v.head, by, raise);
    out_.open("{}{{", v.head);
    out_.line("const float raised = {};", raise);
    out_.line("{} = it == 0 ? 0.0f : raised;", by);
    return out_.close();
  }
  // In shared memory, one slot per thread, because it does not fit the registers.
  const bool stored = item.buffer >= 0;
  const std::string old = stored ? values_[item.in[1]].text : acc;
  const graph::ReductionRow& row = *graph::reduction_of(n.op);
  const graph::Elementwise& join = graph::elementwise(row.of->join);
  const std::string sum = row.rescales ? fmt::format("{} * {} + {}", old, values_[item.in.back()].text, x.text)
                          : graph::is_integer(n.dtype)     ? fmt::format(fmt::runtime(join.integers), old, x.text)
                          : row.of != &graph::monoids::sum ? fmt::format(fmt::runtime(join.text), old, x.text)
                          : stored                         ? fmt::format("{} + {}", old, x.text)
                                                           : "";
  if (stored)
    return write_pieces(store_value({sum, vector > 1, "", register_type(n.dtype)}, vector), nest, item.width,
                        tile(item.buffer) + "(", nest.at, {});
  out_.line("{}{};", counted("v", vector).head,
            sum.empty() ? fmt::format("{} += {}", acc, x.text) : fmt::format("{} = {}", acc, sum));
}

}  // namespace zellige::emit
