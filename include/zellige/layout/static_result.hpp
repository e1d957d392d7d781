// Converts the result of a layout operation on static arguments to a type. Most layout expressions need only this
// conversion, so it dominates compile time. To keep it fast, the result is stored in a small constant (StaticResult),
// from which the type is built with few class templates and no function calls.
#pragma once
#include <zellige/layout/encode.hpp>

namespace zellige::detail {

/// The kind of a static result; `other` means that the result has no compact form here and is handled by
/// plan.hpp.
enum class Outcome : signed char { layout, number, boolean, refused, other };

// The nesting of a layout in 4 bits per node, in preorder: 0 for a leaf, else the number of modes plus one.
struct TreeCode {
  unsigned long long low = 0;
  unsigned long long high = 0;
  ZELLIGE_ALGEBRA constexpr int digit(int node) const {
    return int((node < 16 ? low >> 4 * node : high >> 4 * (node - 16)) & 15);
  }
};

/// The result of an operation on static arguments, if it is a layout of at most 32 nodes and 24 leaves, a
/// number or a truth value.
struct StaticResult {
  static constexpr int nodes_max = 32;
  static constexpr int leaves_max = 24;
  Outcome outcome = Outcome::other;
  Refusal refusal;
  TreeCode tree;
  int n[2 * leaves_max];  // shape and stride of each leaf
};

/// Converts the result v of an operation to a StaticResult, which can hold a number, a truth value or a small
/// layout. If the operation was refused, returns the refusal (the broken rule) that the tape t has recorded.
/// The result's `outcome` is Outcome::other if v does not fit.
ZELLIGE_ALGEBRA constexpr StaticResult static_result(Value const& v, Tape const& t) {
  StaticResult r{};
  r.refusal = t.refusal();
  if (t.failed()) {
    r.outcome = Outcome::refused;
    return r;
  }
  if (v.is_leaf() && v.root().s.is_static() && fits_int(v.root().s.v) && v.root().e == 0) {
    if (v.is(ValueKind::number)) r.outcome = Outcome::number;
    if (v.is(ValueKind::boolean)) r.outcome = Outcome::boolean;
    r.n[0] = int(v.root().s.v);
  }
  if (!v.is_layout() || v.nodes.size() > StaticResult::nodes_max) return r;
  int leaves = 0;
  int node = 0;
  for (ValueNode const& n : v.nodes) {
    if (n.kids < 0) {
      if (leaves == StaticResult::leaves_max || n.e != 0 || !fits_int(n.s.v) || !fits_int(n.d.v)) return r;
      r.n[2 * leaves] = int(n.s.v);
      r.n[2 * leaves + 1] = int(n.d.v);
      ++leaves;
    } else {
      if (n.kids > 14) return r;
      unsigned long long const digit = static_cast<unsigned long long>(n.kids + 1);
      if (node < 16)
        r.tree.low |= digit << 4 * node;
      else
        r.tree.high |= digit << 4 * (node - 16);
    }
    ++node;
  }
  r.outcome = Outcome::layout;
  return r;
}

/// Returns the result of operation op on static arguments of the types T as a StaticResult, which can hold a
/// number, a truth value, a small layout or a refusal.
template <auto op, class... T>
ZELLIGE_ALGEBRA constexpr StaticResult static_result() {
  Encoder e(sizeof...(T));
  ((encode<T>::into(e), e.take()), ...);
  if (e.foreign() > 0) return {Outcome::refused, {Rule::foreign_operand, e.foreign(), int(sizeof...(T))}, {}, {}};
  Tape t(0);
  Value const r = apply(op, t, e.args);
  return static_result(r, t);
}

template <auto op, class... T>
struct static_plan {
  static constexpr StaticResult value = static_result<op, T...>();
  static constexpr Outcome outcome = value.outcome;
};

// The nesting as a type, in which each leaf is the number of its position: ((a, b), c) is branch<leaves_at<0,
// 1>, leaf_at<2>>.
template <int I>
struct leaf_at;
template <int... I>
struct leaves_at;
template <class... T>
struct branch;

/// Returns the index of the node that follows, in preorder, the subtree of node number `node`.
ZELLIGE_ALGEBRA constexpr int node_after(TreeCode t, int node) {
  for (int open = 1; open > 0; ++node) {
    int const d = t.digit(node);
    open += (d > 0 ? d - 1 : 0) - 1;
  }
  return node;
}
/// Returns the index of the i-th child of node number `node`.
ZELLIGE_ALGEBRA constexpr int child_of(TreeCode t, int node, int i) {
  int at = node + 1;
  for (; i > 0; --i) at = node_after(t, at);
  return at;
}
/// Returns the number of leaves that precede node number `node` in preorder.
ZELLIGE_ALGEBRA constexpr int leaves_before(TreeCode t, int node) {
  int n = 0;
  for (int i = 0; i < node; ++i) n += t.digit(i) == 0;
  return n;
}
/// The form of a subtree: a leaf, a node with only leaves below it, or a deeper tree.
enum class Form : signed char { leaf, flat, deep };
ZELLIGE_ALGEBRA constexpr Form form_of(TreeCode t, int node) {
  if (t.digit(node) == 0) return Form::leaf;
  for (int i = t.digit(node) - 1; i > 0; --i) {
    if (t.digit(node + i) != 0) return Form::deep;
  }
  return Form::flat;
}
template <unsigned long long low, unsigned long long high, int node, Form form, class S>
struct tree_type;
template <unsigned long long low, unsigned long long high, int node>
struct tree_from {
  static constexpr int digit = TreeCode{low, high}.digit(node);
  using type =
      typename tree_type<low, high, node, form_of({low, high}, node), make_seq<(digit > 0 ? digit - 1 : 0)>>::type;
};
template <unsigned long long low, unsigned long long high, int node>
struct tree_type<low, high, node, Form::leaf, seq<>> {
  using type = leaf_at<leaves_before({low, high}, node)>;
};
template <unsigned long long low, unsigned long long high, int node, int... I>
struct tree_type<low, high, node, Form::flat, seq<I...>> {
  using type = leaves_at<(leaves_before({low, high}, node) + I)...>;
};
template <unsigned long long low, unsigned long long high, int node, int... I>
struct tree_type<low, high, node, Form::deep, seq<I...>> {
  using type = branch<typename tree_from<low, high, child_of({low, high}, node, I)>::type...>;
};

// The shape and stride types of a nesting, filled with the numbers of result P.
template <class P, class Tree>
struct filled;
template <class P, int I>
struct filled<P, leaf_at<I>> {
  using shape = C<P::value.n[2 * I]>;
  using stride = C<P::value.n[2 * I + 1]>;
};
template <class P, int... I>
struct filled<P, leaves_at<I...>> {
  using shape = tuple<C<P::value.n[2 * I]>...>;
  using stride = tuple<C<P::value.n[2 * I + 1]>...>;
};
template <class P, class... T>
struct filled<P, branch<T...>> {
  using shape = tuple<typename filled<P, T>::shape...>;
  using stride = tuple<typename filled<P, T>::stride...>;
};
template <class P>
struct static_layout {
  using parts = filled<P, typename tree_from<P::value.tree.low, P::value.tree.high, 0>::type>;
  using type = Layout<typename parts::shape, typename parts::stride>;
};

}  // namespace zellige::detail
