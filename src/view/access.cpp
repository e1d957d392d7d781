#include "view/access.hpp"

#include <algorithm>
#include <optional>

#include "graph/error.hpp"
#include "view/expression.hpp"
#include "view/layout_picture.hpp"

namespace zellige::view {
namespace {

constexpr int warp = 32;
// Limit of the warp-wide accesses of one pattern.
constexpr std::size_t max_instances = 1 << 14;

// Returns the parts of a name that are separated by dots.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}
bool one_of(const std::string& s, std::initializer_list<const char*> all) {
  return std::ranges::any_of(all, [&](const char* x) { return s == x; });
}

// The bytes per lane of an instruction; `matrices` is 0 for loads and stores, else 1, 2 or 4.
struct AccessInstruction {
  int bytes = 4, matrices = 0;
};

// Returns the ldmatrix or stmatrix with these parts of its name (ldmatrix, x4, trans). Throws Error, with the
// access, if a part is unknown.
AccessInstruction matrix_instruction(const std::vector<std::string>& parts, std::string_view text) {
  AccessInstruction i{.bytes = 16, .matrices = 1};
  for (std::size_t p = 1; p < parts.size(); ++p)
    if (one_of(parts[p], {"x1", "x2", "x4"}))
      i.matrices = parts[p][1] - '0';
    else if (!one_of(parts[p], {"sync", "aligned", "m8n8", "trans", "shared", "b16"}))
      fail("access {}: .{} is unknown; ldmatrix and stmatrix take .x1, .x2 or .x4, and .trans", text, parts[p]);
  return i;
}
// Returns the ld.shared or st.shared with these parts of its name (ld, shared, v4, b32). Throws Error, with
// the access, if a part is unknown.
AccessInstruction load_or_store_instruction(const std::vector<std::string>& parts, std::string_view text) {
  int vector = 1, bits = 32;
  if (parts.size() < 2 || parts[1] != "shared") fail("access {}: {}.shared is needed", text, parts[0]);
  for (std::size_t p = 2; p < parts.size(); ++p) {
    const std::string& s = parts[p];
    const std::string digits = s.empty() ? s : s.substr(1);
    if (one_of(s, {"v2", "v4"}))
      vector = s[1] - '0';
    else if (!s.empty() && one_of(s.substr(0, 1), {"b", "u", "s", "f"}) &&
             one_of(digits, {"8", "16", "32", "64", "128"}))
      bits = std::stoi(digits);
    else
      fail("access {}: .{} is unknown; {}.shared takes .v2 or .v4, and .b8 to .b128", text, s, parts[0]);
  }
  if (vector * bits > 128) fail("access {}: {} bits a lane; at most 128 are possible", text, vector * bits);
  return {.bytes = vector * bits / 8};
}
// Returns the instruction with this name. Returns nullopt if `name` is no instruction but the beginning of a
// layout. Throws Error, with the access, if a suffix is unknown.
std::optional<AccessInstruction> instruction(std::string_view name, std::string_view text) {
  const std::vector<std::string> parts = parts_of(name);
  if (one_of(parts[0], {"ldmatrix", "stmatrix"})) return matrix_instruction(parts, text);
  if (one_of(parts[0], {"ld", "st"})) return load_or_store_instruction(parts, text);
  return std::nullopt;
}

// Returns the number of the tensor's elements that one lane accesses. Throws Error if this is not a whole number.
long long lane_elements(const WarpPattern& a, const SharedLayout& l) {
  if (8 * a.bytes % l.bits())
    fail("access {}: {} bytes a lane are no whole number of elements of {} bits", a.name, a.bytes, l.bits());
  return 8 * a.bytes / l.bits();
}

// Returns the mode, 0 or 1, along which `count` elements are contiguous in memory; 1 if both are possible.
// Throws Error if there is no such mode. `name` is the access's name in the message.
int line_mode(const SharedLayout& l, long long count, const std::string& name) {
  for (int m = std::min(l.rank(), 2); m-- > 0;) {
    bool together = l.extent(m) >= count && (count > 1 || l.extent(m) > 1);
    const long long reach = std::max(count, 2LL);
    for (long long k = 1; together && k < std::min(reach, l.extent(m)); ++k)
      together = l.offset(k * l.step(m)) == l.offset(0) + k;
    if (together) return m;
  }
  if (count == 1) return l.rank() > 1 ? 1 : 0;
  fail("access {}: no mode of {} has {} adjacent elements, which a lane takes", name, l.text(), count);
}

// Throws Error unless the `count` elements that a lane accesses, from index `index` on along mode `mode`, are
// contiguous and aligned.
void check_lane(const WarpPattern& a, const SharedLayout& l, int mode, long long count, long long index) {
  const long long step = l.step(mode), first = l.offset(index), at = l.address(index);
  for (long long k = 1; k < count; ++k)
    if (index + k * step >= l.elements() || l.offset(index + k * step) != first + k)
      fail(
          "access {}: a lane takes {} elements from the one of index {} on, but {} does not have them side "
          "by side",
          a.name, count, index, l.text());
  if (at % a.bytes)
    fail("access {}: the element of index {} lies at byte {}, not a multiple of the {} bytes of a lane", a.name, index,
         at, a.bytes);
}

// Returns the index of the tensor's element that `v`, a number or a coordinate, denotes. Throws Error if
// there is no such element. `name` is the access's name in the message.
long long index_at(const Value& v, const SharedLayout& l, const std::string& name) {
  Tape t;
  const Value crd = algebra::as_arithmetic_tuple(v);
  const Value at = crd.is_tuple() ? algebra::crd2idx(t, retag(crd, ValueKind::tuple), shape_of(l.unswizzled())) : crd;
  if (t.failed() || !at.is_number()) fail("access {}: {} is no coordinate of {}", name, to_text(v), l.text());
  const long long i = at.root().s.v;
  if (i < 0 || i >= l.elements())
    fail("access {}: element {} is outside the {} of {}", name, i, l.elements(), l.text());
  return i;
}

// Returns, for each thread, the indices of the elements that it accesses; -1 for an inactive lane. `v` is a
// layout (thread, value) if `has_values`, otherwise a layout of threads. `v` may also be a tuple with one
// element per lane, in which _ is an inactive lane. `name` is the access's name in messages.
std::vector<std::vector<long long>> elements_of(const Value& v, bool has_values, const SharedLayout& l,
                                                const std::string& name) {
  std::vector<std::vector<long long>> all;
  if (v.is(ValueKind::tuple)) {
    if (v.rank() == 0) fail("access {}: no lane takes part", name);
    for (int i = 0; i < v.rank(); ++i) all.push_back({v[i].is(ValueKind::underscore) ? -1 : index_at(v[i], l, name)});
    return all;
  }
  const Value layout = algebra::innermost(v);
  if (!layout.is_layout())
    fail("access {}: a layout (thread, value), or a tuple of the lanes' elements, is needed", name);
  long long threads = 1, values = 1;
  for (int m = 0; m < layout.rank(); ++m)
    for (const ValueNode& n : leaves_of(layout[m])) {
      (m == 0 || !has_values ? threads : values) *= n.s.v;
      if (n.s.v < 1 || threads > 1024 || values > 1024)
        fail("access {}: {} threads of {} values; 1 to 1024 of each are possible", name, threads, values);
    }
  for (long long t = 0; t < threads; ++t) {
    all.emplace_back();
    for (long long i = 0; i < values; ++i) {
      Tape tape;
      Values operands;
      operands.push_back(v);
      operands.push_back(number(t + threads * i));
      const Value at = apply(Op::layout_call, tape, operands);
      if (tape.failed()) fail("access {}: {}", name, to_text(tape.refusal()));
      all.back().push_back(index_at(at, l, name));
    }
  }
  return all;
}

// Adds one warp-wide access, given by each lane's element index, to `a`. Throws Error if `a` has too many accesses.
void add(WarpPattern& a, std::vector<long long> lanes) {
  if (a.instances.size() == max_instances) fail("access {}: more than {} accesses of a warp", a.name, max_instances);
  a.instances.push_back(std::move(lanes));
}

// Adds accesses of `group` lanes each, which take `count` elements along mode `mode` from the next of `indices` on; -1: an
// inactive lane.
void place(WarpPattern& a, const SharedLayout& l, int mode, long long count, const std::vector<long long>& indices,
           std::size_t group) {
  for (std::size_t first = 0; first < indices.size(); first += group) {
    const auto begin = indices.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<long long> lanes(begin, begin + static_cast<std::ptrdiff_t>(std::min(group, indices.size() - first)));
    for (const long long lane : lanes)
      if (lane >= 0) check_lane(a, l, mode, count, lane);
    add(a, std::move(lanes));
  }
}

// Adds the ldmatrix or stmatrix accesses that cover the tensor, each of `matrices` 8x8 matrices. Four
// matrices are arranged 2 by 2, column by column; if the tensor has only 8 rows, all are next to each other.
void place_matrices(WarpPattern& a, const SharedLayout& l, int matrices) {
  const long long count = lane_elements(a, l);
  const int along = line_mode(l, count, a.name), across = 1 - along;
  const bool flat = l.rank() == 1;
  const long long lines = flat ? 1 : l.extent(across), length = l.extent(along);
  const int high = matrices > 1 && lines >= 16 ? 2 : 1, wide = matrices / high;
  if (lines < 8 * high || length < wide * count)
    fail("access {}: {} lines of {} elements are needed; {} has {} of {}", a.name, 8 * high, wide * count, l.text(),
         lines, length);
  for (long long line = 0; line + 8 * high <= lines; line += 8 * high)
    for (long long at = 0; at + wide * count <= length; at += wide * count) {
      std::vector<long long> lanes;
      for (int lane = 0; lane < 8 * matrices; ++lane) {
        const long long row = line + lane % (8 * high), column = at + lane / (8 * high) * count;
        lanes.push_back(row * (flat ? 0 : l.step(across)) + column * l.step(along));
      }
      place(a, l, along, count, lanes, lanes.size());
    }
}

// Adds the warp-wide loads or stores that cover the tensor. Their lanes go along a row, then along the next row.
void place_lanes(WarpPattern& a, const SharedLayout& l) {
  const long long count = lane_elements(a, l);
  const int along = line_mode(l, count, a.name);
  const long long on_line = l.extent(along) / count, lines = l.rank() == 1 ? 1 : l.extent(1 - along);
  std::vector<long long> lanes;
  for (long long i = 0; i < on_line * lines; ++i)
    lanes.push_back(i % on_line * count * l.step(along) + (l.rank() == 1 ? 0 : i / on_line * l.step(1 - along)));
  place(a, l, along, count, lanes, warp);
}

// Adds the accesses whose lanes the user gave as `where`. Each access takes the next 32 lanes or, for
// ldmatrix and stmatrix, the next 8 lanes per matrix.
void place_given(WarpPattern& a, const SharedLayout& l, const Value& where, int matrices) {
  std::vector<long long> lanes;
  for (const std::vector<long long>& thread : elements_of(where, false, l, a.name)) lanes.push_back(thread[0]);
  const long long count = lane_elements(a, l);
  const int along = line_mode(l, count, a.name);
  const std::size_t group = matrices ? std::size_t(8 * matrices) : warp;
  if (matrices && lanes.size() % group) fail("access {}: {} rows are given; it takes {}", a.name, lanes.size(), group);
  place(a, l, along, count, lanes, group);
}

// Adds the accesses by which the threads of a thread-value layout `where` load or store all their values.
// Each lane accesses at once, up to 16 bytes, the values that are contiguous and aligned in every thread.
void place_values(WarpPattern& a, const SharedLayout& l, const Value& where) {
  const auto elements = elements_of(where, true, l, a.name);
  const std::size_t values = elements[0].size();
  std::size_t width = 1;
  for (std::size_t w = 2; values % w == 0 && w * std::size_t(l.bits()) <= 128; w *= 2) {
    bool together = true;
    for (const auto& thread : elements)
      for (std::size_t v = 0; together && v < values; ++v) {
        const long long lead = thread[v - v % w];
        together = lead >= 0 && l.offset(thread[v]) == l.offset(lead) + static_cast<long long>(v % w) &&
                   l.offset(lead) % static_cast<long long>(w) == 0;
      }
    if (!together) break;
    width = w;
  }
  if (width * std::size_t(l.bits()) % 8)
    fail("access {}: its values of {} bits do not lie together in whole bytes", a.name, l.bits());
  a.bytes = static_cast<int>(width) * l.bits() / 8;
  for (std::size_t first = 0; first < elements.size(); first += warp)
    for (std::size_t v = 0; v < values; v += width) {
      std::vector<long long> lanes;
      for (std::size_t t = first; t < std::min(elements.size(), first + warp); ++t) lanes.push_back(elements[t][v]);
      add(a, std::move(lanes));
    }
}

constexpr long long max_elements = 1 << 24;

// Returns the value as a layout whose offsets count elements. A composed layout that is equal to a plain
// layout is replaced by it. Throws Error if the value is no layout, or if it maps to coordinates.
Value checked(const Value& given) {
  Value v = in_elements(given);
  const Value unswizzled = algebra::innermost(v);
  if (!unswizzled.is_layout()) fail("{} is no layout", to_text(given));
  for (const ValueNode& n : unswizzled.nodes)
    if (n.kids < 0 && n.e != 0) fail("{}: its indices are coordinates, not places in shared memory", to_text(given));
  if (!v.is(ValueKind::composed)) return v;
  // Every number counts as static here, so that a composed layout becomes one layout if possible.
  Value known = v;
  for (ValueNode& n : known.nodes) n.s = fixed(n.s.v), n.d = fixed(n.d.v);
  Tape t;
  const algebra::Settled s = algebra::settle(t, known, algebra::Asks::nothing);
  return s.is_simple() ? s.layout : v;
}

}  // namespace

WarpPattern parse_access(std::string_view text, const SharedLayout& l) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.empty()) fail("access: an instruction or a layout is needed");
  WarpPattern a{.name = std::string(text)};
  const std::size_t blank = std::min(text.find(' '), text.size());
  const auto i = instruction(text.substr(0, blank), text);
  if (!i) {
    const Value where = evaluate_expression(text).value;
    place_values(a, l, where);
    return a;
  }
  a.bytes = i->bytes;
  a.matrix = i->matrices > 0;
  if (blank < text.size())
    place_given(a, l, evaluate_expression(text.substr(blank + 1)).value, i->matrices);
  else if (a.matrix)
    place_matrices(a, l, i->matrices);
  else
    place_lanes(a, l);
  return a;
}

