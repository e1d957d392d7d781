// Describes a tile program: a line for each node, and one for each dimension of its view.
#include "ir/sections.hpp"
#include "tile/dimensions.hpp"

namespace zellige::ir {
namespace {

constexpr std::string_view axes[] = {"bx", "by", "bz"};

/// Returns where the layout stands in the line.
template <class Io>
std::size_t dimension(Io& io, plan::Dimension& d) {
  io.opening();
  bool named = false;
  for (int axis = 0; axis < 3; ++axis)
    if (io.when(axes[axis], d.axis == axis)) d.axis = axis, named = true;
  if (!named) io.word("-"), d.axis = -1;
  io.must(",");
  if (!io.flag("i", d.iterates)) io.word("-");
  io.must(")"), io.word("->");
  const std::size_t map = io.cursor();
  io.value(d.map);
  io.word("from"), io.value(d.begin);
  io.word("to"), io.value(d.end);
  io.flag("predicated", d.predicated);
  io.flag("of_part", d.of_part);
  return map;
}

template <class Io>
void views(Io& io, plan::Node& n, const plan::TileProgram& p) {
  std::vector<plan::Dimension> all = plan::dimensions(n.view, p);
  plan::View view;
  io.each("view", all, [&](plan::Dimension& d) {
    const std::size_t map = dimension(io, d);
    const std::optional<Value> other = add(view, d, p);
    if constexpr (Io::reads)
      io.require(!other,
                 fmt::format("the tiles of this grid and loop lie as {}, or as the like",
                             other ? to_text(*other) : ""),
                 map);
  });
  if constexpr (Io::reads) n.view = std::move(view);
}

template <class Io>
void attributes(Io& io, plan::Node& n) {
  const plan::Node standard;
  io.fact("scalar", n.scalar, standard.scalar);
  io.fact("low", n.lo, standard.lo);
  io.fact("high", n.hi, standard.hi);
  io.flag("tf32", n.tf32);
  io.fact("as", n.to_dtype, standard.to_dtype);
  io.flag("saturated", n.saturate);
  io.fact("along", n.dim, standard.dim);
  io.fact("to", n.to, standard.to);
  io.fact("start", n.start, standard.start);
  io.fact("order", n.order, standard.order);
  io.fact("key", n.key, standard.key);
  io.fact("tril", n.kept.tril);
  io.fact("triu", n.kept.triu);
  io.fact("length", n.kept.length);
  io.flag("carried", n.carried);
  io.flag("window", n.window);
}

}  // namespace

template <class Io>
void tile(Io& io, plan::Kernel& k, KernelPositions& at, const Ids& gmem, const std::set<int>& multiplied) {
  plan::TileProgram& p = k.program;
  int i = 0;
  io.each("", p.nodes, [&](plan::Node& n) {
    int number = i;
    at.nodes.push_back(io.here());
    io.ref('%', number, p.nodes.size());
    io.require(number == i, fmt::format("values are numbered in order: expected %{}", i));
    io.word("="), io.value(n.kind);
    if (plan::accesses(n))
      io.named(gmem, n.tensor);
    else if (io.word_follows(n.op != plan::OpKind{}))
      io.value(n.op);
    io.refs('%', n.in, static_cast<std::size_t>(i));
    io.word(":"), io.value(n.dtype), io.value(n.shape);
    io.value(n.section);
    attributes(io, n);
    io.fact("inner", n.inner, -1);
    if (io.when("in_place", k.read_in_place.contains(i))) {
      plan::InPlace& read = k.read_in_place[i];
      io.value(read.works), io.word("vector"), io.value(read.vector);
    }
    if (io.when("warps", k.matmuls.contains(i) && !multiplied.contains(i)))
      facts(io, k.matmuls[i], p.nodes.size());
    io.text(n.name);
    io.deeper([&] { views(io, n, p); });
    ++i;
  });
}
template void tile(Writer&, plan::Kernel&, KernelPositions&, const Ids&, const std::set<int>&);
template void tile(Reader&, plan::Kernel&, KernelPositions&, const Ids&, const std::set<int>&);

template <class Io>
void facts(Io& io, plan::MatmulChoice& m, std::size_t nodes) {
  std::vector<int> warps{m.warps.b, m.warps.m, m.warps.n, m.warps.k};
  std::vector<std::int64_t> size{m.batch, m.m, m.n, m.k};
  io.value(warps);
  io.word("size"), io.value(size);
  io.require(warps.size() == 4 && size.size() == 4,
             "warps and size have four numbers each: batch, M, N and K");
  if constexpr (Io::reads) {
    m.warps = {warps[0], warps[1], warps[2], warps[3]};
    m.batch = size[0], m.m = size[1], m.n = size[2], m.k = size[3];
  }
  if (io.when("by", m.row != nullptr)) io.value(m.row);
  if (io.when("loads", m.load != nullptr)) io.value(m.load);
  if (io.when("from", m.a_from >= 0)) io.ref('%', m.a_from, nodes);
}
template void facts(Writer&, plan::MatmulChoice&, std::size_t);
template void facts(Reader&, plan::MatmulChoice&, std::size_t);

}  // namespace zellige::ir
