// Describes a tile program: a line for each node, and one for each dimension of its view.
#include "ir/sections.hpp"

namespace zellige::ir {
namespace {

constexpr std::string_view axes[] = {"bx", "by", "bz"};

/// Returns the layout's place in the line.
template <class Io>
std::size_t dimension(Io& io, tile::Dimension& d) {
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
  const auto of = [&](int size, std::int64_t constant) {
    return size < 0 ? tile::SymbolicNumber(constant) : tile::SymbolicNumber::of(io.sizes(), size);
  };
  tile::SymbolicNumber begin = of(d.begin_size, d.begin), end = begin + of(d.size, d.end - d.begin);
  io.word("from"), io.value(begin), io.word("to"), io.value(end);
  if constexpr (Io::reads) {
    const tile::SymbolicNumber extent = end + begin * -1;
    io.require(extent.is_constant() || (begin.low() >= 0 && extent.low() >= 1),
               "tiles that end at a size begin at or above 0 and before it");
    io.require(end.high() - begin.high() == extent.high(), "a view is largest for the largest sizes");
    const auto size_or_none = [&](const tile::SymbolicNumber& n) {
      return n.is_constant() ? -1 : size_of(io.sizes(), n);
    };
    d.begin = begin.high(), d.end = end.high(), d.begin_size = size_or_none(begin), d.size = size_or_none(extent);
    if (d.size >= 0) d.multiple = io.sizes()[static_cast<std::size_t>(d.size)].multiple;
    if (d.begin_size >= 0) d.begin_unit = io.sizes()[static_cast<std::size_t>(d.begin_size)].multiple;
  }
  io.flag("all_tiles", d.all_tiles);
  io.flag("predicated", d.predicated);
  io.flag("of_part", d.of_part);
  io.fact("room", d.room, std::int64_t{0});
  return map;
}

constexpr std::int64_t max_elements = std::int64_t{1} << 48;

/// Returns whether the numbers of the dimension's layout, the grid and the loop are small enough to be multiplied.
bool few(const tile::Dimension& d, const tile::TileProgram& p) {
  double all = static_cast<double>(d.axis < 0 ? 1 : p.grid[d.axis]) * static_cast<double>(d.iterates ? p.loop : 1);
  double largest = 1;
  for (const ValueNode& node : d.map.nodes) largest = std::max(largest, static_cast<double>(node.s.v));
  return all * largest <= static_cast<double>(max_elements);
}

template <class Io>
void views(Io& io, tile::Node& n, const tile::TileProgram& p) {
  std::vector<tile::Dimension> all = tile::dimensions(n.view, p);
  tile::TileView view;
  int dim = 0;
  io.each("view", all, [&](tile::Dimension& d) {
    const std::size_t map = dimension(io, d);
    io.extent_of(n.tensor, dim++);
    if constexpr (Io::reads)
      io.require(few(d, p), fmt::format("its tiles have more than {} elements together", max_elements), map);
    const std::optional<Value> other = tile::add(view, d, p);
    if constexpr (Io::reads)
      io.require(!other,
                 fmt::format("the tiles of this grid and loop lie as {}, or as the like", other ? to_text(*other) : ""),
                 map);
  });
  if constexpr (Io::reads) n.view = std::move(view);
}

/// A bound of a mask: a constant or a number.
template <class Io>
void bound(Io& io, std::string_view word, std::optional<std::int64_t>& bound, int& size) {
  if (!io.when(word, bound.has_value())) return;
  tile::SymbolicNumber number =
      Io::reads || size < 0 ? tile::SymbolicNumber(bound.value_or(0)) : tile::SymbolicNumber::of(io.sizes(), size);
  io.value(number);
  if constexpr (Io::reads) {
    bound = number.high();
    if (!number.is_constant()) size = size_of(io.sizes(), number);
  }
}

template <class Io>
void attributes(Io& io, tile::Node& n) {
  const tile::Node standard;
  io.fact("scalar", n.scalar, standard.scalar);
  io.fact("low", n.lo, standard.lo);
  io.fact("high", n.hi, standard.hi);
  io.flag("tf32", n.tf32);
  io.fact("as", n.to_dtype, standard.to_dtype);
  io.flag("saturated", n.saturate);
  io.fact("along", n.dim, standard.dim);
  io.fact("to", n.to, standard.to);
  io.fact("page", n.page, standard.page);
  io.fact("page_step", n.page_step, standard.page_step);
  io.fact("start", n.start, standard.start);
  io.fact("order", n.order, standard.order);
  io.fact("key", n.key, standard.key);
  bound(io, "tril", n.kept.tril, n.tril_size);
  bound(io, "triu", n.kept.triu, n.triu_size);
  bound(io, "length", n.kept.length, n.length_size);
  io.flag("first", n.kept.first);
  if (io.when("count", n.count_size >= 0)) {
    tile::SymbolicNumber count =
        Io::reads ? tile::SymbolicNumber() : tile::SymbolicNumber::of(io.sizes(), n.count_size);
    io.value(count);
    if constexpr (Io::reads) {
      io.require(!count.is_constant() && static_cast<double>(count.high()) == n.scalar,
                 "a count is a number of sizes, whose largest value is the scalar");
      n.count_size = size_of(io.sizes(), count);
    }
  }
  io.flag("carried", n.carried);
  io.flag("window", n.window);
  io.flag("unfolded", n.unfolded);
}

}  // namespace

template <class Io>
void tile(Io& io, kernel::Kernel& k, KernelPositions& at, const Ids& gmem) {
  tile::TileProgram& p = k.program;
  int i = 0;
  io.each("", p.nodes, [&](tile::Node& n) {
    int number = i;
    at.nodes.push_back(io.here());
    io.ref('%', number, p.nodes.size());
    io.require(number == i, fmt::format("values are numbered in order: expected %{}", i));
    io.word("="), io.value(n.kind);
    if (tile::accesses(n))
      io.named(gmem, n.tensor);
    else if (io.word_follows(n.op != graph::OpKind{}))
      io.value(n.op);
    io.refs('%', n.in, static_cast<std::size_t>(i));
    io.word(":"), io.value(n.dtype), io.value(n.shape);
    attributes(io, n);
    io.fact("inner", n.inner, -1);
    if (io.when("in_place", k.in_place(i) != nullptr)) {
      kernel::GmemTensor read = Io::reads ? kernel::GmemTensor{i} : *k.in_place(i);
      io.word("vector"), io.value(read.vector);
      if constexpr (Io::reads) k.gmem.push_back(read);
    }
    io.text(n.name);
    io.deeper([&] { views(io, n, p); });
    ++i;
  });
}
template void tile(Writer&, kernel::Kernel&, KernelPositions&, const Ids&);
template void tile(Reader&, kernel::Kernel&, KernelPositions&, const Ids&);

}  // namespace zellige::ir
