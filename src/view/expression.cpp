#include "view/expression.hpp"

#include <algorithm>
#include <zellige/layout/evaluate.hpp>

namespace zellige::view {
namespace {

// Maximum number of characters of an expression.
constexpr std::size_t max_text = 1 << 14;
constexpr std::string_view tuple_types[] = {"Shape", "Stride", "Coord", "Step", "Tile", "tuple"};
constexpr std::string_view types[] = {"Shape", "Stride", "Coord",   "Step", "Tile",
                                      "tuple", "Layout", "Swizzle", "Int",  "C"};
// Operations whose first operand is a coordinate tensor; a layout of coordinates is converted to one.
constexpr std::string_view partitions[] = {"local_tile", "inner_partition", "outer_partition", "local_partition",
                                           "domain_offset"};

// Returns whether the value can be called with a coordinate.
bool callable(const Value& v) {
  return v.is_layout() || v.is(ValueKind::composed) || v.is(ValueKind::tensor) || v.is(ValueKind::swizzle);
}
PlacedOperand valued(const Value& v, std::size_t at = 0) { return {{"", v, ""}, at}; }
bool is_middle(const Value& v) { return v.is_number() || v.is(ValueKind::flag); }

// An error in the operation at [begin, end) of the expression.
struct PlacedMistake : LayoutError {
  PlacedMistake(std::string why, std::size_t begin, std::size_t end)
      : LayoutError(why, {Rule::not_a_layout, 0, 0}), text(std::move(why)), begin(begin), end(end) {}
  std::string text;
  std::size_t begin, end;
};

// A call of the operation `name` at [begin, end) of the expression. The functions that follow throw PlacedMistake with
// this place.
struct PlacedCall {
  std::string name;
  std::vector<PlacedOperand> operands;
  std::size_t begin, end;
  [[noreturn]] void mistake(std::string why) const { throw PlacedMistake(std::move(why), begin, end); }
};

// Returns the tuple of the values in a list that ends at `end`.
Value tuple_of(const std::vector<PlacedOperand>& list, std::size_t end) {
  Value v = empty(ValueKind::tuple);
  for (const PlacedOperand& a : list) {
    if (a.is_word()) throw PlacedMistake(fmt::format("{} is no value", a.text), a.at, end);
    v.add(a.value);
  }
  return v;
}

// Returns the result of an operation in the library's tables (operation.hpp); if the operation prints, only what it prints.
// Throws PlacedMistake if it is not there or the arguments do not fit it.
Result of_row(const PlacedCall& c) {
  const std::vector<PlacedOperand>& a = c.operands;
  const Rows rows = named(c.name);
  if (rows.empty())
    c.mistake(fmt::format("{} is no operation; zellige layout --list shows them{}", c.name, near_operation(c.name)));
  const Operands operands(a.begin(), a.end());
  if (choose_row(rows, operands).row == nullptr) {
    const Misfit m = misfit(c.name, rows, operands);
    const bool placed = m.operand < a.size() && !a[m.operand].text.empty();
    if (placed) throw PlacedMistake(m.why, a[m.operand].at, a[m.operand].at + a[m.operand].text.size());
    c.mistake(m.why);
  }
  std::vector<std::string> texts;
  for (const PlacedOperand& x : a) texts.push_back(x.value.is(ValueKind::nothing) ? x.text : to_text(x.value));
  const std::string text = evaluate_record(c.name, texts);
  if (c.name.starts_with("print_") || c.name == "ostream_tensor") return {nothing(), text};
  if (text == "true" || text == "false") return {boolean(dynamic(text == "true")), ""};
  if (text == "_true" || text == "_false") return {boolean(fixed(text == "_true")), ""};
  try {
    return {parse_value(text), ""};
  } catch (const TextError&) {  // the result is the description of an instruction, of several lines
    return {nothing(), text};
  }
}

// Returns the result of a call. Does not catch exceptions of the layout library. Throws PlacedMistake if there is no
// such operation or the arguments do not fit it.
Result evaluated(PlacedCall& c) {
  static constexpr std::string_view tuples[] = {"make_tuple", "make_shape", "make_stride",   "make_coord",
                                                "make_tile",  "make_step",  "make_int_tuple"};
  const std::string& name = c.name;
  std::vector<PlacedOperand>& a = c.operands;
  if (std::ranges::count(tuples, name)) return {tuple_of(a, c.end), ""};
  if ((name == "make_composed_layout" || name == "composition") && a.size() == 3) {
    const Value v = algebra::composed(a[0].value, a[1].value, a[2].value);
    if (!detail::is_composed_layout(v))
      throw LayoutError("a composed layout is a swizzle or a layout, an offset and a layout",
                        {Rule::not_a_layout, 0, 0});
    return {v, ""};
  }
  // The tables take no words such as LayoutRight.
  auto word = [&](std::size_t i, const char* w) { return i < a.size() && a[i].is_word() && a[i].text == w; };
  if (name == "make_layout" && a.size() == 2 && (word(1, "LayoutRight") || word(1, "GenRowMajor")))
    a = {a[0]}, a.push_back(valued(parse_value(evaluate("compact_row_major", {to_text(a[0].value)}))));
  if (name == "make_layout" && a.size() == 2 && (word(1, "LayoutLeft") || word(1, "GenColMajor"))) a.pop_back();
  if (name == "tile_to_shape" && a.size() == 3 && word(2, "LayoutLeft")) a.pop_back();
  if (name == "tile_to_shape" && a.size() == 3 && word(2, "LayoutRight")) {
    Value order = empty(ValueKind::tuple);
    for (int i = a[1].value.rank(); i-- > 0;) order.add(number(i));
    a[2] = valued(order);
  }
  if (!a.empty() && std::ranges::count(partitions, name) && a[0].value.is_layout())
    a[0].value = parse_value(evaluate_record("make_coord_tensor", {to_text(a[0].value)}));
  return of_row(c);
}

// Returns the result of a call. An error of the layout library becomes a PlacedMistake.
Result result_of(PlacedCall c) {
  try {
    return evaluated(c);
  } catch (const PlacedMistake&) {
    throw;
  } catch (const TextError&) {
    throw;
  } catch (const std::exception& e) {
    std::string why = e.what();
    if (const auto colon = why.find(": "); colon != std::string::npos && why.find(' ') == colon + 1)
      why = why.substr(colon + 2);  // drop the name under which it was evaluated
    std::string operands;
    for (const PlacedOperand& x : c.operands)
      operands += (operands.empty() ? "" : ", ") + (x.is_word() ? x.text : to_text(x.value));
    if (operands.size() > 160) operands = operands.substr(0, 157) + "...";
    c.mistake(fmt::format("{}({}): {}", c.name, operands, why));
  }
}

// Parser of one expression, which calls operations as it reads them.
class Expression : public Parser {
 public:
  explicit Expression(std::string_view text) : Parser(text) {}

