// Divisors of means along dimensions whose extents are known at launch: a sum of T elements is divided by T, in the kernel that sums
// them or, if it is one of parts, in a later one.
#pragma once
#include <map>
#include <set>

#include "tile/size_classes.hpp"

namespace zellige::lower {

/// Follows, kernel by kernel, of how many elements along sizes values are sums.
class SizeCounts {
 public:
  explicit SizeCounts(tile::TilePrograms& p) : p_(p) {}
  /// Notes that a block has a part of this number of elements along a size.
  void add_part(std::int64_t elements) { parts_.insert(elements); }
  /// Makes the divisors of means in the next kernel sizes; `numbers` has the extents of the classes that have some. Throws Error if a
  /// sum is divided by the elements of a part.
  void divide(tile::TileProgram&, const tile::SizeClasses&, const std::map<int, tile::SymbolicNumber>& numbers);

 private:
  /// The extents along sizes of the sums that a value is, multiplied from the last sum on: of a sum over T of sums over V they are
  /// T and T V. A mean is one of some of the last sums.
  using Summed = std::vector<tile::SymbolicNumber>;
  Summed summed_in(const tile::TileProgram&, const tile::SizeClasses&,
                   const std::map<int, tile::SymbolicNumber>& numbers, int node,
                   const std::vector<Summed>& before) const;
  bool count(tile::Node&, const Summed&);

  tile::TilePrograms& p_;
  std::set<std::int64_t> parts_;
  std::map<int, Summed> summed_;  // by tensor that has memory: of how many elements what is stored there is a sum
};

}  // namespace zellige::lower
