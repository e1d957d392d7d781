// Defines Tensor<Engine, Layout>: elements, in memory or computed on access, that are addressed through a layout.
//
//   Tensor a = make_tensor(make_gmem_ptr(p), make_shape(m, n), make_stride(n, _1{}));   // a view of memory at p
//   Tensor r = make_tensor<float>(Layout<Shape<_4, _8>>{});                             // owns 32 floats
//
// a(i, j) is an element of a, and a(i, _) is a view of row i. Copying r, which owns its elements, copies them; a
// copy of a is a view of the same memory.
#pragma once
#include <zellige/layout.hpp>
#include <zellige/tensor/engine.hpp>
#include <zellige/tensor/swizzle_ptr.hpp>

namespace zellige {

/// Elements of an engine (an iterator or an array) addressed by coordinates of a layout.
template <class EngineT, class LayoutT>
struct Tensor {
  using engine_type = EngineT;
  using layout_type = LayoutT;
  using iterator = typename EngineT::iterator;
  using reference = typename EngineT::reference;
  using value_type = typename EngineT::value_type;
  using element_type = typename EngineT::element_type;
  using memory = typename EngineT::memory;
  static constexpr bool tensor_tag = true;
  static constexpr int rank = LayoutT::rank;

  // The layout is the first member: for a class that ends in a member without an address, the code generator
  // of nvcc 13 computes another size than its front end and the host compiler. A kernel would then read its
  // parameters wrongly.
  [[no_unique_address]] LayoutT layout_;
  EngineT engine_;

  Tensor() = default;
  ZELLIGE_HOST_DEVICE constexpr Tensor(EngineT const& engine, LayoutT const& layout)
      : layout_(layout), engine_(engine) {}

  ZELLIGE_HOST_DEVICE constexpr Tensor const& tensor() const { return *this; }
  ZELLIGE_HOST_DEVICE constexpr EngineT& engine() { return engine_; }
  ZELLIGE_HOST_DEVICE constexpr EngineT const& engine() const { return engine_; }
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) data() { return engine_.begin(); }
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) data() const { return engine_.begin(); }
  /// Returns the layout: by value if it is static (an empty class), else by reference.
  ZELLIGE_STEP constexpr decltype(auto) layout() const {
    if constexpr (__is_empty(LayoutT))
      return LayoutT{};
    else
      return static_cast<LayoutT const&>(layout_);
  }
  template <int... I>
  ZELLIGE_HOST_DEVICE constexpr auto shape() const {
    return layout_.template shape<I...>();
  }
  template <int... I>
  ZELLIGE_HOST_DEVICE constexpr auto stride() const {
    return layout_.template stride<I...>();
  }
  ZELLIGE_HOST_DEVICE constexpr auto size() const { return product(layout_.shape()); }

  /// Returns the element at a coordinate or, if the coordinate contains `_`, the slice: a view of the modes
  /// under `_`.
  template <class Crd>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator()(Crd const& crd) {
    return at(*this, crd);
  }
  template <class Crd>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator()(Crd const& crd) const {
    return at(*this, crd);
  }
  template <class C0, class C1, class... C>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator()(C0 const& c0, C1 const& c1, C const&... c) {
    if constexpr (rank == 2 + int(sizeof...(C)))
      return at(*this, make_coord(c0, c1, c...));
    else
      return wrong_number_of_coordinates<2 + int(sizeof...(C)), rank>(), data()[0];
  }
  template <class C0, class C1, class... C>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator()(C0 const& c0, C1 const& c1, C const&... c) const {
    if constexpr (rank == 2 + int(sizeof...(C)))
      return at(*this, make_coord(c0, c1, c...));
    else
      return wrong_number_of_coordinates<2 + int(sizeof...(C)), rank>(), data()[0];
  }
  template <class Crd>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator[](Crd const& crd) {
    return at(*this, crd);
  }
  template <class Crd>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator[](Crd const& crd) const {
    return at(*this, crd);
  }

  /// Returns composition(*this, tiler) for one argument. For several arguments, composes mode i with argument
  /// i.
  template <class... T>
  ZELLIGE_HOST_DEVICE constexpr auto compose(T const&... tiler) {
    return composed(*this, tiler...);
  }
  template <class... T>
  ZELLIGE_HOST_DEVICE constexpr auto compose(T const&... tiler) const {
    return composed(*this, tiler...);
  }
  /// Returns tiled_divide(*this, tiler) for one argument. For several arguments, divides mode i by argument
  /// i.
  template <class... T>
  ZELLIGE_HOST_DEVICE constexpr auto tile(T const&... tiler) {
    return tiled(*this, tiler...);
  }
  template <class... T>
  ZELLIGE_HOST_DEVICE constexpr auto tile(T const&... tiler) const {
    return tiled(*this, tiler...);
  }

  template <integral I>
  ZELLIGE_HOST_DEVICE constexpr auto get_1d_coord(I const& index) const {
    return layout_.get_1d_coord(index);
  }
  template <integral I>
  ZELLIGE_HOST_DEVICE constexpr auto get_hier_coord(I const& index) const {
    return layout_.get_hier_coord(index);
  }
  template <integral I>
  ZELLIGE_HOST_DEVICE constexpr auto get_flat_coord(I const& index) const {
    return layout_.get_flat_coord(index);
  }

 private:
  template <class Self, class Crd>
  ZELLIGE_HOST_DEVICE static constexpr decltype(auto) at(Self& self, Crd const& crd);
  template <class Self, class T, class... Ts>
  ZELLIGE_HOST_DEVICE static constexpr auto composed(Self& self, T const& tiler, Ts const&... tilers) {
    if constexpr (sizeof...(Ts) == 0)
      return composition(self, tiler);
    else
      return composition(self, make_tile(tiler, tilers...));
  }
  template <class Self, class T, class... Ts>
  ZELLIGE_HOST_DEVICE static constexpr auto tiled(Self& self, T const& tiler, Ts const&... tilers) {
    if constexpr (sizeof...(Ts) == 0)
      return tiled_divide(self, tiler);
    else
      return tiled_divide(self, make_tile(tiler, tilers...));
  }
};
template <class E, class L>
Tensor(E const&, L const&) -> Tensor<E, L>;

