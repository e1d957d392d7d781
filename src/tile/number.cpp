#include "tile/number.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "graph/error.hpp"

namespace zellige::tile {
namespace {

constexpr std::int64_t maximum = std::numeric_limits<std::int64_t>::max();

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t all = 0;
  if (__builtin_mul_overflow(a, b, &all)) fail("{} times {} is beyond 64 bits", a, b);
  return all;
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t all = 0;
  if (__builtin_add_overflow(a, b, &all)) fail("{} plus {} is beyond 64 bits", a, b);
  return all;
}

/// Returns a / b rounded down, for b above 0.
std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

/// A size, or a quotient: a sum `of` without negative numbers, divided by `divisor` and rounded up. No value is below 0.
struct SymbolicNumber::Factor {
  std::string text;
  int size = -1;  // of a quotient -1
  std::int64_t low = 0, high = 0, multiple = 1, divisor = 1;
  SymbolicNumber of;
};

bool SymbolicNumber::Term::operator==(const Term& other) const {
  return coefficient == other.coefficient &&
         std::ranges::equal(factors, other.factors, [](const auto& a, const auto& b) {
           return a == b || (a->text == b->text && a->size == b->size && a->low == b->low && a->high == b->high &&
                             a->multiple == b->multiple && a->of == b->of);
         });
}

SymbolicNumber SymbolicNumber::of(const SizeList& sizes, int size) {
  const Size& s = sizes.at(static_cast<std::size_t>(size));
  if (s.computed) return *s.computed;
  if (s.low < 0 || s.multiple < 1 || s.low > s.high)
    fail("size {} is {} to {} by {}: a range is of multiples from 0 on", s.name, s.low, s.high, s.multiple);
  if (s.low == s.high) return s.high;
  Factor f;
  f.text = s.name, f.size = size, f.low = s.low, f.high = s.high, f.multiple = s.multiple;
  SymbolicNumber n;
  n.terms_.push_back({1, {std::make_shared<const Factor>(std::move(f))}});
  return n;
}

// ---- the normal form ----

std::string SymbolicNumber::text_of(const Term& t) {
  std::string text;
  for (const auto& f : t.factors) text += (text.empty() ? "" : "*") + f->text;
  return text;
}

void SymbolicNumber::add(std::int64_t factor, const Term& t) {
  const std::string text = text_of(t);
  const auto at = std::ranges::lower_bound(terms_, text, {}, text_of);
  const std::int64_t coefficient = times(factor, t.coefficient);
  if (at != terms_.end() && text_of(*at) == text) {
    at->coefficient = plus(at->coefficient, coefficient);
    if (at->coefficient == 0) terms_.erase(at);
  } else if (coefficient != 0) {
    terms_.insert(at, {coefficient, t.factors});
  }
}

std::int64_t SymbolicNumber::divisor_of(const Term& t) {
  std::int64_t all = std::abs(t.coefficient);
  for (const auto& f : t.factors) {
    const std::int64_t of = f->size >= 0 ? f->multiple : f->of.divisor();
    const std::int64_t each = of % f->divisor == 0 ? of / f->divisor : 1;
    if (__builtin_mul_overflow(all, each, &all)) return std::abs(t.coefficient);
  }
  return all;
}

std::int64_t SymbolicNumber::divisor() const {
  std::int64_t all = std::abs(constant_);
  for (const Term& t : terms_) all = std::gcd(all, divisor_of(t));
  return all;
}

SymbolicNumber SymbolicNumber::quotient(SymbolicNumber of, std::int64_t divisor) {
  const bool sum =
      of.terms_.size() > 1 || of.constant_ != 0 || of.terms_[0].coefficient != 1 || of.terms_[0].factors.size() > 1;
  Factor f;
  f.text = fmt::format("ceil({}/{})", sum ? fmt::format("({})", of.text()) : of.text(), divisor);
  f.divisor = divisor, f.of = std::move(of);
  SymbolicNumber n;
  n.terms_.push_back({1, {std::make_shared<const Factor>(std::move(f))}});
  return n;
}

/// Replaces quotients that are exact by what they divide, as far as the coefficients before them make up for the divisor.
void SymbolicNumber::divide_exact() {
  for (std::size_t i = 0; i < terms_.size(); ++i)
    for (std::size_t k = 0; k < terms_[i].factors.size(); ++k) {
      const Term term = terms_[i];
      const Factor& f = *term.factors[k];
      const std::int64_t common = std::gcd(std::abs(term.coefficient), f.divisor);
      if (f.size >= 0 || common == 1 || f.of.divisor() % f.divisor != 0) continue;
      Term rest = term;
      rest.coefficient /= common;
      rest.factors.erase(rest.factors.begin() + static_cast<std::ptrdiff_t>(k));
      SymbolicNumber others, divided = f.divisor == common ? f.of : quotient(f.of, f.divisor / common);
      if (rest.factors.empty()) {
        others.constant_ = rest.coefficient;
      } else {
        others.terms_.push_back(std::move(rest));
      }
      terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(i));
      *this = *this + others * divided;  // which are in normal form
      return;
    }
}

