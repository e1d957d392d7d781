// The layout of a tensor in shared memory, and a warp's accesses to it: parses their description, as users of `zellige banks`
// write it:
//
//   ldmatrix.x4 ldmatrix.x2.trans stmatrix.x4    matrices of 8 rows of 16 bytes; x4: 2 by 2 matrices
//   ld.shared.v4.b32 st.shared.v2 ld.shared.u8   32 consecutive elements: along the contiguous mode, then the next row
//   ld.shared.b32 32:32                          lane l at the element of index 32 l (colexicographic)
//   ld.shared.b32 (0,5,_,7)                      one element per lane; _: inactive lane
//   ((4,8),(2,2)):((128,1),(64,8))               any (thread, value) layout; accesses of its contiguous values
//
// If an instruction is given without lanes, the accesses are those that cover the tensor: one instruction
// after another, at all positions where it fits.
//
// Counts the bank conflicts of accesses to a tensor in shared memory, and proposes layouts with fewer conflicts.
//
//   const Conflicts c = conflicts(access, layout);
//   if (c.degree > 1) for (const Remedy& r : remedies({access}, layout).all) ...   // the best first
#pragma once
#include <string>
#include <string_view>
#include <vector>
#include <zellige/layout/runtime.hpp>

#include "predict/banks.hpp"

namespace zellige::view {

/// A layout whose elements are numbered 0 to elements() - 1, the first mode fastest, with the byte address of each.
class SharedLayout {
 public:
  /// `element_bits` is the size of an element in bits. Throws Error if the value is not a layout of
  /// integers, has negative offsets, or has more than 2^24 elements.
  SharedLayout(const Value& layout, int element_bits);

  // Returns the complete layout, including a swizzle and an offset.
  const Value& value() const { return value_; }
  const Value& unswizzled() const { return unswizzled_; }  // the layout without swizzle and offset
  int bits() const { return bits_; }
  long long elements() const { return elements_; }
  long long bytes() const { return bytes_; }  // from offset 0 through the last element
  int rank() const { return static_cast<int>(extents_.size()); }
  long long extent(int mode) const { return extents_[mode]; }
  /// Returns by how much the index of an element changes in one step along a mode.
  long long step(int mode) const;
  long long offset(long long index) const { return indexer_(index); }  // offset of an element, in elements
  /// Returns the byte address of an element. Throws Error if the element starts inside a byte.
  long long address(long long index) const;
  /// Returns the layout in CuTe's notation.
  std::string text() const { return to_text(value_); }

 private:
  Value value_, unswizzled_;
  int bits_;
  std::vector<long long> extents_;
  Indexer indexer_;
  long long elements_ = 1, bytes_ = 0;
};

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

/// The bank conflicts of one access pattern.
struct Conflicts {
  predict::BankAccess addresses;  // of the instance with the most wavefronts
  predict::Wavefronts worst;      // wavefronts of that instance
  // Number of warp-wide instances; their wavefronts; the same without conflicts.
  long long instances = 0, wavefronts = 0, ideal = 0;
  int degree = 0;  // most wavefronts of a phase; 1: no conflicts
};

/// Returns the bank conflicts of an access pattern in a layout.
Conflicts conflicts(const WarpPattern&, const SharedLayout&);

/// Another layout of the same tensor, with the bank conflicts that remain.
struct Remedy {
  std::string kind;  // "swizzle", "padding" or "swizzle and padding"
  Value layout;
  std::string hardware;  // name of the equal swizzle mode of TMA and WGMMA; empty: none
  // Additional shared memory in bytes.
  long long extra_bytes = 0;
  long long wavefronts = 0, ideal = 0;  // of all accesses together
  int degree = 0;                       // most wavefronts of a phase of any access
};

/// The proposed layouts.
struct Remedies {
  std::vector<Remedy> all;  // the best first; empty if no layout is better than the original
  std::string reason;       // why conflicts remain, if they do
};

/// Returns at most two layouts: the best one with a swizzle, and the best one with padding alone. Both have
/// fewer wavefronts, over all accesses together, than the original layout without its swizzle.
Remedies remedies(const std::vector<WarpPattern>&, const SharedLayout&);

}  // namespace zellige::view
