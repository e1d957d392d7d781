#include <algorithm>

#include "emit/kernel_text.hpp"

namespace zellige::emit {

using plan::ContextKind;
using plan::NodeKind;
using plan::OpKind;

void KernelText::lanes_nest(const Task& task) {
  const Node& n = block_.nodes[task.node];
  const Context& c = plan_.contexts[task.context];
  const int group = c.lanes * c.splits, groups = warps() * 32 / group;
  const std::int64_t outputs = graph::size(c.domain), chunks = c.length / c.vector;
  const std::int64_t mine = (outputs + groups - 1) / groups, steps = (chunks + group - 1) / group;
  const bool product = n.kind == NodeKind::matmul;
  const std::size_t outer = mark();
  out_.line("// {} of {}: {} thread{} a sum",
            product                         ? "products"
            : n.op == OpKind::reduction_max ? "maxima"
                                            : "sums",
            n.name.empty() ? fmt::format("%{}", task.node) : printable(n.name), group, group > 1 ? "s" : "");
  const bool some = groups * group < threads();
  if (some) out_.open("if (tid < {}) {{", groups * group);
  out_.line("#pragma unroll");
  const char* counter = index_type(outputs + groups);
  out_.open("for ({} i = 0; i < {}; ++i) {{", counter, mine);
  out_.line("const {} o = {} + i * {};", counter, group > 1 ? fmt::format("tid / {}", group) : "tid", groups);
  const bool ragged = outputs % groups != 0;
  if (ragged) out_.open("if (o < {}) {{", outputs);
  Point p;
  p.at.resize(c.domain.size());
  p.limit.assign(c.domain.size(), 0);
  p.context = -1;
  std::int64_t below = 1;
  for (int d = static_cast<int>(c.domain.size()) - 1; d >= 0; --d) {
    const std::string index = digit("o", below, c.domain[d], below * c.domain[d] == outputs);
    below *= c.domain[d];
    p.at[d] = index == "0" ? "0" : fmt::format("i{}", d);
    if (index != "0") out_.line("const {} i{} = {};", counter, d, index);
  }
  const char* along = index_type(c.length * c.to + group * c.vector);
  out_.line("#pragma unroll{}", steps > 16 ? " 8" : "");
  out_.open("for ({} j = 0; j < {}; ++j) {{", along, steps);
  std::string k = group > 1 ? fmt::format("tid % {}", group) : "";
  k = k.empty() ? "j" : steps > 1 ? fmt::format("{} + j * {}", k, group) : k;
  out_.line("const {} k = {};", along, times(k, c.vector));
  const bool tail = chunks % group != 0;
  if (tail) out_.open("if (k < {}) {{", c.length);
  if (product) {
    Point a = p, b = p;
    const int rank = static_cast<int>(n.shape.size());
    a.at[rank - 1] = "k", b.at[rank - 2] = "k";
    a.inner = b.inner = rank - 1;
    const std::string x = value(n.in[0], a).text, y = value(n.in[1], b).text;
    out_.line("{{ const int v = 0; (void)v; sum{}[i] += {} * {}; }}", task.node, x, y);
  } else {
    p.inner = c.reduce_dim, p.vector = c.vector;
    std::string at = times("k", c.to);
    if (p.at[c.reduce_dim] != "0") at = fmt::format("{} + {}", p.at[c.reduce_dim], at);
    if (at != "k") {
      out_.line("const {} kk = {};", along, at);
      at = "kk";
    }
    p.at[c.reduce_dim] = at;
    const std::string guard = conditions(n.in[0], p);
    if (!guard.empty()) out_.open("if ({}) {{", guard);
    const Value x = value(n.in[0], p);
    const std::string sum = fmt::format("sum{}[i]", task.node);
    const std::string loop = c.vector > 1 ? fmt::format("for (int v = 0; v < {}; ++v) ", c.vector)
                                          : "{ const int v = 0; (void)v; ";
    const char* end = c.vector > 1 ? "" : " }";
    if (n.op == OpKind::reduction_max)
      out_.line("{}{} = zellige::max({}, {});{}", loop, sum, sum, x.text, end);
    else
      out_.line("{}{} += {};{}", loop, sum, x.text, end);
    if (!guard.empty()) out_.close();
  }
  if (tail) out_.close();
  out_.close();
  if (ragged) out_.close();
  out_.close();
  if (some) out_.close();
  forget(outer);
}

void KernelText::finish(const Task& task) {
  const Node& n = block_.nodes[task.node];
  const Context& c = plan_.contexts[task.context];
  const bool max = n.kind == NodeKind::reduce && n.op == OpKind::reduction_max;
  const Buffer& b = plan_.buffers[task.buffer];
  const auto address = [&](const std::vector<std::string>& at, const std::string& part) {
    std::string text = b.partials > 1 ? part : "";
    for (const std::string& a : at) text += (text.empty() ? "" : ", ") + a;
    return fmt::format("{}({})", tile(task.buffer), text);
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
    std::int64_t batch = 1, below = 1;
    for (int d = 0; d + 2 < rank; ++d) batch *= c.domain[d];
    std::vector<std::string> at(rank, "0");
    for (int d = rank - 3; d >= 0; --d) {
      const std::string index = digit("at.b", below, c.domain[d], below * c.domain[d] == batch);
      below *= c.domain[d];
      if (index == "0") continue;
      out_.line("const int i{} = {};", d, index);
      at[d] = fmt::format("i{}", d);
    }
    at[rank - 2] = "at.m";
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
  const std::int64_t outputs = graph::size(c.domain), mine = (outputs + groups - 1) / groups;
  const bool some = groups * group < threads();
  if (some) out_.open("if (tid < {}) {{", groups * group);
  out_.line("#pragma unroll");
  const char* counter = index_type(outputs + groups);
  out_.open("for ({} i = 0; i < {}; ++i) {{", counter, mine);
  out_.line("const {} o = {} + i * {};", counter, group > 1 ? fmt::format("tid / {}", group) : "tid", groups);
  if (c.lanes > 1)
    out_.line("const Vec<float, 1> x{{{}_lanes<{}>(sum{}[i], {})}};", max ? "max" : "sum", c.lanes, task.node,
              c.splits > 1 ? fmt::format("tid / {}", c.lanes) : "o");
  else
    out_.line("const Vec<float, 1> x{{sum{}[i]}};", task.node);
  std::string inside = c.lanes > 1 ? fmt::format("tid % {} == 0", c.lanes) : "";
  if (outputs % groups != 0) inside += fmt::format("{}o < {}", inside.empty() ? "" : " && ", outputs);
  std::vector<std::string> at(c.domain.size(), "0");
  std::int64_t below = 1;
  for (int d = static_cast<int>(c.domain.size()) - 1; d >= 0; --d) {
    const std::string index = digit("o", below, c.domain[d], below * c.domain[d] == outputs);
    below *= c.domain[d];
    at[d] = index;
  }
  const std::string to = address(at, fmt::format("tid / {} % {}", c.lanes, c.splits));
  if (inside.empty())
    out_.line("write<1>({}, x);", to);
  else
    out_.line("if ({}) write<1>({}, x);", inside, to);
  out_.close();
  if (some) out_.close();
}

void KernelText::staged_store(const Task& task) {
  // The accumulators' staging tile, chunk by chunk, already in the storage type.
  const Node& n = block_.nodes[task.node];
  const Context& c = plan_.contexts[task.context];
  plan::Shape chunks = c.domain;
  chunks[c.inner] /= c.vector;
  const std::int64_t total = graph::size(chunks), count = (total + threads() - 1) / threads();
  out_.line("// {} leaves in {} chunks of {} bytes", printable(n.name), total,
            c.vector * graph::bytes(n.dtype));
  out_.line("#pragma unroll{}", count > 16 ? " 4" : "");
  out_.open("for (int i = 0; i < {}; ++i) {{", count);
  out_.line("const int c = tid + i * {};", threads());
  const bool ragged = total % threads() != 0;
  if (ragged) out_.open("if (c < {}) {{", total);
  std::string from, to, guard;
  std::vector<std::string> at(c.domain.size());
  std::int64_t below = 1;
  for (int d : c.order) {
    const std::string index = digit("c", below, chunks[d], below * chunks[d] == total);
    below *= chunks[d];
    at[d] = index == "0" ? "0" : fmt::format("i{}", d);
    if (index != "0") out_.line("const int i{} = {};", d, d == c.inner ? times(index, c.vector) : index);
  }
  for (std::size_t d = 0; d < at.size(); ++d) {
    const std::string global_at = position(n, static_cast<int>(d), "it", at[d]);
    from += (d ? ", " : "") + at[d];
    to += (d ? ", " : "") + global_at;
    if (n.splits[d].overhang)
      guard += fmt::format("{}{} < {}", guard.empty() ? "" : " && ", global_at,
                           n.splits[d].extent + n.splits[d].offset);
  }
  const std::string move = fmt::format("store({}({}), load<{}>({}({})));", global(n.tensor), to, c.vector,
                                       tile(task.buffer), from);
  if (guard.empty())
    out_.line("{}", move);
  else
    out_.line("if ({}) {}", guard, move);
  if (ragged) out_.close();
  out_.close();
}

}  // namespace zellige::emit
