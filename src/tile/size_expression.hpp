// What a launch computes of its sizes: the extents of grids and tensors, the end of a view, the bytes of a workspace. A
// SymbolicNumber (number.hpp) is what a proof compares; this is its string, parsed, to be evaluated in nanoseconds.
//
//   const SizeList sizes{{.name = "T", .low = 1, .high = 8192}};
//   const SizeExpression tiles = SizeExpression::parse("4*ceil(T/64)+1", sizes);
//   const std::int64_t values[] = {65};
//   tiles.at(values)                                     // 9
//   tiles.code([](int) { return std::string("nT"); })    // 4 * ((nT + 63) / 64) + 1, in C
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tile/number.hpp"

namespace zellige::tile {

/// An expression of sizes: integers and names, joined by +, -, *, ceil(a/n) with a positive integer n, and max(a,b).
class SizeExpression {
 public:
  SizeExpression(std::int64_t constant = 0) : steps_{{Step::constant, constant}} {}
  /// Returns the size with this index in the list.
  static SizeExpression of(const SizeList&, int size);
  /// Returns the expression of the number's string.
  static SizeExpression of(const SymbolicNumber& n, const SizeList& sizes) { return parse(n.text(), sizes); }
  /// Throws Error, with what was expected and where, if it is no expression of these sizes.
  static SizeExpression parse(std::string_view text, const SizeList&);

  bool is_constant() const { return steps_.size() == 1 && steps_[0].kind == Step::constant; }
  /// Returns the index of the size that this is; -1 if it is anything else.
  int as_size() const {
    return steps_.size() == 1 && steps_[0].kind == Step::size ? static_cast<int>(steps_[0].value) : -1;
  }
  std::size_t length() const { return steps_.size(); }
  /// Returns the sizes on which the value depends.
  std::set<int> sizes() const;
  /// Returns the value where size i is values[i]. Throws Error beyond the numbers of 62 bits.
  std::int64_t at(std::span<const std::int64_t> values) const;
  /// Returns the expression as parse() reads it.
  std::string text(const SizeList&) const;
  /// Returns the expression in C; name(i) is that of size i there. max(a,b) is a call of `larger`.
  std::string code(const std::function<std::string(int)>& name) const;
  bool operator==(const SizeExpression&) const = default;

  friend SizeExpression operator+(const SizeExpression&, const SizeExpression&);
  friend SizeExpression operator*(const SizeExpression&, const SizeExpression&);
  friend SizeExpression operator-(const SizeExpression&, const SizeExpression&);
  /// Returns a / n rounded up.
  friend SizeExpression ceil_div(const SizeExpression& a, std::int64_t n);
  friend SizeExpression larger(const SizeExpression&, const SizeExpression&);

 private:
  struct Step {
    enum Kind : std::uint8_t { constant, size, add, subtract, multiply, ceil, larger } kind;
    std::int64_t value = 0;  // constant; index of the size; divisor
    bool operator==(const Step&) const = default;
  };
  static SizeExpression join(const SizeExpression&, const SizeExpression&, Step::Kind);
  class Parser;
  class Writer;

  std::vector<Step> steps_;  // in postfix order
};

}  // namespace zellige::tile
