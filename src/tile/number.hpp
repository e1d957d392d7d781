// Numbers of a program that need not be constants: a size such as a number of rows may be known at launch only.
//
//   const SizeList sizes{{.name = "T", .low = 64, .high = 8192, .multiple = 64}, {.name = "B", .high = 8}};
//   const SymbolicNumber rows = SymbolicNumber::of(sizes, 0), tiles = ceil_div(rows, 64), all = rows * SymbolicNumber::of(sizes, 1);
//   tiles * 64 == rows, less_equal(rows, 8192), less_equal(rows, 4096)   // true, true, std::nullopt: it depends
//   ceil_div(all, 64).text(), all.divisor()                              // "B*ceil(T/64)", 64
//
// Tiles, layouts in shared memory and in registers, and all that follows from them are constants. A Number may be the
// extent or a stride of a tensor in global memory, the end of a view, a number of tiles or of iterations, the extent of a grid, and
// where a mask ends.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <zellige/layout/algebra/tape.hpp>

namespace zellige::tile {

struct Size;
using SizeList = std::vector<Size>;
/// A value for each size of a list, by its index.
using ValuesBySize = std::vector<std::int64_t>;

/// A number in normal form: a sum of terms, each an integer times factors. A factor is a size, or the quotient of a sum by a constant,
/// rounded up. Equal additions are equal as values: terms and factors are in order, what a constant divides is divided, and a quotient has
/// what is no multiple of its divisor alone.
class SymbolicNumber {
 public:
  SymbolicNumber(std::int64_t constant = 0) : constant_(constant) {}
  /// Returns a size of a list, or what it is of others.
  static SymbolicNumber of(const SizeList&, int size);

  bool is_constant() const { return terms_.empty(); }
  /// Returns the index in the list of the only size on which the number depends; -1: there is none, or there are several.
  int size() const;
  /// Returns numbers that no value is below or above. Without differences they are values, for the least and the largest sizes.
  std::int64_t low() const { return -bound(-1); }
  std::int64_t high() const { return bound(1); }
  /// Returns a number above 0 that divides every value, the largest one that the sizes' multiples show; 0 for 0.
  std::int64_t divisor() const;
  /// Returns the value for these sizes. Throws Error if it is no int64.
  std::int64_t at(const ValuesBySize&) const;
  std::string text() const;  // 64, T, B*T, P+T, 4*ceil(T/64)+1, ceil((P+T)/64)
  bool operator==(const SymbolicNumber& other) const { return constant_ == other.constant_ && terms_ == other.terms_; }

  friend SymbolicNumber operator+(const SymbolicNumber&, const SymbolicNumber&);
  friend SymbolicNumber operator*(const SymbolicNumber&, const SymbolicNumber&);
  friend SymbolicNumber operator*(const SymbolicNumber& a, std::int64_t factor) { return a * SymbolicNumber(factor); }
  /// Returns a / b rounded up, for b above 0.
  friend SymbolicNumber ceil_div(const SymbolicNumber& a, std::int64_t b);
  /// Returns whether a <= b for all values of the sizes; std::nullopt if that depends on them, or if what quotients round up leaves
  /// it open.
  friend std::optional<bool> less_equal(const SymbolicNumber& a, const SymbolicNumber& b);

 private:
  struct Factor;
  struct Term {
    std::int64_t coefficient = 0;
    std::vector<std::shared_ptr<const Factor>> factors;  // in alphabetic order
    bool operator==(const Term&) const;
  };
  struct Relaxed;

  static SymbolicNumber quotient(SymbolicNumber of, std::int64_t divisor);
  static std::int64_t divisor_of(const Term&);
  static std::string text_of(const Term&);
  static SymbolicNumber product(const Term&, const Term&);
  void add(std::int64_t factor, const Term&);
  void divide_exact();
  /// Returns an upper bound of sign * the number.
  std::int64_t bound(int sign) const;
  std::int64_t bound_of_terms(int sign) const;
  std::optional<std::int64_t> bound_of_corners(int sign) const;
  void sizes_of(std::map<int, const Factor*>&) const;

  std::int64_t constant_ = 0;
  std::vector<Term> terms_;  // in alphabetic order
};

/// A size that is known when kernels are launched: a multiple of `multiple` from `low` to `high`. Kernels are planned for `high`. It may
/// be computed of sizes before it in the list, such as the number of rows B*T; its range is then what follows from theirs.
struct Size {
  std::string name;
  std::int64_t low = 1, high = 1, multiple = 1;
  std::vector<std::pair<int, int>> of = {};     // the dimensions with this extent: (tensor, dimension)
  std::optional<SymbolicNumber> computed = {};  // none: the launch gives it
  // The dimensions, by the tensor's name, in which a slice begins or ends at this coordinate.
  std::vector<std::pair<std::string, int>> marks = {};
};

/// Returns the index in the list of the size that is this number, which is no constant. Adds it, computed, if there is none.
int size_of(SizeList&, const SymbolicNumber&);

/// Returns the values of all sizes of a list for those that the launch gives, in order. Throws Error if one is out of its range.
ValuesBySize all_values(const SizeList&, const ValuesBySize& given);

/// Returns what a tape has computed of its only input, which is the number `input`. The tape adds, subtracts and multiplies.
SymbolicNumber value_of(const values::Tape&, values::Num, const SymbolicNumber& input);

}  // namespace zellige::tile
