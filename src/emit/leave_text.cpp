// Emits what the works of a loop nest do with their values: stores, accumulations and reductions.
#include <algorithm>

#include "emit/nest_text.hpp"
#include "emit/tensor_index.hpp"
#include "graph/elementwise.hpp"
#include "graph/reductions.hpp"
#include "kernel/sliced.hpp"

namespace zellige::emit {
namespace {

/// Emits one step of a reduction: joins the value of `item` with the thread's partial result. For a matmul that uses no
/// matrix instruction, adds the product of its two values. `nest` has the coordinate.
void reduce(const KernelText& k, const Item& item, const NestAt& nest) {
  const Node& n = k.block.nodes[item.node];
  const Context& c = nest.context();
  const NodeValue& x = nest.value(item.in[0]);
  if (n.kind == NodeKind::matmul) {
    const char* product = graph::is_integer(n.dtype) ? "{0} = zellige::wrap_add({0}, {1} * {2});" : "{0} += {1} * {2};";
    k.out.line("{}", fmt::format(fmt::runtime(product), nest.sum, x.text, nest.value(item.in[1]).text));
    return;
  }
  const CountedLoop v = counted("v", c.vector());
  std::string head = v.head, sum = nest.sum;
  if (c.row) {
    const std::int64_t columns = k.block.nodes[n.in[0]].shape.back();
    if (columns % c.vector()) head += fmt::format("if ({} < {}) ", Index::named("at.n") + v.at, columns);
    sum = fmt::format("{}{}[{}::line(i)]", nest.loop->finds_maximum ? "most" : "sum", item.node, fragment_type(c));
  }
  const graph::Monoid& of = graph::monoid_of(n.op);
  if (nest.gathers) return k.out.line("{}{} = {};", head, sum, x.text);
  if (!of.carrier.empty() && !nest.loop->finds_maximum) {
    if (nest.loop->raised.contains(item.node)) return k.out.line("{}{}.add_below({});", head, sum, x.text);
    if (c.vector() == 1 || (c.row && k.block.nodes[n.in[0]].shape.back() % c.vector() != 0))
      return k.out.line("{}{}.add({});", head, sum, x.text);
    return k.out.line("{}.add({});", sum, store_value(k, x, c.vector()));
  }
  const graph::Elementwise& join = graph::elementwise(nest.loop->finds_maximum ? OpKind::maximum : of.join);
  const bool integer = graph::is_integer(n.dtype);
  if (join.kind == OpKind::add && !integer)
    k.out.line("{}{} += {};", head, sum, x.text);
  else
    k.out.line("{}{} = {};", head, sum, fmt::format(fmt::runtime(integer ? join.integers : join.text), sum, x.text));
}

/// Emits stores of the elements of a vector, the variable `value`, with `piece` elements per store instruction. `to`
/// is the beginning of the address expression, `at` the coordinate of the first element in the destination. If there
/// is a `limit`, elements whose coordinate in the loop nest, along the contiguous dimension, is `limit` or more are
/// not stored. `first_is_inside`: the first element is not beyond it.
void write_pieces(const KernelText& k, const std::string& value, const NestAt& nest, int piece, const std::string& to,
                  const std::vector<Index>& at, const std::optional<Index>& limit, bool first_is_inside = false) {
  const int inner = nest.context().inner(), vector = nest.context().vector();
  if (piece == 1 && vector % 2 == 0 && !limit) {
    const auto place = [&](int v) { return fmt::format("{}{})", to, fmt::join(neighbour(at, inner, v), ", ")); };
    for (int v = 0; v < vector; v += 2)
      k.out.line("write_apart({}, {}, {}{});", place(v), place(v + 1), value, v ? fmt::format(", {}", v) : "");
    return;
  }
  for (int v = 0; v < vector; v += piece) {
    const bool checked = limit && !(first_is_inside && v == 0);
    const std::string guard = checked ? fmt::format("if ({}) ", text({{nest.at[inner] + v, *limit}})) : "";
    k.out.line("{}write<{}>({}{}), {}{});", guard, piece, to, fmt::join(neighbour(at, inner, v), ", "), value,
               v ? fmt::format(", {}", v) : "");
  }
}

/// Emits `item`, the store of a value to a buffer in shared memory, at the coordinate in `nest`. If several threads
/// have the value, one of them stores it. If the warps divide K among themselves, each warp stores its partial
/// result to its own part of the buffer.
void to_shared(const KernelText& k, const Item& item, const NestAt& nest) {
  const SmemTensor& b = k.plan.tensors[item.buffer];
  const int inner = nest.context().inner(), vector = nest.context().vector();
  NodeValue v = nest.value(item.in[0]);
  if (!item.zeros.empty()) {
    Condition inside;
    for (const auto& [d, extent] : item.zeros)
      inside.push_back({d == inner ? nest.at[d] + one_of(vector) : nest.at[d], extent});
    v = {fmt::format("({} ? {} : {})", text(inside), v.text, v.type == "float" ? "0.0f" : v.type + "(0)"), vector > 1,
         "", v.type};
  }
  const std::string r = store_value(k, v, vector);
  std::optional<Index> limit;
  if (item.edge > 0) limit = item.edge;
  const bool by_one = nest.context().replicated(), by_parts = !by_one && b.partials > 1;
  if (by_one) k.out.open("if ({} == 0) {{", lane_among(nest.context(), nest.context().holders()));
  if (by_parts) {
    k.out.open("{{");
    k.out.line("const int part = {}::warp_k(warp);", fragment_type(nest.context()));
  }
  write_pieces(k, r, nest, item.width, k.tile(item.buffer) + (by_parts ? "(part, " : "("), nest.at, limit);
  if (by_one || by_parts) k.out.close();
}

/// Emits `item`, the store of a value to global memory, at the coordinate in `nest`.
void to_global(const KernelText& k, const Item& item, const NestAt& nest) {
  const Node& n = k.block.nodes[item.node];
  const Context& c = nest.context();
  const int inner = c.inner(), vector = c.vector();
  const std::string r = store_value(k, nest.value(item.in[0]), vector);
  const bool along = k.program.tensors[n.tensor].strides[inner] == 1 && n.view.tile(inner) > 1;
  int w = along ? std::min(vector, item.work->copy.vector) : 1;
  std::optional<Index> limit;
  bool first_is_inside = false;
  if (c.row && n.shape[inner] % vector != 0) w = 1, limit = n.shape[inner];
  if (n.view.straddles_end(inner, vector)) {
    // If a chunk may cross the tensor's edge, each element is checked. The first one begins inside, or is checked for all.
    w = 1, first_is_inside = n.view.predicated(inner);
    limit = global_end(k, n.view.along(inner, k.block)) - global_start(k, n, inner, nest.place().iteration);
  }
  if (c.replicated()) k.out.open("if ({} == 0) {{", lane_among(c, c.holders()));
  write_pieces(k, r, nest, w, k.global(n.tensor) + "(", position(k, n, nest.place().iteration, nest.at), limit,
               first_is_inside);
  if (c.replicated()) k.out.close();
}

/// Emits `item`, the update of a loop state, such as a running maximum, with a new value, at the coordinate in `nest`.
void accumulate(const KernelText& k, const Item& item, const NestAt& nest) {
  const Node& n = k.block.nodes[item.node];
  const int vector = nest.context().vector();
  const std::string acc = accumulator(item.node, nest, vector);
  const NodeValue& x = nest.value(item.in[0]);
  if (n.kind == NodeKind::running_max) {
    const std::string r = store_value(k, x, vector);
    int diff = -1;
    for (int i : k.block.consumers(item.node))
      if (k.block.nodes[i].kind == NodeKind::running_diff) diff = i;
    const CountedLoop v = counted("v", vector);
    const std::string raise = fmt::format("raise_max({}, {}[{}])", acc, r, v.at);
    if (diff < 0) return k.out.line("{}{};", v.head, raise);
    // The first difference is 0, not that from the lowest number (docs/reference/graph-ir.md).
    const std::string by = accumulator(diff, nest, vector);
    if (nest.place().iteration == Index(0)) return k.out.line("{}{}, {} = 0.0f;", v.head, raise, by);
    if (nest.place().from > 0) return k.out.line("{}{} = {};", v.head, by, raise);
    k.out.open("{}{{", v.head);
    k.out.line("const {} raised = {};", register_type(n.dtype), raise);
    k.out.line("{} = it == 0 ? {} : raised;", by, literal(0, n.dtype));
    return k.out.close();
  }
  // In shared memory, one slot per thread, because it does not fit the registers.
  const bool stored = item.buffer >= 0;
  const std::string old = stored ? nest.value(item.in[1]).text : acc;
  const graph::ReductionRow& row = *graph::reduction_of(n.op);
  const graph::Elementwise& join = graph::elementwise(row.of->join);
  const std::string sum = row.rescales ? fmt::format("{} * {} + {}", old, nest.value(item.in.back()).text, x.text)
                          : graph::is_integer(n.dtype)     ? fmt::format(fmt::runtime(join.integers), old, x.text)
                          : row.of != &graph::monoids::sum ? fmt::format(fmt::runtime(join.text), old, x.text)
                          : stored                         ? fmt::format("{} + {}", old, x.text)
                                                           : "";
  if (stored)
    return write_pieces(k, store_value(k, {sum, vector > 1, "", register_type(n.dtype)}, vector), nest, item.width,
                        k.tile(item.buffer) + "(", nest.at, {});
  k.out.line("{}{};", counted("v", vector).head,
             sum.empty() ? fmt::format("{} += {}", acc, x.text) : fmt::format("{} = {}", acc, sum));
}

}  // namespace

/// Returns the condition under which a block stores its tile of the work's output; empty: always (kernel/sliced.hpp).
Condition in_slices(const KernelText& k, const Work& work) {
  Condition all;
  for (const kernel::Slice& slice : kernel::slices(k.plan, work)) {
    const Index tile = tile_number(slice.along);
    if (slice.from > 0) all.push_back({slice.from - 1, tile});
    if (slice.to < slice.along.tiles()) all.push_back({tile, slice.to});
  }
  return all;
}

/// Emits `item`, what a work does with its operator's value: a store, an accumulation, or the assignment to an operand.
void leave(const KernelText& k, const Item& item, const NestAt& nest) {
  const int vector = nest.context().vector();
  if (nest.keeps.counter && is_kept(item, nest.keeps)) {
    const std::string r = store_value(k, nest.value(item.in[0]), vector);
    return k.out.line("{}[{}] = {};", kept_name(item), nest.keeps.counter, r);
  }
  switch (item.work->kind) {
    case WorkKind::to_shared:
      return to_shared(k, item, nest);
    case WorkKind::to_global:
      return to_global(k, item, nest);
    case WorkKind::accumulate:
      return accumulate(k, item, nest);
    case WorkKind::to_lines:
      return k.out.line("{} = {};", accumulator(item.node, nest, 1), nest.value(item.in[0]).text);
    case WorkKind::to_registers: {
      const std::string r = store_value(k, nest.value(item.in[0]), vector);
      const CountedLoop v = counted("v", vector);
      return k.out.line("{}{} = {}[{}];", v.head, accumulator(item.node, nest, vector), r, v.at);
    }
    case WorkKind::rescale:
      return k.out.line("{}{} *= {};", counted("v", vector).head, accumulator(item.node, nest, vector),
                        nest.value(item.in[0]).text);
    case WorkKind::to_operand: {
      const std::string r = store_value(k, nest.value(item.in[0]), 2);
      return k.out.line("op{}.put({}, {}[0], {}[1]);", item.node, nest.chunk, r, r);
    }
    case WorkKind::reduce:
      return reduce(k, item, nest);
    default:
      return;
  }
}

}  // namespace zellige::emit