SymbolicNumber operator+(const SymbolicNumber& a, const SymbolicNumber& b) {
  SymbolicNumber sum = a;
  sum.constant_ = plus(a.constant_, b.constant_);
  for (const SymbolicNumber::Term& t : b.terms_) sum.add(1, t);
  sum.divide_exact();
  return sum;
}

SymbolicNumber SymbolicNumber::product(const Term& a, const Term& b) {
  Term all{times(a.coefficient, b.coefficient), a.factors};
  all.factors.insert(all.factors.end(), b.factors.begin(), b.factors.end());
  std::ranges::stable_sort(all.factors, {}, [](const auto& f) -> const std::string& { return f->text; });
  SymbolicNumber n;
  n.terms_.push_back(std::move(all));
  n.divide_exact();
  return n;
}

SymbolicNumber operator*(const SymbolicNumber& a, const SymbolicNumber& b) {
  SymbolicNumber all = times(a.constant_, b.constant_);
  for (const SymbolicNumber::Term& t : a.terms_) {
    if (b.constant_ != 0) all.add(b.constant_, t);
    for (const SymbolicNumber::Term& u : b.terms_) all = all + SymbolicNumber::product(t, u);
  }
  if (a.constant_ != 0)
    for (const SymbolicNumber::Term& u : b.terms_) all.add(a.constant_, u);
  all.divide_exact();
  return all;
}

SymbolicNumber ceil_div(const SymbolicNumber& a, std::int64_t b) {
  if (b < 1) fail("{} / {}: a divisor is 1 or more", a.text(), b);
  if (b == 1) return a;
  // What b divides leaves the quotient: whole multiples of terms, and terms that are multiples.
  SymbolicNumber whole = floor_div(a.constant_, b), rest = a.constant_ - times(b, floor_div(a.constant_, b));
  std::int64_t common = b;
  for (const SymbolicNumber::Term& t : a.terms_) {
    const std::int64_t times_b = floor_div(t.coefficient, b);
    whole.add(times_b, {1, t.factors});
    const SymbolicNumber::Term left{t.coefficient - times(b, times_b), t.factors};
    if (left.coefficient == 0) continue;
    if (SymbolicNumber::divisor_of(left) % b == 0) {
      const std::int64_t shared = std::gcd(left.coefficient, b);
      SymbolicNumber one;
      one.add(1, {1, t.factors});
      whole = whole + SymbolicNumber::quotient(one, b / shared) * (left.coefficient / shared);
      continue;
    }
    rest.add(1, left), common = std::gcd(common, left.coefficient);
  }
  if (rest.is_constant()) return whole + (rest.constant_ > 0 ? 1 : 0);
  rest.constant_ = floor_div(rest.constant_ + common - 1, common);
  for (SymbolicNumber::Term& t : rest.terms_) t.coefficient /= common;
  const SymbolicNumber::Term& first = rest.terms_[0];
  const bool one = rest.constant_ == 0 && rest.terms_.size() == 1 && first.coefficient == 1 &&
                   first.factors.size() == 1 && first.factors[0]->size < 0;
  if (one) return whole + ceil_div(first.factors[0]->of, times(first.factors[0]->divisor, b / common));
  return whole + SymbolicNumber::quotient(rest, b / common);
}

