// Integer index expressions for the emitted source. Constants are folded, and parentheses are added only
// where C++'s precedence needs them.
//
//   const Index c = Index::named("c");
//   (c * 4 + 3).str(), ((c + 1) * 8).str(), (5 - c).str()  // c * 4 + 3, (c + 1) * 8, 5 - c
//   digit(c, /*below=*/8, /*extent=*/4, /*top=*/false) * 2   // (c / 8 % 4) * 2
#pragma once
#include <fmt/format.h>

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace zellige::emit {

/// An expression: an integer constant plus a sum of terms, each of which is a piece of source times an integer factor.
class Index {
 public:
  Index(std::int64_t constant = 0) : constant_(constant) {}
  /// Returns the expression for a variable or a call, which needs no parentheses.
  static Index named(std::string name) { return Index(std::move(name), Binds::name, 1); }

  bool is_constant() const { return terms_.empty(); }
  std::int64_t constant() const { return constant_; }  // without the terms
  /// Returns whether the expression is one variable or call.
  bool is_name() const;
  /// Returns the expression as C++ source.
  std::string str() const;

  friend Index operator+(Index a, const Index& b);
  friend Index operator-(const Index& a, const Index& b);
  friend Index operator*(const Index& a, std::int64_t factor);
  /// Returns the expression number / below % extent: one digit, of extent `extent`, of a mixed-radix number. `below` is
  /// the product of the lower digits' extents. With `top`, the digit is the highest one, and % extent is omitted.
  friend Index digit(const Index& number, std::int64_t below, std::int64_t extent, bool top);
  /// Returns the expression for the smaller of an index and `last`.
  friend Index at_most(const Index&, std::int64_t last);
  friend auto operator<=>(const Index&, const Index&) = default;

 private:
  enum class Binds { name, product, sum };
  struct Term {
    std::string text;
    Binds binds;
    std::int64_t factor;
    std::string str(bool after_minus) const;  // without the sign of the factor
    auto operator<=>(const Term&) const = default;
  };
  Index(std::string text, Binds binds, std::int64_t factor) { terms_.push_back({text, binds, factor}); }

  std::vector<Term> terms_;  // in the order of insertion; names are distinct, factors nonzero
  std::int64_t constant_ = 0;
};

/// The comparison at < below.
struct Bound {
  Index at, below;
  auto operator<=>(const Bound&) const = default;
};
/// A conjunction of comparisons; an empty one is always true.
using Condition = std::vector<Bound>;
/// Returns a condition as source: "a < 3 && b < 4".
std::string text(const Condition&);

/// Returns the coordinate `at` with `v` added along dimension `dim`.
std::vector<Index> neighbour(std::vector<Index> at, int dim, const Index& v);

}  // namespace zellige::emit

template <>
struct fmt::formatter<zellige::emit::Index> : fmt::formatter<std::string> {
  template <class Where>
  auto format(const zellige::emit::Index& i, Where& where) const {
    return fmt::formatter<std::string>::format(i.str(), where);
  }
};
