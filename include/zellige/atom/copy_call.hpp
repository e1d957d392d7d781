// copy(atom, src, dst): copies a thread's partition of a tensor by a Copy_Atom or a TiledCopy. src and dst are
// from partition_S and partition_D.
//
//   copy(copy_a, mine.partition_S(gA), mine.partition_D(sA));     (V, M, K): one instruction per (M, K)
//   copy_if(copy_a, predicate, src, dst);                         only instructions with a true predicate
//   copy(copy_a.with(valid), src, dst);                           a cp.async that zero-fills invalid elements
//
// The predicate is a tensor of shape (M, K) with one value per instruction; or a tensor of shape (V, M, K),
// of which the first value in V decides for the whole instruction; or a function of the instruction's index.
//
// Copies by cp.async are asynchronous: the caller completes them by cp_async_fence() and cp_async_wait<N>().
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

/// Issues the instruction of the traits once. `src` and `dst` are tensors of rank 1 with the number of elements that
/// the instruction moves. This overload, for UniversalCopy, assigns one element of type S to one of type D.
template <class S, class D, tensor_like TS, tensor_like TD>
ZELLIGE_HOST_DEVICE constexpr void copy_unpack(Copy_Traits<UniversalCopy<S, D>> const&, TS const& src, TD&& dst) {
  if constexpr (is_same_v<S, typename TS::value_type> && is_same_v<D, typename remove_cvref_t<TD>::value_type>) {
    dst(0) = D(src(0));
  } else {
    if (!__builtin_is_constant_evaluated()) detail::look_for_unwritten(src, dst);
    auto const from = recast<S const>(src);
    auto const to = recast<D>(dst);
    to(0) = from(0);
  }
}
template <int bits, tensor_like TS, tensor_like TD>
ZELLIGE_HOST_DEVICE constexpr void copy_unpack(Copy_Traits<AutoVectorizingCopyWithAssumedAlignment<bits>> const&,
                                               TS const& src, TD&& dst) {
  detail::copy_element(src, dst, 0);
}

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
namespace detail {

/// True if tensor X is in memory space `Memory` (gmem_tag, smem_tag). If its pointer has no memory space: true
/// unless `reported` is set.
template <class Memory, class X, bool reported = false>
inline constexpr bool may_be_in = is_same_v<typename X::engine_type::memory, Memory> ||
                                  (!reported && is_same_v<typename X::engine_type::memory, void>);

/// A copy instruction whose CopyRow::kind is one of `kinds`.
template <class Op, CopyRow::Kind... kinds>
concept of_kind = ((copy_row_of<Op>::value.kind == kinds) || ...);

/// Loads n (1, 2 or 4) 8x8 matrices by ldmatrix; `row` points to the 16-byte row that this thread addresses.
template <bool transposed, int n, class Row>
ZELLIGE_CALL void load_matrices(uint32_t (&r)[n], Row const& row) {
  if constexpr (n == 1 && !transposed) ldmatrix_x1(r, row);
  if constexpr (n == 2 && !transposed) ldmatrix_x2(r, row);
  if constexpr (n == 4 && !transposed) ldmatrix_x4(r, row);
  if constexpr (n == 1 && transposed) ldmatrix_x1_trans(r, row);
  if constexpr (n == 2 && transposed) ldmatrix_x2_trans(r, row);
  if constexpr (n == 4 && transposed) ldmatrix_x4_trans(r, row);
}
/// Stores n (1, 2 or 4) 8x8 matrices by stmatrix; `row` points to the 16-byte row that this thread addresses.
template <bool transposed, int n, class Row>
ZELLIGE_CALL void store_matrices(Row const& row, uint32_t const (&r)[n]) {
  if constexpr (n == 1 && !transposed) stmatrix_x1(row, r);
  if constexpr (n == 2 && !transposed) stmatrix_x2(row, r);
  if constexpr (n == 4 && !transposed) stmatrix_x4(row, r);
  if constexpr (n == 1 && transposed) stmatrix_x1_trans(row, r);
  if constexpr (n == 2 && transposed) stmatrix_x2_trans(row, r);
  if constexpr (n == 4 && transposed) stmatrix_x4_trans(row, r);
}
/// Transposes the 2 x 2 matrix that consists of two registers in each of two threads, whose lane indices
/// differ by 1 or 4, depending on Op. A warp shuffle exchanges the lower lane's r[1] with the upper lane's
/// r[0].
template <class Op>
ZELLIGE_CALL void exchange_registers(uint32_t (&r)[2]) {
  constexpr unsigned distance = copy_row_of<Op>::value.kind == CopyRow::Kind::shuffle1 ? 1 : 4;
  bool const upper = lane_index() & distance;
  uint32_t const other = shfl_xor(upper ? r[0] : r[1], distance);
  if (upper)
    r[0] = other;
  else
    r[1] = other;
}

}  // namespace detail