std::string SymbolicNumber::text() const {
  if (terms_.empty()) return fmt::format("{}", constant_);
  std::string text;
  for (const bool negative : {false, true}) {  // so that no sign begins it
    if (negative && text.empty()) text = fmt::format("{}", constant_);
    for (const Term& t : terms_) {
      if ((t.coefficient < 0) != negative) continue;
      text += negative ? "-" : text.empty() ? "" : "+";
      text += (std::abs(t.coefficient) == 1 ? "" : fmt::format("{}*", std::abs(t.coefficient))) + text_of(t);
    }
  }
  const bool begins = std::ranges::none_of(terms_, [](const Term& t) { return t.coefficient > 0; });
  return text + (begins || constant_ == 0 ? "" : fmt::format("{:+}", constant_));
}

// ---- values and bounds ----

int SymbolicNumber::size() const {
  int found = -1;
  for (const Term& t : terms_)
    for (const auto& f : t.factors) {
      const int one = f->size >= 0 ? f->size : f->of.size();
      if (one < 0 || (found >= 0 && found != one)) return -1;
      found = one;
    }
  return found;
}

std::int64_t SymbolicNumber::at(const ValuesBySize& values) const {
  std::int64_t all = constant_;
  for (const Term& t : terms_) {
    std::int64_t one = t.coefficient;
    for (const auto& f : t.factors) {
      const std::int64_t of = f->size < 0 ? f->of.at(values) : values.at(static_cast<std::size_t>(f->size));
      one = times(one, of / f->divisor + (of % f->divisor != 0 ? 1 : 0));
    }
    all = plus(all, one);
  }
  return all;
}

/// A sum of products of sizes, without quotients, over a number.
struct SymbolicNumber::Relaxed {
  SymbolicNumber over;
  std::int64_t under = 1;

  /// Returns the number with bounds for its quotients, from above or below, that are linear in what they divide: rounding up adds
  /// less than one.
  static Relaxed of(const SymbolicNumber& n, bool above) {
    Relaxed all{n.constant_, 1};
    for (const Term& t : n.terms_) {
      Relaxed term{t.coefficient, 1};
      for (const auto& f : t.factors) {
        SymbolicNumber one;
        if (f->size >= 0) {
          one.terms_.push_back({1, {f}});
        } else {
          const bool up = (t.coefficient > 0) == above;
          const Relaxed inner = of(f->of, up);
          one = inner.over + (up ? times(f->divisor - std::gcd(f->divisor, f->of.divisor()), inner.under) : 0);
          term.under = times(term.under, times(inner.under, f->divisor));
        }
        term.over = term.over * one;
      }
      const std::int64_t common = std::gcd(all.under, term.under);
      all.over = all.over * (term.under / common) + term.over * (all.under / common);
      all.under = times(all.under / common, term.under);
    }
    return all;
  }
};

void SymbolicNumber::sizes_of(std::map<int, const Factor*>& all) const {
  for (const Term& t : terms_)
    for (const auto& f : t.factors) f->size >= 0 ? void(all[f->size] = f.get()) : f->of.sizes_of(all);
}

/// Returns a bound, each term by itself: it is largest where all sizes are, or smallest. That is exact if all terms have one sign.
std::int64_t SymbolicNumber::bound_of_terms(int sign) const {
  std::map<int, const Factor*> sizes;
  sizes_of(sizes);
  ValuesBySize ends[2];
  for (const auto& [size, f] : sizes) {
    for (const bool high : {false, true}) {
      ends[high].resize(std::max(ends[high].size(), static_cast<std::size_t>(size) + 1));
      ends[high][static_cast<std::size_t>(size)] = high ? f->high : f->low;
    }
  }
  std::int64_t all = sign * constant_;
  for (const Term& t : terms_) {
    SymbolicNumber one;
    one.add(1, t);
    all = plus(all, sign * one.at(ends[sign * t.coefficient > 0]));
  }
  return all;
}

