// Copies tensors element by element or in vectors: dst(c) = src(c) at every coordinate c.
//
//   copy(a, b)                      a and b have the same number of elements, but may differ in their modes
//   copy_if(predicate, a, b)        copies the elements i for which predicate(i) is true: for partial tiles
//   copy_aligned(a, b)              asserts that addresses and run-time strides are multiples of 16 bytes
//   copy(AutoVectorizingCopyWithAssumedAlignment<64>{}, a, b)      asserts that they are multiples of 8 bytes
//   copy(AutoFilter(AutoVectorizingCopy{}), a, b)                  writes elements repeated by a stride of 0 only once
//
// Elements that are contiguous in both tensors are copied as vectors, as far as their assumed alignment allows. copy
// assumes 16 bytes if both layouts are static, else it copies single elements. copy_aligned and the policies assert the
// alignment for any layout.
#pragma once
#include <zellige/layout/prefer.hpp>
#include <zellige/tensor/same.hpp>
#include <zellige/tensor/vector.hpp>

namespace zellige {

/// Copy policy: addresses and run-time strides are asserted to be aligned, so that up to MaxVecBits bits are
/// moved at once.
template <int MaxVecBits = 128>
struct AutoVectorizingCopyWithAssumedAlignment {
  static_assert(MaxVecBits >= 8 && MaxVecBits <= 128 && (MaxVecBits & (MaxVecBits - 1)) == 0,
                "AutoVectorizingCopyWithAssumedAlignment<bits>: 8, 16, 32, 64 or 128");
};
using AutoVectorizingCopy = AutoVectorizingCopyWithAssumedAlignment<128>;
using DefaultCopy = AutoVectorizingCopyWithAssumedAlignment<8>;

/// Copy policy: modes in which both tensors repeat elements (stride 0) are copied once; `base` is the policy
/// of the copy itself.
template <class CopyOp>
struct AutoFilter {
  CopyOp base;
  ZELLIGE_HOST_DEVICE constexpr AutoFilter(CopyOp const& op = {}) : base(op) {}
};
template <class CopyOp>
AutoFilter(CopyOp const&) -> AutoFilter<CopyOp>;

namespace detail {
// chunk<bytes> is the type of a vector access. ZELLIGE_MAY_ALIAS informs host compilers that a chunk may alias
// any element type.
#if defined(__GNUC__) || defined(__clang__)
#define ZELLIGE_MAY_ALIAS [[gnu::may_alias]]
#else
#define ZELLIGE_MAY_ALIAS
#endif
template <int bytes>
struct chunk;
template <>
struct ZELLIGE_MAY_ALIAS chunk<1> {
  unsigned char a;
};
template <>
struct ZELLIGE_MAY_ALIAS chunk<2> {
  unsigned short a;
};
template <>
struct ZELLIGE_MAY_ALIAS chunk<4> {
  unsigned a;
};
template <>
struct alignas(8) ZELLIGE_MAY_ALIAS chunk<8> {
  unsigned a, b;
};
template <>
struct alignas(16) ZELLIGE_MAY_ALIAS chunk<16> {
  unsigned a, b, c, d;
};
#undef ZELLIGE_MAY_ALIAS

/// Returns true if one of the expressions of plan p is a run-time check.
template <int n, int m>
ZELLIGE_ALGEBRA constexpr bool checks(Planned<n, m> const& p) {
  for (int i = 0; i < p.step_count; ++i) {
    if (p.steps[i].op == Arith::check) return true;
  }
  return false;
}
// The static result of a query of the algebra, or 1 if it is refused or needs a run-time check.
template <auto op, class... T>
struct settled {
  using P = fitting_plan<op, T...>;
  ZELLIGE_ALGEBRA static consteval bool ask() {
    if (P::value.refusal || P::value.node_count != 1 || !P::fits) return false;
    return !checks(P::value) && P::value.nodes[0].s.is_static();
  }
  ZELLIGE_ALGEBRA static consteval int number() { return ask() ? int(P::value.nodes[0].s.v) : 1; }
};
ZELLIGE_ALGEBRA constexpr int gcd_int(int a, int b) { return b == 0 ? a : gcd_int(b, a % b); }

/// The largest number of elements that an iterator keeps contiguous; 0 for no limit. A swizzled pointer keeps
/// 2^M bytes contiguous.
template <class It>
struct max_elements {
  static constexpr int value = 0;
};
template <int B, int M, int S, class It>
struct max_elements<swizzle_ptr<Swizzle<B, M, S>, It>> {
  static constexpr int value = (8 << M) / sizeof_bits_v<iter_value_t<It>>;
};
/// Returns true if the static numbers of layout L allow a recast to vectors of n elements without a remainder.
/// copy_vectors checks run-time strides. Returns false if the recast itself would need a run-time check.
template <class L, int n>
ZELLIGE_ALGEBRA consteval bool splits() {
  using P = fitting_plan<Op::upcast, L, Int<n>>;
  constexpr auto const& p = P::value;
  if (p.refusal || !P::fits || checks(p)) return false;
  if (!is_static_v<L>) return true;  // copy_vectors checks run-time numbers
  long long count = n;
  for (int i = 0; i < p.node_count; ++i) {
    if (p.nodes[i].kids < 0 && p.nodes[i].kind == ValueKind::layout) count *= p.nodes[i].s.v;
  }
  return count == static_product<remove_cvref_t<decltype(lvalue<L>().shape())>>;
}
/// Returns the width in bits of the widest vector, at most `bits` bits, to which both layouts can be recast,
/// or 0 if there is none. `each` is the number of bits of an element.
template <int bits, int each, class LA, class LB>
ZELLIGE_ALGEBRA consteval int widest() {
  if constexpr (bits <= each || bits % 8 != 0)
    return 0;
  else if constexpr (splits<LA, bits / each>() && splits<LB, bits / each>())
    return bits;
  else
    return widest<bits / 2, each, LA, LB>();
}
/// Returns the width in bits, at most max_bits, of the vectors by which A and B can be copied, from the
/// contiguity and alignment of their layouts; 0 if only single elements can be copied.
template <int max_bits, class A, class B>
ZELLIGE_ALGEBRA consteval int common_bits() {
  int n = settled<Op::max_common_vector, typename A::layout_type, typename B::layout_type>::number();
  if (n > 1) n = gcd_int(n, settled<Op::max_alignment, typename A::layout_type>::number());
  if (n > 1) n = gcd_int(n, settled<Op::max_alignment, typename B::layout_type>::number());
  n = gcd_int(n, max_elements<typename A::iterator>::value);
  n = gcd_int(n, max_elements<typename B::iterator>::value);
  int const each = sizeof_bits_v<typename A::value_type>, bits = gcd_int(n * each, max_bits);
  return n > 1 && bits % each == 0 ? bits : 0;
}
/// Returns how many bits a copy between tensors of types A and B may move per access, at most max_bits; 0 for
/// single elements.
template <int max_bits, class A, class B>
ZELLIGE_ALGEBRA consteval int vector_bits() {
  if constexpr (!same_representation<A, B> || is_volatile<typename A::element_type> ||
                is_volatile<typename B::element_type> || A::rank == 0)
    return 0;
  else if constexpr (ends_in_user_module<typename A::layout_type> || ends_in_user_module<typename B::layout_type>)
    return 0;
  else
    return widest<common_bits<max_bits, A, B>(), sizeof_bits_v<typename A::value_type>, typename A::layout_type,
                  typename B::layout_type>();
}

/// Returns one of two equal sizes: the static one if there is one, so that loops over it can be unrolled.
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto static_one(A const& a, B const& b) {
  if constexpr (is_static_integer_v<A> && !is_static_integer_v<B>)
    return a;
  else
    return b;
}
/// Copies dst(i) = src(i), with a cast if the element types differ.
template <class S, class D, class I>
ZELLIGE_HOST_DEVICE constexpr void copy_element(S const& src, D& dst, I const& i) {
  using From = typename S::value_type;
  using To = typename remove_cvref_t<D>::value_type;
  constexpr bool casts = requires { static_cast<To>(static_cast<From>(src(i))); };
  constexpr bool assigns = requires { dst(i) = src(i); };
  static_assert(casts || assigns, "copy(src, dst): the elements of src convert to none of dst's");
  if constexpr (is_same_v<From, To> || !casts)
    dst(i) = src(i);
  else
    dst(i) = static_cast<To>(static_cast<From>(src(i)));
}
/// Copies all elements of src to dst one by one.
template <class S, class D>
ZELLIGE_HOST_DEVICE constexpr void copy_each(S const& src, D& dst) {
  ZELLIGE_UNROLL
  for (int i = 0; i < int(static_one(src.size(), dst.size())); ++i) copy_element(src, dst, i);
}
/// Returns true if the address of a pointer is a multiple of `bytes`. Returns true for other iterators, which
/// check their own alignment.
template <int bytes, class It>
ZELLIGE_HOST_DEVICE constexpr bool lies_at_multiple_of([[maybe_unused]] It const& it) {
  if constexpr (requires { raw_pointer_cast(it) + 1; })
    return reinterpret_cast<size_t>(raw_pointer_cast(it)) % size_t(bytes) == 0;
  else
    return true;  // the pointer checks itself
}
/// Returns true if all run-time strides are multiples of n; static strides are checked at compile time.
template <class D, int... I>
ZELLIGE_HOST_DEVICE constexpr bool multiples_each(D const& stride, long long n, seq<I...>);
template <class D>
ZELLIGE_HOST_DEVICE constexpr bool multiples([[maybe_unused]] D const& stride, [[maybe_unused]] long long n) {
  if constexpr (tuple_like<D>)
    return multiples_each(stride, n, make_seq<tuple_size_v<D>>{});
  else if constexpr (dynamic_integer<D>)
    return static_cast<long long>(stride) % n == 0;
  else
    return true;
}
template <class D, int... I>
ZELLIGE_HOST_DEVICE constexpr bool multiples_each(D const& stride, long long n, seq<I...>) {
  return (true && ... && multiples(get<I>(stride), n));
}
/// Returns true if x is aligned for vectors of n elements (`bytes` bytes): its address is a multiple of
/// `bytes`, and its run-time strides are multiples of n.
template <int bytes, int n, class X>
ZELLIGE_HOST_DEVICE constexpr bool is_in_step(X const& x) {
  if constexpr (!is_static_v<typename X::layout_type> && is_layout_v<typename X::layout_type>) {
    if (!multiples(x.layout().stride(), n)) return false;
  }
  return lies_at_multiple_of<bytes>(x.data());
}
/// Returns the error message for tensors that do not have the alignment that the copy policy asserts.
ZELLIGE_HOST_DEVICE constexpr char const* not_in_step() {
  return "the policy vouches for {x} bits at a time, but an address or stride is no multiple of {y} bytes";
}
/// On the emulator: reports elements of src that are copied from a thread's registers to memory before they
/// were written. Does nothing elsewhere.
template <class S, class D>
ZELLIGE_OWNING ZELLIGE_HOST_DEVICE inline void look_for_unwritten([[maybe_unused]] S const& src, D const&) {
#if defined(ZELLIGE_EMULATE)
  if constexpr (is_rmem_v<S> && !is_rmem_v<D> && emulate::number_bytes<typename S::value_type> != 0)
    for (int i = 0; i < int(size(src)); ++i)
      emulate::look_for_unwritten(typename S::value_type(src(i)), emulate::Use::stores);
#endif
}

/// Copies src to dst in vectors of up to max_bits bits. If the tensors are misaligned, reports an error if
/// `sure` (the caller asserts the alignment); otherwise copies element by element. Device code checks the
/// alignment only if ZELLIGE_CHECK is 1; without the check, a misaligned access traps.
template <int max_bits, bool sure, class S, class D>
ZELLIGE_HOST_DEVICE constexpr void copy_vectors(S const& src, D& dst) {
  constexpr int bits = vector_bits<max_bits, S, D>();
  if constexpr (bits > 0) {
    if (!__builtin_is_constant_evaluated()) {
#if !defined(__CUDA_ARCH__) || ZELLIGE_CHECK
      constexpr int n = bits / sizeof_bits_v<typename S::value_type>;
      if (!is_in_step<bits / 8, n>(src) || !is_in_step<bits / 8, n>(dst)) {
        if constexpr (sure) broken(Algorithm::copy, not_in_step(), max_bits, bits / 8);
        return copy_each(src, dst);
      }
#endif
      look_for_unwritten(src, dst);
      auto const from = recast<chunk<bits / 8> const>(src);
      auto const to = recast<chunk<bits / 8>>(dst);
      return copy_each(from, to);
    }
  }
  copy_each(src, dst);
}

}  // namespace detail

/// Copies dst(i) = src(i) for every i for which pred(i) is true: the copy for partial tiles.
ZELLIGE_CALLS_BACK
template <class P, tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy_if(P const& pred, S const& src, D&& dst) {
  detail::require_same_count<Algorithm::copy_if>(src, dst);
  if constexpr (tensor_like<P>) detail::require_as_many<Algorithm::copy_if>(pred.size(), src.size());
  ZELLIGE_UNROLL
  for (int i = 0; i < int(detail::static_one(src.size(), dst.size())); ++i) {
    if (pred(i)) detail::copy_element(src, dst, i);
  }
}
/// Copies src to dst with vectors of up to MaxVecBits bits. The caller asserts that addresses and run-time
/// strides are multiples of the vector's size.
template <int MaxVecBits, tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy(AutoVectorizingCopyWithAssumedAlignment<MaxVecBits> const&, S const& src,
                                        D&& dst) {
  detail::require_same_counts<Algorithm::copy>(src, dst);
  if constexpr (detail::same_counts<S, remove_cvref_t<D>>) detail::copy_vectors<MaxVecBits, true>(src, dst);
}
/// Copies src to dst. The tensors must have the same number of elements, but may differ in their modes. Uses
/// vectors of up to 16 bytes if both layouts are static.
template <tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy(S const& src, D&& dst) {
  using DT = remove_cvref_t<D>;
  detail::require_same_counts<Algorithm::copy>(src, dst);
  if constexpr (detail::same_counts<S, DT>) {
    if constexpr (is_static_v<typename S::layout_type> && is_static_v<typename DT::layout_type>)
      detail::copy_vectors<128, false>(src, dst);
    else
      detail::copy_each(src, dst);
  }
}
/// Copies src to dst with vectors of up to 16 bytes. The caller asserts that addresses and run-time strides
/// are multiples of the vector's size.
template <tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy_aligned(S const& src, D&& dst) {
  copy(AutoVectorizingCopy{}, src, dst);
}

namespace detail {
/// Returns the shape with extent 1 in every mode in which both strides, a and b, are the static 0.
template <class S, class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto once(S const& shape, A const& a, B const& b);
template <class S, class A, class B, int... I>
ZELLIGE_HOST_DEVICE constexpr auto once_each(S const& shape, A const& a, B const& b, seq<I...>) {
  return make_tuple(once(get<I>(shape), get<I>(a), get<I>(b))...);
}
template <class S, class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto once(S const& shape, A const& a, B const& b) {
  if constexpr (tuple_like<S>)
    return once_each(shape, a, b, make_seq<tuple_size_v<S>>{});
  else if constexpr (is_constant<0, A>::value && is_constant<0, B>::value)
    return Int<1>{};
  else {
    static_assert(!is_constant<0, B>::value || is_constant<1, S>::value || !is_static_integer_v<S>,
                  "copy(AutoFilter): different elements of the source go to one element of the destination");
    return shape;
  }
}
}  // namespace detail

/// Copies src to dst with the policy `policy.base`, but only one element of each mode in which both tensors
/// repeat elements (static strides of 0).
template <class CopyOp, tensor_like S, tensor_like D>
ZELLIGE_HOST_DEVICE constexpr void copy(AutoFilter<CopyOp> const& policy, S const& src, D&& dst) {
  using DL = typename remove_cvref_t<D>::layout_type;
  detail::require_same_counts<Algorithm::copy>(src, dst);
  if constexpr (detail::same_counts<S, remove_cvref_t<D>>) {
    if constexpr (is_layout_v<DL> && is_layout_v<typename S::layout_type>) {
      if constexpr (detail::congruent_types<remove_cvref_t<decltype(src.shape())>,
                                            remove_cvref_t<decltype(dst.shape())>>::value) {
        auto const a = src.layout().stride();
        auto const b = dst.layout().stride();
        copy(policy.base, detail::view_of(src, src.data(), make_layout(detail::once(src.layout().shape(), a, b), a)),
             detail::view_of(dst, dst.data(), make_layout(detail::once(dst.layout().shape(), a, b), b)));
      } else {
        copy(policy.base, src, dst);
      }
    } else {
      copy(policy.base, src, dst);
    }
  }
}

}  // namespace zellige
