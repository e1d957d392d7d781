// Defines MMA_Traits and MMA_Atom, as in CuTe: a matrix instruction with its shape, element types and thread-value
// layouts as types.
//
//   using Traits = MMA_Traits<SM80_16x8x16_F32F16F16F32_TN>;
//   Traits::Shape_MNK{}                                     (_16,_8,_16)
//   Traits::CLayout{}                                       ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))
//   MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>{}.call(d, a, b, c)
//
// There is no specialization per instruction. The instruction's name is parsed into an MmaRow (mma_traits/row.hpp),
// which has the shape and the types, and the layouts are computed from the MmaRow.
#pragma once

#include <zellige/atom/gmma.hpp>
#include <zellige/atom/mma_traits/universal.hpp>
#include <zellige/atom/number_type.hpp>
#include <zellige/atom/tiled_plan.hpp>
#include <zellige/tensor.hpp>
#if !defined(__CUDACC_RTC__)  // with NVRTC, mma_call.hpp includes the names of warp instructions, to save headers
#include <zellige/atom/mma_traits/composed.hpp>
#endif

namespace zellige {
namespace detail {

/// Returns the descriptor (shape, types, issuing threads) of instruction type Op. This is Op::row() if that exists,
/// otherwise the descriptor that find_mma parses from Op::name. The result converts to false if Op has neither member,
/// or if the name is unknown.
template <class Op>
ZELLIGE_ALGEBRA constexpr MmaRow row_of() {
  if constexpr (requires { Op::row(); })
    return Op::row();
  else if constexpr (requires { Op::name; })
    return find_mma(Op::name);
  else
    return {};
}
template <class Op>
struct mma_row_of {
  static constexpr MmaRow value = row_of<Op>();
};
template <class Op, MmaPart part>
struct mma_layout_of {
  static constexpr auto value = planned<16>(algebra::mma_layout(mma_row_of<Op>::value, part));
};
template <class Op, MmaPart part>
using mma_layout_t = planned_layout<mma_layout_of<Op, part>>;

}  // namespace detail

/// Traits of a matrix instruction, as CuTe's MMA_Traits: element types, shape, and the layouts that map (thread,
/// value) to a coordinate of A (M,K), B (N,K) and C (M,N). Refuses to compile if Op is no known instruction.
template <class Op, class... Args>
struct MMA_Traits {
  static_assert(bool(detail::mma_row_of<Op>::value),
                "MMA_Traits<Op>: the tables have no such instruction, or its header is not included (atom/umma.hpp, "
                "narrow_mma_call.hpp)");
  using ValTypeD = number_t<detail::mma_row_of<Op>::value.d>;
  using ValTypeA = number_t<detail::mma_row_of<Op>::value.a>;
  using ValTypeB = number_t<detail::mma_row_of<Op>::value.b>;
  using ValTypeC = number_t<detail::mma_row_of<Op>::value.c>;

  using Shape_MNK = Shape<Int<detail::mma_row_of<Op>::value.m>, Int<detail::mma_row_of<Op>::value.n>,
                          Int<detail::mma_row_of<Op>::value.k>>;
  using ThrID = detail::mma_layout_t<Op, MmaPart::threads>;
  using ALayout = detail::mma_layout_t<Op, MmaPart::a>;
  using BLayout = detail::mma_layout_t<Op, MmaPart::b>;
  using CLayout = detail::mma_layout_t<Op, MmaPart::c>;
  using Operation = Op;
};

/// Traits of a warpgroup instruction (wgmma). Fragments of shared-memory operands are descriptors (FrgTypeA,
/// FrgTypeB). `accumulate_` chooses between d = a b (Zero) and d += a b (One).
template <SM90::GMMA::warpgroup_operation Op>
struct MMA_Traits<Op> {
  using Operation = Op;
  using ValTypeD = typename Op::TypeD;
  using ValTypeA = typename Op::TypeA;
  using ValTypeB = typename Op::TypeB;
  using ValTypeC = ValTypeD;
  using FrgTypeA = conditional_t<Op::a_registers, ValTypeA, SM90::GMMA::smem_desc<Op::a_major>>;
  using FrgTypeB = SM90::GMMA::smem_desc<Op::b_major>;

  using Shape_MNK = Shape<_64, Int<Op::n>, Int<Op::k>>;
  using ThrID = Layout<_128>;
  using ALayout = detail::mma_layout_t<Op, MmaPart::a>;
  using BLayout = detail::mma_layout_t<Op, MmaPart::b>;
  using CLayout = detail::mma_layout_t<Op, MmaPart::c>;

