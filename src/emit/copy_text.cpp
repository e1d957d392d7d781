#include "emit/kernel_text.hpp"

namespace zellige::emit {

std::string KernelText::global_start(const Node& n, int dim, const std::string& iteration) const {
  const plan::Split& s = n.splits[dim];
  const char* wide = plan_.far.count(static_cast<int>(&n - block_.nodes.data())) ? "(long long)" : "";
  std::string index = "0";
  if (s.axis >= 0) {
    index = fmt::format("{}b{}", wide, "xyz"[s.axis]);
    if (s.div > 1) index += fmt::format(" / {}", s.div);
    if (s.mod > 0 && s.div * s.mod < block_.grid[s.axis]) index += fmt::format(" % {}", s.mod);
  }
  if (s.loop)
    index = index == "0" ? wide + iteration : fmt::format("{} + {}", times(index, block_.loop), iteration);
  return plus(times(index, s.tile), s.offset);
}

/// Where in the tensor the tile's coordinate `at` lies.
std::string KernelText::position(const Node& n, int dim, const std::string& iteration,
                                 const std::string& at) const {
  const std::string start = global_start(n, dim, iteration);
  return start == "0" ? at : at == "0" ? start : fmt::format("{} + {}", start, at);
}

void KernelText::copy_in(int t, const std::string& stage, const std::string& iteration) {
  const Task& task = plan_.tasks[t];
  const Node& n = block_.nodes[task.node];
  const Buffer& b = plan_.buffers[task.buffer];
  const plan::Copy& copy = plan_.copies.at(task.node);
  const Context& c = plan_.contexts[task.context];
  const int V = copy.vector, inner = c.inner, rank = static_cast<int>(n.shape.size());

  plan::Shape chunks = b.padded;
  chunks[inner] = (chunks[inner] + V - 1) / V;
  const std::int64_t total = graph::size(chunks);
  const std::int64_t steps = (total + threads() - 1) / threads();
  out_.line("// {} {}: {} {} of {} bytes", printable(n.name), graph::to_string(n.shape), total,
            total == 1 ? "copy" : "copies", copy.bytes);
  out_.line("#pragma unroll{}", steps > 16 ? " 4" : "");
  out_.open("for (int i = 0; i < {}; ++i) {{", steps);
  out_.line("const int c = tid + i * {};", threads());
  const bool ragged = total % threads() != 0;
  if (ragged) out_.open("if (c < {}) {{", total);

  std::vector<std::string> at(rank);
  std::int64_t below = 1;
  for (std::size_t k = 0; k < c.order.size(); ++k) {
    const int d = c.order[k];
    const bool top = below * chunks[d] == total;
    std::string index = digit("c", below, chunks[d], top);
    if (d == inner) index = times(index, V);
    below *= chunks[d];
    if (index != "0") out_.line("const int i{} = {};", d, index);
    at[d] = index == "0" ? "0" : fmt::format("i{}", d);
  }
  std::string to, from, inside, whole_before;
  for (int d = 0; d < rank; ++d) {
    to += (d ? ", " : "") + at[d];
    const std::string global_at = position(n, d, iteration, at[d]);
    from += (d ? ", " : "") + global_at;
    if (d == inner) continue;
    if (b.padded[d] > n.shape[d])
      inside += fmt::format("{}{} < {}", inside.empty() ? "" : " && ", at[d], n.shape[d]);
    if (n.splits[d].overhang)
      inside += fmt::format("{}{} < {}", inside.empty() ? "" : " && ", global_at,
                            n.splits[d].extent + n.splits[d].offset);
  }
  // How many of the chunk's elements exist: fewer than V at the tile's or the tensor's edge, the rest are zeros.
  const plan::Split& s = n.splits[inner];
  std::string left;
  if (b.padded[inner] > n.shape[inner] || n.shape[inner] % V != 0)
    left = fmt::format("{} - {}", n.shape[inner], at[inner]);
  if (s.overhang) {
    const std::string start = global_start(n, inner, iteration);
    const std::string rest = start == "0"
                                 ? fmt::format("{} - {}", s.extent + s.offset, at[inner])
                                 : fmt::format("{} - ({} + {})", s.extent + s.offset, start, at[inner]);
    left = left.empty() ? rest : fmt::format("at_most({}, {})", left, rest);
  }
  const std::string source = fmt::format("{}({})", global(n.tensor), from);
  const std::string target =
      fmt::format("{}({})",
                  stage.empty() ? tile(task.buffer)
                                : fmt::format("{}.shift({} * {})", tile(task.buffer), stage, b.stage_stride),
                  to);
  const int size = graph::bytes(n.dtype);
  if (left.empty() && inside.empty()) {
    if (copy.async())
      out_.line("cp_async<{}>({}, {});", copy.bytes, target, source);
    else
      out_.line("store({}, load<{}>({}));", target, V, source);
  } else {
    std::string valid = left.empty() ? std::to_string(V) : fmt::format("edge({}, {})", left, V);
    if (!inside.empty()) valid = fmt::format("{} ? {} : 0", inside, valid);
    out_.line("const int valid = {};", valid);
    if (copy.async()) {
      out_.line("cp_async<{}>({}, {}, {});", copy.bytes, target, source, times("valid", size));
    } else {
      out_.line("Vec<{}, {}> x{{}};", type_name(n.dtype), V);
      out_.line("if (valid > 0) x = load<{}>({});", V, source);
      out_.line("store({}, x);", target);
    }
  }
  if (ragged) out_.close();
  out_.close();
}

}  // namespace zellige::emit