/// Returns a bound of a sum without quotients, at the corners of the sizes' ranges: a function that is linear in each size is largest
/// at one of them; so is one whose powers have positive coefficients. None, if it is neither.
std::optional<std::int64_t> SymbolicNumber::bound_of_corners(int sign) const {
  constexpr std::size_t max_sizes = 12;
  std::map<int, const Factor*> sizes;
  sizes_of(sizes);
  const auto has_powers = [&](const Term& t) {
    return sign * t.coefficient < 0 &&
           std::ranges::adjacent_find(t.factors, {}, [](const auto& f) { return f->size; }) != t.factors.end();
  };
  if (sizes.size() > max_sizes || std::ranges::any_of(terms_, has_powers)) return std::nullopt;
  std::int64_t maximum_of_all = -maximum;
  for (std::size_t corner = 0; corner < std::size_t{1} << sizes.size(); ++corner) {
    ValuesBySize values;
    std::size_t bit = 0;
    for (const auto& [size, f] : sizes) {
      values.resize(static_cast<std::size_t>(size) + 1);
      values.back() = (corner >> bit++) % 2 == 1 ? f->high : f->low;
    }
    maximum_of_all = std::max(maximum_of_all, sign * at(values));
  }
  return maximum_of_all;
}

std::int64_t SymbolicNumber::bound(int sign) const {
  if (is_constant()) return sign * constant_;
  std::int64_t minimum = maximum;
  const auto improve = [&](const auto& bound) {
    try {
      minimum = std::min<std::int64_t>(minimum, bound());
    } catch (const Error&) {  // beyond 64 bits: no bound
    }
  };
  improve([&] { return bound_of_terms(sign); });
  improve([&] {
    const Relaxed relaxed = Relaxed::of(*this, sign > 0);
    std::int64_t over = relaxed.over.bound_of_terms(sign);
    if (const auto corners = relaxed.over.bound_of_corners(sign)) over = std::min(over, *corners);
    return floor_div(over, relaxed.under);  // the number is an integer
  });
  return minimum;
}

std::optional<bool> less_equal(const SymbolicNumber& a, const SymbolicNumber& b) {
  const SymbolicNumber difference = a + b * -1;
  if (difference.high() <= 0) return true;
  if (difference.low() > 0) return false;
  return std::nullopt;
}

int size_of(SizeList& sizes, const SymbolicNumber& number) {
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (SymbolicNumber::of(sizes, static_cast<int>(i)) == number) return static_cast<int>(i);
  sizes.push_back({.name = number.text(),
                   .low = number.low(),
                   .high = number.high(),
                   .multiple = std::max<std::int64_t>(1, number.divisor()),
                   .of = {},
                   .computed = number});
  return static_cast<int>(sizes.size()) - 1;
}

ValuesBySize all_values(const SizeList& sizes, const ValuesBySize& given) {
  ValuesBySize all;
  std::size_t next = 0;
  for (const Size& s : sizes) {
    if (s.computed) {
      all.push_back(s.computed->at(all));
      continue;
    }
    if (next == given.size()) fail("{} values are given, and {} is one more size", given.size(), s.name);
    const std::int64_t value = given[next++];
    if (value < s.low || value > s.high || value % s.multiple != 0)
      fail("{} is {}: a multiple of {} from {} to {} is right", s.name, value, s.multiple, s.low, s.high);
    all.push_back(value);
  }
  if (next < given.size()) fail("{} values are given, for {} sizes", given.size(), next);
  return all;
}

SymbolicNumber value_of(const values::Tape& tape, values::Num n, const SymbolicNumber& input) {
  if (n.is_static()) return n.v;
  const values::TapeStep& step = tape.steps()[n.id - 1];
  if (step.op == values::Arith::input) return input;
  const SymbolicNumber a = value_of(tape, step.a, input), b = value_of(tape, step.b, input);
  switch (step.op) {
    case values::Arith::add:
      return a + b;
    case values::Arith::sub:
      return a + b * -1;
    case values::Arith::mul:
      return a * b;
    default:
      fail("a tape computes of {} what has no normal form", input.text());
  }
}

}  // namespace zellige::tile
