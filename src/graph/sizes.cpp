#include "graph/sizes.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "graph/infer.hpp"
#include "strings/expression_reader.hpp"
#include "strings/nearest.hpp"

namespace zellige::graph {
namespace {

constexpr std::size_t max_name = 32, max_text = 200, max_products = 64;

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, strings::continues_name);
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t c = 0;
  if (__builtin_add_overflow(a, b, &c)) fail("an extent of sizes does not fit into 64 bits: {} + {}", a, b);
  return c;
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t c = 0;
  if (__builtin_mul_overflow(a, b, &c)) fail("an extent of sizes does not fit into 64 bits: {} * {}", a, b);
  return c;
}

class ExtentReader : public strings::ExpressionReader<SymbolicExtent, Error> {
 public:
  ExtentReader(std::string_view text, const std::vector<NamedSize>& sizes) : ExpressionReader(text), sizes_(sizes) {
    if (text.size() > max_text) fail("expected an extent of at most {} characters, found {}", max_text, text.size());
  }

 private:
  SymbolicExtent named(std::string_view word, std::size_t start) override {
    for (const NamedSize& s : sizes_)
      if (s.name == word) return SymbolicExtent(s);
    std::vector<std::string> names;
    for (const NamedSize& s : sizes_) names.push_back(s.name);
    fail("expected one of the sizes {} at character {} of \"{}\", found {}{}", fmt::join(names, ", "), start + 1,
         text(), word, did_you_mean(word, names));
  }

  const std::vector<NamedSize>& sizes_;
};

}  // namespace

void check_size(std::string_view where, const NamedSize& s) {
  if (!is_name(s.name))
    fail(
        "{}: expected a size's name to be a letter or _, then letters, digits and _, {} characters at most, found "
        "\"{}\"",
        where, max_name, s.name);
  if (s.min < 0 || s.max > max_extent || s.min > s.max)
    fail("{}: expected size {} to have 0 <= min <= max <= {}, found min {} and max {}", where, s.name, max_extent,
         s.min, s.max);
  if (s.multiple < 1 || s.minimum() > s.max)
    fail("{}: expected size {} to have a multiple of at least 1 with a value from {} to {}, found {}", where, s.name,
         s.min, s.max, s.multiple);
  for (std::int64_t value : s.typical) check_value(fmt::format("{}, a typical value", where), s, value);
}

void check_value(std::string_view where, const NamedSize& s, std::int64_t value) {
  if (value < s.min || value > s.max)
    fail("{}: expected {} from {} to {}, found {}", where, s.name, s.min, s.max, value);
  if (value % s.multiple != 0)
    fail("{}: expected {} to be a multiple of {}, found {}", where, s.name, s.multiple, value);
}

bool SymbolicExtent::Order::operator()(const Product& a, const Product& b) const {
  if (a.size() != b.size()) return a.size() > b.size();
  return std::ranges::lexicographical_compare(a, b, {}, &NamedSize::name, &NamedSize::name);
}

SymbolicExtent::SymbolicExtent(std::int64_t constant) { add({}, constant); }

SymbolicExtent::SymbolicExtent(NamedSize size) { add({std::make_shared<const NamedSize>(std::move(size))}, 1); }

void SymbolicExtent::add(const Product& of, std::int64_t factor) {
  if (factor == 0) return;
  const auto at = terms_.try_emplace(of, 0).first;
  at->second = sum(at->second, factor);
  if (at->second == 0) terms_.erase(at);
  if (terms_.size() > max_products)
    fail("expected an extent of at most {} products of sizes, found more", max_products);
}

std::optional<std::int64_t> SymbolicExtent::constant() const {
  const std::int64_t minimum = low();
  if (minimum == high()) return minimum;
  return std::nullopt;
}

std::int64_t SymbolicExtent::bound(bool low) const {
  std::int64_t all = 0;
  for (const auto& [sizes, factor] : terms_) {
    std::int64_t one = factor;
    for (const auto& s : sizes) one = product(one, (factor > 0) == low ? s->minimum() : s->greatest());
    all = sum(all, one);
  }
  return all;
}