SharedLayout::SharedLayout(const Value& layout, int element_bits)
    : value_(checked(layout)), unswizzled_(algebra::innermost(value_)), bits_(element_bits), indexer_(value_) {
  for (int m = 0; m < unswizzled_.rank(); ++m) {
    double n = 1;
    for (const ValueNode& leaf : leaves_of(unswizzled_[m])) n *= static_cast<double>(leaf.s.v);
    if (n < 1 || n * static_cast<double>(elements_) > static_cast<double>(max_elements))
      fail("{}: {} elements; 1 to {} are possible", text(), n * static_cast<double>(elements_), max_elements);
    extents_.push_back(static_cast<long long>(n));
    elements_ *= extents_.back();
  }
  if (unswizzled_.rank() == 0) fail("{} has no modes", text());
  for (long long i = 0; i < elements_; ++i) {
    const long long x = offset(i);
    if (x < 0) fail("{}: element {} lies at {}, before the start of the memory", text(), i, x);
    if (x > (1LL << 31)) fail("{}: element {} lies at {}, which no shared memory holds", text(), i, x);
    bytes_ = std::max(bytes_, (x + 1) * bits_);
  }
  bytes_ = (bytes_ + 7) / 8;
}

long long SharedLayout::step(int mode) const {
  long long s = 1;
  for (int m = 0; m < mode; ++m) s *= extent(m);
  return s;
}

long long SharedLayout::address(long long index) const {
  const long long at = offset(index) * bits_;
  if (at % 8) fail("{}: element {} of {} bits starts inside a byte", text(), index, bits_);
  return at / 8;
}

}  // namespace zellige::view
