// Copy_Traits<Op> and Copy_Atom<Op, T>: a copy instruction with its thread-value layouts, as types. The
// layouts of the traits are in bits, those of the atom in elements of type T.
//
//   using Atom = Copy_Atom<SM75_U32x4_LDSM_N, half_t>;
//   Atom::ValLayoutSrc{}       (_32,_8):(_8,_1)                eight elements per thread, a row of 16 bytes
//   Atom::ValLayoutDst{}       (_32,(_2,_4)):(_2,(_1,_64))     two adjacent elements of each of four matrices
//
// An atom fails to compile if an element of type T would span several threads of the instruction.
#pragma once

#include <zellige/atom/tiled_plan.hpp>
#include <zellige/atom/vector_access.hpp>
#include <zellige/tensor.hpp>

namespace zellige {
namespace detail {

/// copy_row_of<Op>::value is the descriptor of copy instruction Op: Op::row(), or the entry of copy_rows with
/// the name Op::name. It converts to false if Op has neither.
template <class Op>
struct copy_row_of {
  ZELLIGE_ALGEBRA static constexpr CopyRow make() {
    if constexpr (requires { Op::row(); })
      return Op::row();
    else if constexpr (requires { Op::name; })
      return find_copy(Op::name);
    else
      return CopyRow{};
  }
  static constexpr CopyRow value = make();
};
template <int bits>
struct copy_row_of<AutoVectorizingCopyWithAssumedAlignment<bits>> {
  static constexpr CopyRow value = {CopyRow::Kind::element};
};
template <class S, class D>
struct copy_row_of<UniversalCopy<S, D>> {
  static constexpr CopyRow value = vector_copy(sizeof_bits<S>::value);
};
/// The layout that `part` selects of copy instruction Op: (thread, bit) -> bit at its source, at its
/// destination or in its reference order, or the layout of its threads. copy_layout_t is the same as a Layout
/// type.
template <class Op, CopyPart part>
struct copy_layout_of {
  static constexpr auto value = planned<16>(algebra::copy_layout(copy_row_of<Op>::value, part));
};
template <class Op, CopyPart part>
using copy_layout_t = planned_layout<copy_layout_of<Op, part>>;

/// Converts `Layout`, a layout (thread, bit) -> bit, to (thread, value) -> element for elements of `bits`
/// bits. Records the violated rule in two cases: an element would span threads, or wrong_for is not 0, which
/// means that PTX has no cp.async of this width.
template <class Layout, int bits, int wrong_for>
struct copy_values_of {
  ZELLIGE_ALGEBRA static constexpr auto make() {
    Encoder e;
    Tape t;
    Value const layout = encode_type<Layout>::make(e);
    Value const values = algebra::values_of_bits(t, layout, bits, wrong_for);
    Planned<16, 1> p = planned<16>(values);
    p.refusal = t.refusal();
    return p;
  }
  static constexpr auto value = make();
};
/// Returns `BitLayout`, a layout (thread, bit) -> bit, converted to (thread, value) -> element for elements
/// of `bits` bits. Fails to compile, with one error that names the violated rule, in two cases: an element
/// would span threads, or wrong_for is not 0, which means that PTX has no cp.async of this width.
template <class BitLayout, int bits, int wrong_for>
ZELLIGE_HOST_DEVICE constexpr auto values_of_bits() {
  using P = copy_values_of<BitLayout, bits, wrong_for>;
  if constexpr (at<P>::rule() != Rule::none) {
    refuse<TiledOp::copy_values, at<P>::rule(), at<P>::x(), at<P>::y()>();
    return BitLayout{};
  } else {
    return planned_layout<P>{};
  }
}
}  // namespace detail

/// The layouts of copy instruction Op, (thread, bit) -> bit, at its source, at its destination, and in the
/// reference order in which TiledCopy distributes values. Specialisations for `Args` also hold the run-time
/// arguments of the instruction, such as an mbarrier.
template <class Op, class... Args>
struct Copy_Traits {
  static_assert(bool(detail::copy_row_of<Op>::value),
                "Copy_Traits<Op>: the tables have no such instruction, or its header is not included "
                "(atom/tmem_copy.hpp, byte_matrix.hpp)");
  using ThrID = detail::copy_layout_t<Op, CopyPart::threads>;
  using SrcLayout = detail::copy_layout_t<Op, CopyPart::source>;
  using DstLayout = detail::copy_layout_t<Op, CopyPart::destination>;
  using RefLayout = detail::copy_layout_t<Op, CopyPart::reference>;
  using Operation = Op;
};
template <class S, class D>
struct Copy_Traits<UniversalCopy<S, D>> {
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, Int<sizeof_bits<S>::value>>>;
  using DstLayout = Layout<Shape<_1, Int<sizeof_bits<D>::value>>>;
  using RefLayout = SrcLayout;
  using Operation = UniversalCopy<S, D>;
};
namespace detail {
/// The traits of a cp.async that copies if `pred` is true, and otherwise writes zeros to its destination.
template <class Op>
struct zero_fill_traits {
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, Int<8 * Op::bytes>>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = Op;
  bool pred = true;
};
}  // namespace detail
template <class TS, class TD>
struct Copy_Traits<SM80_CP_ASYNC_CACHEALWAYS_ZFILL<TS, TD>>
    : detail::zero_fill_traits<SM80_CP_ASYNC_CACHEALWAYS_ZFILL<TS, TD>> {
  ZELLIGE_HOST_DEVICE constexpr Copy_Traits with(bool pred) const { return {{pred}}; }
};
template <class TS, class TD>
struct Copy_Traits<SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<TS, TD>>
    : detail::zero_fill_traits<SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<TS, TD>> {
  ZELLIGE_HOST_DEVICE constexpr Copy_Traits with(bool pred) const { return {{pred}}; }
};
namespace detail {
/// 0, except for traits of a cp.async whose width PTX does not have. The value is then a width in bits that
/// PTX has, for the error message.
template <class Traits>
struct wrong_for : Int<0> {};
template <class Op>
struct wrong_for<Copy_Traits<Op>> : Int<copy_row_of<Op>::value.wrong_for> {};
}  // namespace detail

/// Copy_Atom<Op, T> or Copy_Atom<Copy_Traits<...>, T>: a copy instruction for elements of type T, with its
/// layouts (thread, value) -> element.
template <class... Args>
struct Copy_Atom;
template <class Op, class T>
struct Copy_Atom<Op, T> : Copy_Atom<Copy_Traits<Op>, T> {};

template <class... Args, class T>
struct Copy_Atom<Copy_Traits<Args...>, T> : Copy_Traits<Args...> {
  using Traits = Copy_Traits<Args...>;
  using ThrID = typename Traits::ThrID;
  using BitLayoutSrc = typename Traits::SrcLayout;
  using BitLayoutDst = typename Traits::DstLayout;
  using BitLayoutRef = typename Traits::RefLayout;
  using ValType = T;

