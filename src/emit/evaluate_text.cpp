#include <algorithm>

#include "emit/kernel_text.hpp"
#include "plan/shared_access.hpp"

namespace zellige::emit {

using plan::NodeKind;
using plan::OpKind;
using plan::TaskKind;

std::string KernelText::fragment_type(const Context& c) const {
  const std::size_t rank = c.domain.size();
  const plan::WarpLayout w = plan::warps(c);
  std::int64_t batch = 1;
  for (std::size_t d = 0; d + 2 < rank; ++d) batch *= c.domain[d];
  return fmt::format("Fragment<{}, {}, {}, {}, {}, {}, {}>", batch, c.domain[rank - 2],
                     c.domain[rank - 1] / c.turns(), w.b, w.m, w.n, w.k);
}

bool KernelText::open_threads(const Context& c) {
  if (c.threads() >= threads()) return false;
  if (c.row)
    out_.open("if (warp < {}) {{", c.threads() / 32);
  else
    out_.open("if (tid < {}) {{", c.threads());
  return true;
}

std::string KernelText::tile_at_stage(int buffer) const {
  const Buffer& b = plan_.buffers[buffer];
  if (b.stages == 1) return tile(buffer);
  return fmt::format("{}.shift(stage * {})", tile(buffer), b.stage_stride);
}

void KernelText::mma(const Task& task) {
  const Node& n = block_.nodes[task.node];
  const Context& c = plan_.contexts[task.context];
  const plan::MatmulChoice& m = plan_.matmuls.at(task.node);
  if (m.row->m != 16 || m.row->n != 8 || m.row->k != 16)
    fail("{}: %{} is planned on {}; the kernel's Fragment multiplies in m16n8k16", block_.name, task.node,
         m.row->name);
  const int rank = static_cast<int>(n.shape.size());
  if (!n.carried) {
    out_.line("{} acc{};", fragment_type(c), task.node);
    out_.line("acc{}.clear();", task.node);
  }
  const std::string type = type_name(block_.nodes[n.in[1]].dtype);
  // Operands as (batch, row, column).
  const auto operand = [&](int side) {
    const int node = n.in[side];
    const Buffer& b = plan_.buffers[plan_.buffer_of.at(node)];
    std::string shape, stride;
    if (rank == 2) {
      shape = "Int<1>", stride = "Int<0>";
    } else if (rank == 3) {
      shape = fmt::format("Int<{}>", b.padded[0]), stride = fmt::format("Int<{}>", b.strides[0]);
    } else {
      // Layouts count colexicographically, tiles row-major: the batch's dimensions in reverse.
      std::string s, d;
      for (int k = rank - 3; k >= 0; --k)
        s += fmt::format("Int<{}>{}", b.padded[k], k ? ", " : ""),
            d += fmt::format("Int<{}>{}", b.strides[k], k ? ", " : "");
      shape = fmt::format("Shape<{}>", s), stride = fmt::format("Stride<{}>", d);
    }
    const std::string layout =
        fmt::format("Layout<Shape<{}, Int<{}>, Int<{}>>, Stride<{}, Int<{}>, Int<{}>>>{{}}", shape,
                    b.padded[rank - 2], b.padded[rank - 1], stride, b.strides[rank - 2], b.strides[rank - 1]);
    return fmt::format("view({}, {})", tile_at_stage(plan_.buffer_of.at(node)),
                       b.swizzle.B ? fmt::format("composition(Swizzle<{}, {}, {}>{{}}, {})", b.swizzle.B,
                                                 b.swizzle.M, b.swizzle.S, layout)
                                   : layout);
  };
  const auto along_k = [&](int side) {
    const Buffer& b = plan_.buffers[plan_.buffer_of.at(n.in[side])];
    return b.inner == (side == 0 ? rank - 1 : rank - 2) ? "true" : "false";
  };
  out_.line("// {} = {} x {}: {}x{}x{} on mma.sync, warps {}x{}x{}{}",
            n.name.empty() ? fmt::format("%{}", task.node) : printable(n.name),
            printable(block_.nodes[n.in[0]].name), printable(block_.nodes[n.in[1]].name), m.m, m.n, m.k,
            m.warps.b, m.warps.m, m.warps.n, m.warps.k > 1 ? fmt::format(", K over {}", m.warps.k) : "");
  const std::string columns =
      c.turns() == 1 ? operand(1) : fmt::format("columns_from({}, slice * {})", operand(1), m.n / c.turns());
  const bool some = open_threads(c);
  if (m.a_from >= 0)
    out_.line("multiply<{}, {}, {}>(acc{}, op{}, {}, warp, lane);", type, m.k, along_k(1), task.node, n.in[0],
              columns);
  else
    out_.line("multiply<{}, {}, {}, {}>(acc{}, {}, {}, warp, lane);", type, m.k, along_k(0), along_k(1),
              task.node, operand(0), columns);
  if (some) out_.close();
}

/// What is emitted from here on stands under this condition; tasks of one condition stand under it together.
void KernelText::guard(const Condition& condition) {
  if (condition == guard_) return;
  if (!guard_.empty()) out_.close(), forget(guarded_);
  guard_ = condition, guarded_ = mark();
  if (!guard_.empty()) out_.open("if ({}) {{", text(guard_));
}

void KernelText::nest(const std::vector<int>& tasks) {
  const Task& first = plan_.tasks[tasks.front()];
  const Context& c = plan_.contexts[first.context];
  const std::size_t outer = mark();
  for (int t : tasks)
    if (plan_.tasks[t].kind ==
        TaskKind::to_operand)  // what no thread's elements fill must be zeros: it is multiplied all the same
      out_.line("Operand<{}, {}> op{}{};", type_name(block_.nodes[plan_.tasks[t].node].dtype),
                fragment_type(c), plan_.tasks[t].node, inside(plan_.tasks[t]).empty() ? "" : "{}");
  if (c.row)
    fragment_nest(tasks);
  else
    sweep_nest(tasks);
  forget(outer);
}

void KernelText::sweep_nest(const std::vector<int>& tasks) {
  const Context& c = plan_.contexts[plan_.tasks[tasks.front()].context];
  bool registers = false;
  for (int t : tasks) registers = registers || plan_.tasks[t].kind == TaskKind::accumulate;
  for (const auto& [node, context] : plan_.context_of)
    registers = registers || &plan_.contexts[context] == &c;
  const char* counter = index_type(c.items(0) / c.vector() + threads());
  const Share s = share(c, 0, {counter, "i", "c", registers || c.steps(0) <= 8 ? "" : " 4"});
  Point p(c.domain.size());
  p.at = coordinate(counter, s.item, c, 0);
  p.inner = c.inner(), p.vector = c.vector();
  p.context = plan_.tasks[tasks.front()].context;
  p.index = s.step;
  for (int t : tasks) {
    if (plan_.tasks[t].kind != TaskKind::to_global) guard({});
    sink(plan_.tasks[t], p);
  }
  guard({});
  close(s);
}

/// Which of a fragment's elements are anybody's: a batch, row or column beyond is not.
Condition KernelText::inside(const Task& task) const {
  Condition inside;
  for (const plan::Guard& g : plan::guards(plan_, task))
    inside.push_back({Index::named(g.axis == 0 ? "at.n" : g.axis == 1 ? "at.m" : "at.b"), g.below});
  return inside;
}

void KernelText::fragment_nest(const std::vector<int>& tasks) {
  const int context = plan_.tasks[tasks.front()].context;
  const Context& c = plan_.contexts[context];
  const int rank = static_cast<int>(c.domain.size());
  const std::string type = fragment_type(c);
  const bool some = open_threads(c);
  out_.line("#pragma unroll");
  out_.open("for (int i = 0; i < {}::pairs; ++i) {{", type);
  out_.line("const FragmentAt at = {}::at(i, warp, lane);", type);
  Point p(rank);
  p.at = coordinate("int", Index::named("at.b"), c, 2);
  p.inner = rank - 1, p.vector = 2, p.context = context, p.index = Index::named("i");
  p.at[rank - 2] = Index::named("at.m"), p.at[rank - 1] = Index::named("at.n");
  if (c.turns() > 1) {
    out_.line("const int n = at.n + slice * {};", c.domain[rank - 1] / c.turns());
    p.at[rank - 1] = Index::named("n");
  }
  if (c.domain[rank - 2] % c.row->m != 0) p.limit[rank - 2] = c.domain[rank - 2];
  if (c.domain[rank - 1] % 2 != 0) p.limit[rank - 1] = c.domain[rank - 1];
  for (int t : tasks) {
    const Task& task = plan_.tasks[t];
    const plan::Shape& bound = plan::written(plan_, task);
    // Tiles of warps that hold none would read beyond: clamp those too.
    Point q = p;
    const bool padded = bound != c.domain;
    if (!padded) q.limit[rank - 2] = 0;
    if (!padded && c.domain[rank - 1] % 2 == 0) q.limit[rank - 1] = 0;
    if (padded && bound[rank - 1] != c.domain[rank - 1]) q.limit[rank - 1] = c.domain[rank - 1];
    guard(inside(task));
    sink(task, q);
  }
  guard({});
  out_.close();
  if (some) out_.close();
}

void KernelText::sink(const Task& task, const Point& p) {
  switch (task.kind) {
    case TaskKind::to_shared:
      return sink_shared(task, p);
    case TaskKind::to_global:
      return sink_global(task, p);
    case TaskKind::accumulate:
      return sink_accumulate(task, p);
    case TaskKind::to_operand: {
      const Value v = value(block_.nodes[task.node].in[0], p);
      const std::string r = store_value(v, 2);
      out_.line("op{}.put({}, {}[0], {}[1]);", task.node, p.index, r, r);
      return;
    }
    case TaskKind::reduce: {  // in a fragment: along the last dimension
      const Node& n = block_.nodes[task.node];
      const Value v = value(n.in[0], p);
      const std::int64_t columns = block_.nodes[n.in[0]].shape.back();
      const std::string guard = columns % 2 ? fmt::format("if (at.n + v < {}) ", columns) : "";
      const std::string to =
          fmt::format("sum{}[{}::line(i)]", task.node, fragment_type(plan_.contexts[task.context]));
      if (n.op == OpKind::reduction_max)
        out_.line("for (int v = 0; v < 2; ++v) {}{} = zellige::max({}, {});", guard, to, to, v.text);
      else
        out_.line("for (int v = 0; v < 2; ++v) {}{} += {};", guard, to, v.text);
      return;
    }
    default:
      return;
  }
}

void KernelText::write_pieces(const std::string& value, const Point& p, int piece, const std::string& to,
                              const std::vector<Index>& at, const std::optional<Index>& limit) {
  for (int v = 0; v < p.vector; v += piece) {
    const std::string guard =
        limit ? fmt::format("if ({}) ", text({{p.at[p.inner] + v, *limit}})) : std::string();
    out_.line("{}write<{}>({}{}), {}{});", guard, piece, to, fmt::join(neighbour(at, p.inner, v), ", "),
              value, v ? fmt::format(", {}", v) : "");
  }
}

void KernelText::sink_shared(const Task& task, const Point& p) {
  const Node& n = block_.nodes[task.node];
  const Buffer& b = plan_.buffers[task.buffer];
  const bool operand = n.kind == NodeKind::round;
  const int source = operand || n.kind == NodeKind::store ? n.in[0] : task.node;
  Point q = p;
  Condition inside;
  for (std::size_t d = 0; d < b.shape.size(); ++d)
    if (b.padded[d] > b.shape[d]) {
      q.limit[d] = b.shape[d];
      inside.push_back({static_cast<int>(d) == p.inner ? p.at[d] + one_of(p.vector) : p.at[d], b.shape[d]});
    }
  if (source == task.node) spilled_ = source;
  Value v = source == spilled_ ? leaf(source, q) : value(source, q);
  spilled_ = -1;
  if (!inside.empty())
    v = {fmt::format("({} ? {} : {})", text(inside), v.text, v.type == "int" ? "0" : "0.0f"), p.vector > 1,
         "", v.type};
  const std::string r = store_value(v, p.vector);
  const Context& c = plan_.contexts[task.context];
  int w = b.inner == p.inner ? plan::access_width(b, p.inner, p.vector, p.shift) : 1;
  std::optional<Index> limit;
  if (c.row && b.padded[p.inner] % 2 != 0) w = 1, limit = b.padded[p.inner];
  if (b.partials == 1) return write_pieces(r, p, w, tile(task.buffer) + "(", p.at, limit);
  out_.open("{{");
  out_.line("const int part = {}::warp_k(warp);", fragment_type(c));
  write_pieces(r, p, w, tile(task.buffer) + "(part, ", p.at, limit);
  out_.close();
}

Condition KernelText::conditions(int node, const Point& p) {
  // Loads read in place, and stores, of tensors that the last tile overhangs.
  std::set<Bound> all;
  std::set<int> seen;
  std::vector<int> open{node};
  while (!open.empty()) {
    const int i = open.back();
    open.pop_back();
    if (!seen.insert(i).second) continue;
    const Node& n = block_.nodes[i];
    const bool direct = n.kind == NodeKind::load && plan_.direct.count(i) && plan_.direct.at(i);
    if (direct || n.kind == NodeKind::store) {
      for (std::size_t d = 0; d < n.splits.size(); ++d)
        if (n.splits[d].overhang)
          all.insert(
              {global_start(n, static_cast<int>(d), iteration_) + (n.shape[d] == 1 ? Index(0) : p.at[d]),
               n.splits[d].extent + n.splits[d].offset});
    }
    if (n.kind == NodeKind::map || n.kind == NodeKind::store)
      open.insert(open.end(), n.in.begin(), n.in.end());
  }
  return {all.begin(), all.end()};
}

void KernelText::sink_global(const Task& task, const Point& p) {
  const Node& n = block_.nodes[task.node];
  const auto& tensor = program_.tensors[n.tensor];
  const Condition within = conditions(task.node, p);
  const bool swept = !plan_.contexts[task.context].row;
  const std::size_t outer = mark();
  if (swept)
    guard(within);
  else if (!within.empty())
    out_.open("if ({}) {{", text(within));
  const Value v = value(n.in[0], p);
  const std::string r = store_value(v, p.vector);
  const plan::Copy& copy = plan_.copies.at(task.node);
  const bool along = tensor.strides[p.inner] == 1 && (n.splits[p.inner].tile > 1);
  int w = along ? std::min(p.vector, copy.vector) : 1;
  std::optional<Index> limit;
  const Context& c = plan_.contexts[task.context];
  if (c.row && n.shape[p.inner] % 2 != 0) w = 1, limit = n.shape[p.inner];
  if (n.splits[p.inner].overhang && n.splits[p.inner].extent % p.vector != 0) {
    // A chunk may straddle the tensor's edge: then each element is asked.
    w = 1;
    limit = n.splits[p.inner].extent - global_start(n, p.inner, iteration_);
  }
  write_pieces(r, p, w, global(n.tensor) + "(", position(n, iteration_, p.at), limit);
  if (!swept && !within.empty()) out_.close(), forget(outer);
}

void KernelText::sink_accumulate(const Task& task, const Point& p) {
  const Node& n = block_.nodes[task.node];
  const std::string acc = accumulator(task.node, p);
  const Value x = value(n.in[0], p);
  if (n.kind == NodeKind::running_max) {
    const std::string r = store_value(x, p.vector);
    int diff = -1;
    for (int i : block_.consumers(task.node))
      if (block_.nodes[i].kind == NodeKind::running_diff) diff = i;
    const Counted v = counted("v", p.vector);
    out_.open("{}{{", v.head);
    out_.line("const float old = {};", acc);
    out_.line("{} = zellige::max(old, {}[{}]);", acc, r, v.at);
    if (diff >= 0) out_.line("{} = it == 0 ? 0.0f : old - {};", accumulator(diff, p), acc);
    out_.close();
    return;
  }
  if (task.buffer >= 0) {  // too many for registers: in shared memory, each thread its own
    const Buffer& b = plan_.buffers[task.buffer];
    const Value old = read_buffer(b, n.shape, p, tile(task.buffer));
    Value sum{"", p.vector > 1};
    if (n.op == OpKind::accum) sum.text = fmt::format("{} + {}", old.text, x.text);
    if (n.op == OpKind::accum_max) sum.text = fmt::format("zellige::max({}, {})", old.text, x.text);
    if (n.op == OpKind::accum_rescale)
      sum.text =
          fmt::format("{} * {} + {}", old.text, value(n.in[1], narrowed(n.in[1], task.node, p)).text, x.text);
    const std::string r = store_value(sum, p.vector);
    write_pieces(r, p, plan::access_width(b, p.inner, p.vector, p.shift), tile(task.buffer) + "(", p.at, {});
    return;
  }
  std::string update = fmt::format("{} += {}", acc, x.text);
  if (n.op == OpKind::accum_max) update = fmt::format("{} = zellige::max({}, {})", acc, acc, x.text);
  if (n.op == OpKind::accum_rescale) {
    const Value r = value(n.in[1], narrowed(n.in[1], task.node, p));
    update = fmt::format("{} = {} * {} + {}", acc, acc, r.text, x.text);
  }
  out_.line("{}{};", counted("v", p.vector).head, update);
}

}  // namespace zellige::emit