/// Issues one cp.async. If Op has zero fill and the predicate in the traits is false, the cp.async writes
/// zeros.
template <class Op, tensor_like TS, tensor_like TD>
requires requires { Op::fills_zeros; }
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<Op> const& traits, TS const& src, TD&& dst) {
  static_assert(detail::may_be_in<gmem_tag, TS, Op::fills_zeros> &&
                    detail::may_be_in<smem_tag, remove_cvref_t<TD>, Op::fills_zeros>,
                "cp.async copies from global to shared memory: make_gmem_ptr, make_smem_ptr");
  auto const to = first_address(dst);
  auto const from = first_address(src);
  if constexpr (Op::fills_zeros)
    cp_async<Op::bytes>(to, from, traits.pred ? unsigned(Op::bytes) : 0u);
  else
    cp_async<Op::bytes>(to, from);
}

template <class Op, tensor_like TS, tensor_like TD>
requires detail::of_kind<Op, CopyRow::Kind::rows, CopyRow::Kind::columns> ZELLIGE_DEVICE inline void copy_unpack(
    Copy_Traits<Op> const&, TS const& src, TD&& dst) {
  constexpr int n = detail::copy_row_of<Op>::value.matrices;
  constexpr bool transposed = detail::copy_row_of<Op>::value.kind == CopyRow::Kind::columns;
  static_assert(detail::may_be_in<smem_tag, TS>, "ldmatrix reads shared memory: make_smem_ptr");
  uint32_t r[n];
  detail::load_matrices<transposed>(r, first_address(src));
  store_registers(dst, r);
}
template <class Op, tensor_like TS, tensor_like TD>
requires detail::of_kind<Op, CopyRow::Kind::to_rows, CopyRow::Kind::to_columns> ZELLIGE_DEVICE inline void copy_unpack(
    Copy_Traits<Op> const&, TS const& src, TD&& dst) {
  constexpr int n = detail::copy_row_of<Op>::value.matrices;
  constexpr bool transposed = detail::copy_row_of<Op>::value.kind == CopyRow::Kind::to_columns;
  static_assert(detail::may_be_in<smem_tag, remove_cvref_t<TD>>, "stmatrix writes shared memory: make_smem_ptr");
  uint32_t r[n];
  load_registers(r, src);
  detail::look_for_unwritten(src, dst);
  detail::store_matrices<transposed>(first_address(dst), r);
}
template <tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM75_U32x1_MOVM_T> const&, TS const& src, TD&& dst) {
  uint32_t r[1];
  load_registers(r, src);
  r[0] = movmatrix_trans(r[0]);
  store_registers(dst, r);
}
template <class Op, tensor_like TS, tensor_like TD>
requires detail::of_kind<Op, CopyRow::Kind::shuffle1, CopyRow::Kind::shuffle4> ZELLIGE_DEVICE inline void copy_unpack(
    Copy_Traits<Op> const&, TS const& src, TD&& dst) {
  uint32_t r[2];
  load_registers(r, src);
  detail::exchange_registers<Op>(r);
  store_registers(dst, r);
}

/// CuTe's name of cp_async_commit(): closes the current group of cp.async copies.
ZELLIGE_CALL void cp_async_fence() { cp_async_commit(); }
#endif

template <copy_like C, tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy(C const& c, S const& src, D&& dst);

