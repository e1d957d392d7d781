// Returns the shape and the operand layouts of a matrix instruction as objects of class `Value`,
// nested as CuTe nests them. For row = find_mma("SM80_16x8x16_F32F16F16F32_TN"), the descriptor of an
// instruction:
//
//   mma_shape(row)                       (_16,_8,_16)
//   mma_layout(row, MmaPart::c)          ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))
#pragma once

#include <zellige/atom/mma_traits/row.hpp>
#include <zellige/layout/algebra/tensors.hpp>

namespace zellige::algebra {

/// Returns the instruction's shape (_m,_n,_k).
ZELLIGE_ALGEBRA constexpr Value mma_shape(MmaRow const& row) {
  return bundle(ValueKind::tuple, number(row.m), number(row.n), number(row.k));
}

/// Returns the layout extent:1, or 1:0 if the extent is 1.
ZELLIGE_ALGEBRA constexpr Value column(long long extent) { return mode(fixed(extent), {fixed(extent == 1 ? 0 : 1)}); }

/// Returns the layout that consists of `modes`; modes of extent 0 are unused entries. If there is one mode, returns
/// shape:stride, or (shape):(stride) if keep_group is true.
ZELLIGE_ALGEBRA constexpr Value group_of(ThreadValue::Mode const (&modes)[ThreadValue::max_modes],
                                         bool keep_group = false) {
  if (modes[1].shape == 0 && !keep_group) return mode(fixed(modes[0].shape), {fixed(modes[0].stride)});
  Value all = empty(ValueKind::layout);
  for (ThreadValue::Mode const& m : modes)
    if (m.shape != 0) all.add(mode(fixed(m.shape), {fixed(m.stride)}));
  return all;
}

/// Returns the layout (thread, value) -> element of the operand `part` of the instruction. For
/// MmaPart::threads, returns the layout of the instruction's threads.
ZELLIGE_ALGEBRA constexpr Value mma_layout(MmaRow const& row, MmaPart part) {
  ThreadValue const layout = operand_layout(row, part);
  if (part == MmaPart::threads) return group_of(layout.threads);
  // CuTe keeps the value modes of 4-bit operands A and B of warp instructions in a tuple, even if there is
  // only one mode.
  bool const four_bits =
      row.issuer == Issuer::warp && part != MmaPart::c && bits_of(part == MmaPart::b ? row.b : row.a) == 4;
  return bundle(ValueKind::layout, group_of(layout.threads), group_of(layout.values, four_bits));
}

}  // namespace zellige::algebra
