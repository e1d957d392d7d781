// Computes the extents, strides and box of a TMA descriptor from the layouts of the global tensor and of the tile in
// shared memory. Checks the results against the hardware's limits. Host only.
//
//   TmaNumbers n = tma_numbers(t, request, box, /*ctas=*/1);
//   n.extent, n.stride      of the global tensor, one number per dimension, counted in box elements
//   n.box                   extents of the box that one instruction moves: `box` divided by `ctas`
//
// `request` has the layouts of the global tensor and of the shared-memory tile, and the size in bits of a tensor
// element and of a box element; the two sizes may differ. `box` is the result of tma_basis, `ctas` the number of CTAs
// that share a box in a multicast. Violated limits are recorded in `t`, a Tape (layout/algebra/tape.hpp).
#pragma once

#include <zellige/atom/algebra/tma.hpp>

namespace zellige {

/// The rank, extents, strides and box of a TMA descriptor, innermost dimension first, counted in box elements.
struct TmaNumbers {
  int rank = 0;
  long long extent[5] = {1, 1, 1, 1, 1};
  long long stride[5] = {0, 0, 0, 0, 0};
  long long box[5] = {1, 1, 1, 1, 1};
};

namespace algebra {

/// Returns the descriptor's extents, strides and box, where `ctas` CTAs load equal shares of `box` by multicast.
/// Records the violated rule in `t` if the number of CTAs does not divide the box, or if cuTensorMapEncodeTiled would
/// reject the descriptor: the innermost stride is not 1, another stride is no multiple of 16 bytes, or an extent, a
/// stride or the box is out of range.
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
    if (i > 0 && n.stride[i] * r.box_bits % 128 != 0) t.refuse(Rule::tma_stride, n.stride[i] * r.box_bits, 128);
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
