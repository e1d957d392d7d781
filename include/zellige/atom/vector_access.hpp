// Checks that a copy instruction fits its source and destination tensors: the elements that it moves at one address
// must be contiguous, and the address must have the instruction's alignment. Static layouts are checked during
// compilation, with one error that names instruction, layout and width. Run-time values are checked on the host and
// the emulator.
//
//   Copy_Atom<UniversalCopy<uint128_t>, half_t>   8 contiguous elements in source and destination
//   Copy_Atom<SM75_U32x4_LDSM_N, half_t>          8 contiguous elements in the source; any registers
//
// Elements that are contiguous but not in ascending order are valid if source and destination have the same order. A
// swizzle must keep the elements of one access contiguous.
#pragma once

#include <zellige/atom/copy_traits/names.hpp>
#include <zellige/tensor.hpp>

namespace zellige {

template <class Op, class... Args>
struct Copy_Traits;

// The deleted functions below are error messages: a call of one of them makes the compiler print the function's name
// and template arguments.
template <class Instruction, class Source, int bits_of_an_access>
ZELLIGE_HOST_DEVICE constexpr void elements_of_the_source_do_not_lie_together_as_one_access_needs() = delete;
template <class Instruction, class Destination, int bits_of_an_access>
ZELLIGE_HOST_DEVICE constexpr void elements_of_the_destination_do_not_lie_together_as_one_access_needs() = delete;
template <class Instruction, class Source, class Destination, int bits_of_an_access>
ZELLIGE_HOST_DEVICE constexpr void source_and_destination_have_the_elements_of_one_access_in_another_order() = delete;
template <class Instruction, class Swizzle, int bits_of_an_access>
ZELLIGE_HOST_DEVICE constexpr void the_swizzle_separates_the_elements_of_one_access() = delete;
template <class Instruction, class Source, int bits_of_the_source, int bits_of_an_access>
ZELLIGE_HOST_DEVICE constexpr void the_source_has_not_as_many_values_as_the_instruction_moves() = delete;
template <class Instruction, class Destination, int bits_of_the_destination, int bits_of_an_access>
ZELLIGE_HOST_DEVICE constexpr void the_destination_has_not_as_many_values_as_the_instruction_moves() = delete;
template <class Instruction, class Layout, int stride, int elements_of_an_access>
ZELLIGE_HOST_DEVICE constexpr void accesses_begin_at_no_multiple_of_their_width() = delete;

namespace detail {

/// How an instruction accesses memory: the number of bits that it moves at one address of its source and of its
/// destination, and the alignment of those addresses in bits. 0 bits: it accesses values one by one.
struct VectorAccess {
  int source = 0;
  int destination = 0;
  int source_alignment = 0;
  int destination_alignment = 0;
};
/// The VectorAccess of copy instruction Op: the width of a cp.async, 128 bits on the memory side of ldmatrix and stmatrix,
/// else 0.
template <class Op>
struct access_of_instruction {
  static constexpr VectorAccess value = {};
};
template <class Op>
requires requires { Op::fills_zeros; }
struct access_of_instruction<Op> {
  static constexpr VectorAccess value = {8 * Op::bytes, 8 * Op::bytes, 8 * Op::bytes, 8 * Op::bytes};
};
template <class Op>
requires requires { Op::name; }
struct access_of_instruction<Op> {
  static constexpr CopyRow::Kind kind = find_copy(Op::name).kind;
  static constexpr int read = kind == CopyRow::Kind::rows || kind == CopyRow::Kind::columns ? 128 : 0;
  static constexpr int written = kind == CopyRow::Kind::to_rows || kind == CopyRow::Kind::to_columns ? 128 : 0;
  static constexpr VectorAccess value = {read, written, read, written};
};
/// The VectorAccess of a copy with Traits between tensors with element types S and D. Specialised for UniversalCopy, whose
/// access depends on these types.
template <class Traits, class S, class D>
struct access_of {
  static constexpr VectorAccess value = access_of_instruction<typename Traits::Operation>::value;
};
template <class Traits, class S, class D>
requires(!requires { typename Traits::Operation; }) struct access_of<Traits, S, D> {
  static constexpr VectorAccess value = {};
};

/// How the elements of one access are placed in memory: contiguous and in order; contiguous in another order; not
/// contiguous; or unknown, because the placement depends on run-time numbers.
enum class Lie : signed char { in_order, in_another_order, non_contiguous, unknown };

/// Returns the modes of layout type L, flattened, with adjacent contiguous modes merged.
template <class L>
ZELLIGE_ALGEBRA constexpr List<ValueNode> merged_modes() {
  Encoder e;
  Tape t;
  Value const v = encode_type<L>::make(e);
  List<ValueNode> flat;
  algebra::append_merged(t, flat, v);
  return flat;
}
/// Returns how the elements of the unswizzled layout L are placed in memory, as a Lie: contiguous and in order,
/// contiguous in another order, not contiguous, or unknown if that depends on run-time numbers. They are contiguous
/// if L's modes, sorted by stride, have strides 1, s0, s0 s1, ..., where s0, s1, ... are the modes' extents.
template <class L>
ZELLIGE_ALGEBRA consteval Lie lie_of_modes() {
  List<ValueNode> const modes = merged_modes<L>();
  bool all_known = true;
  for (ValueNode const& m : modes) {
    if (m.s.is(1)) continue;
    if (m.e != 0) return Lie::non_contiguous;
    all_known = all_known && m.s.is_static() && m.d.is_static();
  }
  if (!all_known) return Lie::unknown;
  long long reached = 1;
  bool ordered = true;
  for (int step = 0; step < modes.size(); ++step) {
    bool found = false;
    for (int i = 0; i < modes.size() && !found; ++i) {
      if (modes[i].s.is(1) || !modes[i].d.is(reached)) continue;
      ordered = ordered && i == step;
      reached *= modes[i].s.v;
      found = true;
    }
    if (!found && !(modes.size() == 1 && modes[0].s.is(1))) return Lie::non_contiguous;
  }
  return ordered ? Lie::in_order : Lie::in_another_order;
}
/// Returns true if the first n elements of static layout L have consecutive offsets.
template <class L, int n>
ZELLIGE_ALGEBRA consteval bool evaluates_in_order() {
  for (int i = 1; i < n; ++i) {
    if (static_cast<long long>(L{}(i)) - static_cast<long long>(L{}(0)) != i) return false;
  }
  return true;
}
/// How the n elements of one access with layout L are placed (Lie). modes_of is the layout whose modes determine their
/// order.
template <class L, int n>
struct lie_of {
  static constexpr Lie value = lie_of_modes<L>();
  using modes_of = L;
};
/// Specialisation for swizzled layouts. Swizzle<B, M, S> keeps blocks of 2^M elements contiguous. If n divides 2^M, an
/// access is within such a block, because it begins at a multiple of n; otherwise the offsets of static layouts are
/// computed one by one.
template <int B, int M, int S, class O, class L, int n>
requires is_layout_v<L>
struct lie_of<ComposedLayout<Swizzle<B, M, S>, O, L>, n> {
  using modes_of = L;
  template <class Offset>
  ZELLIGE_ALGEBRA static constexpr bool begins_in_step() {
    if constexpr (is_static_integer_v<Offset>)
      return Offset::value % n == 0;
    else
      return true;  // or the run-time check decides
  }
  ZELLIGE_ALGEBRA static constexpr Lie ask() {
    if constexpr (!begins_in_step<O>())
      return Lie::non_contiguous;
    else if constexpr ((1LL << M) % n == 0)
      return lie_of_modes<L>();
    else if constexpr (is_static_v<O> && is_static_v<L> && n <= 1024)
      return evaluates_in_order<ComposedLayout<Swizzle<B, M, S>, O, L>, n>() ? Lie::in_order : Lie::non_contiguous;
    else
      return Lie::non_contiguous;
  }
  static constexpr Lie value = ask();
};
template <class A, class O, class L, int n>
struct lie_of<ComposedLayout<A, O, L>, n> {
  using modes_of = L;
  ZELLIGE_ALGEBRA static constexpr Lie ask() {
    if constexpr (ends_in_user_module<ComposedLayout<A, O, L>>)
      return Lie::unknown;
    else if constexpr (is_static_v<ComposedLayout<A, O, L>> && n <= 1024)
      return evaluates_in_order<ComposedLayout<A, O, L>, n>() ? Lie::in_order : Lie::non_contiguous;
    else
      return Lie::unknown;
  }
  static constexpr Lie value = ask();
};
/// Returns true if layouts A and B are equal after merging adjacent contiguous modes, so that their elements have the
/// same order.
template <class A, class B>
ZELLIGE_ALGEBRA consteval bool same_modes() {
  List<ValueNode> const a = merged_modes<A>(), b = merged_modes<B>();
  if (a.size() != b.size()) return false;
  for (int i = 0; i < a.size(); ++i) {
    if (!same(a[i].s, b[i].s) || !same(a[i].d, b[i].d)) return false;
  }
  return true;
}

/// The size of tensor X in bits; -1 if it is known only at run time.
template <class X>
inline constexpr int bits_of_values = -1;
template <class X>
requires is_static_integer_v<remove_cvref_t<decltype(size(lvalue<X const>()))>>
inline constexpr int bits_of_values<X> =
    remove_cvref_t<decltype(size(lvalue<X const>()))>::value * sizeof_bits_v<typename X::value_type>;

/// Bits that the swizzle of pointer type It keeps contiguous; 2^60 if it has no swizzle.
template <class It>
inline constexpr long long bits_kept_together = 1LL << 60;
template <int B, int M, int S, class It>
inline constexpr long long bits_kept_together<swizzle_ptr<Swizzle<B, M, S>, It>> = 8LL << M;
template <memory_pointer P>
inline constexpr long long bits_kept_together<P> = bits_kept_together<typename P::iterator>;

/// How the elements of one access of `bits` bits in tensor X are placed (Lie). An access of a single element is in
/// order.
template <class X, int bits>
inline constexpr Lie lie_for = Lie::in_order;
template <class X, int bits>
requires(bits > sizeof_bits_v<typename X::value_type>) inline constexpr Lie lie_for<X, bits> =
    lie_of<typename X::layout_type, bits / sizeof_bits_v<typename X::value_type>>::value;

/// Why an instruction cannot access a tensor: the tensor has another number of values than the instruction moves, a
/// swizzle separates them, or they are not contiguous.
enum class Misaccess : signed char { none, count, swizzle, non_contiguous };
/// Returns why an access of `bits` bits of tensor X is invalid. Returns Misaccess::none if it is valid, or if that
/// depends on run-time numbers.
template <class X, int bits>
ZELLIGE_ALGEBRA consteval Misaccess misaccess() {
  if constexpr (bits == 0) {
    return Misaccess::none;
  } else if constexpr (bits_of_values<X> >= 0 && bits_of_values<X> != bits) {
    return Misaccess::count;
  } else if constexpr (bits_kept_together<typename X::iterator> < bits) {
    return Misaccess::swizzle;
  } else {
    return lie_for<X, bits> == Lie::non_contiguous ? Misaccess::non_contiguous : Misaccess::none;
  }
}

/// Returns true if the elements of one access have the same order in source S as in destination D. `a` has the numbers
/// of bits that one access moves at S and at D; 0 means registers, whose elements are in order.
template <class S, class D, VectorAccess a>
ZELLIGE_ALGEBRA consteval bool same_order() {
  if constexpr (lie_for<S, a.source> != Lie::in_another_order && lie_for<D, a.destination> != Lie::in_another_order)
    return true;
  else if constexpr (a.source == 0 || a.destination == 0)
    return false;  // registers are in order
  else
    return same_modes<typename lie_of<typename S::layout_type, 1>::modes_of,
                      typename lie_of<typename D::layout_type, 1>::modes_of>();
}

/// Checks at run time what is not known during compilation: that the elements of one access of `bits` bits are
/// contiguous, and that the access begins at a multiple of `alignment` bits. If not, throws LayoutError on the host
/// and traps on the device.
template <int bits, int alignment, class X>
ZELLIGE_HOST_DEVICE constexpr void check_access([[maybe_unused]] X const& x) {
  if constexpr (bits > 0) {
    using T = typename X::value_type;
    using L = typename X::layout_type;
    constexpr int n = bits / sizeof_bits_v<T>;
    constexpr bool whole = bits_of_values<X> >= 0;
    // If the compiler does not know the layout, the check runs on the device, too. (CuTe refuses such layouts.)
    if constexpr (lie_for<X, bits> == Lie::unknown || !whole ||
                  (ZELLIGE_CHECK && !is_static_v<L> && lie_for<X, bits> == Lie::in_order)) {
      if (!whole && int(size(x)) != n)
        broken(Algorithm::copy, "an access of {x} bits, but the tensor has {y} elements", bits,
               static_cast<long long>(size(x)));
      if constexpr (is_composed_layout_v<L>) {
        if constexpr (dynamic_integer<remove_cvref_t<decltype(x.layout().offset())>>) {
          if (x.layout().offset() % n != 0)
            broken(Algorithm::copy,
                   "an access of {x} bits begins at element {y} of a swizzled layout, which is no multiple "
                   "of its width",
                   bits, static_cast<long long>(x.layout().offset()));
        }
      }
      long long const first = static_cast<long long>(x.layout()(0));
      for (int i = 1; i < n; ++i) {
        if (long long const at = static_cast<long long>(x.layout()(i)) - first; at != i)
          broken(Algorithm::copy,
                 "an access of {x} bits, but its elements are not adjacent: one lies {y} from the one "
                 "before it",
                 bits, at - (i - 1));
      }
    }
#if ZELLIGE_CHECK
    if (!__builtin_is_constant_evaluated()) {
      if constexpr (is_subbyte_v<T>) {
        if constexpr (requires { iterator_of(x).idx_; }) {
          if (iterator_of(x).idx_ != 0)
            broken(Algorithm::copy, "an access of {x} bits begins at bit {y} of a byte", bits, iterator_of(x).idx_);
        }
      }
      if constexpr (alignment > 8 && requires { raw_pointer_cast(x.data()) + 1; }) {
        if (size_t const address = reinterpret_cast<size_t>(raw_pointer_cast(x.data())); address % (alignment / 8) != 0)
          broken(Algorithm::copy, "an access of {x} bits begins at an address that is no multiple of {y} bytes", bits,
                 alignment / 8);
      }
    }
#endif
  }
}

/// The VectorAccess of a copy with Traits from tensor S to tensor D.
template <class Traits, class S, class D>
inline constexpr VectorAccess access_on = access_of<Traits, typename S::value_type, typename D::value_type>::value;
/// True if one instruction of Traits can access source S and destination D, as far as is known during compilation.
template <class Traits, class S, class D>
inline constexpr bool has_access = misaccess<S, access_on<Traits, S, D>.source>() ==
                                   Misaccess::none&& misaccess<D, access_on<Traits, S, D>.destination>() ==
                                   Misaccess::none&& same_order<S, D, access_on<Traits, S, D>>();

/// Stops compilation with an error that says why one instruction of Traits cannot access source S or destination D.
/// Call it only if has_access is false for these types.
template <class Traits, class S, class D>
ZELLIGE_HOST_DEVICE constexpr void refuse_access() {
  constexpr VectorAccess a = access_on<Traits, S, D>;
  constexpr Misaccess source = misaccess<S, a.source>(), destination = misaccess<D, a.destination>();
  using Op = typename Traits::Operation;
  using LS = typename S::layout_type;
  using LD = typename D::layout_type;
  if constexpr (source == Misaccess::count)
    the_source_has_not_as_many_values_as_the_instruction_moves<Op, LS, bits_of_values<S>, a.source>();
  else if constexpr (destination == Misaccess::count)
    the_destination_has_not_as_many_values_as_the_instruction_moves<Op, LD, bits_of_values<D>, a.destination>();
  else if constexpr (source == Misaccess::swizzle)
    the_swizzle_separates_the_elements_of_one_access<Op, get_swizzle_t<typename S::iterator>, a.source>();
  else if constexpr (destination == Misaccess::swizzle)
    the_swizzle_separates_the_elements_of_one_access<Op, get_swizzle_t<typename D::iterator>, a.destination>();
  else if constexpr (source == Misaccess::non_contiguous)
    elements_of_the_source_do_not_lie_together_as_one_access_needs<Op, LS, a.source>();
  else if constexpr (destination == Misaccess::non_contiguous)
    elements_of_the_destination_do_not_lie_together_as_one_access_needs<Op, LD, a.destination>();
  else
    source_and_destination_have_the_elements_of_one_access_in_another_order<
        Op, LS, LD, (a.source > 0 ? a.source : a.destination)>();
}

/// Returns the first static stride of layout L, in elements, that is not a multiple of `alignment` elements, or 0 if
/// there is none. Mode 0, which has the elements of one access, is not checked.
template <class L, int alignment>
ZELLIGE_ALGEBRA consteval long long step_out_of_line() {
  if constexpr (alignment > 1) {
    Encoder e;
    Value const v = encode_type<L>::make(e);
    Tape t(e.inputs());
    algebra::Settled const s = algebra::settle(t, v, algebra::Asks::nothing);
    for (int i = 1; s.is && i < s.layout.rank(); ++i) {
      View const mode = View(s.layout)[i];
      for (ValueNode const& n : mode) {
        if (n.kids < 0 && !n.s.is(1) && n.d.is_static() && n.e == 0 && n.d.v % alignment != 0) return n.d.v;
      }
    }
  }
  return 0;
}
/// Returns true if the swizzle of layout L, with modes (V, Rest...), keeps the n elements of every access V
/// contiguous. L must be the complete layout: a slice of a swizzled layout may be a layout without swizzle, whose
/// strides are known only at run time.
template <class L, int n>
ZELLIGE_ALGEBRA consteval bool swizzle_keeps() {
  return true;
}
template <class L, int n>
requires(is_composed_layout_v<L>&& get_swizzle_t<L>::num_bits > 0 &&
         (1 << get_swizzle_t<L>::num_base) % n != 0) ZELLIGE_ALGEBRA consteval bool swizzle_keeps() {
  constexpr bool one_each = is_constant<n, remove_cvref_t<decltype(size<0>(lvalue<L const>()))>>::value;
  if constexpr (!one_each) {
    return true;  // checked mode by mode
  } else if constexpr (is_static_v<L> && size_v<L> <= 4096) {
    for (int i = 0; i < size_v<L>; ++i) {
      if (static_cast<long long>(L{}(i)) - static_cast<long long>(L{}(i / n * n)) != i % n) return false;
    }
    return true;
  } else {
    return false;
  }
}
/// Returns true if the swizzle of tensor X keeps the elements of every access of `bits` bits contiguous.
template <class X, int bits>
ZELLIGE_ALGEBRA consteval bool swizzle_keeps_all() {
  if constexpr (bits > sizeof_bits_v<typename X::value_type>)
    return swizzle_keeps<typename X::layout_type, bits / sizeof_bits_v<typename X::value_type>>();
  else
    return true;
}
/// Returns a static stride between accesses of tensor X, in elements, that is not a multiple of `alignment` bits.
/// Returns 0 if there is none, or if X is not in memory.
template <class X, int bits, int alignment>
ZELLIGE_ALGEBRA consteval long long step_out_of_line_of() {
  if constexpr (bits == 0 || !stands_on_memory<X> || ends_in_user_module<typename X::layout_type>)
    return 0;
  else
    return step_out_of_line<typename X::layout_type, alignment / sizeof_bits_v<typename X::value_type>>();
}
/// True if all accesses of a copy from S to D are aligned and keep their elements contiguous, as far as static strides
/// and swizzles show.
template <class Traits, class S, class D>
inline constexpr bool in_line =
    step_out_of_line_of<S, access_on<Traits, S, D>.source, access_on<Traits, S, D>.source_alignment>() == 0 &&
    step_out_of_line_of<D, access_on<Traits, S, D>.destination, access_on<Traits, S, D>.destination_alignment>() == 0 &&
    swizzle_keeps_all<S, access_on<Traits, S, D>.source>() &&
    swizzle_keeps_all<D, access_on<Traits, S, D>.destination>();
/// Stops compilation with an error that says which accesses of a copy from S to D are not aligned or not contiguous.
/// Call it only if in_line is false for these types.
template <class Traits, class S, class D>
ZELLIGE_HOST_DEVICE constexpr void refuse_steps() {
  constexpr VectorAccess a = access_on<Traits, S, D>;
  constexpr long long source = step_out_of_line_of<S, a.source, a.source_alignment>();
  if constexpr (!swizzle_keeps_all<S, a.source>())
    the_swizzle_separates_the_elements_of_one_access<typename Traits::Operation, get_swizzle_t<typename S::layout_type>,
                                                     a.source>();
  else if constexpr (!swizzle_keeps_all<D, a.destination>())
    the_swizzle_separates_the_elements_of_one_access<typename Traits::Operation, get_swizzle_t<typename D::layout_type>,
                                                     a.destination>();
  else if constexpr (source != 0)
    accesses_begin_at_no_multiple_of_their_width<typename Traits::Operation, typename S::layout_type, source,
                                                 a.source_alignment / sizeof_bits_v<typename S::value_type>>();
  else
    accesses_begin_at_no_multiple_of_their_width<typename Traits::Operation, typename D::layout_type,
                                                 step_out_of_line_of<D, a.destination, a.destination_alignment>(),
                                                 a.destination_alignment / sizeof_bits_v<typename D::value_type>>();
}

/// Returns the VectorAccess (bits per access and alignments) of UniversalCopy<S, D> between tensors with element types TS
/// and TD. The numbers of bits are the sizes of S and D. Copies of single elements (S is TS and D is TD) need no
/// alignment.
template <class S, class D, class TS, class TD>
ZELLIGE_ALGEBRA consteval VectorAccess access_of_assignment() {
  constexpr bool one_by_one = is_same_v<S, TS> && is_same_v<D, TD>;
  constexpr int s = int(sizeof_bits<S>::value), d = int(sizeof_bits<D>::value);
  return {s, d, one_by_one || is_subbyte_v<S> ? 1 : 8 * int(alignof(S)),
          one_by_one || is_subbyte_v<D> ? 1 : 8 * int(alignof(D))};
}
template <class S, class D, class TS, class TD>
struct access_of<Copy_Traits<UniversalCopy<S, D>>, TS, TD> {
  static constexpr VectorAccess value = access_of_assignment<S, D, remove_cvref_t<TS>, remove_cvref_t<TD>>();
};

}  // namespace detail
}  // namespace zellige
