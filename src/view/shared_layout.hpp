// SharedLayout: the layout of a tensor in shared memory, for bank conflicts. It maps the (colexicographic)
// index of an element to the element's byte address.
#pragma once
#include <string>
#include <vector>
#include <zellige/layout/runtime.hpp>

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

}  // namespace zellige::view
