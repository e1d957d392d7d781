// copy with an instruction, or a tiling of one: copy(atom, src, dst) of what partition_S and partition_D
// give.
//
//   copy(copy_a, mine.partition_S(gA), mine.partition_D(sA));     (V, M, K): one instruction for every (M, K)
//   copy_if(copy_a, predicate, src, dst);                         where predicate(m, k) holds
//   copy(copy_a.with(valid), src, dst);                           a cp.async that zeroes what is not valid
//
// Copies that run on (cp.async) are completed by their own calls: cp_async_fence(), cp_async_wait<N>().
#pragma once

#include <zellige/atom/fragment_registers.hpp>
#include <zellige/atom/tiled_copy.hpp>
#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/cp_async.hpp>
#include <zellige/atom/ldmatrix.hpp>
#include <zellige/atom/movmatrix.hpp>
#include <zellige/atom/shuffle.hpp>
#include <zellige/atom/stmatrix.hpp>
#endif

namespace zellige {

/// A Copy_Atom or a TiledCopy.
template <class T>
concept copy_like = requires {
  typename T::ValLayoutSrc;
  typename T::ThrID;
};

template <class S, class D, tensor_like TS, tensor_like TD>
ZELLIGE_HOST_DEVICE constexpr void copy_unpack(Copy_Traits<UniversalCopy<S, D>> const&, TS const& src,
                                               TD&& dst) {
  if constexpr (is_same_v<S, typename TS::value_type> &&
                is_same_v<D, typename remove_cvref_t<TD>::value_type>) {
    dst(0) = D(src(0));
  } else {
    auto const from = recast<S const>(src);
    auto const to = recast<D>(dst);
    to(0) = from(0);
  }
}
template <int bits, tensor_like TS, tensor_like TD>
ZELLIGE_HOST_DEVICE constexpr void copy_unpack(
    Copy_Traits<AutoVectorizingCopyWithAssumedAlignment<bits>> const&, TS const& src, TD&& dst) {
  dst(0) = src(0);
}

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
namespace detail {

template <class Op, CopyRow::Kind... kinds>
concept of_kind = ((copy_row_of<Op>::value.kind == kinds) || ...);

}  // namespace detail

template <class Op, tensor_like TS, tensor_like TD>
requires requires { Op::fills_zeros; }
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<Op> const& traits, TS const& src, TD&& dst) {
  auto const to = instruction_address(dst.data());
  auto const from = instruction_address(src.data());
  if constexpr (Op::fills_zeros)
    cp_async<Op::bytes>(to, from, traits.pred ? unsigned(Op::bytes) : 0u);
  else
    cp_async<Op::bytes>(to, from);
}

