// Parses the description of a warp's accesses to a tensor in shared memory, as users of `zellige banks` write it:
//
//   ldmatrix.x4 ldmatrix.x2.trans stmatrix.x4    matrices of 8 rows of 16 bytes; x4: 2 by 2 matrices
//   ld.shared.v4.b32 st.shared.v2 ld.shared.u8   32 consecutive elements: along the contiguous mode, then the next row
//   ld.shared.b32 32:32                          lane l at the element of index 32 l (colexicographic)
//   ld.shared.b32 (0,5,_,7)                      one element per lane; _: inactive lane
//   ((4,8),(2,2)):((128,1),(64,8))               any (thread, value) layout; accesses of its contiguous values
//
// If an instruction is given without lanes, the accesses are those that cover the tensor: one instruction
// after another, at all positions where it fits.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "view/shared_layout.hpp"

namespace zellige::view {

/// A pattern of accesses: an instruction and its warp-wide instances.
struct WarpPattern {
  std::string name;
  int bytes = 4;        // per lane
  bool matrix = false;  // ldmatrix or stmatrix: each lane's bytes are a row of a matrix
  /// One entry per warp-wide instance: the index of each lane's first element; -1 for inactive lanes.
  std::vector<std::vector<long long>> instances;
};

/// Returns the accesses that `text` describes to a tensor with the given layout. Throws Error if the text
/// cannot be parsed, or if the accesses do not fit the layout.
WarpPattern parse_access(std::string_view text, const SharedLayout&);

}  // namespace zellige::view
