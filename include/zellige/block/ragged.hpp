// RaggedRows: a matrix with unaligned rows (the pitch is not a multiple of 16 bytes), copied to shared memory
// in whole aligned chunks of 16 bytes. A row keeps its offset within its first chunk, so the copy shifts
// nothing; readers add `offset`.
//
//   RaggedRows<half_t> a{A, lda};
//   const auto line = a.line(row, 0);                       // the chunk that holds A(row, 0)
//   cp_async<16>(tile + 8 * c, line + 8 * c, bytes);        // chunk c of the row
//   half_t x = tile[a.offset(row, 0) + k];                  // A(row, k)
//
// Rows r and r + 8 have the same offset: 8 pitches are a multiple of 16 bytes. If the operand itself does not
// start at a multiple of 16 bytes, its first chunk begins before it: `reaches_back` returns true, and
// `copy_head` copies that chunk.
#pragma once
#include <zellige/block/tile.hpp>

namespace zellige {

/// The distance of a pointer from the preceding multiple of 16 bytes, in elements.
template <class T>
ZELLIGE_CALL int elements_beyond_16_bytes(gmem<const T> pointer) {
#if defined(ZELLIGE_EMULATE)
  const auto address = reinterpret_cast<uint64_t>(pointer.p);
#else
  const auto address = reinterpret_cast<uint64_t>(pointer);
#endif
  return static_cast<int>(address % 16 / sizeof(T));
}

template <class T>
struct RaggedRows {
  static_assert(sizeof(T) == 2);
  gmem<const T> data;
  int64_t pitch;

  /// Elements between the start of the chunk that holds (row, column) and that element.
  ZELLIGE_CALL int offset(int row, int column) const {
    return (elements_beyond_16_bytes<T>(data) + row * static_cast<int>(pitch) + column) & 7;
  }
  ZELLIGE_CALL gmem<const T> line(int row, int column) const {
    return data + (row * pitch + column - offset(row, column));
  }
  /// True if the chunk of (row, column) begins before the operand.
  ZELLIGE_CALL bool reaches_back(int row, int column) const {
    return row * pitch + column < offset(row, column);
  }
  /// Copies the chunk that does, of a row with `columns` elements, with zeros around them. Called by one
  /// thread.
  ZELLIGE_CALL void copy_head(smem<T> to, int row, int column, int columns) const {
    const int before = offset(row, column);
#pragma unroll 1
    for (int i = 0; i < 8; ++i)
      to[i] =
          i >= before && column + i - before < columns ? data[row * pitch + column + i - before] : T(0.0f);
  }
};

}  // namespace zellige
