// Which coordinates of tensors are sizes that are known at launch: where slices with named ends begin and end, and where parts that
// kernels store one after another meet, as those of a concatenation.
//
//   keys = concat(past, k)      // (8, P, 64) and (8, T, 64), P up to 256 and T up to 64
//   SizeMarks marks(program);
//   marks.add({keys, 1}, 256, P), marks.add({keys, 1}, 320, P + T);
//   marks.part(keys, 1, 256, 320)     // it begins at P and has T elements
#pragma once
#include <map>
#include <optional>
#include <utility>

#include "tile/program.hpp"

namespace zellige::lower {

/// In tile::Size::marks in place of a dimension: the size is the length of the mask that makes the tensor.
constexpr int mask_length = -1;

/// A dimension of a tensor that has memory of its own.
using MemoryDimension = std::pair<int, int>;

/// A part of a dimension: where it begins, and how many elements it has.
struct SizedPartOfDimension {
  tile::SymbolicNumber begin, extent;
};

class SizeMarks {
 public:
  explicit SizeMarks(const tile::TilePrograms& p) : p_(p) {}

  /// Adds the ends of slices, which the program's sizes list by the tensors' names.
  void add_slices();
  /// Adds that the coordinate `at`, for the largest sizes, is a number. Throws Error if it is another one already.
  void add(const MemoryDimension&, std::int64_t at, const tile::SymbolicNumber&);

  /// Returns the dimension in memory along which a tensor's dimension lies, with the same coordinates; none: there is none.
  std::optional<MemoryDimension> in_memory(int tensor, int dim) const;
  /// Returns whether a dimension of this tensor, which has memory, has coordinates that depend on sizes.
  bool has(int tensor) const;
  /// Returns the number that a coordinate is along a dimension of a tensor; none: it is not known to be one.
  std::optional<tile::SymbolicNumber> at(int tensor, int dim, std::int64_t at) const;
  /// Returns the part from coordinate `begin` to `end`; none: no size decides them, or the part is all of the dimension.
  std::optional<SizedPartOfDimension> part(int tensor, int dim, std::int64_t begin, std::int64_t end) const;
  /// Returns how many elements a view has along a dimension in which it shows rows of a part one after another, such as 64 T of the rows
  /// P to P + T of (P + T, 64); none: it shows no such part there.
  std::optional<tile::SymbolicNumber> merged_extent(int view, int dim) const;

 private:
  const tile::TilePrograms& p_;
  std::map<MemoryDimension, std::map<std::int64_t, tile::SymbolicNumber>> marks_;
};

}  // namespace zellige::lower
