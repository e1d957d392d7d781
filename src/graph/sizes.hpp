// Sizes that are known at launch only, and extents that follow from them: additions of products of sizes and integers, in normal form.
//
//   const SymbolicExtent T({.name = "T", .max = 8192}), P({.name = "P", .max = 4096});
//   (T + P) * 4 == 4 * P + 4 * T            // true: equal for all values
//   parse_extent("T + 4 * P", sizes)        // throws Error with the character where it is wrong
//   evaluate(T + P, {{"T", 3}, {"P", 5}})   // 8
//   (T + P).low(), (T + P).high()           // 2, 12288
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/error.hpp"

namespace zellige::graph {

/// A size that is known at launch: any multiple of `multiple` from `min` to `max`.
struct NamedSize {
  std::string name;
  std::int64_t min = 1, max = 1, multiple = 1;
  std::vector<std::int64_t> typical{};  // values that programs should be fast at
  std::int64_t minimum() const { return (min + multiple - 1) / multiple * multiple; }
  std::int64_t greatest() const { return max / multiple * multiple; }
  bool operator==(const NamedSize&) const = default;
};

/// Values of sizes, by name.
using SizeValues = std::map<std::string, std::int64_t, std::less<>>;

/// Throws Error unless the size has a name like that of a variable of C, and at least one value, from 0 to max_extent; and
/// typical values are values of it. `where` begins the message.
void check_size(std::string_view where, const NamedSize&);
/// Throws Error, which begins with `where`, unless `value` is a value of the size.
void check_value(std::string_view where, const NamedSize&, std::int64_t value);

/// An extent, or another integer of a graph: a sum of products of sizes and integers. It has one form, so that two of them are
/// equal for all values if their forms are.
class SymbolicExtent {
 public:
  SymbolicExtent(std::int64_t constant = 0);  // implicit, so that shapes are written {T, 4096}
  explicit SymbolicExtent(NamedSize);

  /// Returns the integer that it is for all values of its sizes; nullopt if it depends on them.
  std::optional<std::int64_t> constant() const;
  /// Returns a number that no value is below, and one that none is above. For a sum without negative terms they are values.
  std::int64_t low() const { return bound(true); }
  std::int64_t high() const { return bound(false); }
  /// Returns the value at the greatest values of its sizes, for which a graph is planned.
  std::int64_t planned() const;
  /// Returns what it is where `of(name)` is each size, as a Number of any type with + and *.
  template <class Number, class Of>
  Number as(const Of& of) const {
    Number all = 0;
    for (const auto& [sizes, factor] : terms_) {
      Number one = factor;
      for (const auto& s : sizes) one = one * of(*s);
      all = all + one;
    }
    return all;
  }
  /// Returns whether `divisor` divides all factors of its terms.
  bool divides_into(std::int64_t divisor) const;
  /// Returns the size that it is, if it is one; else nullptr.
  const NamedSize* size() const;
  /// Returns all sizes that it depends on.
  std::vector<const NamedSize*> sizes() const;

  // These throw Error if a factor does not fit into 64 bits.
  friend SymbolicExtent operator+(const SymbolicExtent&, const SymbolicExtent&);
  friend SymbolicExtent operator-(const SymbolicExtent&, const SymbolicExtent&);
  friend SymbolicExtent operator*(const SymbolicExtent&, const SymbolicExtent&);
  /// Precondition: the divisor divides into it.
  friend SymbolicExtent operator/(const SymbolicExtent&, std::int64_t divisor);
  /// Returns whether both are equal for all values of their sizes.
  friend bool operator==(const SymbolicExtent&, const SymbolicExtent&);
  /// Returns it with other sizes of the same names; a size without one in the list stays. Throws as `*` does.
  friend SymbolicExtent replaced(const SymbolicExtent&, const std::vector<NamedSize>&);
  friend std::int64_t evaluate(const SymbolicExtent&, const SizeValues&);
  friend std::string to_string(const SymbolicExtent&);

 private:
  using Product = std::vector<std::shared_ptr<const NamedSize>>;  // in the order of the names
  struct Order {                                                  // longer products first, then by names
    bool operator()(const Product&, const Product&) const;
  };
  std::int64_t bound(bool low) const;
  void add(const Product&, std::int64_t factor);
  std::map<Product, std::int64_t, Order> terms_;  // the factor of each product; none is 0
};

SymbolicExtent replaced(const SymbolicExtent&, const std::vector<NamedSize>&);
/// Returns the value for values of all its sizes. Throws Error if one is missing, or the value does not fit into 64 bits.
std::int64_t evaluate(const SymbolicExtent&, const SizeValues&);
/// Returns the normal form as a string: "T", "B * T + 4 * T - 1".
std::string to_string(const SymbolicExtent&);

/// Returns the extent that an expression of names, integers, +, - and * describes, with parentheses. Throws Error, with it and the
/// character, if it is none, or if a name is not one of `sizes`.
SymbolicExtent parse_extent(std::string_view text, const std::vector<NamedSize>& sizes);

/// A shape whose extents may depend on sizes. Functions that take one also take a Shape.
struct SymbolicShape : std::vector<SymbolicExtent> {
  using vector::vector;
  SymbolicShape(const std::vector<std::int64_t>& shape) : vector(shape.begin(), shape.end()) {}
};
std::string to_string(const SymbolicShape&);  // "(T, 4096)"
/// Returns whether no extent names a size.
bool is_constant(const SymbolicShape&);

}  // namespace zellige::graph

template <>
struct fmt::formatter<zellige::graph::SymbolicExtent> : fmt::formatter<std::string> {
  auto format(const zellige::graph::SymbolicExtent& e, fmt::format_context& to) const {
    return fmt::formatter<std::string>::format(zellige::graph::to_string(e), to);
  }
};