  SM90::GMMA::ScaleOut accumulate_ = SM90::GMMA::ScaleOut::One;
};

template <class D, class A, class B, class C>
struct MMA_Traits<UniversalFMA<D, A, B, C>> {
  using Operation = UniversalFMA<D, A, B, C>;
  using ValTypeD = D;
  using ValTypeA = A;
  using ValTypeB = B;
  using ValTypeC = C;
  using Shape_MNK = Shape<_1, _1, _1>;
  using ThrID = Layout<_1>;
  using ALayout = Layout<Shape<_1, _1>>;
  using BLayout = Layout<Shape<_1, _1>>;
  using CLayout = Layout<Shape<_1, _1>>;
};

template <class Fragment, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto make_descriptor_tensor(X const& x);  // gmma_descriptor.hpp
template <SM90::GMMA::Major major>
struct MakeTensor<SM90::GMMA::smem_desc<major>> {
  template <tensor_like X>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(X const& x) const {
    return make_descriptor_tensor<SM90::GMMA::smem_desc<major>>(x);
  }
};

namespace detail {
// fragment_a, fragment_b: the element type of an operand's fragment. It is Traits::FrgType* if that exists, such as a
// shared-memory descriptor, else the operand's value type.
template <class Traits>
struct fragment_a {
  using type = typename Traits::ValTypeA;
};
template <class Traits>
requires requires { typename Traits::FrgTypeA; }
struct fragment_a<Traits> {
  using type = typename Traits::FrgTypeA;
};
template <class Traits>
struct fragment_b {
  using type = typename Traits::ValTypeB;
};
template <class Traits>
requires requires { typename Traits::FrgTypeB; }
struct fragment_b<Traits> {
  using type = typename Traits::FrgTypeB;
};
/// The element type of an accumulator's fragment, likewise. An empty type marks an accumulator in tensor memory.
template <class Traits>
struct fragment_c {
  using type = typename Traits::ValTypeC;
};
template <class Traits>
requires requires { typename Traits::FrgTypeC; }
struct fragment_c<Traits> {
  using type = typename Traits::FrgTypeC;
};
template <class T>
inline constexpr auto major_of = SM90::GMMA::Major::K;
template <SM90::GMMA::Major major>
inline constexpr auto major_of<SM90::GMMA::smem_desc<major>> = major;
}  // namespace detail

/// A matrix instruction with its traits, as CuTe's MMA_Atom: calls the instruction on fragments and makes fragments.
template <class... Args>
struct MMA_Atom;
template <class Op>
struct MMA_Atom<Op> : MMA_Atom<MMA_Traits<Op>> {};

template <class Op, class... Args>
struct MMA_Atom<MMA_Traits<Op, Args...>> : MMA_Traits<Op, Args...> {
  using MMA_Op = Op;
  using Traits = MMA_Traits<Op, Args...>;
  using ValTypeD = typename Traits::ValTypeD;
  using ValTypeA = typename Traits::ValTypeA;
  using ValTypeB = typename Traits::ValTypeB;
  using ValTypeC = typename Traits::ValTypeC;
  using Shape_MNK = typename Traits::Shape_MNK;
  using ThrID = typename Traits::ThrID;
  using LayoutC_TV = typename Traits::CLayout;
  using LayoutA_TV = typename Traits::ALayout;
  using LayoutB_TV = typename Traits::BLayout;
  using FrgTypeD = typename detail::fragment_c<Traits>::type;
  using FrgTypeA = typename detail::fragment_a<Traits>::type;
  using FrgTypeB = typename detail::fragment_b<Traits>::type;
  using FrgTypeC = typename detail::fragment_c<Traits>::type;

  ZELLIGE_HOST_DEVICE constexpr Traits const& traits() const { return *this; }

  /// Returns a copy of this atom with the accumulation flag `argument`: with(GMMA::ScaleOut::Zero) computes d = a b in place of
  /// d += a b. Atoms whose traits have a `with` of their own take what it takes: scales and metadata in tensor memory.
  template <class... A>
  ZELLIGE_HOST_DEVICE constexpr auto with(A const&... argument) const {
    if constexpr (sizeof...(A) == 1 && (is_same_v<A, SM90::GMMA::ScaleOut> && ...)) {
      MMA_Atom atom = *this;
      ((atom.accumulate_ = argument), ...);
      return atom;
    } else {
      auto const with_arguments = Traits::with(argument...);
      return MMA_Atom<remove_cvref_t<decltype(with_arguments)>>{with_arguments};
    }
  }

