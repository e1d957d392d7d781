#include <algorithm>

#include "emit/kernel_text.hpp"

namespace zellige::emit {

using plan::ContextKind;
using plan::NodeKind;
using plan::OpKind;

namespace {
/// Row by row: the last dimension counts fastest.
std::vector<int> rows(std::size_t rank) {
  std::vector<int> order(rank);
  for (std::size_t d = 0; d < rank; ++d) order[d] = static_cast<int>(rank - 1 - d);
  return order;
}
}  // namespace

void KernelText::lanes_nest(const Task& task) {
  const Node& n = block_.nodes[task.node];
  const Context& c = plan_.contexts[task.context];
  const int group = c.lanes * c.splits, groups = warps() * 32 / group;
  const std::int64_t outputs = graph::size(c.domain), chunks = c.length / c.vector;
  const std::int64_t steps = (chunks + group - 1) / group;
  const bool product = n.kind == NodeKind::matmul;
  const std::size_t outer = mark();
  out_.line("// {} of {}: {} thread{} a sum",
            product                         ? "products"
            : n.op == OpKind::reduction_max ? "maxima"
                                            : "sums",
            n.name.empty() ? fmt::format("%{}", task.node) : printable(n.name), group, group > 1 ? "s" : "");
  const bool some = groups * group < threads();
  if (some) out_.open("if (tid < {}) {{", groups * group);
  const char* counter = index_type(outputs + groups);
  const Index tid = Index::named("tid");
  const Share o = share(counter, "i", "o", digit(tid, group, groups, true), outputs, groups, "");
  Point p(c.domain.size());
  p.at = coordinate(counter, o.item, c.domain, rows(c.domain.size()));
  const char* along = index_type(c.length * c.to + group * c.vector);
  const Share k =
      share(along, "j", "k", digit(tid, 1, group, false), chunks, group, steps > 16 ? " 8" : "", c.vector);
  const std::string sum = fmt::format("sum{}[{}]", task.node, o.step);
  if (product) {
    Point a = p, b = p;
    const int rank = static_cast<int>(n.shape.size());
    a.at[rank - 1] = b.at[rank - 2] = k.item;
    a.inner = b.inner = rank - 1;
    const std::string x = value(n.in[0], a).text, y = value(n.in[1], b).text;
    out_.line("{} += {} * {};", sum, x, y);
  } else {
    p.inner = c.reduce_dim, p.vector = c.vector;
    Index& at = p.at[c.reduce_dim];
    at = at + k.item * c.to;
    if (!at.is_name() && !at.is_constant()) {
      out_.line("const {} kk = {};", along, at);
      at = Index::named("kk");
    }
    const Condition guard = conditions(n.in[0], p);
    if (!guard.empty()) out_.open("if ({}) {{", text(guard));
    const Value x = value(n.in[0], p);
    const std::string head = counted("v", c.vector).head;
    if (n.op == OpKind::reduction_max)
      out_.line("{}{} = zellige::max({}, {});", head, sum, sum, x.text);
    else
      out_.line("{}{} += {};", head, sum, x.text);
    if (!guard.empty()) out_.close();
  }
  close(k);
  close(o);
  if (some) out_.close();
  forget(outer);
}

void KernelText::finish(const Task& task) {
  const Node& n = block_.nodes[task.node];
  const Context& c = plan_.contexts[task.context];
  const bool max = n.kind == NodeKind::reduce && n.op == OpKind::reduction_max;
  const Buffer& b = plan_.buffers[task.buffer];
  const auto address = [&](const std::vector<Index>& at, const std::string& part) {
    return fmt::format("{}({}{})", tile(task.buffer), b.partials > 1 ? part + ", " : "", fmt::join(at, ", "));
  };
  if (c.kind == ContextKind::fragment) {
    const std::string type = fragment_type(c);
    const int rank = static_cast<int>(c.domain.size());
    const bool some = used_warps(c) < (threads() + 31) / 32;
    if (some) out_.open("if (warp < {}) {{", used_warps(c));
    out_.line("#pragma unroll");
    out_.open("for (int r = 0; r < {}::lines; ++r) {{", type);
    out_.line("const FragmentAt at = {}::line_at(r, warp, lane);", type);
    out_.line("const Vec<float, 1> x{{{}_lanes<4>(sum{}[r], at.m)}};", max ? "max" : "sum", task.node);
    std::int64_t batch = 1;
    for (int d = 0; d + 2 < rank; ++d) batch *= c.domain[d];
    std::vector<Index> at = batch_coordinate(c);
    at[rank - 2] = Index::named("at.m");
    std::string inside = "lane % 4 == 0";
    if (batch % c.warps.b != 0) inside += fmt::format(" && at.b < {}", batch);
    if (c.domain[rank - 2] % 16 != 0 || (c.domain[rank - 2] + 15) / 16 % c.warps.m != 0)
      inside += fmt::format(" && at.m < {}", c.domain[rank - 2]);
    out_.line("if ({}) write<1>({}, x);", inside, address(at, type + "::warp_n(warp)"));
    out_.close();
    if (some) out_.close();
    return;
  }
  const int group = c.lanes * c.splits, groups = warps() * 32 / group;
  const std::int64_t outputs = graph::size(c.domain);
  const bool some = groups * group < threads();
  if (some) out_.open("if (tid < {}) {{", groups * group);
  const char* counter = index_type(outputs + groups);
  const Index tid = Index::named("tid");
  // The lanes of a sum that nobody wants take part in its shuffles all the same.
  const Share o = share(counter, "i", "o", digit(tid, group, groups, true), outputs, groups, "", 1, false);
  if (c.lanes > 1)
    out_.line("const Vec<float, 1> x{{{}_lanes<{}>(sum{}[{}], {})}};", max ? "max" : "sum", c.lanes,
              task.node, o.step, c.splits > 1 ? digit(tid, c.lanes, groups, true) : o.item);
  else
    out_.line("const Vec<float, 1> x{{sum{}[{}]}};", task.node, o.step);
  std::string inside = c.lanes > 1 ? fmt::format("tid % {} == 0", c.lanes) : "";
  if (outputs % groups != 0) inside += (inside.empty() ? "" : " && ") + text({{o.item, outputs}});
  const std::vector<Index> at = coordinate(counter, o.item, c.domain, rows(c.domain.size()));
  const std::string to = address(at, fmt::format("tid / {} % {}", c.lanes, c.splits));
  if (inside.empty())
    out_.line("write<1>({}, x);", to);
  else
    out_.line("if ({}) write<1>({}, x);", inside, to);
  close(o);
  if (some) out_.close();
}

void KernelText::staged_store(const Task& task) {
  // The accumulators' staging tile, chunk by chunk, already in the storage type.
  const Node& n = block_.nodes[task.node];
  const Context& c = plan_.contexts[task.context];
  const plan::Shape chunks = chunks_of(c);
  const std::int64_t total = graph::size(chunks);
  out_.line("// {} leaves in {} chunks of {} bytes", printable(n.name), total,
            c.vector * graph::bytes(n.dtype));
  const Share s =
      share("int", "i", "c", Index::named("tid"), total, threads(), total > 16 * threads() ? " 4" : "");
  const std::vector<Index> from = coordinate("int", s.item, chunks, c.order, c.inner, c.vector);
  const std::vector<Index> to = position(n, iteration_, from);
  Condition inside;
  for (std::size_t d = 0; d < to.size(); ++d)
    if (n.splits[d].overhang) inside.push_back({to[d], n.splits[d].extent + n.splits[d].offset});
  out_.line("{}store({}({}), load<{}>({}({})));", inside.empty() ? "" : fmt::format("if ({}) ", text(inside)),
            global(n.tensor), fmt::join(to, ", "), c.vector, tile(task.buffer), fmt::join(from, ", "));
  close(s);
}

}  // namespace zellige::emit
