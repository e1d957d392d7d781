// Supports vectorised access to tensors: computes how many elements a copy between two tensors can move as one
// vector, and views a tensor's memory in elements of another size (recast).
//
//   max_common_vector(a, b)      the number of elements that are contiguous in both a and b, in the same order: Int<N>
//   recast<uint128_t>(a)         a view of a's memory in elements of 128 bits, with a's layout converted
#pragma once
#include <zellige/tensor/partition.hpp>

namespace zellige {

namespace detail {
template <class T>
inline constexpr bool is_volatile = false;
template <class T>
inline constexpr bool is_volatile<T volatile> = true;
template <class T>
inline constexpr bool is_volatile<T volatile const> = true;
template <class T>
struct unqualified_type {
  using type = T;
};
template <class T>
struct unqualified_type<T volatile> {
  using type = T;
};
template <class T>
using unqualified_t = typename unqualified_type<T>::type;

/// True if elements can be copied between two tensors as bytes: they have the same trivially copyable type
/// and are in memory.
template <class A, class B>
inline constexpr bool same_representation =
    is_same_v<unqualified_t<typename A::value_type>, unqualified_t<typename B::value_type>>&& __is_trivially_copyable(
        typename A::value_type) &&
    stands_on_memory<A>&& stands_on_memory<B>;
}  // namespace detail

/// Returns the number of elements that are contiguous in both tensors, in the same order; 0 if the elements
/// cannot be copied as bytes.
template <tensor_like A, tensor_like B>
ZELLIGE_HOST_DEVICE constexpr auto max_common_vector(A const& a, B const& b) {
  if constexpr (detail::same_representation<A, B>)
    return max_common_vector(a.layout(), b.layout());
  else
    return Int<0>{};
}
/// Returns the longest layout of linear coordinates along which both tensors have consecutive elements in
/// memory; _1:_0 if the elements cannot be copied as bytes.
template <tensor_like A, tensor_like B>
ZELLIGE_HOST_DEVICE constexpr auto max_common_layout(A const& a, B const& b) {
  if constexpr (detail::same_representation<A, B>)
    return max_common_layout(a.layout(), b.layout());
  else
    return Layout<Int<1>, Int<0>>{};
}
/// Returns the largest n such that the tensor consists of vectors of n elements that are contiguous in
/// memory, and every vector starts at a multiple of n elements. The pointer and run-time strides are assumed
/// to be aligned. Returns 1 if x is not in memory.
template <tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto max_alignment(X const& x) {
  if constexpr (detail::stands_on_memory<X>)
    return gcd(max_alignment(x.data()), max_alignment(x.layout()));
  else
    return Int<1>{};
}

namespace detail {
/// Returns the offset, in elements, from a tensor's first element to the lowest address of the vector that
/// contains this element. `shape` and `stride` are the tensor's; `taken` has the number of vectors along each
/// mode. Only modes of negative static stride contribute: in them the first element of a vector has the highest
/// address.
template <class S, class N, class D>
ZELLIGE_HOST_DEVICE constexpr auto back_to(S const& shape, N const& taken, D const& stride);
template <class S, class N, class D, int... I>
ZELLIGE_HOST_DEVICE constexpr auto back_to_modes(S const& shape, N const& taken, D const& stride, seq<I...>) {
  return (Int<0>{} + ... + back_to(get<I>(shape), get<I>(taken), get<I>(stride)));
}
template <class S, class N, class D>
ZELLIGE_HOST_DEVICE constexpr auto back_to(S const& shape, N const& taken, D const& stride) {
  if constexpr (tuple_like<S>) {
    return back_to_modes(shape, taken, stride, make_seq<tuple_size_v<S>>{});
  } else if constexpr (is_static_integer_v<D>) {
    if constexpr (D::value < 0)
      return (shape / taken - Int<1>{}) * stride;
    else
      return Int<0>{};
  } else {
    return Int<0>{};
  }
}
#if ZELLIGE_CHECK
/// Reports an error if the address of `it` is not aligned for elements of type U.
template <class U, class It>
ZELLIGE_HOST_DEVICE constexpr void check_alignment(It const& it) {
  if constexpr (requires { raw_pointer_cast(it) + 1; }) {
    if constexpr (!is_subbyte_v<U>) {
      if (size_t const address = reinterpret_cast<size_t>(raw_pointer_cast(it)); address % alignof(U) != 0)
        broken(Algorithm::recast, "the address ends in {x}: elements of the new type begin at multiples of {y}",
               static_cast<long long>(address % 256), alignof(U));
    }
  }
}
#endif
}  // namespace detail

namespace detail {
/// Returns the iterator at which the tensor x begins after it is recast to elements of type U with the given
/// layout.
template <class U, class X, class L>
ZELLIGE_HOST_DEVICE constexpr auto recast_at(X& x, L const& layout) {
  using T = typename X::value_type;
  if constexpr (sizeof_bits_v<T> < sizeof_bits_v<U> && is_layout_v<L> && is_layout_v<typename X::layout_type>)
    return x.data() + back_to(x.layout().shape(), layout.shape(), x.layout().stride());
  else
    return iterator_of(x);
}
}  // namespace detail
namespace detail {
/// Returns the layout of the same memory in elements of new_bits bits; `layout` is its layout in elements of
/// old_bits bits.
template <int old_bits, int new_bits, class L>
ZELLIGE_HOST_DEVICE constexpr auto recast_bits(L const& layout) {
  if constexpr (old_bits == new_bits)
    return layout;
  else if constexpr (new_bits % old_bits == 0)
    return upcast<new_bits / old_bits>(layout);
  else if constexpr (old_bits % new_bits == 0)
    return downcast<old_bits / new_bits>(layout);
  else
    return invoke<Op::recast_layout>(layout, Int<old_bits>{}, Int<new_bits>{});
}
}  // namespace detail
/// Returns a view of the memory of x in elements of type U. If the elements become larger, their number is
/// rounded up in each mode, as in a division; bits beyond the original elements are recorded as out of
/// bounds.
template <class U, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto recast(X&& x) {
  constexpr int before = sizeof_bits_v<typename remove_cvref_t<X>::value_type>, after = sizeof_bits_v<U>;
  auto const layout = detail::recast_bits<before, after>(x.layout());
  auto const begin = detail::recast_at<U>(x, layout);
#if ZELLIGE_CHECK
  detail::check_alignment<U>(begin);
#endif
  if constexpr (detail::remembers<remove_cvref_t<X>>) {
    long long const bits = product(layout.shape()) * (long long)after, had = x.size() * (long long)before;
    return detail::view(
        recast_ptr<U>(begin), layout,
        detail::either(detail::rearranged(detail::overhang_of(x)), bits > had ? Overhang{bits, had} : Overhang{}));
  } else {
    return make_tensor(recast_ptr<U>(begin), layout);
  }
}

/// Returns a view of the elements of x, a tensor with a swizzled pointer, as a tensor with a swizzled layout,
/// which is valid at any address.
template <tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto as_position_independent_swizzle_tensor(X&& x) {
  using T = remove_cvref_t<X>;
  using Sw = get_swizzle_t<typename T::iterator>;
  static_assert(is_smem_v<T>, "as_position_independent_swizzle_tensor(x): x must be in shared memory");
  if constexpr (Sw::num_bits == 0) {
    return detail::view_of(x, detail::iterator_of(x), x.layout());
  } else {
    auto const p = make_smem_ptr(raw_pointer_cast(x.data()));
#if ZELLIGE_CHECK
    size_t const period = size_t(Sw::swizzle_code) | ((size_t(1) << Sw::num_base) - 1);
    if (size_t const stray = reinterpret_cast<size_t>(raw_pointer_cast(p)) & period; stray != 0)
      detail::broken(Algorithm::recast, "the tile begins {x} bytes into the swizzle's period of {y}",
                     static_cast<long long>(stray), static_cast<long long>(period + 1));
#endif
    return detail::view_of(
        x, p,
        make_composed_layout(detail::swizzle_of_elements<sizeof_bits_v<typename T::value_type>>(Sw{}), Int<0>{},
                             x.layout()));
  }
}

}  // namespace zellige