namespace detail {
/// The predicate that is true for every index.
struct Always {
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr bool operator()(I const&) const {
    return true;
  }
};
/// A Copy_Atom or TiledCopy of a cp.async that can write zeros in place of the source.
template <class C>
concept fills_zeros = requires {
  requires C::Traits::Operation::fills_zeros;
};
/// Issues one instruction if `holds` is true. If it is false, a cp.async with zero fill writes zeros to
/// `dst`; other instructions are not issued.
template <class C, class P, class S, class D>
ZELLIGE_HOST_DEVICE constexpr void copy_one(C const& c, P const& holds, S const& src, D&& dst) {
  if constexpr (fills_zeros<C>)
    c.with(c.traits().pred && bool(holds)).call(src, dst);
  else if (bool(holds))
    c.call(src, dst);
}
/// True if one call of copy(traits, src, dst) copies whole tensors, and chooses the width of its instructions by
/// them.
template <class Traits>
inline constexpr bool copies_whole_tensors = false;
template <class... Args>
inline constexpr bool copies_whole_tensors<Copy_Traits<SM90_BULK_COPY_AUTO, Args...>> = true;
template <class Traits>
inline constexpr bool is_auto_vectorizing = false;
template <int bits>
inline constexpr bool is_auto_vectorizing<Copy_Traits<AutoVectorizingCopyWithAssumedAlignment<bits>>> = true;
/// True for the shape (V, Rest...) of a partition if every mode of Rest has static extent 1, so that one
/// instruction copies the whole partition.
template <class S>
inline constexpr bool is_one_instruction_v = false;
template <class V, class... Rest>
inline constexpr bool is_one_instruction_v<tuple<V, Rest...>> = ((static_extent_v<Rest> == 1) && ...);
/// Returns the layout of mode 0 of `l`, as a layout of rank 1.
template <class S, class D>
ZELLIGE_STEP constexpr auto first_mode(Layout<S, D> const& l) {
  return make_layout(make_tuple(get<0>(l.shape())), make_tuple(get<0>(l.stride())));
}
template <class A, class O, class B>
ZELLIGE_STEP constexpr auto first_mode(ComposedLayout<A, O, B> const& l) {
  return make_composed_layout(l.layout_a(), l.offset(), first_mode(l.layout_b()));
}
/// True if some mode of shape S has a static extent above 1, and static stride 0 in both the source (A) and the
/// destination (B). Its coordinates repeat one copy, which is issued once, and whose bytes an mbarrier counts
/// once.
template <class S, class A, class B>
inline constexpr bool repeats_v = is_constant<0, A>::value&& is_constant<0, B>::value && (static_extent_v<S> > 1);
template <class... S, class... A, class... B>
inline constexpr bool repeats_v<tuple<S...>, tuple<A...>, tuple<B...>> = (repeats_v<S, A, B> || ...);
template <class S, class D>
inline constexpr bool repeats_instructions_v = false;
template <class SV, class... S, class AV, class... A, class DV, class... D, class BV, class... B>
requires congruent_types<tuple<S...>, tuple<D...>>::value inline constexpr bool
    repeats_instructions_v<Layout<tuple<SV, S...>, tuple<AV, A...>>, Layout<tuple<DV, D...>, tuple<BV, B...>>> =
        repeats_v<tuple<S...>, tuple<A...>, tuple<B...>>;
/// Returns layout `l`, (V, Rest...), without repetitions of the same instruction: the extent of a mode of Rest
/// is set to 1 if the mode's stride is 0 both in `a`, the strides of the source, and in `b`, the strides of the
/// destination. I... are the indices of the modes in Rest.
template <class L, class A, class B, int... I>
ZELLIGE_STEP constexpr auto instructions_once(L const& l, A const& a, B const& b, seq<I...>) {
  return make_layout(make_tuple(get<0>(l.shape()), once(get<I + 1>(l.shape()), get<I + 1>(a), get<I + 1>(b))...),
                     l.stride());
}
/// Copies `src` to `dst`, both (V, Rest...). Issues one instruction, which copies V, for each coordinate i of
/// Rest for which pred(i) is true. Fails to compile if the ranks differ, or if the strides of Rest break the
/// instruction's alignment.
template <class C, class S, class D, class P>
ZELLIGE_HOST_DEVICE constexpr void copy_each_mode(C const& c, S const& src, D& dst, P const& pred) {
  // (V, Rest...): one or more instructions for every element of the rest.
  constexpr int rank = S::rank;
  if constexpr (rank == 1) {
    copy_one(c, pred(Int<0>{}), src, dst);
  } else if constexpr (remove_cvref_t<D>::rank != rank) {
    tensors_differ_in_rank<Algorithm::copy, rank, remove_cvref_t<D>::rank>();
  } else if constexpr (!in_line<typename C::Traits, S, remove_cvref_t<D>>) {
    refuse_steps<typename C::Traits, S, remove_cvref_t<D>>();
  } else {
    if constexpr (is_one_instruction_v<remove_cvref_t<decltype(src.layout().shape())>> &&
                  is_one_instruction_v<remove_cvref_t<decltype(dst.layout().shape())>> &&
                  requires { first_mode(src.layout()), first_mode(dst.layout()); }) {
      copy_one(c, pred(Int<0>{}), make_tensor(src.data(), first_mode(src.layout())),
               make_tensor(dst.data(), first_mode(dst.layout())));
    } else {
      auto const from = group_modes<1, rank>(src);
      auto to = group_modes<1, rank>(dst);
      require_same_size<Algorithm::copy>(size<1>(from), size<1>(to));
      ZELLIGE_UNROLL
      for (int i = 0; i < int(static_one(size<1>(from), size<1>(to))); ++i)
        copy_one(c, pred(i), from(Underscore{}, i), to(Underscore{}, i));
    }
  }
}

template <class C, class P, class S, class D>
ZELLIGE_HOST_DEVICE constexpr void copy_where(C const& c, P const& pred, S const& src, D&& dst);
/// Copies the mode V of a partition (V, M, K), for copy_where. If V has the values of one instruction, the first
/// value of `pred` decides whether the instruction is issued. Otherwise V is itself a tuple, and copy_where copies
/// it.
template <class C, class P, class S, class D>
ZELLIGE_HOST_DEVICE constexpr void copy_values_where(C const& c, P const& pred, S const& src, D&& dst) {
  constexpr bool fits =
      is_constant<C::NumValSrc, decltype(size(src))>::value || is_constant<C::NumValDst, decltype(size(dst))>::value;
  if constexpr (!fits && tuple_like<decltype(shape(pred))>)
    copy_where(c, tensor<0>(pred), tensor<0>(src), tensor<0>(dst));
  else
    copy_one(c, pred(Int<0>{}), src, dst);
}
/// Implements copy_if for a predicate that is a tensor. `pred` has the modes of `src`, or all of them but the
/// first.
template <class C, class P, class S, class D>
ZELLIGE_HOST_DEVICE constexpr void copy_where(C const& c, P const& pred, S const& src, D&& dst) {
  constexpr int rank = S::rank;
  static_assert(P::rank == rank || P::rank == rank - 1,
                "copy_if(atom, predicate, src, dst): a predicate has the modes of the source, or all but the first");
  static_assert(remove_cvref_t<D>::rank == rank,
                "copy_if(atom, predicate, src, dst): source and destination differ in rank");
  if constexpr (P::rank == 0) {
    copy_one(c, *pred.data(), src, dst);
  } else if constexpr (rank == 1) {
    copy_values_where(c, pred, src, dst);
  } else if constexpr (!in_line<typename C::Traits, S, remove_cvref_t<D>>) {
    refuse_steps<typename C::Traits, S, remove_cvref_t<D>>();
  } else {
    auto const from = group_modes<1, rank>(src);
    auto to = group_modes<1, rank>(dst);
    require_same_size<Algorithm::copy_if>(size<1>(from), size<1>(to));
    if constexpr (P::rank == rank) {
      auto const holds = group_modes<1, rank>(pred);
      // A predicate whose strides are all 0 has one value, which applies to every instruction.
      if constexpr (!is_constant<1, decltype(cosize<1>(holds.layout()))>::value)
        require_as_many<Algorithm::copy_if>(size<1>(holds), size<1>(from));
      ZELLIGE_UNROLL
      for (int i = 0; i < int(static_one(size<1>(from), size<1>(to))); ++i)
        copy_values_where(c, holds(Underscore{}, i), from(Underscore{}, i), to(Underscore{}, i));
    } else {
      require_as_many<Algorithm::copy_if>(size(pred), size<1>(from));
      ZELLIGE_UNROLL
      for (int i = 0; i < int(static_one(size<1>(from), size<1>(to))); ++i)
        copy_one(c, pred(i), from(Underscore{}, i), to(Underscore{}, i));
    }
  }
}
}  // namespace detail

