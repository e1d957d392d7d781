// Defines RaggedRows, for copying a matrix whose rows do not start at multiples of 16 bytes to shared memory. Whole
// aligned 16-byte chunks are copied, and elements are not shifted: a row begins at the same offset within its first
// chunk in shared memory as in global memory, and code that reads the row adds this offset.
//
//   RaggedRows<half_t> a{A, lda};
//   const auto line = a.line(row, 0);                       // the chunk that holds A(row, 0)
//   cp_async<16>(tile + 8 * c, line + 8 * c, bytes);        // chunk c of the row, 8 elements
//   half_t x = tile[a.offset(row, 0) + k];                  // A(row, k)
//
// Rows r and r + 8 have the same offset, because 8 pitches are a multiple of 16 bytes. If the matrix itself does not
// start at a multiple of 16 bytes, the chunk of its first element begins before the matrix. `reaches_back` returns true
// for such a chunk, and `copy_head` copies it without reading memory before the matrix.
#pragma once
#include <zellige/block/tile.hpp>

namespace zellige {

/// Returns how many elements a pointer is beyond the last multiple of 16 bytes: 0 if it is aligned.
template <class T>
ZELLIGE_CALL int elements_beyond_16_bytes(gmem<const T> pointer) {
#if defined(ZELLIGE_EMULATE)
  const auto address = reinterpret_cast<uint64_t>(pointer.p);
#else
  const auto address = reinterpret_cast<uint64_t>(pointer);
#endif
  return static_cast<int>(address % 16 / sizeof(T));
}

/// A row-major matrix of 16-bit elements in global memory; `pitch` is in elements.
template <class T>
struct RaggedRows {
  static_assert(sizeof(T) == 2);
  gmem<const T> data;
  int64_t pitch;

  /// Returns the position, 0 to 7, of element (row, column) in its aligned 16-byte chunk.
  ZELLIGE_CALL int offset(int row, int column) const {
    return (elements_beyond_16_bytes<T>(data) + row * static_cast<int>(pitch) + column) & 7;
  }
  /// Returns the start of the aligned 16-byte chunk that holds element (row, column).
  ZELLIGE_CALL gmem<const T> line(int row, int column) const {
    return data + (row * pitch + column - offset(row, column));
  }
  /// Returns true if the chunk of element (row, column) begins before the matrix.
  ZELLIGE_CALL bool reaches_back(int row, int column) const { return row * pitch + column < offset(row, column); }
  /// Copies the 8 elements of the chunk of element (row, column) to `to`, with zeros in place of elements before (row,
  /// column) and after the row's last one, which are not read. The row has `columns` elements. Called by one thread, if
  /// reaches_back returns true.
  ZELLIGE_CALL void copy_head(smem<T> to, int row, int column, int columns) const {
    const int before = offset(row, column);
#pragma unroll 1
    for (int i = 0; i < 8; ++i)
      to[i] = i >= before && column + i - before < columns ? data[row * pitch + column + i - before] : T(0.0f);
  }
};

}  // namespace zellige
