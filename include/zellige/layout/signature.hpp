// Selects the layout operation for a name and operands that come from a user, or explains why no operation of that name
// accepts the operands. The algebra itself does not check the kinds of its operands. Host only.
//
//   row_for(named(layout_operations, "composition"), {layout, tiler})    the selected operation, or nullptr
//
// An Operation is a row of the table in op.hpp, or an operation with a C++ function of its own. Its parameters are the
// letters explained in op.hpp, and also: t tensor; d tensor, or shape of an identity tensor; q layout of rank 3; y two
// or more numbers; 3 three tilers; w word.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <zellige/layout/algebra/operation.hpp>
#include <zellige/layout/text.hpp>

namespace zellige {

/// An operand: its source string and the value that the string denotes. A string that denotes no value, such
/// as the type name half_t, is a word.
struct ParsedOperand {
  std::string text = {};
  Value value = nothing();
  std::string unreadable = {};  // the parse error if the string is not a value
  bool is_word() const { return !unreadable.empty(); }
};
using Operands = std::vector<ParsedOperand>;

/// An operation as it can be selected by name. Either `op` or `run` computes it.
struct Operation {
  char const* id;
  char const* names;
  char const* parameters;
  Op op = Op::count;                                     // the operation of the algebra, or
  std::string (*run)(Tape&, Operands const&) = nullptr;  // a function that returns the result as a string
};

/// The operations on layouts: the table of algebra/op.hpp.
inline constexpr Operation layout_operations[] = {
#define ZELLIGE_ROW(id, names, parameters, ...) {#id, names, parameters, Op::id},
    ZELLIGE_LAYOUT_OPERATIONS(ZELLIGE_ROW)
#undef ZELLIGE_ROW
};

using Rows = std::vector<Operation const*>;

namespace detail {
constexpr long long max_count = 64, max_factor = 1LL << 40;

inline bool is_bare_layout(Value const& v) { return v.is(ValueKind::layout); }
/// Returns true if v is an integer, a basis element, or a tuple of these.
inline bool is_integers(Value const& v) {
  return std::all_of(v.nodes.begin(), v.nodes.end(), [](ValueNode const& n) {
    return n.kids < 0 ? n.kind == ValueKind::number : n.kind == ValueKind::tuple || n.kind == ValueKind::arithmetic;
  });
}
/// Returns true if v can be a part of a composed layout: a layout, a composition of layouts and swizzles or,
/// if `layout` is false, a swizzle. For a composition `swizzle o offset o layout`, the offset must be an
/// integer or a smem_ptr_flag (an address that is not known yet); if the left part is a layout, the offset
/// must be an integer or a coordinate.
inline bool is_function(Value const& v, bool layout) {
  if (!v.is(ValueKind::composed)) return is_bare_layout(v) || (!layout && v.is(ValueKind::swizzle));
  Value const offset = v[1];
  bool const number = offset.is_number() && offset.root().e == 0;
  bool const starts = v[0].is(ValueKind::swizzle) ? number || offset.is(ValueKind::flag) : is_integers(offset);
  return starts && is_function(v[0], false) && is_function(v[2], layout);
}
inline bool is_composed_layout(Value const& v) { return v.is(ValueKind::composed) && is_function(v, true); }
/// Returns true if v is a coordinate: an integer, `_`, or a tuple of these.
inline bool is_coordinate(Value const& v) {
  return std::all_of(v.nodes.begin(), v.nodes.end(), [](ValueNode const& n) {
    return n.kids < 0 ? n.kind == ValueKind::underscore || (n.kind == ValueKind::number && n.e == 0)
                      : n.kind == ValueKind::tuple || n.kind == ValueKind::arithmetic;
  });
}
/// Returns true if v is a tiler: a layout, a number, `_`, or a tuple of these.
inline bool is_tiler(Value const& v) {
  if (is_bare_layout(v) || v.is_number() || v.is(ValueKind::underscore)) return true;
  if (!v.is(ValueKind::tuple)) return false;
  for (int i = 0; i < v.rank(); ++i) {
    if (!is_tiler(v[i])) return false;
  }
  return true;
}
inline bool is_tensor_value(Value const& v) {
  return v.is(ValueKind::tensor) && (is_bare_layout(v[1]) || is_composed_layout(v[1]));
}
/// Returns true if v is an integer from min to max.
inline bool is_count(Value const& v, long long min, long long max) {
  return v.is_number() && v.root().e == 0 && v.root().s.v >= min && v.root().s.v <= max;
}

/// Returns true if the operand is of the kind that the parameter letter denotes, such as 'c' for a layout
/// and 'n' for a number (see algebra/op.hpp).
inline bool fits(char parameter, ParsedOperand const& o) {
  if (parameter == 'w') return !o.text.empty();
  if (parameter == 'e' && o.is_word()) return true;
  if (o.is_word()) return false;
  Value const& v = o.value;
  switch (parameter) {
    case 'c':
      return is_bare_layout(v) || is_composed_layout(v);
    case 'p':
      return is_bare_layout(v);
    case 's':
      return v.is(ValueKind::swizzle);
    case 't':
      return is_tensor_value(v);
    case 'd':
      return is_tensor_value(v) || is_integers(v);
    case 'i':
      return is_integers(v);
    case 'n':
      return v.is_number();
    case 'x':
      return is_coordinate(v);
    case 'm':
      return is_tiler(v);
    case 'q':
      return is_bare_layout(v) && v.rank() == 3;
    case '3':
      return v.is(ValueKind::tuple) && v.rank() == 3 && is_tiler(v);
    case 'y':
      return v.is(ValueKind::tuple) && v.rank() >= 2 && is_integers(v);
    case 'k':
      return is_count(v, -1, max_count);
    case 'f':
    case 'e':
      return is_count(v, 1, max_factor);
    case 'b':
      return is_count(v, 0, max_factor);
    default:
      return false;
  }
}
/// Returns in words, for error messages, the kind of operand that a parameter letter denotes: "layout" for
/// 'c', "number" for 'n'.
constexpr char const* meaning(char parameter) {
  switch (parameter) {
    case 'c':
      return "layout";
    case 'p':
      return "uncomposed layout";
    case 's':
      return "swizzle";
    case 't':
      return "tensor";
    case 'd':
      return "tensor or shape";
    case 'i':
      return "numbers";
    case 'n':
      return "number";
    case 'x':
      return "coordinate";
    case 'm':
      return "tiler";
    case 'q':
      return "layout of rank 3";
    case '3':
      return "three tilers";
    case 'y':
      return "(M,N,...)";
    case 'k':
      return "mode or count";
    case 'f':
      return "factor";
    case 'e':
      return "type";
    case 'b':
      return "bits";
    case 'w':
      return "word";
    default:
      return "anything";
  }
}

/// Returns the alternative lists of parameter letters of an operation, which are separated by `|` in its row.
inline std::vector<std::string_view> alternatives(Operation const& o) {
  std::vector<std::string_view> all;
  for (std::string_view rest = o.parameters;;) {
    std::size_t const bar = rest.find('|');
    all.push_back(rest.substr(0, bar));
    if (bar == rest.npos) return all;
    rest.remove_prefix(bar + 1);
  }
}
/// `suited`: how many operands, from the first on, match a list of parameter letters. `whole`: all operands
/// match, and every letter that is not optional has an operand.
struct Match {
  std::size_t suited = 0;
  bool whole = false;
};
/// Returns how many of the operands, from the first on, are of the kinds that a list of parameter letters
/// asks for (such as "c n": a layout and a number), and whether the complete lists match.
inline Match match(std::string_view letters, std::span<ParsedOperand const> operands) {
  Match m;
  for (std::size_t p = 0; p < letters.size();) {
    char const letter = letters[p++];
    char const mark = p < letters.size() && letters[p] != ' ' ? letters[p++] : ' ';
    std::size_t const before = m.suited;
    while (m.suited < operands.size() && fits(letter, operands[m.suited])) {
      ++m.suited;
      if (mark != '*') break;
    }
    if (m.suited == before && mark == ' ') return m;
    if (p < letters.size()) ++p;
  }
  m.whole = m.suited == operands.size() && m.suited > 0;
  return m;
}
/// Returns a list of parameter letters in words, for error messages: optional parameters as [word], repeated
/// ones as "word, ...".
inline std::string letters_text(std::string_view letters) {
  std::string text;
  for (std::size_t p = 0; p < letters.size();) {
    char const letter = letters[p++];
    char const mark = p < letters.size() && letters[p] != ' ' ? letters[p++] : ' ';
    std::string const what = meaning(letter);
    text += text.empty() ? "" : ", ";
    text += mark == '?' ? "[" + what + "]" : what;
    if (mark == '*') text += ", ...";
    if (p < letters.size()) ++p;
  }
  return text;
}
}  // namespace detail

/// Returns an operand for the string: with the value that the string denotes or, if it denotes no value, as a
/// word.
inline ParsedOperand operand(std::string const& text) {
  ParsedOperand o{text};
  try {
    o.value = parse_value(text);
  } catch (LayoutError const& e) {
    o.unreadable = e.what();
  }
  return o;
}

/// Returns true if the operation accepts the operands.
inline bool fits(Operation const& o, std::span<ParsedOperand const> operands) {
  auto const all = detail::alternatives(o);
  return std::any_of(all.begin(), all.end(), [&](auto letters) { return detail::match(letters, operands).whole; });
}
/// Returns the operations that have the given name or, if there are none, the operation with that id.
inline Rows named(std::span<Operation const> rows, std::string_view name) {
  Rows found, by_id;
  for (Operation const& o : rows) {
    std::string_view const all = o.names;
    for (std::size_t at = 0; at < all.size();) {
      std::size_t const end = std::min(all.find(' ', at), all.size());
      if (all.substr(at, end - at) == name) found.push_back(&o);
      at = end + 1;
    }
    if (name == o.id) by_id.push_back(&o);
  }
  return found.empty() ? by_id : found;
}
/// Returns the first of `rows` that accepts the operands, or nullptr if none does.
inline Operation const* row_for(Rows const& rows, std::span<ParsedOperand const> operands) {
  auto const at = std::find_if(rows.begin(), rows.end(), [&](auto const* o) { return fits(*o, operands); });
  return at == rows.end() ? nullptr : *at;
}

/// Returns the kind of a value in words, for error messages: "a layout", "a tuple of numbers", ...
inline std::string kind_name(Value const& v) {
  switch (v.kind()) {
    case ValueKind::number:
      return v.root().e ? "a basis element" : "a number";
    case ValueKind::boolean:
      return "a truth value";
    case ValueKind::underscore:
      return "the mark _";
    case ValueKind::tuple:
    case ValueKind::arithmetic:
      return detail::is_integers(v) ? "a tuple of numbers" : "a tuple";
    case ValueKind::layout:
      return "a layout";
    case ValueKind::swizzle:
      return "a swizzle";
    case ValueKind::composed:
      return detail::is_composed_layout(v) ? "a composed layout" : "composed of other things than swizzles and layouts";
    case ValueKind::tensor:
      return "a tensor";
    case ValueKind::counting:
    case ValueKind::coordinates:
      return "an iterator";
    case ValueKind::flag:
      return "a pointer's place";
    default:
      return "nothing";
  }
}
/// Why no operation accepts the operands; `operand` is the index of the first one that no operation accepts,
/// or the number of operands if there are too few.
struct Misfit {
  std::string why;
  std::size_t operand = 0;
};
/// Explains why none of the operations `rows` accepts the operands; `name` is the name of these operations.
/// Also returns the index of the first operand that no operation accepts at its position, or the number of
/// operands if all are accepted but more are needed.
inline Misfit misfit(std::string_view name, Rows const& rows, std::span<ParsedOperand const> operands) {
  std::size_t suited = 0;
  std::vector<std::string> wanted;
  for (Operation const* row : rows) {
    for (std::string_view letters : detail::alternatives(*row)) {
      suited = std::max(suited, detail::match(letters, operands).suited);
      std::string const text = "(" + detail::letters_text(letters) + ")";
      if (std::find(wanted.begin(), wanted.end(), text) == wanted.end()) wanted.push_back(text);
    }
  }
  std::string why = std::string(name) + " takes ";
  for (std::size_t i = 0; i < wanted.size(); ++i)
    why += (i == 0 ? "" : i + 1 == wanted.size() ? " or " : ", ") + wanted[i];
  if (suited >= operands.size()) {
    why += "; " + std::to_string(operands.size()) + (operands.size() == 1 ? " operand is" : " operands are") + " given";
    return {why, operands.size()};
  }
  ParsedOperand const& o = operands[suited];
  why += "; its operand " + std::to_string(suited + 1) + " is ";
  return {why + (o.is_word() ? "the word " + o.text : kind_name(o.value)), suited};
}

}  // namespace zellige