/// Copies `src` to `dst` by the Copy_Atom or TiledCopy `c`. Both are partitions (V, Rest...) of one thread; one
/// instruction copies V for each coordinate of Rest.
template <copy_like C, tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy(C const& c, S const& src, D&& dst) {
  if constexpr (detail::is_auto_vectorizing<typename C::Traits>)
    copy(typename C::Traits::Operation{}, src, dst);
  else if constexpr (detail::copies_whole_tensors<typename C::Traits>)
    copy(c.traits(), src, dst);
  else {
    detail::require_whole<Algorithm::copy>(src, dst);
    if constexpr (detail::repeats_instructions_v<typename S::layout_type, typename remove_cvref_t<D>::layout_type>) {
      auto const a = src.layout().stride();
      auto const b = dst.layout().stride();
      constexpr auto rest = make_seq<S::rank - 1>{};
      auto to = make_tensor(dst.data(), detail::instructions_once(dst.layout(), a, b, rest));
      detail::copy_each_mode(c, make_tensor(src.data(), detail::instructions_once(src.layout(), a, b, rest)), to,
                             detail::Always{});
    } else {
      detail::copy_each_mode(c, src, dst, detail::Always{});
    }
  }
}
/// Copies `src` to `dst` like copy(c, src, dst), but issues only the instructions whose predicate is true. If
/// the instruction has zero fill, a false predicate writes zeros to the destination. `pred` is a tensor with
/// the modes of `src`, or with all of them but the first, or a function of the instruction's index.
ZELLIGE_CALLS_BACK
template <copy_like C, class P, tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy_if(C const& c, P const& pred, S const& src, D&& dst) {
  if constexpr (detail::copies_whole_tensors<typename C::Traits>)
    static_assert(!detail::copies_whole_tensors<typename C::Traits>,
                  "copy_if(atom, predicate, src, dst): SM90_BULK_COPY_AUTO copies whole tensors; a predicate needs "
                  "SM90_BULK_COPY_G2S or SM90_BULK_COPY_S2G, whose instructions have a size");
  else if constexpr (tensor_like<P>)
    detail::copy_where(c, pred, src, dst);
  else
    detail::copy_each_mode(c, src, dst, pred);
}

