#include "emit/index.hpp"

#include <algorithm>
#include <cstdlib>

namespace zellige::emit {

bool Index::is_name() const {
  return terms_.size() == 1 && constant_ == 0 && terms_[0].factor == 1 && terms_[0].binds == Binds::name;
}

std::string Index::Term::str(bool after_minus) const {
  const bool alone = std::abs(factor) == 1 && !(after_minus && binds == Binds::sum);
  const std::string operand = alone || binds == Binds::name ? text : fmt::format("({})", text);
  return std::abs(factor) == 1 ? operand : fmt::format("{} * {}", operand, std::abs(factor));
}

std::string Index::str() const {
  if (terms_.empty()) return std::to_string(constant_);
  // A subtracted term must not be the first one, so the constant comes first.
  const bool constant_first = constant_ != 0 && terms_[0].factor < 0;
  std::string text = constant_first ? std::to_string(constant_) : "";
  for (const Term& t : terms_) {
    const bool minus = t.factor < 0;
    text += text.empty() ? (minus ? "-" : "") : minus ? " - " : " + ";
    text += t.str(minus);
  }
  if (constant_ != 0 && !constant_first) text += fmt::format(" {} {}", constant_ < 0 ? '-' : '+', std::abs(constant_));
  return text;
}

Index operator+(Index a, const Index& b) {
  for (const Index::Term& t : b.terms_) {
    const auto same = std::ranges::find(a.terms_, t.text, &Index::Term::text);
    if (same == a.terms_.end())
      a.terms_.push_back(t);
    else if (same->factor += t.factor; same->factor == 0)
      a.terms_.erase(same);
  }
  a.constant_ += b.constant_;
  return a;
}

Index operator-(const Index& a, const Index& b) {
  Index negative = b;
  for (Index::Term& t : negative.terms_) t.factor = -t.factor;
  negative.constant_ = -b.constant_;
  return a + negative;
}

// A sum is multiplied as a whole: if its first term makes it 64-bit, the product is 64-bit.
Index operator*(const Index& a, std::int64_t factor) {
  if (factor == 0 || a.is_constant()) return a.constant_ * factor;
  if (factor == 1) return a;
  if (a.terms_.size() > 1 || a.constant_ != 0) return Index(a.str(), Index::Binds::sum, factor);
  Index product = a;
  product.terms_[0].factor *= factor;
  return product;
}

Index digit(const Index& number, std::int64_t below, std::int64_t extent, bool top) {
  if (extent == 1) return 0;
  if (number.is_constant()) return top ? number.constant_ / below : number.constant_ / below % extent;
  if (below == 1 && top) return number;
  std::string text = number.is_name() ? number.str() : fmt::format("({})", number);
  if (below > 1) text += fmt::format(" / {}", below);
  if (!top) text += fmt::format(" % {}", extent);
  return Index(text, Index::Binds::product, 1);
}

Index at_most(const Index& a, std::int64_t last) {
  if (a.is_constant()) return std::min(a.constant_, last);
  return Index::named(fmt::format("at_most({}, {})", a, last));
}

std::string text(const Condition& condition) {
  std::string all;
  for (const Bound& b : condition) all += fmt::format("{}{} < {}", all.empty() ? "" : " && ", b.at, b.below);
  return all;
}

std::vector<Index> neighbour(std::vector<Index> at, int dim, const Index& v) {
  at[dim] = at[dim] + v;
  return at;
}

}  // namespace zellige::emit
