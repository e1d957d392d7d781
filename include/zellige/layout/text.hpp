// Converts Values (algebra/value.hpp) to strings in CuTe's notation, and parses such strings. Host only.
//
//   Value v = parse_value("(_4,8):(_1,_4)");        to_text(v)  is  "(_4,8):(_1,_4)"
//
// In the notation, `_4` is a static number, `4` a dynamic one, `2@1@0` is 2 times the basis element E<0, 1>, and `_` is
// the marker of slices. A tuple of layouts is a tiler. `Sw<B,M,S> o offset o layout` is a composed layout.
#pragma once
#include <string>
#include <string_view>
#include <vector>
#include <zellige/layout/algebra/value.hpp>
#include <zellige/layout/check.hpp>

namespace zellige {

/// Returns the message of a refusal: the sentence of the broken rule, with the refusal's two numbers.
inline std::string to_text(Refusal r) {
  std::string text = sentence(r.rule);
  for (auto [name, n] : {std::pair{"{x}", r.x}, std::pair{"{y}", r.y}}) {
    if (auto at = text.find(name); at != std::string::npos)
      text.replace(at, 3, n == unknown_number ? "a run-time number" : std::to_string(n));
  }
  return text;
}

namespace detail {
inline void write_number(std::string& out, Num n, Path e) {
  if (n.is_static()) out += '_';
  out += std::to_string(n.v);
  for (; e != 0; e /= 256) out += '@' + std::to_string(e % 256 - 1);
}
/// Appends to `out` the shape (or, if `strides`, the strides) of the subtree of node number `at`, and
/// advances `at` beyond the subtree.
inline void write_tree(std::string& out, Value const& v, int& at, bool strides) {
  ValueNode const& n = v.nodes[at++];
  if (n.kids < 0) return write_number(out, strides ? n.d : n.s, n.kind == ValueKind::layout && !strides ? 0 : n.e);
  out += '(';
  for (int i = 0; i < n.kids; ++i) {
    if (i > 0) out += ',';
    write_tree(out, v, at, strides);
  }
  out += ')';
}
/// Appends v to `out` in CuTe's notation.
inline void write(std::string& out, Value const& v) {
  ValueNode const& n = v.root();
  auto with_o = [&](int parts) {
    for (int i = 0; i < parts; ++i) {
      if (i > 0) out += " o ";
      write(out, v[i]);
    }
  };
  switch (n.kind) {
    case ValueKind::number:
      return write_number(out, n.s, n.e);
    case ValueKind::boolean:
      out += n.s.is_static() ? "_" : "", out += n.s.v ? "true" : "false";
      return;
    case ValueKind::underscore:
      out += '_';
      return;
    case ValueKind::layout: {
      int at = 0;
      write_tree(out, v, at, false);
      out += ':';
      at = 0;
      write_tree(out, v, at, true);
      return;
    }
    case ValueKind::tuple:
    case ValueKind::arithmetic:
      out += '(';
      for (int i = 0; i < n.kids; ++i) {
        if (i > 0) out += ',';
        write(out, v[i]);
      }
      out += ')';
      return;
    case ValueKind::swizzle:
      out += "Sw<" + std::to_string(n.s.v) + ',' + std::to_string(n.d.v) + ',' + std::to_string(n.e) + '>';
      return;
    case ValueKind::composed:
      return with_o(3);
    case ValueKind::tensor:
      return with_o(2);
    case ValueKind::counting:
      out += "counting_iter(", write(out, v[0]), out += ')';
      return;
    case ValueKind::coordinates:
      out += "ArithTuple", write(out, v[0]);
      return;
    case ValueKind::flag:
      out += "smem_ptr[" + std::to_string(n.s.v) + "b](unset)";
      return;
    case ValueKind::nothing:
      out += "nothing";
      return;
  }
}
}  // namespace detail

inline std::string to_text(Value const& v) {
  std::string out;
  detail::write(out, v);
  return out;
}

/// A string that cannot be parsed: `reason` says what was expected, `at` is the position of the error.
class TextError : public LayoutError {
 public:
  TextError(std::string_view text, std::string const& why, std::size_t position)
      : LayoutError("\"" + std::string(text) + "\": " + why + " at character " + std::to_string(position + 1),
                    {Rule::not_a_layout, static_cast<long long>(position), 0}),
        reason(why),
        at(position) {}
  TextError(std::string_view what, Refusal r, std::size_t position)
      : LayoutError("\"" + std::string(what) + "\": " + to_text(r), r), reason(to_text(r)), at(position) {}
  std::string reason;
  std::size_t at;
};

/// Recursive-descent parser of one value in CuTe's notation. Throws TextError, a LayoutError, on invalid
/// input. Richer languages derive from it and override the virtual functions.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}
  virtual ~Parser() = default;
  /// Parses the complete string as one value.
  Value whole() {
    Value v = value();
    skip();
    if (at_ < text_.size()) fail("the end");
    return v;
  }
  /// Parses a value and stops at the first character that cannot belong to it.
  Value value() {
    skip();
    std::size_t const start = at_;
    std::vector<Value> links = {item()};
    while (word("o")) links.push_back(item());
    return joined(links, start);
  }

