// Finds the cheapest arrangement of a tensor in shared memory without bank conflicts, by evaluating its
// accesses.
//
//   // 16 rows of 64 halves; ldmatrix reads 8 consecutive rows of 16 bytes.
//   Footprint tile{.rows = 16, .columns = 64, .row_stride = 64, .element_bytes = 2, .chunk = 8};
//   AccessPattern ldmatrix{.bytes = 16, .instances = {{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6,
//   0}, {7, 0}}}}; SwizzleChoice c = choose_swizzle(tile, {ldmatrix});   // Swizzle<3,3,3>, no extra memory,
//   1 wavefront of 1
//
// Element (row, column) is at swizzle(row * (row_stride + shift) + column), where swizzle is CuTe's
// Swizzle<B,M,S> on element offsets: x ^ ((x & (mask of B bits at M+S)) >> S). Candidates are: no change,
// every xor that permutes the footprint rows * (row_stride + shift) onto itself as far as the tensor's
// elements go, every shift by a multiple of the chunk up to the banks' period, and both. Of the conflict-free
// candidates the one with the least memory wins; if there is none, the one with the fewest weighted
// wavefronts, then least memory, and `reason` reports what remains.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace zellige::plan {

struct Footprint {
  std::int64_t rows = 1, columns = 1;
  std::int64_t row_stride = 1;  // in elements; columns are contiguous
  int element_bytes = 2;
  int chunk = 1;  // aligned runs of this many elements (a power of two) must stay contiguous and in order
};

struct AccessPattern {
  int bytes = 4;      // per lane, from (row, column) on
  double weight = 1;  // relative frequency or cost
  /// One warp-wide access each: (row, column) per lane; a negative row is an inactive lane.
  std::vector<std::vector<std::pair<int, int>>> instances;
  bool matrix = false;    // ldmatrix or stmatrix: bytes must be 16
  std::string name = {};  // for the reason
};

struct SwizzleLimits {
  bool may_xor = true;
  bool may_shift = true;
  std::int64_t max_elements = -1;  // of rows * (row_stride + shift); -1: no limit
};

struct SwizzleChoice {
  int B = 0, M = 0, S = 0;                 // B == 0: no xor
  std::int64_t shift = 0;                  // elements added to the row stride
  std::int64_t elements = 0;               // rows * (row_stride + shift)
  std::int64_t wavefronts = 0, ideal = 0;  // over all instances, unweighted
  int degree = 0;                          // of the worst phase
  int worst_access = -1;                   // the access it belongs to, if degree > 1
  std::string reason;                      // one sentence
};

SwizzleChoice choose_swizzle(const Footprint& tensor, const std::vector<AccessPattern>& accesses,
                             const SwizzleLimits& limits = {});

/// Offset of element (row, column) of the tensor under `choice`, in elements.
std::int64_t swizzled_offset(const Footprint& tensor, const SwizzleChoice& choice, std::int64_t row,
                             std::int64_t column);

}  // namespace zellige::plan