  /// Computes d = a * b + c with one instruction. Each argument is a fragment of rank 1, whose i-th element is the
  /// thread's i-th value in the instruction's layout.
  ZELLIGE_CALLS_BACK
  template <tensor_like D, tensor_like A, tensor_like B, tensor_like C>
  ZELLIGE_HOST_DEVICE constexpr void call(D&& d, A const& a, B const& b, C const& c) const {
    static_assert(remove_cvref_t<D>::rank == 1 && A::rank == 1 && B::rank == 1 && C::rank == 1,
                  "MMA_Atom::call(D, A, B, C): tensors of rank 1, the values of one instruction");
    mma_unpack(traits(), d, a, b, c);
  }
  /// Computes c += a * b with one instruction. Each argument is a fragment of rank 1.
  ZELLIGE_CALLS_BACK
  template <tensor_like A, tensor_like B, tensor_like C>
  ZELLIGE_HOST_DEVICE constexpr void call(A const& a, B const& b, C&& c) const {
    call(c, a, b, c);
  }

  /// Returns an uninitialised register tensor with the shape of `c`: a tensor from partition_C, its layout or its shape.
  template <class C>
  ZELLIGE_HOST_DEVICE static constexpr auto make_fragment_C(C&& c) {
    require_partition<C, LayoutC_TV>();
    return make_accumulator(shape(c));
  }
  /// Returns the fragment for `a`, a tensor from partition_A, its layout or its shape: an uninitialised register tensor of the same shape or,
  /// for a shared-memory operand of wgmma, a tensor of descriptors of `a`.
  template <class A>
  ZELLIGE_HOST_DEVICE static constexpr auto make_fragment_A(A&& a) {
    require_partition<A, LayoutA_TV>();
    return make_operand<FrgTypeA, typename Traits::ValTypeA>(a);
  }
  /// Returns the fragment for `b`, a tensor from partition_B: an uninitialised register tensor of the same shape or,
  /// for a shared-memory operand of wgmma, a tensor of descriptors of `b`.
  template <class B>
  ZELLIGE_HOST_DEVICE static constexpr auto make_fragment_B(B&& b) {
    require_partition<B, LayoutB_TV>();
    return make_operand<FrgTypeB, typename Traits::ValTypeB>(b);
  }
  /// Returns an uninitialised register tensor of this shape, which a thread's part of an accumulator has.
  template <class S>
  ZELLIGE_HOST_DEVICE static constexpr auto make_accumulator(S const& shape) {
    if constexpr (requires { typename FrgTypeC::tensor_memory_tag; })
      return FrgTypeC::make(shape);
    else
      return make_register_accumulator(shape);
  }

 private:
  /// A FrgTypeC without members is no number: it marks an accumulator in tensor memory, which MakeTensor makes.
  template <class S>
  ZELLIGE_HOST_DEVICE static constexpr auto make_register_accumulator(S const& shape) {
    if constexpr (__is_empty(FrgTypeC))
      return MakeTensor<FrgTypeC>{}(shape);
    else
      return make_tensor<FrgTypeC>(shape);
  }
  /// Fails to compile unless X has the modes of a partition: (V, M, K), (V, N, K) or (V, M, N). TV is the
  /// instruction's layout of the operand, and V must have the number of values that TV gives to a thread.
  template <class X, class TV>
  ZELLIGE_HOST_DEVICE static constexpr void require_partition() {
    static_assert(decltype(rank(detail::lvalue<remove_cvref_t<X> const>()))::value >= 3,
                  "make_fragment_A, _B, _C(part): a part as partition_A, _B and _C give it, (V, M, K)");
    static_assert(!detail::clash<remove_cvref_t<decltype(size<0>(detail::lvalue<remove_cvref_t<X> const>()))>,
                                 remove_cvref_t<decltype(size<1>(TV{}))>>,
                  "make_fragment_A, _B, _C(part): its first mode has other values than the instruction takes");
  }
  template <class Fragment, class T, class X>
  ZELLIGE_HOST_DEVICE static constexpr auto make_operand(X const& x) {
    // A register fragment may be copied from elements of any type. A descriptor's tile must have elements of the
    // instruction's size.
    if constexpr (requires { typename Fragment::tensor_memory_tag; }) {
      return Fragment::make(shape(x));
    } else if constexpr (requires(Fragment const& f) { *f; }) {
      static_assert(sizeof_bits_v<typename X::value_type> == sizeof_bits_v<T>,
                    "make_fragment_A, _B(part): its elements have another size than the instruction's");
      return make_tensor<Fragment>(x);
    } else {
      return make_fragment_like<Fragment>(x);
    }
  }
};

}  // namespace zellige
