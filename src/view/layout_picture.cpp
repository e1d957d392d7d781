#include "view/layout_picture.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <zellige/layout/picture.hpp>
#include <zellige/layout/runtime.hpp>

#include "graph/error.hpp"
#include "strings/nearest.hpp"

namespace zellige::view {
namespace {

constexpr long long max_cells = 1 << 16;

// Returns the number of elements of a shape: the product of its integers, at most 2^50.
long long leaves_product(const Value& shape) {
  double n = 1;
  for (const ValueNode& m : shape.nodes) n *= m.kids < 0 ? static_cast<double>(m.s.v) : 1;
  return n > 1e15 ? 1LL << 50 : static_cast<long long>(n);
}

// A layout prepared for drawing: the complete layout, swizzles and offsets included, and the innermost
// layout, whose modes are drawn.
struct Drawn {
  Value whole, layout;
  // By mode: its size; the size of its innermost part if it is nested, else 0.
  std::vector<int> extents, steps;
  bool basis = false;  // elements are coordinates instead of integers

  // Returns the integer to which the layout maps coordinate `crd`.
  long long index(const std::vector<int>& crd) const {
    long long i = 0, unit = 1;
    for (std::size_t m = 0; m < crd.size(); ++m) i += crd[m] * unit, unit *= extents[m];
    return Indexer(whole)(i);
  }
  // Returns, as a string, the integer or coordinate to which the layout maps coordinate `crd`.
  std::string element(const std::vector<int>& crd) const {
    Tape t;
    Value c = empty(ValueKind::tuple);
    for (int i : crd) c.add(number(dynamic(i)));
    return detail::element(t, whole, extents.size() == 1 && layout.is_leaf() ? c[0] : c);
  }
};

// Returns the layout `v`, prepared for drawing. Throws Error if `v` is no layout or has too many elements.
Drawn prepare(const Value& v) {
  Drawn d;
  d.whole = in_elements(v);
  d.layout = d.whole.is(ValueKind::tensor) ? d.whole[1] : d.whole;
  d.layout = Value(algebra::innermost(d.layout));
  if (!d.layout.is_layout() || d.whole.is(ValueKind::swizzle))
    fail("{} is no layout; only layouts are drawn", to_text(v));
  const long long cells = leaves_product(shape_of(d.layout));
  if (cells > max_cells) fail("{} has {} elements; up to {} are drawn", to_text(v), cells, max_cells);
  for (int m = 0; m < d.layout.rank(); ++m) {
    const Value part = d.layout[m];
    d.extents.push_back(static_cast<int>(leaves_product(shape_of(part))));
    const List<ValueNode> leaves = leaves_of(part);
    const bool nested = !part.is_leaf() && leaves.size() > 1 && leaves[0].s.v > 1 && leaves[0].s.v < d.extents.back();
    d.steps.push_back(nested ? static_cast<int>(leaves[0].s.v) : 0);
  }
  // Whether the strides are multiples of basis elements, so that the layout maps to coordinates.
  const bool has_basis = std::ranges::any_of(d.layout.nodes, [](const ValueNode& n) { return n.e != 0; });
  d.basis = d.whole.is(ValueKind::tensor) || (!d.whole.is(ValueKind::composed) && has_basis);
  return d;
}

// Returns the cell of the picture for coordinate `crd`. The cell shows the integer or coordinate to which the
// layout maps `crd`, and is coloured as the options say: by bank, or in greys.
GridCell element_cell(const Drawn& d, const std::vector<int>& crd, const PictureOptions& o) {
  std::string at;
  for (int i : crd) at += fmt::format("{}{}", at.empty() ? "" : ",", i);
  GridCell c;
  c.label = d.basis ? d.element(crd) : std::to_string(d.index(crd));
  c.hover = fmt::format("({}) -> {}", at, c.label);
  if (d.basis) return c;
  const long long i = d.index(crd);
  if (o.colouring == Colouring::bank) {
    const long long byte = i * o.element_bits / 8, bank = ((byte >> 2) % 32 + 32) % 32;
    c.colour = wheel(bank, 32);
    c.hover += fmt::format(", byte {}, bank {}", byte, bank);
  } else {
    c.colour = grey(i);
  }
  return c;
}

// Returns a picture with one cell per coordinate of the layout.
Picture elements_picture(const Drawn& d, const std::string& expression, const PictureOptions& o) {
  Picture p{.title = expression};
  const int rank = static_cast<int>(d.extents.size());
  const int rows = rank > 1 ? d.extents[0] : 1, columns = d.extents[rank > 1 ? 1 : 0];
  std::vector<int> outer(std::max(0, rank - 2));
  for (bool more = true; more;) {
    Grid g{.rows = rows, .columns = columns};
    if (rank > 1) g.row_axis = "mode 0", g.column_axis = "mode 1";
    if (rank > 2) {
      g.title = "(_,_";
      for (int i : outer) g.title += fmt::format(",{}", i);
      g.title += ")";
    }
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) {
        std::vector<int> crd = rank > 1 ? std::vector<int>{r, c} : std::vector<int>{c};
        crd.insert(crd.end(), outer.begin(), outer.end());
        g.cells.push_back(element_cell(d, crd, o));
      }
    g.row_step = rank > 1 ? d.steps[0] : 0;
    g.column_step = d.steps[rank > 1 ? 1 : 0];
    p.grids.push_back(merged(std::move(g)));
    more = false;
    for (std::size_t m = 0; m < outer.size() && !more; ++m) {
      more = ++outer[m] < d.extents[m + 2];
      if (!more) outer[m] = 0;
    }
  }
  if (o.colouring == Colouring::bank && !d.basis)
    for (int b = 0; b < 32; ++b) p.legend.push_back({fmt::format("bank {}", b), wheel(b, 32)});
  return p;
}

// The shape of the tile that a thread-value layout covers.
struct TileExtents {
  int rows = 1, columns = 1;
};
// Returns the shape of the tile that is drawn: the value of option --shape or, without the option, the smallest shape
// that contains all coordinates of the layout. Throws Error if there is no such shape or it is too large.
TileExtents tile_of(const Drawn& d, const PictureOptions& o) {
  long long rows = 1, columns = 1;
  if (o.shape) {
    const Value& s = *o.shape;
    if ((!s.is_number() && !s.is(ValueKind::tuple)) || s.rank() < 1 || s.rank() > 2 || leaves_product(s) < 1)
      fail("--shape {}: (M,N), the shape of the tile, is needed", to_text(s));
    rows = s.rank() == 2 ? leaves_product(s[0]) : 1;
    columns = leaves_product(s[s.rank() == 2 ? 1 : 0]);
  } else {
    Tape t;
    const Value c = algebra::coshape(t, d.layout);
    if (t.failed()) fail("{}: {}", to_text(d.layout), to_text(t.refusal()));
    if (c.is_number())
      columns = c.root().s.v;
    else if (c.rank() <= 2 && c[0].is_leaf() && c[c.rank() - 1].is_leaf())
      rows = c[0].root().s.v, columns = c.rank() == 2 ? c[1].root().s.v : 1;
    else
      fail("{}: its coordinates {} are not of a matrix", to_text(d.layout), to_text(c));
  }
  if (rows < 1 || columns < 1 || rows > max_cells || columns > max_cells || rows * columns > max_cells)
    fail("a tile of {} x {} elements; up to {} are drawn", rows, columns, max_cells);
  return {static_cast<int>(rows), static_cast<int>(columns)};
}

// Returns a picture with one cell per element of the tile, which shows the thread that has the element and
// the index among the thread's values.
Picture threads_picture(const Drawn& d, const std::string& expression, const PictureOptions& o) {
  if (d.extents.size() != 2)
    fail("{} has rank {}; by thread, a layout (thread, value) of rank 2 is drawn", to_text(d.layout), d.extents.size());
  if (d.whole.is(ValueKind::tensor))
    fail("{} is a tensor; by thread, a layout (thread, value) is drawn", to_text(d.whole));
  const TileExtents tile = tile_of(d, o);
  Grid g{.rows = tile.rows, .columns = tile.columns};
  g.cells.resize(std::size_t(tile.rows) * std::size_t(tile.columns));
  std::vector<int> counts(g.cells.size());
  for (int v = 0; v < d.extents[1]; ++v) {
    for (int thread = 0; thread < d.extents[0]; ++thread) {
      long long m = 0, n = 0;
      if (d.basis) {
        Tape t;
        const Value at = algebra::as_arithmetic_tuple(
            algebra::index_of(t, bundle(ValueKind::tuple, number(thread), number(v)), d.layout));
        if (t.failed()) fail("{}: {}", to_text(d.layout), to_text(t.refusal()));
        m = at[0].root().s.v, n = !at.is_leaf() && at.rank() > 1 ? at[1].root().s.v : 0;
      } else {
        const long long i = d.index({thread, v});
        m = i % tile.rows, n = i / tile.rows;
      }
      if (m < 0 || n < 0 || m >= tile.rows || n >= tile.columns)
        fail(
            "{}: thread {}, value {} is at ({},{}), outside the tile of {} x {}; --shape (M,N) gives its "
            "shape",
            to_text(d.layout), thread, v, m, n, tile.rows, tile.columns);
      const std::size_t at = std::size_t(m) * std::size_t(tile.columns) + std::size_t(n);
      GridCell& c = g.cells[at];
      const std::string who = fmt::format("T{} V{}", thread, v);
      if (++counts[at] == 1) {
        c.label = fmt::format("T{}\nV{}", thread, v);
        c.colour = lane_colour(thread);
        c.hover = fmt::format("({},{}): {}", m, n, who);
      } else if (counts[at] <= 16) {
        c.hover += ", " + who;
        if (counts[at] == 2) c.label += "+";
      }
    }
  }
  Picture p{.title = expression};
  p.facts.push_back(
      fmt::format("{} threads of {} values over {} x {}", d.extents[0], d.extents[1], tile.rows, tile.columns));
  p.grids.push_back(merged(std::move(g)));
  return p;
}

}  // namespace

