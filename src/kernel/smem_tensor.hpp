// SmemTensor: a tensor in shared memory. One layout of the layout library says where its elements are:
//
//   coordinate -> element    Sw<3,3,3> o _0 o (_128,(_64,_2)):(_64,(_1,_8192))
//
// It is a swizzle of the tile's layout, or that layout alone. The tile's layout has a mode for each dimension. Here the
// 128 columns are two boxes of 64, as TMA writes them: all rows of the first box precede those of the second.
//
// The stages of a pipeline and the partial results of a sum are copies of the tile, `stage_step` and `part_step` bytes
// apart. They are no modes of the layout, because its swizzle must not mix a stage's number into a coordinate: with
// 3 stages of 1280 halves, Sw<3,3,4> of (tile, stage) puts 2560 of 3840 elements elsewhere than a stage plus
// Sw<3,3,4> of its tile.
#pragma once
#include <zellige/layout/algebra/value.hpp>

#include "graph/graph.hpp"

namespace zellige::kernel {

using graph::DType;
using graph::Shape;
using graph::Strides;

constexpr int chunk_bytes = 16;  // of the widest access to shared memory

struct SmemTensor {
  std::string name;
  int node = -1;  // whose value it holds, or the store that takes it; -1: what blocks of a cluster send each other
  DType dtype = DType::f32;
  Shape shape;       // the tile's, without padding
  Shape padded;      // the tile's with its padding; elements beyond `shape` are written as zeros
  int partials = 1;  // number of float32 partial results, which readers add up
  int stages = 1;    // of the software pipeline
  bool matmul_operand = false;
  int inner = 0;                               // the dimension of stride 1
  Value layout;                                // coordinate -> element; it may reach beyond `padded`
  std::int64_t part_step = 0, stage_step = 0;  // in bytes
  std::int64_t offset = -1;    // in bytes, from the start of the block's shared memory; -1: not yet placed
  std::string swizzle_reason;  // why this swizzle, for --explain

  /// Returns the layout without its swizzle: a mode for each dimension.
  values::View tile() const {
    const values::View all = layout;
    return swizzled() ? all[2] : all;
  }
  bool swizzled() const { return layout.is(ValueKind::composed); }
  int rank() const { return static_cast<int>(padded.size()); }
  /// Returns, of operand A (side 0) or B (side 1) of a matmul, the dimension along K, the one along M or N, and whether it
  /// is contiguous along K.
  int k_dimension(int side) const { return rank() - 1 - side; }
  int other_dimension(int side) const { return rank() - 2 + side; }
  bool along_k(int side) const { return inner == k_dimension(side); }
  /// Returns the bytes of a line whose chunks the swizzle permutes; those of a chunk without a swizzle.
  std::int64_t span() const;
  /// Returns the elements between neighbours along dimension `d`.
  std::int64_t stride(int d) const { return first_of(d).d.v; }
  /// Returns the number of elements of a TMA box along `inner`, and the number of boxes of a line; the last box may
  /// extend beyond the tile.
  std::int64_t box() const { return first_of(inner).s.v; }
  std::int64_t boxes() const { return tile()[inner].is_leaf() ? 1 : tile()[inner][1].root().s.v; }
  /// Returns the byte, from the start of the block's shared memory, of the element at coordinate `at` of partial result
  /// `part` in stage 0.
  std::int64_t address(const Shape& at, std::int64_t part = 0) const;
  std::int64_t stage_bytes() const { return partials * part_step; }
  std::int64_t bytes() const { return stages > 1 ? stages * stage_step : stage_bytes(); }
  /// Returns how many of `vector` neighbours along dimension `along` one access can read or write. The coordinate of the
  /// first is a multiple of `vector`, plus `shift`. Every chunk of a line is adjacent and aligned: verify_bounds() proves
  /// it of the layout.
  int access_width(int along, int vector, std::int64_t shift = 0) const;
  /// Returns the number of elements of a chunk: `chunk_bytes`, the widest access.
  int chunk() const { return graph::elements_in(chunk_bytes, dtype); }

 private:
  const ValueNode& first_of(int d) const {
    const values::View mode = tile()[d];
    return mode.is_leaf() ? mode.root() : mode[0].root();
  }
};

/// Returns the layout whose dimension d has `shape[d]` elements at a distance of `strides[d]`.
Value strided(const Shape& shape, const Strides& strides);
/// Returns Sw<bits, base, shift> of the layout `tile`; the layout itself if `bits` is 0.
Value swizzled(int bits, int base, int shift, const Value& tile);

}  // namespace zellige::kernel