/// True for tensors.
template <class T>
concept tensor_like = requires {
  remove_cvref_t<T>::tensor_tag;
};
template <class T>
struct is_tensor : bool_constant<tensor_like<T>> {};
template <class T>
inline constexpr bool is_tensor_v = tensor_like<T>;

namespace detail {
/// Returns an iterator to the first element of x.
template <class X>
ZELLIGE_HOST_DEVICE constexpr auto iterator_of(X& x) {
  return x.data();
}
/// Returns the out-of-bounds record of a tensor (overhang.hpp), or NoOverhang if it has none.
template <class X>
ZELLIGE_HOST_DEVICE constexpr auto overhang_of([[maybe_unused]] X const& x) {
  if constexpr (requires { x.engine().over; })
    return x.engine().over;
  else
    return NoOverhang{};
}
/// True if views of an iterator of type It have an out-of-bounds record.
template <class It>
inline constexpr bool remembers_overhang = is_same_v<typename ViewEngine<It>::Over, Overhang>;
template <class X>
inline constexpr bool remembers = is_same_v<decltype(overhang_of(lvalue<X const>())), Overhang>;
/// Returns a view of the elements from the iterator on, under a layout, with the out-of-bounds record `over`.
template <class It, class L, class Over>
ZELLIGE_HOST_DEVICE constexpr auto view(It const& it, L const& layout, [[maybe_unused]] Over const& over) {
  if constexpr (remembers_overhang<It> && is_same_v<Over, Overhang>)
    return Tensor<ViewEngine<It>, L>{{it, over}, layout};
  else
    return Tensor<ViewEngine<It>, L>{{it, {}}, layout};
}
/// Returns a view of all elements of x under another layout; `it` is an iterator to the first element.
template <class X, class It, class L>
ZELLIGE_HOST_DEVICE constexpr auto view_of(X const& x, It const& it, L const& layout) {
  return view(it, layout, rearranged(overhang_of(x)));
}
/// Returns a view of a slice of x at a coordinate of type Crd; `it` and `layout` are those of the slice.
template <class Crd, class X, class It, class L>
ZELLIGE_HOST_DEVICE constexpr auto view_of_part(X const& x, It const& it, L const& layout) {
  if constexpr (remembers<X>)
    return view(it, layout, Picked<Crd>::of(overhang_of(x)));
  else
    return view(it, layout, NoOverhang{});
}
/// Returns a view of modes B to E - 1 of x; `it` and `layout` are those of the result.
template <int B, int E, class X, class It, class L, int... I>
ZELLIGE_HOST_DEVICE constexpr auto view_of_modes(X const& x, It const& it, L const& layout, seq<I...>) {
  if constexpr (remembers<X>)
    return view(it, layout, kept<(I >= B && I < E)...>(overhang_of(x)));
  else
    return view(it, layout, NoOverhang{});
}
}  // namespace detail