template <class Op, tensor_like TS, tensor_like TD>
requires detail::of_kind<Op, CopyRow::Kind::rows, CopyRow::Kind::columns> ZELLIGE_DEVICE inline void
copy_unpack(Copy_Traits<Op> const&, TS const& src, TD&& dst) {
  constexpr int n = detail::copy_row_of<Op>::value.matrices;
  constexpr bool transposed = detail::copy_row_of<Op>::value.kind == CopyRow::Kind::columns;
  uint32_t r[n];
  auto const row = instruction_address(src.data());
  if constexpr (n == 1 && !transposed) ldmatrix_x1(r, row);
  if constexpr (n == 2 && !transposed) ldmatrix_x2(r, row);
  if constexpr (n == 4 && !transposed) ldmatrix_x4(r, row);
  if constexpr (n == 1 && transposed) ldmatrix_x1_trans(r, row);
  if constexpr (n == 2 && transposed) ldmatrix_x2_trans(r, row);
  if constexpr (n == 4 && transposed) ldmatrix_x4_trans(r, row);
  store_registers(dst, r);
}
template <class Op, tensor_like TS, tensor_like TD>
requires detail::of_kind<Op, CopyRow::Kind::to_rows, CopyRow::Kind::to_columns> ZELLIGE_DEVICE inline void
copy_unpack(Copy_Traits<Op> const&, TS const& src, TD&& dst) {
  constexpr int n = detail::copy_row_of<Op>::value.matrices;
  constexpr bool transposed = detail::copy_row_of<Op>::value.kind == CopyRow::Kind::to_columns;
  uint32_t r[n];
  load_registers(r, src);
  auto const row = instruction_address(dst.data());
  if constexpr (n == 1 && !transposed) stmatrix_x1(row, r);
  if constexpr (n == 2 && !transposed) stmatrix_x2(row, r);
  if constexpr (n == 4 && !transposed) stmatrix_x4(row, r);
  if constexpr (n == 1 && transposed) stmatrix_x1_trans(row, r);
  if constexpr (n == 2 && transposed) stmatrix_x2_trans(row, r);
  if constexpr (n == 4 && transposed) stmatrix_x4_trans(row, r);
}
template <tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM75_U32x1_MOVM_T> const&, TS const& src, TD&& dst) {
  uint32_t r[1];
  load_registers(r, src);
  r[0] = movmatrix_trans(r[0]);
  store_registers(dst, r);
}
/// Threads `distance` apart exchange a register, so that the 2 x 2 registers of the two are transposed.
template <class Op, tensor_like TS, tensor_like TD>
requires detail::of_kind<Op, CopyRow::Kind::shuffle1, CopyRow::Kind::shuffle4> ZELLIGE_DEVICE inline void
copy_unpack(Copy_Traits<Op> const&, TS const& src, TD&& dst) {
  constexpr unsigned distance = detail::copy_row_of<Op>::value.kind == CopyRow::Kind::shuffle1 ? 1 : 4;
  uint32_t r[2];
  load_registers(r, src);
  bool const upper = lane_index() & distance;
  uint32_t const other = shfl_xor(upper ? r[0] : r[1], distance);
  if (upper)
    r[0] = other;
  else
    r[1] = other;
  store_registers(dst, r);
}

/// CuTe's names for closing a group of cp.async, and for waiting until all but N groups have arrived.
ZELLIGE_CALL void cp_async_fence() { cp_async_commit(); }
#endif

template <copy_like C, tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy(C const& c, S const& src, D&& dst);

namespace detail {
template <class C, class S, class D, class P>
ZELLIGE_HOST_DEVICE constexpr void copy_each_mode(C const& c, S const& src, D& dst, P const& pred) {
  // (V, Rest...): one instruction, or several, for every element of the rest.
  constexpr int rank = S::rank;
  if constexpr (rank == 1) {
    if (pred(Int<0>{})) c.call(src, dst);
  } else {
    static_assert(remove_cvref_t<D>::rank == rank,
                  "copy(atom, src, dst): source and destination differ in rank");
    auto const from = group_modes<1, rank>(src);
    auto to = group_modes<1, rank>(dst);
    require_same_size<Algorithm::copy>(size<1>(from), size<1>(to));
    ZELLIGE_UNROLL
    for (int i = 0; i < int(size<1>(from)); ++i) {
      if (pred(i)) c.call(from(Underscore{}, i), to(Underscore{}, i));
    }
  }
}
struct Always {
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr bool operator()(I const&) const {
    return true;
  }
};
}  // namespace detail

template <copy_like C, tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy(C const& c, S const& src, D&& dst) {
  if constexpr (is_same_v<typename C::Traits, Copy_Traits<AutoVectorizingCopy>> ||
                is_same_v<typename C::Traits, Copy_Traits<DefaultCopy>>)
    copy(typename C::Traits::Operation{}, src, dst);
  else {
    detail::require_whole<Algorithm::copy>(src, dst);
    detail::copy_each_mode(c, src, dst, detail::Always{});
  }
}
/// Where pred(i) holds, i counting what lies past the first mode: whole instructions are left out.
template <copy_like C, class P, tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy_if(C const& c, P const& pred, S const& src, D&& dst) {
  detail::copy_each_mode(c, src, dst, pred);
}

}  // namespace zellige