namespace detail {
/// Sets dst(i) = src(i). Uses cp.async on SM80 or later if `src` is in global and `dst` in shared memory and both have
/// one element type of 4, 8 or 16 bytes; otherwise assigns.
template <class S, class D>
ZELLIGE_HOST_DEVICE constexpr void copy_element_async(S const& src, D const& dst, int i) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  using T = typename S::value_type;
  constexpr int bytes = int(sizeof(T));
  if constexpr (is_gmem_v<S> && is_smem_v<D> && is_same_v<T, typename D::value_type> &&
                (bytes == 4 || bytes == 8 || bytes == 16)) {
    cp_async<bytes>(&dst(i), &src(i));
    return;
  }
#endif
  copy_element(src, dst, i);
}
/// With AutoCopyAsync, the threads of a cooperative copy issue cp.async where they can.
template <>
struct element_by<AutoCopyAsync> {
  template <class S, class D>
  ZELLIGE_HOST_DEVICE static constexpr void copy(S const& src, D const& dst, int i) {
    copy_element_async(src, dst, i);
  }
};
}  // namespace detail

/// Sets dst(i) = src(i) for every i for which pred(i) is true. Uses cp.async on SM80 or later if `src` is in
/// global and `dst` in shared memory and both have one element type of 4, 8 or 16 bytes; otherwise assigns.
ZELLIGE_CALLS_BACK
template <class P, tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy_if(AutoCopyAsync const&, P const& pred, S const& src, D&& dst) {
  detail::require_same_size<Algorithm::copy_if>(size(src), size(dst));
  ZELLIGE_UNROLL
  for (int i = 0; i < int(size(dst)); ++i) {
    if (bool(pred(i))) detail::copy_element_async(src, dst, i);
  }
}
/// Sets dst(i) = src(i) for every i. Uses cp.async on SM80 or later if `src` is in global and `dst` in shared
/// memory and both have one element type of 4, 8 or 16 bytes; otherwise assigns.
template <tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy(AutoCopyAsync const& policy, S const& src, D&& dst) {
  copy_if(policy, detail::Always{}, src, dst);
}

}  // namespace zellige
