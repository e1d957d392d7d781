#include "emit/kernel_text.hpp"

namespace zellige::emit {

Index KernelText::global_start(const Node& n, int dim, const Index& iteration) const {
  return global_start(n.splits[dim], plan_.far.count(static_cast<int>(&n - block_.nodes.data())) > 0,
                      iteration);
}

Index KernelText::global_start(const plan::Split& s, bool far, const Index& given) const {
  const Index iteration = s.loop && plan_.trips && plan_.trips->from ? given + Index::named("begin") : given;
  const char* wide = far ? "(long long)" : "";
  Index index;
  if (s.axis >= 0) {
    const int blocks = block_.grid[s.axis];
    index = digit(Index::named(fmt::format("{}b{}", wide, "xyz"[s.axis])), s.div, s.mod > 0 ? s.mod : blocks,
                  s.mod <= 0 || s.div * s.mod >= blocks);
  }
  if (s.loop && index.is_constant())
    index = iteration.is_constant() || !far ? iteration
            : iteration.is_name()           ? Index::named(fmt::format("{}{}", wide, iteration))
                                            : Index::named(fmt::format("{}({})", wide, iteration));
  else if (s.loop)
    index = index * block_.loop + iteration;
  return index * s.tile + s.offset;
}

/// Where in the tensor the tile's coordinate `at` lies.
std::vector<Index> KernelText::position(const Node& n, const Index& iteration,
                                        const std::vector<Index>& at) const {
  std::vector<Index> global_at;
  const int number = plan::number_of(n);
  for (std::size_t d = 0; d < at.size(); ++d) {
    const bool named = number >= 0 && static_cast<int>(d) == n.dim;
    Index here = global_start(n, static_cast<int>(d), iteration);
    if (!named || n.to > 1) here = here + at[d];  // from one number on, or each its own
    if (named) {
      const Node& numbers = block_.nodes[number];
      std::vector<Index> own = at;
      for (std::size_t k = 0; k < own.size(); ++k)
        if (numbers.shape[k] == 1) own[k] = 0;
      const std::int64_t extent = program_.shape(n.tensor)[d];
      here = Index::named(fmt::format("numbered({}({}), {})", global(numbers.tensor),
                                      fmt::join(position(numbers, iteration, own), ", "), extent - n.to)) +
             here;
    }
    global_at.push_back(here);
  }
  return global_at;
}

void KernelText::copy_in(int t, const Index& stage, const Index& iteration) {
  const Task& task = plan_.tasks[t];
  const Node& n = block_.nodes[task.node];
  const Buffer& b = plan_.buffers[task.buffer];
  const plan::Copy& copy = plan_.copies.at(task.node);
  const Context& c = plan_.contexts[task.context];
  const int V = copy.vector, inner = c.inner(), rank = c.rank();
  const std::int64_t total = c.items(0) / V;
  const bool many = total > 16 * threads();
  out_.line("// {} {}: {} {} of {} bytes", printable(n.name), graph::to_string(n.shape), total,
            total == 1 ? "copy" : "copies", copy.bytes);
  const Share share = this->share(c, 0, {"int", "i", "c", many ? " 4" : ""});
  const std::vector<Index> at = coordinate("int", share.item, c, 0);
  const std::vector<Index> from = position(n, iteration, at);
  Condition inside;
  for (int d = 0; d < rank; ++d) {
    if (d == inner) continue;
    if (b.padded[d] > n.shape[d]) inside.push_back({at[d], n.shape[d]});
    if (n.splits[d].overhang) inside.push_back({from[d], n.splits[d].extent + n.splits[d].offset});
  }
  // How many of the chunk's elements exist: fewer than V at the tile's or the tensor's edge, the rest are zeros.
  const plan::Split& s = n.splits[inner];
  std::string left;
  if (b.padded[inner] > n.shape[inner] || n.shape[inner] % V != 0) left = (n.shape[inner] - at[inner]).str();
  if (s.overhang) {
    const Index rest = s.extent + s.offset - from[inner];
    left = left.empty() ? rest.str() : fmt::format("at_most({}, {})", left, rest);
  }
  const std::string source = fmt::format("{}({})", global(n.tensor), fmt::join(from, ", "));
  const std::string target =
      fmt::format("{}({})",
                  stage == Index(0) ? tile(task.buffer)
                                    : fmt::format("{}.shift({})", tile(task.buffer), stage * b.stage_stride),
                  fmt::join(at, ", "));
  const int size = graph::bytes(n.dtype);
  if (left.empty() && inside.empty()) {
    if (copy.async())
      out_.line("cp_async<{}>({}, {});", copy.bytes, target, source);
    else
      out_.line("store({}, load<{}>({}));", target, V, source);
  } else {
    std::string valid = left.empty() ? std::to_string(V) : fmt::format("edge({}, {})", left, V);
    if (!inside.empty()) valid = fmt::format("{} ? {} : 0", text(inside), valid);
    out_.line("const int valid = {};", valid);
    if (copy.async()) {
      out_.line("cp_async<{}>({}, {}, {});", copy.bytes, target, source, Index::named("valid") * size);
    } else {
      out_.line("Vec<{}, {}> x{{}};", type_name(n.dtype), V);
      out_.line("if (valid > 0) x = load<{}>({});", V, source);
      out_.line("store({}, x);", target);
    }
  }
  close(share);
}

}  // namespace zellige::emit