/// Returns a view of the elements (in memory or computed) from an iterator on, under a layout.
template <dereferenceable It, layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto make_tensor(It const& it, L const& layout) {
  return Tensor<ViewEngine<It>, L>{{it, {}}, layout};
}
/// Returns a view of the elements from an iterator on, under the layout shape:stride. Without strides, the
/// layout is compact and column-major.
template <dereferenceable It, int_tuple S, class... D>
requires(sizeof...(D) <= 1) ZELLIGE_HOST_DEVICE
    constexpr auto make_tensor(It const& it, S const& shape, D const&... stride) {
  return make_tensor(it, make_layout(shape, stride...));
}
/// Returns a view of an array. The other arguments are a layout, or a shape and optional strides.
template <class T, size_t N, class A, class... B>
ZELLIGE_HOST_DEVICE constexpr auto make_tensor(T (&elements)[N], A const& a, B const&... b) {
  return make_tensor(&elements[0], a, b...);
}
/// Returns a view of shared memory under a layout whose swizzle applies to addresses (its offset is
/// smem_ptr_flag). The swizzle moves from the layout to the pointer, and replaces any swizzle that the pointer
/// has.
template <dereferenceable It, class Sw, int Bits, class L>
ZELLIGE_HOST_DEVICE constexpr auto make_tensor(It const& it,
                                               ComposedLayout<Sw, smem_ptr_flag_bits<Bits>, L> const& layout) {
  static_assert(is_smem_v<It>,
                "make_tensor(pointer, layout): a layout that waits for shared memory needs "
                "make_smem_ptr(p)");
  if constexpr (sizeof_bits_v<iter_value_t<It>> != Bits)
    the_swizzled_layout_is_for_elements_of_another_size<Algorithm::make_tensor, Bits,
                                                        sizeof_bits_v<iter_value_t<It>>>();
  return make_tensor(make_swizzle_ptr(without_swizzle(it), layout.layout_a()), layout.layout_b());
}

