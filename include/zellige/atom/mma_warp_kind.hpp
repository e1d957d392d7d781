// A row of the tables as the reference body of mma_warp_reference.hpp knows it. Host code only.
#pragma once

#include <zellige/atom/mma_traits/table.hpp>
#include <zellige/atom/mma_warp_reference.hpp>

namespace zellige::detail {

constexpr reference::WarpMmaKind::Number warp_mma_number(Number n) {
  using N = reference::WarpMmaKind::Number;
  switch (n) {
    case Number::f16:
      return N::f16;
    case Number::e4m3:
      return N::e4m3;
    case Number::e5m2:
      return N::e5m2;
    case Number::s8:
      return N::s8;
    case Number::u8:
      return N::u8;
    case Number::s4:
      return N::s4;
    case Number::u4:
      return N::u4;
    case Number::u1:
      return N::u1;
    default:
      return N::f64;
  }
}

constexpr reference::WarpMmaKind warp_mma_kind(MmaRow const& row) {
  using K = reference::WarpMmaKind;
  return {warp_mma_number(row.a),
          warp_mma_number(row.b),
          row.d == Number::f16   ? K::Sum::f16
          : row.d == Number::f32 ? K::Sum::f32
          : row.d == Number::s32 ? K::Sum::s32
                                 : K::Sum::f64,
          static_cast<K::Ending>(row.ending),
          row.issuer == Issuer::quad_pair,
          row.a_rows,
          row.b_columns};
}

}  // namespace zellige::detail
