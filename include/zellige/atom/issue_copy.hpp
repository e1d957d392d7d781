// Implements the static function copy(...) of copy instruction types (copy_traits/static_copy.hpp), which has
// each register as a separate argument. There is one overload issue_copy(Op, operands...) per instruction.
// Device code only.
#pragma once

#include <zellige/atom/bulk_copy_call.hpp>
#include <zellige/atom/copy_call.hpp>
#include <zellige/atom/prefetch_call.hpp>
#include <zellige/atom/tma_call.hpp>
#include <zellige/atom/tma_im2col_call.hpp>

#if defined(__CUDACC__)
namespace zellige {
namespace detail {

/// Copies the arguments `x` and `more` to r[I], ..., r[N - 1]. The last argument is not copied: the function `last`
/// is called with its address.
template <int I, int N, class Last, class R, class... More>
ZELLIGE_CALL void registers_then(uint32_t (&r)[N], Last const& last, R& x, More&... more) {
  if constexpr (I == N) {
    static_assert(sizeof...(More) == 0, "copy of this instruction takes fewer operands");
    last(&x);
  } else {
    r[I] = x;
    registers_then<I + 1>(r, last, more...);
  }
}
/// The number of 8x8 matrices of ldmatrix or stmatrix Op.
template <class Op>
inline constexpr int matrices_of = copy_row_of<Op>::value.matrices;
/// True if ldmatrix or stmatrix Op transposes (.trans).
template <class Op>
inline constexpr bool transposes = of_kind<Op, CopyRow::Kind::columns, CopyRow::Kind::to_columns>;

ZELLIGE_CALL TmaDescriptor const& map_at(void const* map) { return *static_cast<TmaDescriptor const*>(map); }

}  // namespace detail

// Issues ldmatrix: copy(row, registers...), where `row` is the 16-byte row that this thread addresses.
template <class Op, class Row, class... R>
requires detail::of_kind<Op, CopyRow::Kind::rows, CopyRow::Kind::columns> ZELLIGE_CALL void issue_copy(Op,
                                                                                                       Row const& row,
                                                                                                       R&... to) {
  constexpr int n = detail::matrices_of<Op>;
  static_assert(sizeof...(R) == n, "copy of this ldmatrix takes another number of registers");
  uint32_t r[n];
  detail::load_matrices<detail::transposes<Op>>(r, &row);
  int i = 0;
  ((to = r[i++]), ...);
}
// Issues stmatrix: copy(registers..., row), where `row` is the 16-byte row that this thread addresses.
template <class Op, class... R>
requires detail::of_kind<Op, CopyRow::Kind::to_rows, CopyRow::Kind::to_columns> ZELLIGE_CALL void issue_copy(
    Op, R&... from_then_row) {
  uint32_t r[detail::matrices_of<Op>];
  detail::registers_then<0>(
      r, [&](void* row) { detail::store_matrices<detail::transposes<Op>>(row, r); }, from_then_row...);
}
ZELLIGE_CALL void issue_copy(SM75_U32x1_MOVM_T, uint32_t const& from, uint32_t& to) { to = movmatrix_trans(from); }
template <class Op>
requires detail::of_kind<Op, CopyRow::Kind::shuffle1, CopyRow::Kind::shuffle4> ZELLIGE_CALL void issue_copy(
    Op, uint32_t const& from0, uint32_t const& from1, uint32_t& to0, uint32_t& to1) {
  uint32_t r[2] = {from0, from1};
  detail::exchange_registers<Op>(r);
  to0 = r[0];
  to1 = r[1];
}
namespace detail {
template <class TS, class TD, bool bypass_l1>
ZELLIGE_CALL void issue_copy(CpAsync<TS, TD, bypass_l1, false>, TS const& from, TD& to) {
  cp_async<int(sizeof(TS))>(&to, &from);
}
template <class TS, class TD, bool bypass_l1>
ZELLIGE_CALL void issue_copy(CpAsync<TS, TD, bypass_l1, true>, TS const& from, TD& to, bool valid) {
  cp_async<int(sizeof(TS))>(&to, &from, valid ? unsigned(sizeof(TS)) : 0u);
}
}  // namespace detail

// Issues the TMA load of the box at coordinates c..., the innermost dimension first.
template <class... C>
ZELLIGE_CALL void issue_copy(SM90_TMA_LOAD, void const* map, uint64_t* barrier, uint64_t hint, void* tile,
                             C const&... c) {
  detail::load_box(tile, detail::map_at(map), barrier, CacheHint(hint), make_coord(int(c)...),
                   make_seq<int(sizeof...(C))>{});
}
template <class... C>
ZELLIGE_CALL void issue_copy(SM90_TMA_LOAD_MULTICAST, void const* map, uint64_t* barrier, uint16_t mask, uint64_t hint,
                             void* tile, C const&... c) {
  detail::load_box_multicast(tile, detail::map_at(map), barrier, mask, CacheHint(hint), make_coord(int(c)...),
                             make_seq<int(sizeof...(C))>{});
}
template <class... C>
ZELLIGE_CALL void issue_copy(SM90_TMA_LOAD::PREFETCH, void const* map, C const&... c) {
  detail::prefetch_box(detail::map_at(map), make_coord(int(c)...), make_seq<int(sizeof...(C))>{});
}
template <class... C>
ZELLIGE_CALL void issue_copy(SM90_TMA_STORE, void const* map, void const* tile, C const&... c) {
  detail::store_box(detail::map_at(map), tile, detail::NoHint{}, make_coord(int(c)...), make_seq<int(sizeof...(C))>{});
}
template <class... C>
ZELLIGE_CALL void issue_copy(SM90_TMA_REDUCE_ADD, void const* map, void const* tile, C const&... c) {
  detail::add_box(detail::map_at(map), tile, make_coord(int(c)...), make_seq<int(sizeof...(C))>{});
}
// Issues the TMA im2col load from a tensor of D dimensions (3 to 5): c... are D coordinates, then D - 2
// offsets.
template <class... C>
ZELLIGE_CALL void issue_copy(SM90_TMA_LOAD_IM2COL, void const* map, uint64_t* barrier, void* tile, C const&... c) {
  constexpr int n = sizeof...(C);
  static_assert(n == 4 || n == 6 || n == 8, "an im2col load has 3 to 5 coordinates and 1 to 3 offsets");
  if constexpr (n == 4) tma_load_im2col_3d(tile, detail::map_at(map), barrier, c...);
  if constexpr (n == 6) tma_load_im2col_4d(tile, detail::map_at(map), barrier, c...);
  if constexpr (n == 8) tma_load_im2col_5d(tile, detail::map_at(map), barrier, c...);
}
template <class... C>
ZELLIGE_CALL void issue_copy(SM90_TMA_LOAD_IM2COL_MULTICAST, void const* map, uint64_t* barrier, uint16_t mask,
                             void* tile, C const&... c) {
  constexpr int n = sizeof...(C);
  static_assert(n == 4 || n == 6 || n == 8, "an im2col load has 3 to 5 coordinates and 1 to 3 offsets");
  if constexpr (n == 4) tma_load_im2col_multicast_3d(tile, detail::map_at(map), barrier, mask, c...);
  if constexpr (n == 6) tma_load_im2col_multicast_4d(tile, detail::map_at(map), barrier, mask, c...);
  if constexpr (n == 8) tma_load_im2col_multicast_5d(tile, detail::map_at(map), barrier, mask, c...);
}
template <class... C>
ZELLIGE_CALL void issue_copy(SM90_TMA_LOAD_IM2COL::PREFETCH, void const* map, C const&... c) {
  constexpr int n = sizeof...(C);
  static_assert(n == 4 || n == 6 || n == 8, "an im2col load has 3 to 5 coordinates and 1 to 3 offsets");
  if constexpr (n == 4) tma_prefetch_im2col_3d(detail::map_at(map), c...);
  if constexpr (n == 6) tma_prefetch_im2col_4d(detail::map_at(map), c...);
  if constexpr (n == 8) tma_prefetch_im2col_5d(detail::map_at(map), c...);
}
template <class... C>
ZELLIGE_CALL void issue_copy(SM90_TMA_STORE_IM2COL, void const* map, void const* tile, C const&... c) {
  constexpr int n = sizeof...(C);
  static_assert(n >= 3 && n <= 5, "an im2col store has 3 to 5 coordinates");
  if constexpr (n == 3) tma_store_im2col_3d(detail::map_at(map), tile, c...);
  if constexpr (n == 4) tma_store_im2col_4d(detail::map_at(map), tile, c...);
  if constexpr (n == 5) tma_store_im2col_5d(detail::map_at(map), tile, c...);
}

ZELLIGE_CALL void issue_copy(SM90_BULK_COPY_G2S, void const* from, uint64_t* barrier, void* to, int bytes) {
  bulk_load(to, from, unsigned(bytes), barrier);
}
ZELLIGE_CALL void issue_copy(SM90_BULK_COPY_S2G, void const* from, void* to, int bytes) {
  bulk_store(to, from, unsigned(bytes));
}
ZELLIGE_CALL void issue_copy(SM90_BULK_COPY_G2S::PREFETCH, void const* from, int bytes) {
  bulk_prefetch_l2(from, unsigned(bytes));
}

}  // namespace zellige
#endif
