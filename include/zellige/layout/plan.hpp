// Computes in the compiler what can be computed there of an operation of the layout algebra, which is written on Values
// (algebra/value.hpp).
//
// plan<op, T...>::value is the outcome for argument types T: the tree of the result, whose numbers are static or refer to
// expressions, and the list of these expressions over the run-time leaves of the arguments. invoke.hpp executes it.
#pragma once
#include <zellige/layout/encode.hpp>
#include <zellige/layout/refusal.hpp>

namespace zellige {

namespace detail {

// What the compiler keeps of an operation's result: the nodes of the result's tree and the expressions
// (steps), up to fixed numbers of both. Small, because nvcc spends memory on every plan.
template <int nodes_max, int steps_max>
struct Planned {
  int node_count = 0;
  int step_count = 0;
  int inputs = 0;
  Refusal refusal;
  ValueNode nodes[nodes_max] = {};
  TapeStep steps[steps_max] = {};
  bool is_wide[steps_max] = {};
};

/// Writes the outcome of an operation on layouts to the plan p. If the operation is refused, that is the
/// refusal (the broken rule), which the tape has recorded. Otherwise it is the nodes of the tree `result`,
/// the steps that the tape has recorded (expressions and checks to compute at run time), and which of them
/// need 64 bits. `e` is the encoder that numbered the run-time inputs, and knows their widths. Nodes and
/// steps beyond the capacity of p are dropped, but p.node_count and p.step_count include them;
/// invoke_general then selects a larger plan.
template <int nodes_max, int steps_max>
ZELLIGE_ALGEBRA constexpr void write_plan(Planned<nodes_max, steps_max>& p, Encoder const& e, Tape const& tape,
                                          Value const& result) {
  p.refusal = tape.refusal();
  p.inputs = e.inputs();
  if (tape.failed()) return;
  p.node_count = result.nodes.size();
  p.step_count = tape.steps().size();
  for (int i = 0; i < p.node_count && i < nodes_max; ++i) p.nodes[i] = result.nodes[i];
  for (int i = 0; i < p.step_count && i < steps_max; ++i) {
    TapeStep const& s = tape.steps()[i];
    p.steps[i] = s;
    auto wide = [&](Num n) { return n.is_static() ? !fits_int(n.v) : p.is_wide[n.id - 1]; };
    p.is_wide[i] = s.op == Arith::input ? e.is_wide(i) : (wide(s.a) || wide(s.b));
  }
}
/// Returns the plan of operation op on arguments of the types T: the tree of the result, and the expressions
/// that remain to be computed at run time. A refused operation gives a plan with the refusal.
template <int nodes_max, int steps_max, auto op, class... T>
ZELLIGE_ALGEBRA constexpr Planned<nodes_max, steps_max> make_plan() {
  Encoder e(sizeof...(T));
  ((encode<T>::into(e), e.take()), ...);
  Planned<nodes_max, steps_max> p;
  if (e.foreign() > 0) {
    p.refusal = {Rule::foreign_operand, e.foreign(), int(sizeof...(T))};
    return p;
  }
  Tape tape(e.inputs());
  Value const result = apply(op, tape, e.args);
  write_plan(p, e, tape, result);
  return p;
}

/// A plan of at most 12 nodes and 8 expressions; big_plan and huge_plan have more capacity.
template <auto op, class... T>
struct plan {
  static constexpr auto value = make_plan<12, 8, op, T...>();
};
template <auto op, class... T>
struct big_plan {
  static constexpr auto value = make_plan<48, 64, op, T...>();
};
template <auto op, class... T>
struct huge_plan {
  static constexpr auto value = make_plan<400, 1000, op, T...>();
};
/// The smallest of plan, big_plan and huge_plan with enough capacity for a result; usable in device code.
enum class Room : signed char { small, big, huge };
/// Returns the size of the smallest plan with enough capacity for p.node_count nodes and p.step_count
/// expressions: small (plan), big (big_plan) or huge (huge_plan).
template <int n, int m>
ZELLIGE_ALGEBRA constexpr Room room_of(Planned<n, m> const& p) {
  if (p.refusal) return Room::small;
  if (p.node_count > 48 || p.step_count > 64) return Room::huge;
  return p.node_count > n || p.step_count > m ? Room::big : Room::small;
}
template <class P>
struct room {
  static constexpr Room value = room_of(P::value);
};
template <Room size, auto op, class... T>
struct plan_of_size : plan<op, T...> {};
template <auto op, class... T>
struct plan_of_size<Room::big, op, T...> : big_plan<op, T...> {};
template <auto op, class... T>
struct plan_of_size<Room::huge, op, T...> : huge_plan<op, T...> {};
/// The smallest plan of operation op with enough capacity, for queries that read its nodes and expressions. `fits` is
/// false if even huge_plan has dropped some of them.
template <auto op, class... T>
struct fitting_plan : plan_of_size<room<plan<op, T...>>::value, op, T...> {
  static constexpr bool fits = fitting_plan::value.node_count <= 400 && fitting_plan::value.step_count <= 1000;
};
/// Returns the index, in the nodes of p, of the i-th child of node number `node`.
template <int n, int m>
ZELLIGE_ALGEBRA constexpr int child_of(Planned<n, m> const& p, int node, int i) {
  int at = node + 1;
  for (; i > 0; --i) {
    for (int open = 1; open > 0; ++at) open += (p.nodes[at].kids > 0 ? p.nodes[at].kids : 0) - 1;
  }
  return at;
}

/// Returns true if all extents (or, if `stride`, all strides) of a node and its descendants are static.
template <int n, int m>
ZELLIGE_ALGEBRA constexpr bool static_below(Planned<n, m> const& p, int node, bool stride) {
  int at = node;
  for (int open = 1; open > 0; ++at) {
    ValueNode const& v = p.nodes[at];
    if (v.kids < 0 && (stride ? v.d.id : v.s.id) != 0) return false;
    open += (v.kids > 0 ? v.kids : 0) - 1;
  }
  return true;
}

// Reads single numbers of a plan P. Device functions may not use P::value itself, but may call these
// functions.
template <class P>
struct at {
  ZELLIGE_ALGEBRA static consteval int kids(int i) { return P::value.nodes[i].kids; }
  ZELLIGE_ALGEBRA static consteval ValueKind kind(int i) { return P::value.nodes[i].kind; }
  ZELLIGE_ALGEBRA static consteval long long s(int i) { return P::value.nodes[i].s.v; }
  ZELLIGE_ALGEBRA static consteval long long d(int i) { return P::value.nodes[i].d.v; }
  ZELLIGE_ALGEBRA static consteval int s_id(int i) { return P::value.nodes[i].s.id - 1; }
  ZELLIGE_ALGEBRA static consteval int d_id(int i) { return P::value.nodes[i].d.id - 1; }
  ZELLIGE_ALGEBRA static consteval long long e(int i) { return P::value.nodes[i].e; }
  ZELLIGE_ALGEBRA static consteval int node_count() { return P::value.node_count; }
  ZELLIGE_ALGEBRA static consteval int step_count() { return P::value.step_count; }
  ZELLIGE_ALGEBRA static consteval int inputs() { return P::value.inputs; }
  ZELLIGE_ALGEBRA static consteval Rule rule() { return P::value.refusal.rule; }
  ZELLIGE_ALGEBRA static consteval long long x() { return P::value.refusal.x; }
  ZELLIGE_ALGEBRA static consteval long long y() { return P::value.refusal.y; }
  ZELLIGE_ALGEBRA static consteval Arith op(int i) { return P::value.steps[i].op; }
  ZELLIGE_ALGEBRA static consteval bool is_wide(int i) { return P::value.is_wide[i]; }
  ZELLIGE_ALGEBRA static consteval long long a(int i) { return P::value.steps[i].a.v; }
  ZELLIGE_ALGEBRA static consteval long long b(int i) { return P::value.steps[i].b.v; }
  ZELLIGE_ALGEBRA static consteval int a_id(int i) { return P::value.steps[i].a.id - 1; }
  ZELLIGE_ALGEBRA static consteval int b_id(int i) { return P::value.steps[i].b.id - 1; }
  ZELLIGE_ALGEBRA static consteval Rule step_rule(int i) { return P::value.steps[i].rule.rule; }
  ZELLIGE_ALGEBRA static consteval long long step_x(int i) { return P::value.steps[i].x.v; }
  ZELLIGE_ALGEBRA static consteval long long step_y(int i) { return P::value.steps[i].y.v; }
  ZELLIGE_ALGEBRA static consteval int step_x_id(int i) { return P::value.steps[i].x.id - 1; }
  ZELLIGE_ALGEBRA static consteval int step_y_id(int i) { return P::value.steps[i].y.id - 1; }
  ZELLIGE_ALGEBRA static consteval int child(int node, int i) { return child_of(P::value, node, i); }
  ZELLIGE_ALGEBRA static consteval bool is_static(int node, bool stride) {
    return static_below(P::value, node, stride);
  }
};

}  // namespace detail

}  // namespace zellige
