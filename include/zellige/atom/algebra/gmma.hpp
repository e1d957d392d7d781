// Computes fields of the wgmma descriptor from the layout of an operand's tile in shared memory: the swizzle
// mode, and the two strides between core matrices (8 rows of 16 bytes). The layout is passed as an object of
// class `Value`, not as a C++ type.
#pragma once

#include <zellige/atom/algebra/tiled_mma.hpp>

namespace zellige {

/// The fields of a wgmma descriptor other than the start address.
struct GmmaStrides {
  int layout_type = 0;    // 0: no swizzle, 1: 128 bytes, 2: 64, 3: 32
  long long leading = 0;  // the leading byte offset, in units of 16 bytes
  long long stride = 0;   // the stride byte offset, in units of 16 bytes
};

namespace algebra {

/// Returns the fields of the wgmma descriptor (swizzle mode and two strides) for the part of an operand's tile that
/// one instruction reads. `block` is the layout (M or N, K) of that part, in elements of `bits` bits. `swizzle_bits`
/// is the B of the tile's Swizzle<B, 4, 3>. Records the violated rule in `t` if wgmma cannot read the layout.
ZELLIGE_ALGEBRA constexpr GmmaStrides gmma_strides(Tape& t, Value const& block, int swizzle_bits, bool k_major,
                                                   long long bits) {
  GmmaStrides r;
  // The swizzle must belong to the tensor's pointer, not to its layout.
  if (block.is(ValueKind::composed)) return t.refuse(Rule::composed_operand, 1, 1), r;
  r.layout_type = swizzle_bits == 0 ? 0 : 4 - swizzle_bits;
  long long const width = 1LL << swizzle_bits;
  Value const chunks = upcast(t, block, 128 / bits);
  if (t.failed()) return r;
  Num const depth = size_of(t, chunks[1]), rows = size_of(t, chunks[0]);
  long long const needed = k_major ? 2 : 256 / bits;
  t.require(t.eq(depth, fixed(needed)), Rule::gmma_extent, depth, fixed(needed));
  if (k_major) t.require(t.eq(t.mod(rows, fixed(8)), fixed(0)), Rule::not_divisible, rows, fixed(8));
  Value const tiler = pair(run_of(fixed(k_major ? 8 : width)), run_of(fixed(k_major ? 2 : 8)));
  Value const cores = call(Op::logical_divide, t, chunks, tiler);
  if (t.failed()) return r;
  auto stride = [&](int i, int j) {
    Value const m = cores[i][j];
    if (!m.is_leaf()) return t.refuse(Rule::gmma_stride, m.rank(), 1), fixed(0);
    return m.root().d;
  };
  auto must_be = [&](Num d, long long wanted) {
    t.require(t.eq(d, fixed(wanted)), Rule::gmma_stride, d, fixed(wanted));
  };
  if (k_major) {
    must_be(stride(0, 0), width);
    if (swizzle_bits > 0) must_be(stride(1, 0), 1);
    r.stride = stride(0, 1).v;
    r.leading = stride(1, 0).v;
  } else {
    if (swizzle_bits > 0) must_be(stride(0, 0), 1);
    must_be(stride(1, 0), width);
    r.stride = stride(swizzle_bits > 0 ? 1 : 0, 1).v;
    r.leading = stride(swizzle_bits > 0 ? 0 : 1, 1).v;
  }
  return r;
}

}  // namespace algebra
}  // namespace zellige
