#include "tile/size_expression.hpp"

#include <algorithm>
#include <array>

#include "graph/error.hpp"
#include "strings/expression_reader.hpp"

namespace zellige::tile {
namespace {

constexpr std::size_t deepest = 32;  // numbers that wait for their operation while an expression is evaluated
constexpr std::int64_t limit = std::int64_t{1} << 62;

/// Returns a op b, which `step` computes with a check of 64 bits. Throws Error beyond 62 bits.
template <class Step>
std::int64_t within(const Step& step, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (step(a, b, &result) || result > limit || result < -limit)
    fail("an expression of sizes has a value of more than 62 bits, of {} and {}", a, b);
  return result;
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  return within([](auto x, auto y, auto* to) { return __builtin_add_overflow(x, y, to); }, a, b);
}
std::int64_t difference(std::int64_t a, std::int64_t b) {
  return within([](auto x, auto y, auto* to) { return __builtin_sub_overflow(x, y, to); }, a, b);
}
std::int64_t product(std::int64_t a, std::int64_t b) {
  return within([](auto x, auto y, auto* to) { return __builtin_mul_overflow(x, y, to); }, a, b);
}
/// Returns a / n rounded up, for n above 0.
std::int64_t rounded_up(std::int64_t a, std::int64_t n) { return a / n + (a % n > 0 ? 1 : 0); }

}  // namespace

SizeExpression SizeExpression::of(const SizeList& sizes, int size) {
  SizeExpression e;
  e.steps_ = {{Step::size, static_cast<std::int64_t>(size)}};
  static_cast<void>(sizes.at(static_cast<std::size_t>(size)));
  return e;
}

SizeExpression SizeExpression::join(const SizeExpression& a, const SizeExpression& b, Step::Kind kind) {
  SizeExpression e = a;
  e.steps_.insert(e.steps_.end(), b.steps_.begin(), b.steps_.end());
  e.steps_.push_back({kind});
  return a.is_constant() && b.is_constant() ? SizeExpression(e.at({})) : e;
}

SizeExpression operator+(const SizeExpression& a, const SizeExpression& b) {
  if (a == SizeExpression(0)) return b;
  return b == SizeExpression(0) ? a : SizeExpression::join(a, b, SizeExpression::Step::add);
}
SizeExpression operator-(const SizeExpression& a, const SizeExpression& b) {
  return b == SizeExpression(0) ? a : SizeExpression::join(a, b, SizeExpression::Step::subtract);
}
SizeExpression operator*(const SizeExpression& a, const SizeExpression& b) {
  if (a == SizeExpression(1) || b == SizeExpression(0)) return b;
  return b == SizeExpression(1) || a == SizeExpression(0) ? a
                                                          : SizeExpression::join(a, b, SizeExpression::Step::multiply);
}
SizeExpression ceil_div(const SizeExpression& a, std::int64_t n) {
  if (n == 1) return a;
  SizeExpression e = a;
  e.steps_.push_back({SizeExpression::Step::ceil, n});
  return a.is_constant() ? SizeExpression(e.at({})) : e;
}
SizeExpression larger(const SizeExpression& a, const SizeExpression& b) {
  return a == b ? a : SizeExpression::join(a, b, SizeExpression::Step::larger);
}

std::set<int> SizeExpression::sizes() const {
  std::set<int> all;
  for (const Step& s : steps_)
    if (s.kind == Step::size) all.insert(static_cast<int>(s.value));
  return all;
}

std::int64_t SizeExpression::at(std::span<const std::int64_t> values) const {
  std::array<std::int64_t, deepest + 1> stack;
  std::size_t n = 0;
  for (const Step& s : steps_) {
    if (s.kind == Step::constant || s.kind == Step::size) {
      if (n == deepest) fail("an expression of sizes nests more than {} deep", deepest);
      stack[n++] = s.kind == Step::constant ? s.value : values[static_cast<std::size_t>(s.value)];
    } else if (s.kind == Step::ceil) {
      stack[n - 1] = rounded_up(stack[n - 1], s.value);
    } else {
      const std::int64_t b = stack[--n], a = stack[n - 1];
      stack[n - 1] = s.kind == Step::add        ? sum(a, b)
                     : s.kind == Step::subtract ? difference(a, b)
                     : s.kind == Step::multiply ? product(a, b)
                                                : std::max(a, b);
    }
  }
  return stack[0];
}

// ---- Text ----

/// A piece of text, and how loosely it binds: 0 an atom, 1 a product, 2 a sum.
class SizeExpression::Writer {
 public:
  Writer(const std::function<std::string(int)>& name, bool in_c) : name_(name), in_c_(in_c) {}

