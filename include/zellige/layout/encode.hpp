// Converts Layout, tuple and number types to a Value, the tree on which the algebra computes (algebra/value.hpp).
// Static numbers are copied; each run-time number becomes a reference to an input of the tape, which records
// arithmetic for run time (algebra/tape.hpp).
#pragma once
#include <zellige/layout/algebra/operation.hpp>
#include <zellige/layout/basis.hpp>
#include <zellige/layout/composed.hpp>

namespace zellige {

/// The offset of a composed layout whose swizzle applies to the address of a shared-memory pointer that is
/// set later (CuTe's smem_ptr_flag). B is the element size in bits. Used as a number, the offset is 0.
template <int B>
struct smem_ptr_flag_bits : Int<0> {
  static constexpr int flag_bits = B;
};
using smem_ptr_flag = smem_ptr_flag_bits<1>;

namespace detail {

/// True if numbers of this built-in type need 64 bits: 64-bit types and unsigned int.
template <class T>
inline constexpr bool is_wide_type = sizeof(T) > 4 || (T(-1) > T(0) && sizeof(T) == 4);

// Writes the arguments of an operation as Values, node after node. Run-time leaves are numbered in order, and
// `wide` marks those of 64 bits. A layout is written in two passes over its nodes: its shape, then its
// strides.
class Encoder {
 public:
  ZELLIGE_ALGEBRA constexpr Encoder(int args_expected = 0) { args.reserve(args_expected); }
  ZELLIGE_ALGEBRA constexpr void put(bool b) { leaf(ValueKind::boolean, fixed(b)); }
  ZELLIGE_ALGEBRA constexpr void put(int n) { leaf(ValueKind::number, fixed(n)); }
  ZELLIGE_ALGEBRA constexpr void put(long long n) { leaf(ValueKind::number, fixed(n)); }
  ZELLIGE_ALGEBRA constexpr void put(auto n) { leaf(ValueKind::number, fixed(static_cast<long long>(n))); }
  /// Writes a run-time number, as a reference to the next input of the Tape (the record of the arithmetic that
  /// is left for run time). `is_wide`: the number needs 64 bits.
  ZELLIGE_ALGEBRA constexpr void input(bool is_wide) {
    if (is_wide) wide_ |= 1ULL << inputs_;
    leaf(ValueKind::number, expression(inputs_++));
  }
  ZELLIGE_ALGEBRA constexpr void node(ValueNode const& n) { v_.nodes.push_back(n); }
  /// Starts a node with `kids` children, which are written next.
  ZELLIGE_ALGEBRA constexpr void open(ValueKind kind, int kids) {
    if (part_ == Part::stride)
      ++at_;
    else
      v_.nodes.push_back({kids, part_ == Part::shape ? ValueKind::layout : kind, {}, {}, 0});
  }
  /// Appends a mode index to the basis element by which the number written last is multiplied.
  ZELLIGE_ALGEBRA constexpr void basis(int inner) {
    ValueNode& n = part_ == Part::stride ? v_.nodes[at_ - 1] : v_.nodes.back();
    n.e = extend(n.e, inner);
  }
  /// Starts the first pass over a layout, in which its shape is written.
  ZELLIGE_ALGEBRA constexpr void shape() {
    part_ = Part::shape;
    at_ = v_.nodes.size();
  }
  /// Starts the second pass over a layout, in which its strides are written.
  ZELLIGE_ALGEBRA constexpr void stride() { part_ = Part::stride; }
  /// Ends a layout: numbers written next are no longer part of it.
  ZELLIGE_ALGEBRA constexpr void end() { part_ = Part::number; }
  /// Ends an argument of the operation: appends the value written since the last take() or taken() to `args`.
  ZELLIGE_ALGEBRA constexpr void take() {
    args.push_back(static_cast<Value&&>(v_));
    v_ = Value{};
  }
  /// Returns the value written since the last call of take() or taken(), without appending it to `args`.
  ZELLIGE_ALGEBRA constexpr Value taken() {
    Value v = static_cast<Value&&>(v_);
    v_ = Value{};
    return v;
  }
  /// Records that the argument written is neither a layout, nor a tuple, nor a number.
  ZELLIGE_ALGEBRA constexpr void put_foreign() {
    if (foreign_ == 0) foreign_ = args.size() + 1;
    put(0);
  }
  /// Returns the number of the first argument that has no value here, counted from 1; 0 if all have one.
  ZELLIGE_ALGEBRA constexpr int foreign() const { return foreign_; }
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
  int foreign_ = 0;
  unsigned long long wide_ = 0;
  Part part_ = Part::number;
};

/// encode<T>::into(e) writes a value of type T. This one is for types that are no operands of the algebra, such as tensors.
template <class T>
struct encode {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) { e.put_foreign(); }
};
template <auto v>
struct encode<C<v>> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) { e.put(v); }
};
template <dynamic_integer T>
struct encode<T> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) { e.input(is_wide_type<T>); }
};
template <user_integer T>
struct encode<T> : encode<decltype(+*static_cast<T const*>(nullptr))> {};
template <>
struct encode<Underscore> {
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) { e.node({-1, ValueKind::underscore, {}, {}, 0}); }
};
// One specialisation for tuples of static numbers, the most frequent ones, saves a function per element.
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
/// An integer sequence is a tuple of its numbers.
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
  ZELLIGE_ALGEBRA static constexpr void into(Encoder& e) { e.node({-1, ValueKind::swizzle, fixed(B), fixed(M), S}); }
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

/// encode_type<T>::make(e) returns the type T as a Value, a tree of nodes.
template <class T>
struct encode_type {
  ZELLIGE_ALGEBRA static constexpr Value make(Encoder& e) {
    encode<T>::into(e);
    return e.taken();
  }
};

}  // namespace detail
}  // namespace zellige
