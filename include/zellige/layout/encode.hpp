// From types to a value, the operand of the algebra. The leaves of a Layout type become those of a tree in
// preorder; a run-time leaf becomes the number of its input.
#pragma once
#include <zellige/layout/algebra/operation.hpp>
#include <zellige/layout/basis.hpp>
#include <zellige/layout/composed.hpp>

namespace zellige {

/// The offset of a composed layout in shared memory, to be filled in: elements of this many bits.
template <int B>
struct smem_ptr_flag_bits : Int<0> {
  static constexpr int flag_bits = B;
};
using smem_ptr_flag = smem_ptr_flag_bits<1>;

namespace detail {

/// True if a run-time number of this type needs 64 bits.
template <class T>
inline constexpr bool is_wide_type = sizeof(T) > 4 || (T(-1) > T(0) && sizeof(T) == 4);

// Writes the arguments of an operation, one node after another. Run-time leaves are numbered as they are
// met; `wide` marks those of 64 bits. A layout is written in two passes over its nodes: shape, then stride.
class Encoder {
 public:
  ZELLIGE_ALGEBRA constexpr Encoder(int args_expected = 0) { args.reserve(args_expected); }
  ZELLIGE_ALGEBRA constexpr void put(bool b) { leaf(ValueKind::boolean, fixed(b)); }
  ZELLIGE_ALGEBRA constexpr void put(int n) { leaf(ValueKind::number, fixed(n)); }
  ZELLIGE_ALGEBRA constexpr void put(long long n) { leaf(ValueKind::number, fixed(n)); }
  ZELLIGE_ALGEBRA constexpr void put(auto n) { leaf(ValueKind::number, fixed(static_cast<long long>(n))); }
  ZELLIGE_ALGEBRA constexpr void input(bool is_wide) {
    if (is_wide) wide_ |= 1ULL << inputs_;
    leaf(ValueKind::number, expression(inputs_++));
  }
  ZELLIGE_ALGEBRA constexpr void node(ValueNode const& n) { v_.nodes.push_back(n); }
  ZELLIGE_ALGEBRA constexpr void open(ValueKind kind, int kids) {
    if (part_ == Part::stride)
      ++at_;
    else
      v_.nodes.push_back({kids, part_ == Part::shape ? ValueKind::layout : kind, {}, {}, 0});
  }
  /// Sets the basis element of the number just written.
  ZELLIGE_ALGEBRA constexpr void basis(int inner) {
    ValueNode& n = part_ == Part::stride ? v_.nodes[at_ - 1] : v_.nodes.back();
    n.e = extend(n.e, inner);
  }
  ZELLIGE_ALGEBRA constexpr void shape() {
    part_ = Part::shape;
    at_ = v_.nodes.size();
  }
  ZELLIGE_ALGEBRA constexpr void stride() { part_ = Part::stride; }
  ZELLIGE_ALGEBRA constexpr void end() { part_ = Part::number; }
  /// Completes the argument.
  ZELLIGE_ALGEBRA constexpr void take() {
    args.push_back(static_cast<Value&&>(v_));
    v_ = Value{};
  }
  /// Returns what was written since the last call.
  ZELLIGE_ALGEBRA constexpr Value taken() {
    Value v = static_cast<Value&&>(v_);
    v_ = Value{};
    return v;
  }
  ZELLIGE_ALGEBRA constexpr int inputs() const { return inputs_; }
  ZELLIGE_ALGEBRA constexpr bool is_wide(int i) const { return (wide_ >> i & 1) != 0; }

  Values args;

 private:
  enum class Part : signed char { number, shape, stride };
  ZELLIGE_ALGEBRA constexpr void leaf(ValueKind kind, Num n) {
    if (part_ == Part::stride) {
      v_.nodes[at_++].d = n;
      return;
    }
    v_.nodes.push_back({-1, part_ == Part::shape ? ValueKind::layout : kind, n, {}, 0});
  }
  Value v_;
  int at_ = 0;
  int inputs_ = 0;
  unsigned long long wide_ = 0;
  Part part_ = Part::number;
};

template <class T>
struct encode;
template <auto v>
struct encode<C<v>> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) { e.put(v); }
};
template <dynamic_integer T>
struct encode<T> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) { e.input(is_wide_type<T>); }
};
template <>
struct encode<Underscore> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) { e.node({-1, ValueKind::underscore, {}, {}, 0}); }
};
// Static numbers, the elements of most tuples, need no function each.
template <auto... v>
struct encode<tuple<C<v>...>> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) {
    e.open(ValueKind::tuple, int(sizeof...(v)));
    (e.put(v), ...);
  }
};
template <class... T>
struct encode<tuple<T...>> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) {
    e.open(ValueKind::tuple, int(sizeof...(T)));
    (encode<T>::into(e), ...);
  }
};
/// A sequence is a tuple of its numbers.
template <class T, T... v>
struct encode<integer_sequence<T, v...>> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) {
    e.open(ValueKind::tuple, int(sizeof...(v)));
    (encode<C<v>>::into(e), ...);
  }
};
template <class... T>
struct encode<ArithmeticTuple<T...>> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) {
    e.open(ValueKind::arithmetic, int(sizeof...(T)));
    (encode<T>::into(e), ...);
  }
};
template <class T, int... N>
struct encode<ScaledBasis<T, N...>> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) {
    encode<T>::into(e);
    (e.basis(N), ...);
  }
};
template <class S, class D>
struct encode<Layout<S, D>> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) {
    e.shape();
    encode<S>::into(e);
    e.stride();
    encode<D>::into(e);
    e.end();
  }
};
template <auto... s, auto... d>
struct encode<Layout<tuple<C<s>...>, tuple<C<d>...>>> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) {
    e.open(ValueKind::layout, int(sizeof...(s)));
    (e.node({-1, ValueKind::layout, fixed(s), fixed(d), 0}), ...);
  }
};
template <int B, int M, int S>
struct encode<Swizzle<B, M, S>> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) {
    e.node({-1, ValueKind::swizzle, fixed(B), fixed(M), S});
  }
};
template <int B>
struct encode<smem_ptr_flag_bits<B>> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) { e.node({-1, ValueKind::flag, fixed(B), {}, 0}); }
};
template <class A, class O, class B>
struct encode<ComposedLayout<A, O, B>> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) {
    e.open(ValueKind::composed, 3);
    encode<A>::into(e);
    encode<O>::into(e);
    encode<B>::into(e);
  }
};

template <class T>
struct encode_type {
  ZELLIGE_ALGEBRA static constexpr Value make(Encoder& e) {
    encode<T>::into(e);
    return e.taken();
  }
};

}  // namespace detail
}  // namespace zellige
