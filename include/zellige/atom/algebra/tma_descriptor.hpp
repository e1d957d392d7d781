// Computes the numbers of a TMA descriptor (extents, strides, box) from layouts, and checks them against the
// hardware's limits. Host only.
//
//   TmaNumbers n = tma_numbers(t, request, box, /*ctas=*/1);
//   n.extent, n.stride      of the global tensor, five of each, in elements of the box
//   n.box                   the box of one instruction, divided by the multicast
#pragma once

#include <zellige/atom/algebra/tma.hpp>

namespace zellige {

/// The numbers of a TMA descriptor, innermost dimension first, in elements of the box.
struct TmaNumbers {
  int rank = 0;
  long long extent[5] = {1, 1, 1, 1, 1};
  long long stride[5] = {0, 0, 0, 0, 0};
  long long box[5] = {1, 1, 1, 1, 1};
};

namespace algebra {

/// Returns the numbers of the descriptor for a box that `ctas` CTAs load by multicast, each an equal part.
/// Records the violated rule in `t` for what cuTensorMapEncodeTiled would reject: an inner stride other than 1,
/// strides that are no multiples of 16 bytes, extents or boxes out of range; and if the CTAs do not divide the
/// box.
constexpr TmaNumbers tma_numbers(Tape& t, TmaRequest const& r, Value const& box, long long ctas) {
  TmaNumbers n;
  n.rank = box.rank();
  Value const counted = recast(t, r.global, r.bits, r.box_bits);
  for (int i = 0; i < n.rank && !t.failed(); ++i) {
    Value const mode = box[i];
    TmaDimension const d = tma_dimension(t, counted, mode);
    n.extent[i] = d.extent.v;
    n.stride[i] = d.stride.v;
    n.box[i] = size_of(t, mode).v;
    if (n.extent[i] < 1 || n.extent[i] > (1LL << 32)) t.refuse(Rule::tma_extent, n.extent[i], 1LL << 32);
    if (i == 0 && n.stride[0] != 1) t.refuse(Rule::tma_major, n.stride[0], 1);
    if (i > 0 && n.stride[i] * r.box_bits % 128 != 0)
      t.refuse(Rule::tma_stride, n.stride[i] * r.box_bits, 128);
    if (i > 0 && n.stride[i] * r.box_bits / 8 >= (1LL << 40))
      t.refuse(Rule::tma_extent, n.stride[i] * r.box_bits / 8, 1LL << 40);
  }
  for (int i = n.rank - 1; i >= 0 && ctas > 1 && !t.failed(); --i) {
    if (n.box[i] % ctas != 0 && ctas % n.box[i] != 0) t.refuse(Rule::tma_multicast, n.box[i], ctas);
    long long const rest = (ctas + n.box[i] - 1) / n.box[i];
    n.box[i] = (n.box[i] + ctas - 1) / ctas;
    ctas = rest;
  }
  for (int i = 0; i < n.rank && !t.failed(); ++i) {
    if (n.box[i] > 256) t.refuse(Rule::tma_box, n.box[i], 256);
  }
  return n;
}

}  // namespace algebra
}  // namespace zellige