namespace detail {
/// Returns the layout that is passed, or the layout of the shape and strides that are passed.
template <class A, class... B>
ZELLIGE_HOST_DEVICE constexpr auto layout_from(A const& a, B const&... b) {
  if constexpr (layout_like<A>)
    return a;
  else
    return make_layout(a, b...);
}
}  // namespace detail
/// Implements make_tensor<T>(layout). Specialisations for a T that is not an element type make other tensors,
/// for example of wgmma descriptors.
template <class T>
struct MakeTensor {
  template <class A, class... B>
  ZELLIGE_OWNING ZELLIGE_HOST_DEVICE constexpr auto operator()(A const& a, B const&... b) const {
    using L = remove_cvref_t<decltype(detail::layout_from(a, b...))>;
    if constexpr (is_sparse_v<T> && is_static_v<L>)
      static_assert(size_v<L> % T::sparsity == 0,
                    "make_tensor<T>(layout): of sparse elements a multiple of the sparsity");
    static_assert(is_static_v<L>,
                  "make_tensor<T>(layout): a tensor that owns its elements needs a static layout; "
                  "this one has a run-time shape or stride");
    if constexpr (is_static_v<L>) {
      Tensor<ArrayEngine<T, int(cosize_v<L>)>, L> owning{};
      owning.engine().leave_unwritten();
      return owning;
    } else {
      return Tensor<ArrayEngine<T, 1>, Layout<Int<1>, Int<0>>>{};
    }
  }
};
/// Returns a tensor that owns its elements, which are registers in a kernel. The arguments are a layout, or a
/// shape and optional strides; they must be static.
template <class T, class A, class... B>
ZELLIGE_OWNING ZELLIGE_HOST_DEVICE constexpr auto make_tensor(A const& a, B const&... b) {
  return MakeTensor<T>{}(a, b...);
}
/// Returns a tensor that owns its elements, of type T, with the shape of x. Its layout is compact, with the
/// modes in the order of x's strides; modes of stride 0 keep stride 0.
template <class T, class X>
requires(tensor_like<X> || layout_like<X>) ZELLIGE_OWNING ZELLIGE_HOST_DEVICE
    constexpr auto make_tensor_like(X const& x) {
  return make_tensor<T>(make_layout_like(x.layout()));
}
template <tensor_like X>
ZELLIGE_OWNING ZELLIGE_HOST_DEVICE constexpr auto make_tensor_like(X const& x) {
  return make_tensor_like<typename X::value_type>(x);
}
template <tensor_like X>
ZELLIGE_OWNING ZELLIGE_HOST_DEVICE constexpr auto make_tensor(X const& x) {
  return make_tensor_like(x);
}
/// Returns a tensor that owns its elements, of type T, for a register copy of x. Mode 0 (the values of an
/// instruction) is compact and fastest, and the other modes follow in the order of their strides in x.
template <class T, class X>
ZELLIGE_OWNING ZELLIGE_HOST_DEVICE constexpr auto make_fragment_like(X const& x) {
  if constexpr (tensor_like<X>)
    return make_tensor<T>(make_fragment_like(x.layout()));
  else
    return make_tensor<T>(make_fragment_like(x));
}
template <tensor_like X>
ZELLIGE_OWNING ZELLIGE_HOST_DEVICE constexpr auto make_fragment_like(X const& x) {
  return make_fragment_like<typename X::value_type>(x);
}

/// Returns the tensor whose elements are the coordinates to which a layout with basis strides maps, starting
/// at zero.
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto make_coord_tensor(L const& layout) {
  return make_tensor(make_inttuple_iter(coprofile(layout)), layout);
}
/// Returns the tensor whose elements are the indices to which the layout maps; the same as make_coord_tensor.
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto make_counting_tensor(L const& layout) {
  return make_coord_tensor(layout);
}
/// Returns the identity tensor: the element at each coordinate is the coordinate itself.
template <int_tuple S>
ZELLIGE_HOST_DEVICE constexpr auto make_identity_tensor(S const& shape) {
  return make_coord_tensor(make_identity_layout(shape));
}

template <class EngineT, class LayoutT>
template <class Self, class Crd>
ZELLIGE_HOST_DEVICE constexpr decltype(auto) Tensor<EngineT, LayoutT>::at(Self& self, Crd const& crd) {
  if constexpr (has_underscore_v<Crd>) {
    using At = detail::misfit<Crd, remove_cvref_t<decltype(self.layout().shape())>>;
    if constexpr (At::crd != At::layout) {
      coordinate_and_layout_differ_in_rank<At::crd, At::layout>();
      return detail::view_of(self, self.data(), self.layout());  // suppresses further errors
    } else {
      auto const part = slice_and_offset(crd, self.layout());
      return detail::view_of_part<Crd>(self, self.data() + get<1>(part), get<0>(part));
    }
  } else {
    return self.data()[self.layout()(crd)];
  }
}

/// Returns the layout of a tensor, or of the nested mode that mode indices I select.
template <int... I, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto layout(X const& x) {
  return layout<I...>(x.layout());
}
/// Returns a view of the nested mode that mode indices I select, at coordinate 0 in the other modes.
template <int... I, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto tensor(X&& x) {
  if constexpr (sizeof...(I) == 0)
    return remove_cvref_t<X>(x);
  else if constexpr (sizeof...(I) == 1)
    return detail::view_of_modes<(I + ...), (I + ... + 1)>(x, detail::iterator_of(x), get<I...>(x.layout()),
                                                           make_seq<remove_cvref_t<X>::rank>{});
  else
    return detail::view(detail::iterator_of(x), get<I...>(x.layout()), NoOverhang{});
}

}  // namespace zellige
