// The values of a program's tensors in device memory, in float64, while its kernels are interpreted. Views and results in place
// are in the memory of their base; no two other tensors share any, as verify_memory() proves.
#pragma once
#include <vector>

#include "reference/array.hpp"
#include "tile/program.hpp"

namespace zellige::interpret {

/// The store that wrote an element last: a kernel of the program, and its node. -1: no store did.
struct LastStore {
  int kernel = -1, node = -1;
  auto operator<=>(const LastStore&) const = default;
};

/// For each dimension of a tile, where its elements lie in the tensor: coordinates there, each times the stride. An element
/// that does not exist has `outside`.
struct Places {
  static constexpr std::int64_t outside = std::numeric_limits<std::int64_t>::min();
  std::vector<std::vector<std::int64_t>> of;

  /// Returns the elements of the tile.
  std::int64_t size() const {
    std::int64_t all = 1;
    for (const auto& along : of) all *= static_cast<std::int64_t>(along.size());
    return all;
  }

  /// Calls visit(element, place) for each element of the tile that exists, in row-major order; `place` is the sum of its places
  /// along the dimensions.
  template <typename Visit>
  void each(const Visit& visit) const {
    const std::vector<std::int64_t>& along = of.back();
    const auto extent = static_cast<std::int64_t>(along.size());
    const std::int64_t rows = extent == 0 ? 0 : size() / extent;
    for (std::int64_t number = 0, start = 0; number < rows; ++number) {
      if (!row(number, start)) continue;
      for (std::int64_t i = 0; i < extent; ++i)
        if (along[i] != outside) visit(number * extent + i, start + along[i]);
    }
  }

 private:
  /// Returns whether a row of the tile, its elements along the last dimension, exists. Sets `start` to the sum of its places
  /// along the other dimensions.
  bool row(std::int64_t number, std::int64_t& start) const {
    start = 0;
    for (std::size_t d = of.size() - 1; d-- > 0;) {
      const auto extent = static_cast<std::int64_t>(of[d].size());
      const std::int64_t here = of[d][static_cast<std::size_t>(number % extent)];
      if (here == outside) return false;
      start += here, number /= extent;
    }
    return true;
  }
};

class Memory {
 public:
  /// Begins with the inputs' values, in the order of TilePrograms::inputs; all other elements are NaN.
  Memory(const tile::TilePrograms&, const std::vector<reference::Array>& inputs);

  /// Copies the elements of a tensor at these places to a tile, row by row. What is outside is 0.
  void load(int tensor, const Places&, double* to) const;
  /// Copies the elements of windows at these coordinates to a tile, row by row. Padding and what is outside are 0.
  void load_windows(const tile::Windows&, int tensor, const Places&, double* to) const;
  /// The same, of a tensor of the bytes of a tensor that has several elements in a byte.
  void load_bytes(int tensor, const Places&, double* to) const;
  /// Writes a tile to the tensor, and remembers the writer. What is outside is not written.
  void store(int tensor, const Places&, const double* from, LastStore);

  /// Returns the values that users of the tensor see.
  reference::Array values(int tensor) const;
  /// Returns who wrote the element at this coordinate of the tensor, as its users see it.
  LastStore writer(int tensor, const graph::Shape& at) const;

 private:
  struct Elements {
    std::vector<double> values;
    std::vector<LastStore> writers;
  };
  std::int64_t offset(int tensor, const graph::Shape& at) const;
  /// Returns the number of the tensor whose memory the tensor shares.
  int owner(int tensor) const;
  /// Throws Error if a place lies outside of the memory.
  void check(int tensor, const Places&) const;

  const tile::TilePrograms& program_;
  std::vector<Elements> memories_;  // by tensor; empty but for owners
};

}  // namespace zellige::interpret
