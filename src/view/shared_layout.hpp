// A layout of shared memory as a function from an element's (colexicographic) index to its byte address.
#pragma once
#include <string>
#include <vector>
#include <zellige/layout/runtime.hpp>

namespace zellige::view {

class SharedLayout {
 public:
  /// Throws Error if it is not a layout of integers, has negative offsets, or has more than 2^24 elements.
  SharedLayout(const Value& layout, int element_bits);

  const Value& value() const { return value_; }            // swizzle o offset o layout, or layout
  const Value& unswizzled() const { return unswizzled_; }  // without swizzle and offset
  int bits() const { return bits_; }
  long long elements() const { return elements_; }
  long long bytes() const { return bytes_; }  // from 0 through the last element
  int rank() const { return static_cast<int>(extents_.size()); }
  long long extent(int mode) const { return extents_[static_cast<std::size_t>(mode)]; }
  /// Change of the index for one step along a mode.
  long long step(int mode) const;
  long long offset(long long index) const { return indexer_(index); }  // in elements
  /// The byte at which an element starts. Throws Error if it starts inside a byte.
  long long address(long long index) const;
  std::string text() const { return to_text(value_); }

 private:
  Value value_, unswizzled_;
  int bits_;
  std::vector<long long> extents_;
  Indexer indexer_;
  long long elements_ = 1, bytes_ = 0;
};

}  // namespace zellige::view