  std::string operator()(const std::vector<Step>& steps) const {
    std::vector<Piece> stack;
    for (const Step& s : steps) {
      if (s.kind == Step::constant || s.kind == Step::size) {
        stack.push_back(s.kind == Step::size ? Piece{name_(static_cast<int>(s.value)), 0}
                                             : Piece{fmt::format("{}", s.value), s.value < 0 ? 2 : 0});
      } else if (s.kind == Step::ceil) {
        stack.back() = ceil(stack.back(), s.value);
      } else {
        const Piece b = stack.back();
        stack.pop_back();
        stack.back() = joined(stack.back(), b, s.kind);
      }
    }
    return stack.back().text;
  }

 private:
  struct Piece {
    std::string text;
    int loose;
  };
  static std::string in(const Piece& p, int allowed) {
    return p.loose > allowed ? fmt::format("({})", p.text) : p.text;
  }
  Piece ceil(const Piece& a, std::int64_t n) const {
    if (!in_c_) return {fmt::format("ceil({}/{})", in(a, 0), n), 0};
    return {fmt::format("({} + {}) / {}", a.text, n - 1, n), 1};  // of numbers from 0 on
  }
  Piece joined(const Piece& a, const Piece& b, Step::Kind kind) const {
    const char* const gap = in_c_ ? " " : "";
    switch (kind) {
      case Step::larger:
        return {fmt::format("{}({},{}{})", in_c_ ? "larger" : "max", a.text, gap, b.text), 0};
      case Step::multiply:
        return {fmt::format("{0}{1}*{1}{2}", in(a, 1), gap, in(b, 0)), 1};
      case Step::subtract:
        return {fmt::format("{0}{1}-{1}{2}", a.text, gap, in(b, 1)), 2};
      default:
        return {b.text[0] == '-' ? fmt::format("{0}{1}-{1}{2}", a.text, gap, b.text.substr(1))
                                 : fmt::format("{0}{1}+{1}{2}", a.text, gap, in(b, 1)),
                2};
    }
  }

  const std::function<std::string(int)>& name_;
  bool in_c_;
};

std::string SizeExpression::text(const SizeList& sizes) const {
  const std::function<std::string(int)> name = [&](int size) { return sizes.at(static_cast<std::size_t>(size)).name; };
  return Writer(name, false)(steps_);
}

std::string SizeExpression::code(const std::function<std::string(int)>& name) const {
  return Writer(name, true)(steps_);
}

/// Adds atoms to those of all expressions: "ceil(" sum "/" integer ")", "max(" sum "," sum ")".
class SizeExpression::Parser : public strings::ExpressionReader<SizeExpression, Error> {
 public:
  Parser(std::string_view text, const SizeList& sizes) : ExpressionReader(text), sizes_(sizes) {}

 private:
  SizeExpression named(std::string_view name, std::size_t start) override {
    const auto size = std::ranges::find(sizes_, name, &Size::name);
    if (size != sizes_.end()) return of(sizes_, static_cast<int>(size - sizes_.begin()));
    if ((name != "ceil" && name != "max") || !takes('('))
      fail("expected an integer, or the name of a size, at character {} of \"{}\", found {}", start + 1, text(), name);
    const SizeExpression a = sum();
    if (name == "max") {
      if (!takes(',')) expected("+, -, * or ,");
      return closed(larger(a, sum()));
    }
    if (!takes('/')) expected("+, -, * or /");
    std::size_t at = 0;
    const std::string_view digits = word(at);
    const std::int64_t n = digits.empty() ? 0 : integer(digits, at);
    if (n < 1) fail("expected an integer of at least 1 at character {} of \"{}\", found {}", at + 1, text(), digits);
    return closed(ceil_div(a, n));
  }

  const SizeList& sizes_;
};

SizeExpression SizeExpression::parse(std::string_view text, const SizeList& sizes) {
  SizeExpression e = Parser(text, sizes).whole();
  const std::vector<std::int64_t> ones(sizes.size(), 1);
  static_cast<void>(e.at(ones));  // its depth
  return e;
}

}  // namespace zellige::tile
