// Defines the layout algebra for layouts whose rank and numbers are known only at run time, which are represented by
// Values. Host only.
//
//   Value a = layout_value({6, 2}, {8, 2});
//   Value r = composition(a, parse_value("(_4,_3):(_3,_1)"));   // ((_2,_2),_3):((_24,_2),_8)
//   long long i = index(r, 5);                                  // the index at linear coordinate 5
//
// A refused operation throws LayoutError; the message has the operation, its operands and the broken rule.
#pragma once
#include <initializer_list>
#include <vector>
#include <zellige/layout/algebra/tensors.hpp>
#include <zellige/layout/text.hpp>

namespace zellige {

/// Returns the result of operation op on args. Throws LayoutError if the operation is refused; `name` appears
/// in the message.
inline Value evaluate(Op op, char const* name, std::initializer_list<Value> args) {
  Tape t;
  Values v;
  for (Value const& a : args) v.push_back(a);
  Value r = apply(op, t, v);
  if (t.failed()) {
    std::string text = name;
    for (Value const& a : args) text += (&a == args.begin() ? "(" : ", ") + to_text(a);
    throw LayoutError(text + "): " + to_text(t.refusal()), t.refusal());
  }
  return r;
}

/// Returns the flat tuple of the given static numbers.
inline Value tuple_value(std::vector<long long> const& numbers) {
  Value v = empty(ValueKind::tuple);
  for (long long n : numbers) v.add(number(fixed(n)));
  return v;
}
/// Returns the flat layout shape:stride of static numbers. The overload without strides returns the compact
/// column-major layout.
inline Value layout_value(std::vector<long long> const& shape, std::vector<long long> const& stride) {
  return evaluate(Op::make_layout, "make_layout", {tuple_value(shape), tuple_value(stride)});
}
inline Value layout_value(std::vector<long long> const& shape) {
  return evaluate(Op::make_layout_left, "make_layout", {tuple_value(shape)});
}
/// Returns the compact row-major layout of a flat shape.
inline Value layout_value_right(std::vector<long long> const& shape) {
  return evaluate(Op::make_layout_right, "make_layout", {tuple_value(shape)});
}
/// Returns the layout whose modes are the given layouts.
inline Value concatenate(std::vector<Value> const& modes) {
  Value r = empty(ValueKind::layout);
  for (Value const& m : modes) r.add(m);
  return r;
}
/// Returns the swizzle Sw<bits, base, shift>.
inline Value swizzle_value(int bits, int base, int shift) { return algebra::swizzle_value({bits, base, shift}); }

// Defines one function per operation on layouts in algebra/op.hpp, named after the id of its row:
// coalesce(l), zipped_divide(l, tiler), ... These functions throw LayoutError if the operation is refused.
#define ZELLIGE_ROW(id, names, parameters, family, ...)                                                           \
  template <class... V>                                                                                           \
  requires(Family::family != Family::number && sizeof...(V) > 0 && (is_same_v<V, Value> && ...)) inline Value id( \
      V const&... operands) {                                                                                     \
    return evaluate(Op::id, #id, {operands...});                                                                  \
  }
ZELLIGE_LAYOUT_OPERATIONS(ZELLIGE_ROW)
#undef ZELLIGE_ROW
// Returns l with its modes coalesced separately: mode i of l is coalesced by mode i of the profile. Throws
// LayoutError if the profile has more modes than l.
inline Value coalesce(Value const& l, Value const& profile) {
  return evaluate(Op::coalesce_profile, "coalesce", {l, profile});
}
/// Returns the complement of l below its own cosize: a layout r such that the sums l(i) + r(j) are all
/// different and cover the integers below the cosize.
inline Value complement(Value const& l) { return evaluate(Op::complement1, "complement", {l}); }
/// Returns how many elements a copy between the two layouts can move as one vector.
inline long long max_common_vector(Value const& a, Value const& b) {
  return evaluate(Op::max_common_vector, "max_common_vector", {a, b}).root().s.v;
}
/// Returns the largest n such that l consists of vectors of n consecutive indices, and every vector starts at
/// a multiple of n.
inline long long max_alignment(Value const& l) { return evaluate(Op::max_alignment, "max_alignment", {l}).root().s.v; }
inline Value recast_layout(Value const& l, int old_bits, int new_bits) {
  return evaluate(Op::recast_layout, "recast_layout", {l, number(old_bits), number(new_bits)});
}
inline long long size(Value const& l) { return evaluate(Op::size, "size", {l}).root().s.v; }
inline long long cosize(Value const& l) { return evaluate(Op::cosize, "cosize", {l}).root().s.v; }

/// Returns the index that the layout l gives a coordinate: a Value, a linear coordinate, or a list of
/// numbers. Throws LayoutError if l maps to coordinates, not integers.
inline long long index(Value const& l, Value const& crd) {
  Value const at = evaluate(Op::layout_call, "index", {l, crd});
  if (at.is_number() && at.root().e == 0) return at.root().s.v;
  Refusal const why{Rule::integer_index, at.rank(), 1};
  throw LayoutError("index(" + to_text(l) + ", " + to_text(crd) + "): " + to_text(why), why);
}
inline long long index(Value const& l, long long i) { return index(l, number(i)); }
inline long long index(Value const& l, std::vector<long long> const& crd) { return index(l, tuple_value(crd)); }
/// Evaluates one layout at many linear indices without building a Value per call. Throws LayoutError for a
/// layout that maps to coordinates.
class Indexer {
 public:
  explicit Indexer(Value const& l) : at_(l) {
    if (at_.integers()) return;
    through_coordinates_ = l;
    index(l, 0);  // refuses a layout that maps to coordinates
  }
  long long operator()(long long i) const { return at_.integers() ? at_(i) : index(through_coordinates_, i); }

 private:
  algebra::Function at_;
  Value through_coordinates_;
};

}  // namespace zellige