int element_bits(std::string_view type) {
  static const std::map<std::string_view, int> types = {
      {"f64", 64}, {"f32", 32},      {"tf32", 32},     {"f16", 16},  {"bf16", 16},  {"f8", 8},      {"fp8", 8},
      {"e4m3", 8}, {"e5m2", 8},      {"f4", 4},        {"e2m1", 4},  {"i64", 64},   {"i32", 32},    {"i16", 16},
      {"i8", 8},   {"i4", 4},        {"s64", 64},      {"s32", 32},  {"s16", 16},   {"s8", 8},      {"s4", 4},
      {"u64", 64}, {"u32", 32},      {"u16", 16},      {"u8", 8},    {"u4", 4},     {"b128", 128},  {"b64", 64},
      {"b32", 32}, {"b16", 16},      {"b8", 8},        {"half", 16}, {"float", 32}, {"double", 64}, {"int", 32},
      {"char", 8}, {"bfloat16", 16}, {"tfloat32", 32}, {"int8", 8},  {"uint8", 8},  {"int4", 4},    {"uint128", 128}};
  std::string_view name = type;
  if (name.ends_with("_t")) name.remove_suffix(2);
  if (const auto at = types.find(name); at != types.end()) return at->second;
  int bits = 0;
  const auto [end, error] = std::from_chars(type.data(), type.data() + type.size(), bits);
  if (error == std::errc() && end == type.data() + type.size())
    for (int known : {4, 8, 16, 32, 64, 128})
      if (bits == known) return bits;
  std::vector<std::string> known;
  for (const auto& [text, size] : types) known.emplace_back(text);
  fail("type {}: unknown; f16, bf16, f32, f64, e4m3, i8, ... or 4, 8, 16, 32, 64 or 128 bits are known{}", type,
       did_you_mean(type, known));
}

Value in_elements(const Value& v) {
  if (!v.is(ValueKind::composed) || !v[1].is(ValueKind::flag)) return v;
  const long long bits = v[1].root().s.v;
  const bool up = bits >= 8;
  Tape t;
  const Value swizzle = algebra::recast_swizzle(t, v[0], up ? bits / 8 : 8 / std::max(bits, 1LL), up);
  if (t.failed()) fail("{}: {}", to_text(v), to_text(t.refusal()));
  return algebra::composed(swizzle, number(0), v[2]);
}

Picture layout_picture(const Value& layout, const std::string& expression, const PictureOptions& o) {
  const Drawn d = prepare(layout);
  const bool by_thread = o.colouring == Colouring::thread;
  Picture p = by_thread ? threads_picture(d, expression, o) : elements_picture(d, expression, o);
  if (const std::string t = to_text(layout); t != expression) p.facts.insert(p.facts.begin(), t);
  return p;
}

}  // namespace zellige::view
