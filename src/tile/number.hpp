// Numbers of a program that need not be constants: a size such as a number of rows may be known at launch only.
//
//   const std::vector<Size> sizes{{.name = "T", .low = 64, .high = 8192, .multiple = 64}};
//   const SymbolicNumber rows = SymbolicNumber::of(sizes, 0), tiles = ceil_div(rows, 64);
//   tiles * 64 == rows, at_most(rows, 8192), at_most(rows, 4096)   // true, true, std::nullopt: it depends
//
// Tiles, layouts in shared memory and in registers, and all that follows from them are constants. A Number may be the
// extent of a tensor in global memory, the end of a view, a number of tiles, and the extent of a grid.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <zellige/layout/algebra/tape.hpp>

namespace zellige::tile {

/// A size that is known when kernels are launched: a multiple of `multiple` from `low` to `high`. Kernels are planned for `high`.
struct Size {
  std::string name;
  std::int64_t low = 1, high = 1, multiple = 1;
  std::vector<std::pair<int, int>> of = {};  // the dimensions with this extent: (tensor, dimension)
};
using SizeList = std::vector<Size>;

/// A number in normal form: constant + factor * ceil(size / divisor).
class SymbolicNumber {
 public:
  SymbolicNumber(std::int64_t constant = 0) : constant_(constant) {}
  /// Returns a size of a list, which must outlive the number.
  static SymbolicNumber of(const SizeList&, int size);

  bool is_constant() const { return factor_ == 0; }
  int size() const { return size_; }  // index in the list; -1: a constant
  std::int64_t low() const { return std::min(at(low_), at(high_)); }
  std::int64_t high() const { return std::max(at(low_), at(high_)); }
  std::string text() const;  // 64, T, 4*ceil(T/64)+1
  bool operator==(const SymbolicNumber&) const = default;

  /// Throws Error unless one of the two is a constant, or both differ by one.
  friend SymbolicNumber operator+(const SymbolicNumber&, const SymbolicNumber&);
  friend SymbolicNumber operator*(SymbolicNumber, std::int64_t factor);
  /// Returns a / b rounded up, for b above 0. Throws Error if that has no normal form.
  friend SymbolicNumber ceil_div(const SymbolicNumber& a, std::int64_t b);
  /// Returns whether a <= b for all values of the sizes; std::nullopt if that depends on them, or if different divisors of a
  /// size leave it open.
  friend std::optional<bool> less_equal(const SymbolicNumber& a, const SymbolicNumber& b);

 private:
  /// Returns a number with the sign of one that a - b does not exceed. Of two quotients of a size by different divisors it takes
  /// what rounding up adds at most.
  static std::int64_t excess(const SymbolicNumber& a, const SymbolicNumber& b);
  std::int64_t at(std::int64_t size) const { return constant_ + factor_ * ((size + divisor_ - 1) / divisor_); }
  std::int64_t constant_ = 0, factor_ = 0, divisor_ = 1;
  std::int64_t low_ = 0, high_ = 0, multiple_ = 1;  // of the size
  int size_ = -1;
  std::string name_;
};

/// Returns what a tape has computed of its only input, which is the number `input`. The tape adds, subtracts and multiplies.
SymbolicNumber value_of(const values::Tape&, values::Num, const SymbolicNumber& input);

}  // namespace zellige::tile
