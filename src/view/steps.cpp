#include "view/steps.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <zellige/layout/runtime.hpp>

#include "graph/error.hpp"
#include "view/expression.hpp"

namespace zellige::view {
namespace {

// A mode of a flat layout: its extent and its stride.
struct FlatMode {
  long long extent, stride;
};
using FlatModes = std::vector<FlatMode>;

FlatModes flat_modes(const Value& layout) {
  FlatModes modes;
  for (const ValueNode& n : leaves_of(layout)) modes.push_back({n.s.v, n.d.v});
  return modes;
}
std::string text_of(const FlatModes& modes) {
  std::string shape, stride;
  for (const FlatMode& m : modes) {
    shape += (shape.empty() ? "" : ",") + std::to_string(m.extent);
    stride += (stride.empty() ? "" : ",") + std::to_string(m.stride);
  }
  return modes.size() == 1 ? shape + ":" + stride : "(" + shape + "):(" + stride + ")";
}
long long elements_of(const Value& layout) {
  long long n = 1;
  for (const FlatMode& m : flat_modes(layout)) n *= m.extent;
  return n;
}

// Appends the steps of A o s:d for one mode s:d of B, and returns the modes of the result.
FlatModes compose_mode(const FlatModes& a, FlatMode b, std::vector<std::string>& lines) {
  lines.push_back(fmt::format("{}:{} takes {} elements of A with stride {}", b.extent, b.stride, b.extent, b.stride));
  FlatModes made;
  long long left = b.extent, skip = b.stride;
  if (b.stride == 0) {
    lines.emplace_back("  stride 0: the same element each time");
    return {{b.extent, 0}};
  }
  for (std::size_t i = 0; i < a.size() && left > 1; ++i) {
    const FlatMode m = a[i];
    const bool last = i + 1 == a.size();
    const long long reached = last ? left : std::min(left, std::max(1LL, (m.extent + skip - 1) / skip));
    if (!last && skip >= m.extent && skip > 1) {
      lines.push_back(fmt::format("  mode {}:{} is skipped: a step of {} crosses it {} times", m.extent, m.stride, skip,
                                  skip / m.extent));
      skip /= m.extent;
      continue;
    }
    made.push_back({reached, skip * m.stride});
    lines.push_back(fmt::format("  of mode {}:{} every {}: {} elements, stride {} * {} = {}; {} / {} = {} are left",
                                m.extent, m.stride, skip, reached, skip, m.stride, skip * m.stride, left, reached,
                                left / reached));
    left /= reached;
    skip = std::max(1LL, skip / m.extent);
  }
  if (made.empty()) made.push_back({b.extent, skip * a.back().stride});
  return made;
}

void compose(const Value& a, const Value& b, std::vector<std::string>& lines) {
  const FlatModes from = flat_modes(evaluate(Op::coalesce, "coalesce", {a}));
  if (const std::string merged = text_of(from); merged != text_of(flat_modes(a)))
    lines.push_back(fmt::format("A coalesced is {}: the same function with fewer modes", merged));
  FlatModes all;
  for (const FlatMode& m : flat_modes(b)) {
    const FlatModes made = compose_mode(from, m, lines);
    lines.push_back("  " + text_of(made));
    all.insert(all.end(), made.begin(), made.end());
  }
}

// Appends the steps of complement(layout, size), and returns the modes that it finds.
FlatModes complement_modes(const Value& layout, long long size, std::vector<std::string>& lines) {
  FlatModes modes;
  for (const FlatMode& m : flat_modes(layout))
    if (m.extent > 1 && m.stride > 0) modes.push_back(m);
  std::ranges::sort(modes, {}, &FlatMode::stride);
  FlatModes found;
  long long reached = 1;
  for (const FlatMode& m : modes) {
    if (m.stride > reached) {
      found.push_back({m.stride / reached, reached});
      lines.push_back(fmt::format("before the stride {} of mode {}:{} there is room for {} steps of {}", m.stride,
                                  m.extent, m.stride, m.stride / reached, reached));
    }
    lines.push_back(
        fmt::format("mode {}:{} ends at {} * {} = {}", m.extent, m.stride, m.extent, m.stride, m.extent * m.stride));
    reached = m.extent * m.stride;
  }
  if (reached < size) {
    found.push_back({(size + reached - 1) / reached, reached});
    lines.push_back(
        fmt::format("up to {} there is room for {} steps of {}", size, (size + reached - 1) / reached, reached));
  }
  if (found.empty()) found.push_back({1, 0});
  return found;
}

// One drawn operand or result: a grid with its title, and the cells coloured by `colour` of their index.
using CellColour = std::function<Colour(long long index)>;
void draw(LayoutSteps& s, const Value& layout, const std::string& title, const PictureOptions& o,
          const CellColour& colour = {}) {
  const Picture p = layout_picture(layout, "", o);
  for (std::size_t i = 0; i < p.grids.size(); ++i) {
    Grid g = p.grids[i];
    g.title = title + (g.title.empty() ? "" : ", " + g.title);
    g.next_to_previous = !s.picture.grids.empty() && g.columns <= 32;
    if (colour)
      for (GridCell& c : g.cells)
        if (c.label.find_first_not_of("-0123456789") == std::string::npos) c.colour = colour(std::stoll(c.label));
    s.picture.grids.push_back(std::move(g));
  }
}

// Returns colours for indices: that of number(i) for the i-th element of a layout whose index it is; white for others.
CellColour coloured_by(const Value& layout, const std::function<long long(long long i)>& number) {
  auto colours = std::make_shared<std::map<long long, Colour>>();
  const Indexer at(layout);
  const long long n = elements_of(layout);
  for (long long i = 0; i < n; ++i) colours->try_emplace(at(i), wheel(number(i) * 5, 32));
  return [colours](long long index) {
    const auto found = colours->find(index);
    return found == colours->end() ? Colour{} : found->second;
  };
}

// The outermost operation of an expression and its operands, as values.
struct OuterOperation {
  std::string name;
  std::vector<std::string> texts;
  std::vector<Value> values;
};
OuterOperation outermost(const std::string& text) {
  OuterOperation r;
  int depth = 0;
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    depth += text[i] == '(' || text[i] == '<' ? 1 : text[i] == ')' || text[i] == '>' ? -1 : 0;
    if (depth != 0 || text.compare(i, 3, " o ") != 0) continue;
    r.name = "composition", r.texts = {text.substr(0, i), text.substr(i + 3)};
    break;
  }
  depth = 0;
  const std::size_t open = text.find('(');
  if (r.name.empty() && open != text.npos && open > 0 && text.ends_with(')')) {
    r.name = text.substr(0, open);
    std::string word;
    for (const char c : text.substr(open + 1, text.size() - open - 2)) {
      depth += c == '(' || c == '<' ? 1 : c == ')' || c == '>' ? -1 : 0;
      if (c == ',' && depth == 0)
        r.texts.push_back(word), word.clear();
      else
        word += c;
    }
    r.texts.push_back(word);
  }
  static constexpr std::string_view known[] = {"composition",     "complement",      "logical_divide",
                                               "logical_product", "blocked_product", "raked_product"};
  if (std::ranges::find(known, r.name) == std::end(known) || r.texts.empty() || r.texts.size() > 2)
    fail(
        "--steps: {} has no steps; composition, A o B, complement, logical_divide, logical_product, blocked_product "
        "and "
        "raked_product have",
        text);
  for (const std::string& t : r.texts) r.values.push_back(evaluate_expression(t).value);
  return r;
}

Value as_layout(const Value& v) { return v.is_number() ? layout_value({v.root().s.v}) : v; }
void require_integers(const Value& v, const std::string& text) {
  const Value layout = as_layout(v);
  if (!layout.is_layout()) fail("--steps: {} is no layout", text);
  for (const ValueNode& n : leaves_of(layout))
    if (n.e != 0) fail("--steps: {} maps to coordinates; steps are of layouts of integers", text);
}

LayoutSteps swizzle_steps(const OuterOperation& op, const Value& result, const PictureOptions& o) {
  LayoutSteps s;
  const Value& inner = op.values[1];
  const Indexer before(inner), after(result);
  const std::string text = to_text(op.values[0]);
  int bits = 0, base = 0, shift = 0;
  std::sscanf(text.c_str(), "Sw<%d,%d,%d>", &bits, &base, &shift);
  s.lines.push_back(fmt::format("{} XORs bits {}..{} of an offset into its bits {}..{}", text, base + shift,
                                base + shift + bits - 1, base, base + bits - 1));
  long long shown = 0;
  for (long long i = 0, n = elements_of(inner); i < n && shown < 8; ++i) {
    const long long offset = before(i), swizzled = after(i);
    if (offset == swizzled) continue;
    const long long from = offset >> (base + shift) & ((1LL << bits) - 1), to = offset >> base & ((1LL << bits) - 1);
    s.lines.push_back(fmt::format("  offset {}: {:0{}b} XOR {:0{}b} = {:0{}b}, so {}", offset, to, bits, from, bits,
                                  to ^ from, bits, swizzled));
    ++shown;
  }
  draw(s, inner, to_text(inner), o);
  draw(s, result, op.texts[0] + " of it", o);
  return s;
}

LayoutSteps composition_steps(const OuterOperation& op, const Value& result, const PictureOptions& o) {
  if (op.values[0].is(ValueKind::swizzle)) return swizzle_steps(op, result, o);
  LayoutSteps s;
  require_integers(op.values[0], op.texts[0]);
  const Value &a = op.values[0], b = op.values[1];
  if (b.is_tuple()) {
    for (int i = 0; i < b.rank(); ++i) {
      if (!as_layout(b[i]).is_layout()) continue;
      s.lines.push_back(fmt::format("mode {}: A is {}, B is {}", i, to_text(a[i]), to_text(b[i])));
      compose(a[i], as_layout(b[i]), s.lines);
    }
  } else {
    require_integers(b, op.texts[1]);
    compose(a, as_layout(b), s.lines);
  }
  draw(s, a, "A: what B takes is coloured", o, coloured_by(result, [](long long i) { return i; }));
  if (!b.is_tuple()) draw(s, as_layout(b), "B: which elements of A", o, [&](long long) { return Colour{}; });
  draw(s, result, "A o B", o, coloured_by(result, [](long long i) { return i; }));
  return s;
}

LayoutSteps complement_steps(const OuterOperation& op, const Value& result, const PictureOptions& o) {
  LayoutSteps s;
  require_integers(op.values[0], op.texts[0]);
  const Value& l = op.values[0];
  const long long size = op.values.size() > 1 && op.values[1].is_number() ? op.values[1].root().s.v : elements_of(l);
  const FlatModes found = complement_modes(l, size, s.lines);
  s.lines.push_back("the gaps are " + text_of(found));
  const Value line = layout_value({size});
  draw(s, line, "the integers below the size: what L reaches", o, coloured_by(l, [](long long) { return 1; }));
  s.picture.grids.back().next_to_previous = false;
  const Value both = concatenate({l, result});
  const long long n = elements_of(l);
  draw(s, line, "a colour is one element of the complement: L moved there", o,
       coloured_by(both, [n](long long i) { return i / n; }));
  s.picture.grids.back().next_to_previous = false;
  return s;
}

LayoutSteps divide_steps(const OuterOperation& op, const Value& result, const PictureOptions& o) {
  LayoutSteps s;
  require_integers(op.values[0], op.texts[0]);
  const Value &a = op.values[0], b = op.values[1];
  const auto one = [&](const Value& of, const Value& given) {
    const Value tile = as_layout(given);
    const long long size = elements_of(of);
    s.lines.push_back(fmt::format(
        "the tile B is {}; its complement below {} says where tiles begin:", text_of(flat_modes(tile)), size));
    const FlatModes rest = complement_modes(tile, size, s.lines);
    s.lines.push_back(fmt::format("A o ({}, {}): first within a tile, then over the tiles", text_of(flat_modes(tile)),
                                  text_of(rest)));
    compose(of, tile, s.lines);
    FlatModes outer = rest;
    compose(of,
            layout_value(
                [&] {
                  std::vector<long long> e;
                  for (const FlatMode& m : outer) e.push_back(m.extent);
                  return e;
                }(),
                [&] {
                  std::vector<long long> d;
                  for (const FlatMode& m : outer) d.push_back(m.stride);
                  return d;
                }()),
            s.lines);
  };
  const Value zipped = evaluate(Op::zipped_divide, "zipped_divide", {a, b});
  if (b.is_tuple()) {
    for (int i = 0; i < b.rank(); ++i) {
      if (!as_layout(b[i]).is_layout()) continue;
      s.lines.push_back(fmt::format("mode {} of A, {}:", i, to_text(a[i])));
      one(a[i], b[i]);
    }
  } else {
    one(a, b);
  }
  const long long tile = elements_of(zipped[0]);
  const CellColour by_tile = coloured_by(zipped, [tile](long long i) { return i / tile; });
  draw(s, a, "A: a colour is a tile", o, by_tile);
  draw(s, zipped, "within a tile down, over the tiles across", o, by_tile);
  draw(s, result, "A / B", o, by_tile);
  return s;
}

LayoutSteps product_steps(const OuterOperation& op, const Value& result, const PictureOptions& o) {
  LayoutSteps s;
  for (int i : {0, 1}) require_integers(op.values[i], op.texts[i]);
  const Value a = as_layout(op.values[0]), b = as_layout(op.values[1]);
  long long cosize = 1;
  for (const FlatMode& m : flat_modes(b)) cosize += (m.extent - 1) * m.stride;
  const long long size = elements_of(a) * cosize;
  s.lines.push_back(
      fmt::format("where the blocks begin: the complement of A below {} * {} = {}", elements_of(a), cosize, size));
  const FlatModes rest = complement_modes(a, size, s.lines);
  s.lines.push_back(fmt::format("the complement {} composed with B says which block is where", text_of(rest)));
  if (op.name == "blocked_product") s.lines.emplace_back("mode by mode, A before B: each block stays in one piece");
  if (op.name == "raked_product") s.lines.emplace_back("mode by mode, B before A: the blocks interleave");
  const Value logical = evaluate(Op::logical_product, "logical_product", {a, b});
  const long long block = elements_of(a);
  const CellColour by_block = coloured_by(logical, [block](long long i) { return i / block; });
  draw(s, a, "A, the block", o, by_block);
  draw(s, b, "B: where block 0, 1, ... is", o, [&](long long i) { return wheel(i * 5, 32); });
  draw(s, result, op.name, o, by_block);
  return s;
}

}  // namespace

LayoutSteps steps(const std::string& expression, const PictureOptions& options) {
  const OuterOperation op = outermost(expression);
  const Result result = evaluate_expression(expression);
  PictureOptions o = options;
  LayoutSteps s = op.name == "composition"      ? composition_steps(op, result.value, o)
                  : op.name == "complement"     ? complement_steps(op, result.value, o)
                  : op.name == "logical_divide" ? divide_steps(op, result.value, o)
                                                : product_steps(op, result.value, o);
  s.lines.push_back("result: " + result.text);
  s.picture.title = expression;
  s.picture.facts = s.lines;
  return s;
}

}  // namespace zellige::view