  template <class BitLayout>
  using Values = remove_cvref_t<
      decltype(detail::values_of_bits<BitLayout, sizeof_bits<T>::value, detail::wrong_for<Traits>::value>())>;
  using ValLayoutSrc = Values<BitLayoutSrc>;
  using ValLayoutDst = Values<BitLayoutDst>;
  using ValLayoutRef = Values<BitLayoutRef>;
  static constexpr int NumValSrc = decltype(size<1>(ValLayoutSrc{}))::value;
  static constexpr int NumValDst = decltype(size<1>(ValLayoutDst{}))::value;

  ZELLIGE_HOST_DEVICE constexpr Copy_Atom() {}
  ZELLIGE_HOST_DEVICE constexpr Copy_Atom(Traits const& traits) : Traits(traits) {}
  ZELLIGE_HOST_DEVICE constexpr Traits const& traits() const { return *this; }

  /// Returns a copy atom that contains the run-time arguments of its instruction, for example an mbarrier, a
  /// predicate or a multicast mask.
  template <class... Extra>
  ZELLIGE_HOST_DEVICE constexpr auto with(Extra&&... extra) const {
    auto const traits = Traits::with(static_cast<Extra&&>(extra)...);
    return Copy_Atom<remove_cvref_t<decltype(traits)>, T>(traits);
  }

  /// Issues one instruction if src or dst, both of rank 1, has the number of elements that the instruction moves.
  /// Otherwise the only mode of both tensors must be a tuple (V, Rest...), and one instruction is issued per
  /// coordinate of Rest.
  ZELLIGE_CALLS_BACK
  template <tensor_like S, tensor_like D>
  ZELLIGE_HOST_DEVICE constexpr void call(S const& src, D&& dst) const {
    static_assert(S::rank == 1 && remove_cvref_t<D>::rank == 1, "Copy_Atom::call(src, dst): tensors of rank 1");
    constexpr bool source_fits = is_constant<NumValSrc, decltype(size(src))>::value;
    constexpr bool destination_fits = is_constant<NumValDst, decltype(size(dst))>::value;
    if constexpr (source_fits || destination_fits) {
      using DT = remove_cvref_t<D>;
      if constexpr (detail::has_access<Traits, S, DT>) {
        constexpr detail::VectorAccess a = detail::access_on<Traits, S, DT>;
        detail::check_access<a.source, a.source_alignment>(src);
        detail::check_access<a.destination, a.destination_alignment>(dst);
#if defined(__CUDACC__)
        copy_unpack(traits(), src, dst);  // nvcc finds no device function in a requirement
#else
        constexpr bool runs = requires { copy_unpack(traits(), src, dst); };
        static_assert(runs,
                      "Copy_Atom::call(src, dst): the instruction cannot run so; loads by TMA and bulk copies run "
                      ".with(barrier), and each needs its header, atom/copy_call.hpp or atom.hpp");
        if constexpr (runs) copy_unpack(traits(), src, dst);
#endif
      } else {
        detail::refuse_access<Traits, S, DT>();
      }
    } else {
      static_assert(tuple_like<decltype(shape(src))> && tuple_like<decltype(shape(dst))>,
                    "Copy_Atom::call(src, dst): neither tensor has the instruction's number of elements");
      copy(*this, tensor<0>(src), tensor<0>(dst));
    }
  }
};

}  // namespace zellige