 protected:
  /// Hook for derived parsers: parses a name at the start of a value. Fails unless overridden.
  virtual Value named() { fail("a number"); }
  /// Hook for derived parsers: parses what follows value v, which began at the given position. Returns v
  /// unless overridden.
  virtual Value applied(Value const& v, std::size_t) { return v; }
  /// Returns the combination of the parts of `a o b o c`: a composed layout, or a tensor if the first part is
  /// an iterator.
  virtual Value joined(std::vector<Value> const& links, std::size_t) {
    std::size_t i = links[0].is(ValueKind::coordinates) || links[0].is(ValueKind::counting) ? 1 : 0;
    if (i == links.size()) return links[0];
    Value v = links[i];
    for (++i; i < links.size(); i += 2) {
      if (i + 1 == links.size()) fail("o");
      v = bundle(ValueKind::composed, v, links[i], links[i + 1]);
    }
    if (links[0].is(ValueKind::coordinates) || links[0].is(ValueKind::counting))
      return bundle(ValueKind::tensor, links[0], v);
    return v;
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  /// Skips blanks, then the string s if it comes next, and returns true; returns false if it does not.
  bool next(std::string_view s) {
    skip();
    if (text_.substr(at_, s.size()) != s) return false;
    at_ += s.size();
    return true;
  }
  /// Skips the word s and returns true if s comes next and is followed by a blank, newline or opening
  /// parenthesis; else returns false.
  bool word(std::string_view s) {
    std::size_t const back = at_;
    if (next(s) && at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '(' || text_[at_] == '\n')) return true;
    at_ = back;
    return false;
  }
  /// Throws TextError, which says that `wanted` is expected at the current position.
  [[noreturn]] void fail(char const* wanted) { throw TextError(text_, std::string(wanted) + " is expected", at_); }
  [[noreturn]] void wrong(std::string const& why, std::size_t at) { throw TextError(text_, why, at); }
  bool letter() const {
    return at_ < text_.size() && ((text_[at_] >= 'a' && text_[at_] <= 'z') || (text_[at_] >= 'A' && text_[at_] <= 'Z'));
  }
  bool digit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }
  /// Parses an integer of at most 18 digits with an optional minus.
  long long digits() {
    skip();
    bool const minus = next("-");
    if (!digit()) fail("a number");
    long long n = 0;
    for (int count = 0; digit(); ++count, ++at_) {
      if (count == 18) fail("a smaller number");
      n = n * 10 + (text_[at_] - '0');
    }
    return minus ? -n : n;
  }
  void expect(char const* s) {
    if (!next(s)) fail(s);
  }
  /// Parses a tuple, number, swizzle or iterator, or a layout shape:stride.
  Value item() {
    skip();
    std::size_t const start = at_;
    Value const shape = primary();
    if (!next(":")) return applied(shape, start);
    Value const stride = primary();
    for (ValueNode const& n : shape.nodes) {
      if (n.kids >= 0 ? n.kind != ValueKind::tuple : n.kind != ValueKind::number || n.e != 0)
        wrong("the shape of a layout is not made of numbers", start);
      if (n.kids < 0 && n.s.v < 0) wrong("the extent " + std::to_string(n.s.v) + " is negative", start);
    }
    for (ValueNode const& n : stride.nodes) {
      if (n.kids >= 0 ? n.kind != ValueKind::tuple : n.kind != ValueKind::number)
        wrong("the stride of a layout is not made of numbers", start);
    }
    if (!same_profile(shape, stride)) {
      throw TextError(to_text(shape) + ":" + to_text(stride), {Rule::profile_mismatch, shape.rank(), stride.rank()},
                      start);
    }
    return applied(pair_up(shape, stride), start);
  }
  /// Parses the rest of a swizzle after "Sw<": bits, base, shift and the closing bracket.
  Value swizzle() {
    std::size_t const start = at_;
    ValueNode n{-1, ValueKind::swizzle, fixed(digits()), {}, 0};
    expect(",");
    n.d = fixed(digits());
    expect(",");
    n.e = digits();
    expect(">");
    long long const reach = n.e < 0 ? -n.e : n.e;
    if (n.s.v < 0 || n.d.v < 0 || reach < n.s.v || n.s.v > 62 || n.d.v > 62 || reach > 62 || n.s.v + n.d.v + reach > 62)
      wrong(
          "a swizzle's bits and base are at least 0, its shift at least its bits, and all within 62 bits, "
          "which is not so",
          start);
    return leaf(n);
  }
  /// Counts the nesting depth during its lifetime and fails beyond 64, which protects the stack.
  struct Nested {
    explicit Nested(Parser& p) : parser(p) {
      if (++parser.depth_ > 64) parser.fail("shallower nesting");
    }
    ~Nested() { --parser.depth_; }
    Parser& parser;
  };
  /// Parses a tuple, a number, a basis element, a swizzle, a flag, an iterator, `_`, or a name.
  Value primary() {
    Nested const nested(*this);
    if (next("(")) {
      Value v = empty(ValueKind::tuple);
      if (!next(")")) {
        do v.add(value());
        while (next(","));
        expect(")");
      }
      return v;
    }
    if (next("Sw<")) return swizzle();
    if (next("smem_ptr[")) {
      Value const v = leaf({-1, ValueKind::flag, fixed(digits()), {}, 0});
      expect("b](unset)");
      return v;
    }
    if (next("ArithTuple")) {
      Value const start = primary();
      return bundle(ValueKind::coordinates, start.is_tuple() ? retag(start, ValueKind::arithmetic) : start);
    }
    if (next("counting_iter(")) {
      Value const v = bundle(ValueKind::counting, primary());
      expect(")");
      return v;
    }
    if (next("E<")) {
      Path e = 0;
      if (next(">")) return number(1);
      do {
        long long const i = digits();
        if (i < 0 || i > 254 || e >= (Path{1} << 48)) fail("a mode index of at most 254, seven deep");
        e = extend(e, int(i));
      } while (next(","));
      expect(">");
      return number(fixed(1), e);
    }
    if (letter()) return named();
    bool const is_static = next("_");
    if (is_static && !digit() && !(at_ < text_.size() && text_[at_] == '-')) return underscore();
    long long const n = digits();
    Path e = 0;
    for (Path unit = 1; next("@"); unit *= 256) {
      long long const i = digits();
      if (i < 0 || i > 254 || unit > (Path{1} << 47)) fail("a mode index of at most 254, seven deep");
      e += (i + 1) * unit;
    }
    return number(is_static ? fixed(n) : dynamic(n), e);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// Parses a value in CuTe's notation. Throws TextError if the string is not one.
inline Value parse_value(std::string_view text) { return Parser(text).whole(); }

}  // namespace zellige