std::int64_t SymbolicExtent::planned() const {
  std::int64_t all = 0;
  for (const auto& [sizes, factor] : terms_) {
    std::int64_t one = factor;
    for (const auto& s : sizes) one = product(one, s->greatest());
    all = sum(all, one);
  }
  return all;
}

bool SymbolicExtent::divides_into(std::int64_t divisor) const {
  return std::ranges::all_of(terms_, [&](const auto& term) { return term.second % divisor == 0; });
}

const NamedSize* SymbolicExtent::size() const {
  const bool one = terms_.size() == 1 && terms_.begin()->first.size() == 1 && terms_.begin()->second == 1;
  return one ? terms_.begin()->first[0].get() : nullptr;
}

std::vector<const NamedSize*> SymbolicExtent::sizes() const {
  std::vector<const NamedSize*> all;
  for (const auto& [sizes, factor] : terms_)
    for (const auto& s : sizes)
      if (std::ranges::none_of(all, [&](const NamedSize* known) { return known->name == s->name; }))
        all.push_back(s.get());
  std::ranges::sort(all, {}, &NamedSize::name);
  return all;
}

SymbolicExtent operator+(const SymbolicExtent& a, const SymbolicExtent& b) {
  SymbolicExtent c = a;
  for (const auto& [sizes, factor] : b.terms_) c.add(sizes, factor);
  return c;
}

SymbolicExtent operator-(const SymbolicExtent& a, const SymbolicExtent& b) { return a + b * SymbolicExtent(-1); }

SymbolicExtent operator*(const SymbolicExtent& a, const SymbolicExtent& b) {
  SymbolicExtent c;
  for (const auto& [left, x] : a.terms_)
    for (const auto& [right, y] : b.terms_) {
      SymbolicExtent::Product both;
      std::ranges::merge(left, right, std::back_inserter(both), {}, &NamedSize::name, &NamedSize::name);
      c.add(both, product(x, y));
    }
  return c;
}

SymbolicExtent operator/(const SymbolicExtent& a, std::int64_t divisor) {
  SymbolicExtent c = a;
  for (auto& [sizes, factor] : c.terms_) factor /= divisor;
  return c;
}

bool operator==(const SymbolicExtent& a, const SymbolicExtent& b) {
  const SymbolicExtent difference = a - b;
  return difference.terms_.empty() || difference.constant() == 0;
}

SymbolicExtent replaced(const SymbolicExtent& a, const std::vector<NamedSize>& by) {
  SymbolicExtent c;
  for (const auto& [sizes, factor] : a.terms_) {
    SymbolicExtent::Product other = sizes;
    for (auto& s : other)
      if (const auto at = std::ranges::find(by, s->name, &NamedSize::name); at != by.end())
        s = std::make_shared<const NamedSize>(*at);
    c.add(other, factor);
  }
  return c;
}

std::int64_t evaluate(const SymbolicExtent& a, const SizeValues& values) {
  std::int64_t all = 0;
  for (const auto& [sizes, factor] : a.terms_) {
    std::int64_t one = factor;
    for (const auto& s : sizes) {
      const auto at = values.find(s->name);
      if (at == values.end()) fail("{}: expected a value of {}, found none", to_string(a), s->name);
      one = product(one, at->second);
    }
    all = sum(all, one);
  }
  return all;
}

std::string to_string(const SymbolicExtent& a) {
  std::string text;
  for (const auto& [sizes, factor] : a.terms_) {
    const bool negative = factor < 0;
    text += text.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
    const std::string number = fmt::format("{}", factor).substr(negative);
    std::string product = sizes.empty() || number != "1" ? number : "";
    for (const auto& s : sizes) product += (product.empty() ? "" : " * ") + s->name;
    text += product;
  }
  return text.empty() ? "0" : text;
}

SymbolicExtent parse_extent(std::string_view text, const std::vector<NamedSize>& sizes) {
  return ExtentReader(text, sizes).whole();
}

std::string to_string(const SymbolicShape& shape) {
  std::string text;
  for (const SymbolicExtent& e : shape) text += (text.empty() ? "" : ", ") + to_string(e);
  return "(" + text + ")";
}

bool is_constant(const SymbolicShape& shape) {
  return std::ranges::all_of(shape, [](const SymbolicExtent& e) { return e.sizes().empty(); });
}

}  // namespace zellige::graph