  // Returns the value of the complete expression and the value as a string. If the expression prints
  // instead of having a value, returns what it prints.
  Result result() {
    Value v = whole();
    return {v, drawn_.empty() ? to_text(v) : drawn_};
  }

 private:
  [[noreturn]] void mistake(std::string why, std::size_t begin) { throw PlacedMistake(std::move(why), begin, at_); }
  // Returns the result of operation `name`, whose call begins at `start` of the expression and ends here.
  Value call(const std::string& name, std::vector<PlacedOperand> operands, std::size_t start) {
    const Result r = result_of({name, std::move(operands), start, at_});
    if (r.value.is(ValueKind::nothing)) drawn_ = r.text;
    return r.value;
  }

  // Returns the identifier at the parser's current position, without advancing; empty if there is none.
  std::string_view peek_name() {
    skip();
    std::size_t end = at_;
    auto part = [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (end > at_ && c >= '0' && c <= '9');
    };
    if (letter())
      while (end < text_.size() && part(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  // Parses a comma-separated list of arguments up to the bracket `close`: values, and words such as half_t.
  std::vector<PlacedOperand> arguments(const char* close) {
    std::vector<PlacedOperand> list;
    if (next(close)) return list;
    do {
      skip();
      const std::size_t start = at_;
      PlacedOperand a;
      a.at = start;
      if (const std::size_t end = end_of_word(); end > start) {
        at_ = end;
        a.unreadable = fmt::format("{} is a word", text_.substr(start, end - start));
      } else {
        a.value = value();
        if (!drawn_.empty()) mistake("what is printed cannot be an operand", start);
      }
      a.text = std::string(text_.substr(start, at_ - start));
      list.push_back(std::move(a));
    } while (next(","));
    expect(close);
    return list;
  }
  // If a complete operand at the parser's current position is a word, such as half_t or
  // UniversalCopy<half_t>, returns the position after it. Otherwise returns the current position.
  std::size_t end_of_word() {
    const std::string_view name = peek_name();
    std::size_t end = at_ + name.size();
    if (name.empty() || name == "X" || name == "Sw" || name == "E") return at_;
    const bool is_type = std::ranges::count(types, name) || name.starts_with("Layout_") || !view::named(name).empty();
    if (end < text_.size() && text_[end] == '<' && !is_type) {
      int depth = 0;
      do {
        depth += text_[end] == '<' ? 1 : text_[end] == '>' ? -1 : 0;
      } while (++end < text_.size() && depth > 0);
    }
    std::size_t next = end;
    while (next < text_.size() && text_[next] == ' ') ++next;
    return next < text_.size() && (text_[next] == ',' || text_[next] == ')' || text_[next] == '>') ? end : at_;
  }

  // Parses a value that begins with a name, and returns it: a value in CuTe's type notation, such as
  // Int<4>{}, or the result of a call of an operation.
  Value named() override {
    const std::size_t start = at_;
    const std::string name(peek_name());
    at_ += name.size();
    if (name == "X") return underscore();
    if (name == "Swizzle" && next("<")) return braces(swizzle());
    std::vector<PlacedOperand> given;
    const bool has_template = next("<");
    if (has_template) given = arguments(">");
    if ((name == "Int" || name == "C") && given.size() == 1 && given[0].value.is_number())
      return braces(number(fixed(given[0].value.root().s.v)));
    if (has_template && std::ranges::count(tuple_types, name)) return braces(tuple_of(given, at_));
    if (has_template && name == "Layout") return braces(call("make_layout", given, start));
    if (has_template && name.starts_with("Layout_") && name.ends_with("_Atom")) return braces(gmma(name, given, start));
    if (!next("(")) {
      if (view::named(name).empty())
        mistake(fmt::format("{} is neither a value nor an operation{}", name, near_operation(name)), start);
      fail("(");
    }
    std::vector<PlacedOperand> list = arguments(")");
    const auto at = list.begin() + (list.empty() ? 0 : 1);
    list.insert(at, given.begin(), given.end());
    return call(name, list, start);
  }
  // Parses an optional {} after a type, as in Int<4>{}. Returns `v`, the value of the type.
  Value braces(const Value& v) {
    if (next("{")) expect("}");
    return v;
  }
  // Returns the value of a name such as Layout_K_SW128_Atom<half_t>: the shared-memory layout of an operand of SM90's
  // MMA instructions. `type` has the template argument; `start` is the name's position, for messages.
  Value gmma(const std::string& name, const std::vector<PlacedOperand>& type, std::size_t start) {
    const std::size_t bar = name.find('_', 7);
    if (bar >= name.size() - 5 || type.size() != 1) mistake(fmt::format("{} is unknown", name), start);
    const std::vector<PlacedOperand> words = {
        {{name.substr(7, bar - 7)}}, {{name.substr(bar + 1, name.size() - 5 - bar - 1)}}, type[0]};
    return call("gmma_smem_atom", words, start);
  }

  // Parses the coordinates in parentheses that may follow a value, as in `L(c)` or `L(c)(d)`. Returns the
  // result of the calls, or `called` if there is none.
  Value applied(const Value& called, std::size_t start) override {
    Value v = called;
    // (A o B)(c): the parentheses group A o B; they are not a tuple of one element.
    if (v.is(ValueKind::tuple) && v.rank() == 1 && callable(v[0]) && next("(")) {
      --at_;
      v = Value(v[0]);
    }
    while (callable(v) && next("(")) {
      const std::vector<PlacedOperand> list = arguments(")");
      if (list.empty()) mistake("a call needs a coordinate", start);
      const PlacedOperand crd = valued(list.size() == 1 ? list[0].value : tuple_of(list, at_), list[0].at);
      if (list[0].is_word()) mistake(fmt::format("{} is no coordinate", list[0].text), start);
      const PlacedOperand self = valued(v, start);
      v = call(v.is(ValueKind::swizzle) ? "swizzle_apply" : "layout_call", {self, crd}, start);
    }
    return v;
  }

  // Returns the composition of the values `links`, which the expression separates by `o`.
  Value joined(const std::vector<Value>& links, std::size_t start) override {
    Value v = links[0];
    std::size_t i = 1;
    if (links.size() > 1 && (v.is(ValueKind::coordinates) || v.is(ValueKind::counting)))
      return bundle(ValueKind::tensor, v, joined({links.begin() + 1, links.end()}, start));
    while (i < links.size()) {
      const PlacedOperand a = valued(v, start), b = valued(links[i], start);
      // In A o 0 o Sw o 4 o B a swizzle cannot be the right operand by itself: it is the left operand of the rest.
      if (i + 2 < links.size() && is_middle(links[i]) && links[i + 1].is(ValueKind::swizzle)) {
        const Value rest = joined({links.begin() + static_cast<std::ptrdiff_t>(i) + 1, links.end()}, start);
        return call("make_composed_layout", {a, b, valued(rest, start)}, start);
      }
      if (i + 1 < links.size() && is_middle(links[i])) {
        v = call("make_composed_layout", {a, b, valued(links[i + 1], start)}, start);
        i += 2;
      } else {
        v = call("composition", {a, b}, start);
        ++i;
      }
    }
    return v;
  }

  // The result, if the expression prints rather than having a value.
  std::string drawn_;
};
/// Returns two lines, indented by two: the expression, shortened if long, and a line that marks [begin, end) in it.
std::string marked(std::string_view text, std::size_t begin, std::size_t end) {
  begin = std::min(begin, text.size());
  end = std::min(std::max(end, begin + 1), text.size() + 1);
  // Shows a part of a long expression.
  constexpr std::size_t width = 100;
  std::size_t first = 0;
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 127; }, ' ');
  if (line.size() > width) {
    first = begin > width / 2 ? begin - width / 2 : 0;
    line = line.substr(first, width);
  }
  const std::size_t length = std::max<std::size_t>(1, std::min(end, first + width) - begin);
  return "  " + line + "\n  " + std::string(begin - first, ' ') + "^" + std::string(length - 1, '~');
}

}  // namespace

Result evaluate_expression(std::string_view text) {
  if (text.size() > max_text) fail("the expression has {} characters, more than {}", text.size(), max_text);
  auto raise = [&](const std::string& why, std::size_t begin, std::size_t end) {
    // True if the error is due to numbers that are only known at run time, for which CuTe's algebra has fewer
    // operations. The user often knows the number at compile time, so the message says how to write it.
    const bool unknown = why.find("run-time") != std::string::npos;
    const char* hint = unknown ? " (bare numbers are run-time ones: write _2 for a known 2)" : "";
    throw ExpressionError(fmt::format("{}{}", why, hint), marked(text, begin, end));
  };
  try {
    return Expression(text).result();
  } catch (const PlacedMistake& e) {
    raise(e.text, e.begin, e.end);
  } catch (const TextError& e) {
    raise(e.reason, e.at, e.at + 1);
  } catch (const LayoutError& e) {
    raise(e.what(), 0, text.size());
  }
  return {};
}

}  // namespace zellige::view
