// Chooses the layout of a tensor in shared memory (padding and swizzle) with the fewest bank conflicts, by
// evaluating the tensor's accesses under every candidate.
//
//   // 16 rows of 64 halves; ldmatrix reads 8 consecutive rows of 16 bytes.
//   Footprint tile{.rows = 16, .columns = 64, .row_stride = 64, .element_bytes = 2, .chunk = 8};
//   AccessPattern ldmatrix{
//       .bytes = 16, .instances = {{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}}}};
//   SwizzleChoice c = choose_swizzle(tile, {ldmatrix});   // Swizzle<3,3,3>, no extra memory, 1 wavefront of 1
//
// Element (row, column) is at swizzle(row * (row_stride + shift) + column), where swizzle is CuTe's
// Swizzle<B,M,S> on element offsets: x ^ ((x & (mask of B bits at M+S)) >> S). The candidates are:
//
// - no change;
// - every swizzle (xor) under which all elements stay within rows * (row_stride + shift) elements;
// - every shift (padding of rows) by a multiple of the chunk, up to the period of the banks;
// - every combination of these swizzles and shifts.
//
// Of the candidates without conflicts, the one with the least memory is taken. If there is none, it is the
// one with the fewest weighted wavefronts, and `reason` reports the conflicts that remain.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace zellige::plan {

/// A tensor as a matrix whose rows are contiguous.
struct Footprint {
  std::int64_t rows = 1, columns = 1;
  std::int64_t row_stride = 1;  // in elements; columns are contiguous
  int element_bytes = 2;
  int chunk = 1;  // aligned runs of this many elements stay contiguous and in order; a power of two
};

/// Accesses of one kind by warps: loads or stores of `bytes` bytes per lane.
struct AccessPattern {
  int bytes = 4;      // per lane, starting at (row, column)
  double weight = 1;  // relative frequency or cost
  /// One warp-wide access per entry: (row, column) of each lane. A negative row is an inactive lane.
  std::vector<std::vector<std::pair<int, int>>> instances;
  bool matrix = false;    // ldmatrix or stmatrix: bytes must be 16
  std::string name = {};  // shown in SwizzleChoice::reason
};

/// Restrictions on the candidates.
struct SwizzleLimits {
  bool may_xor = true;    // a swizzle is allowed
  bool may_shift = true;  // padding of rows is allowed
};

/// The chosen layout, and the bank conflicts that remain.
struct SwizzleChoice {
  int B = 0, M = 0, S = 0;                 // B == 0: no xor
  std::int64_t shift = 0;                  // padding: elements added to the row stride
  std::int64_t elements = 0;               // rows * (row_stride + shift)
  std::int64_t wavefronts = 0, ideal = 0;  // of all accesses, not weighted; as chosen, and without conflicts
  int degree = 0;                          // most wavefronts of a phase of any access; 1: no conflicts
  // Index of an access with this degree, if the degree exceeds 1; else -1.
  int worst_access = -1;
  // One sentence for notes: the layout, its conflicts, and whether the search was complete.
  std::string reason;
};

/// Returns the padding and swizzle of the tensor with the least memory among those without bank conflicts for
/// `accesses`. If all have conflicts, returns the one with the fewest wavefronts, weighted by
/// AccessPattern::weight. Throws Error if an access is misaligned or outside the tensor.
SwizzleChoice choose_swizzle(const Footprint& tensor, const std::vector<AccessPattern>& accesses,
                             const SwizzleLimits& limits = {});

}  // namespace zellige::plan
