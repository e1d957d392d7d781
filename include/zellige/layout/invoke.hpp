// Applies the layout algebra to Layout types: invoke<op>(args...) computes as much as possible in the compiler (plan.hpp)
// and the rest at run time.
//
// execute() computes each expression of the plan once at run time, as int or as long long, and builds the result from
// the plan's tree.
#pragma once
#include <zellige/layout/check.hpp>
#include <zellige/layout/plan.hpp>
#include <zellige/layout/static_result.hpp>
#include <zellige/layout/user_module.hpp>

namespace zellige {

namespace detail {

/// Storage for the run-time numbers of a plan: the inputs first, then the results of the expressions. Slot i
/// is in `narrow` or `wide`, depending on whether its number has 32 or 64 bits. A number of 64 bits is an int64_t,
/// which is the type of the strides that users write, and of the strides computed from these.
/// Where arithmetic is checked, a number of 32 bits is computed in 64, and is checked where it becomes part of the result.
using Narrow = conditional_t<arithmetic_is_checked, long long, int>;
template <int n>
struct Slots {
  Narrow narrow[n > 0 ? n : 1];
  int64_t wide[n > 0 ? n : 1];
};
/// Returns the number in slot `id` of s, which holds the run-time numbers of plan P: its inputs and the
/// results of its expressions.
template <class P, int id, int n>
ZELLIGE_STEP constexpr auto slot(Slots<n> const& s) {
  if constexpr (at<P>::is_wide(id))
    return s.wide[id];
  else if constexpr (arithmetic_is_checked)
    return checked_int(s.narrow[id]);
  else
    return s.narrow[id];
}
/// Returns an operand of an expression in plan P: the run-time number in slot `id` of s or, if `id` is
/// negative, the static number v.
template <class P, int id, long long v, int n>
ZELLIGE_STEP constexpr auto operand(Slots<n> const& s) {
  if constexpr (id < 0 && fits_int(v))
    return int(v);
  else if constexpr (id < 0)
    return v;
  else if constexpr (at<P>::is_wide(id))
    return s.wide[id];
  else
    return s.narrow[id];
}

/// Copies the run-time numbers of the argument t to the slots next, next + 1, ... of s, in the order in which
/// encode.hpp numbers the inputs of an operation. Advances `next` beyond these slots.
template <class T, int n>
ZELLIGE_STEP constexpr void gather(Slots<n>& s, int& next, T const& t);
template <class T, int n, int... I>
ZELLIGE_STEP constexpr void gather_each(Slots<n>& s, int& next, T const& t, seq<I...>) {
  (gather(s, next, get<I>(t)), ...);
}
template <class T, int n>
ZELLIGE_STEP constexpr void gather(Slots<n>& s, int& next, T const& t) {
  if constexpr (__is_empty(T)) {
    return;
  } else if constexpr (dynamic_integer<T>) {
    if constexpr (is_wide_type<T>)
      s.wide[next++] = static_cast<int64_t>(t);
    else
      s.narrow[next++] = static_cast<Narrow>(t);
  } else if constexpr (user_integer<T>) {
    gather(s, next, +t);
  } else if constexpr (is_layout_v<T>) {
    gather(s, next, t.shape());
    gather(s, next, t.stride());
  } else if constexpr (is_composed_layout_v<T>) {
    gather(s, next, t.layout_a());
    gather(s, next, t.offset());
    gather(s, next, t.layout_b());
  } else if constexpr (basis_like<T>) {
    gather(s, next, t.value());
  } else {
    gather_each(s, next, t, make_seq<tuple_size_v<T>>{});
  }
}

/// Returns the sum, difference or product of x and y. Reports one that does not fit T.
template <Arith op, class T>
ZELLIGE_STEP constexpr T exact(T x, T y) {
#if defined(__CUDA_ARCH__)
  return op == Arith::add ? T(x + y) : op == Arith::sub ? T(x - y) : T(x * y);
#else
  T r = 0;
  bool const over = op == Arith::add   ? __builtin_add_overflow(x, y, &r)
                    : op == Arith::sub ? __builtin_sub_overflow(x, y, &r)
                                       : __builtin_mul_overflow(x, y, &r);
  if (over) does_not_fit<T>(x, y);
  return r;
#endif
}
/// Returns the result of operation op on a and b, computed in their common type.
template <Arith op, class A, class B>
ZELLIGE_STEP constexpr auto arithmetic_on(A a, B b) {
  using T = decltype(a + b);
  T const x = a, y = b;
  if constexpr (arithmetic_is_checked && (op == Arith::add || op == Arith::sub || op == Arith::mul))
    return exact<op, T>(x, y);
  else if constexpr (op == Arith::add)
    return T(x + y);
  else if constexpr (op == Arith::sub)
    return T(x - y);
  else if constexpr (op == Arith::mul)
    return T(x * y);
  else if constexpr (op == Arith::div)
    return T(x / y);
  else if constexpr (op == Arith::mod)
    return T(x % y);
  else if constexpr (op == Arith::min)
    return x < y ? x : y;
  else if constexpr (op == Arith::max)
    return x < y ? y : x;
  else if constexpr (op == Arith::gcd)
    return gcd_of(x, y);
  else if constexpr (op == Arith::abs)
    return x < 0 ? T(-x) : x;
  else if constexpr (op == Arith::sign)
    return T((x > 0) - (x < 0));
  else if constexpr (op == Arith::lt)
    return T(x < y);
  else if constexpr (op == Arith::le)
    return T(x <= y);
  else if constexpr (op == Arith::eq)
    return T(x == y);
  else if constexpr (op == Arith::conj)
    return T(x && y);
  else if constexpr (op == Arith::disj)
    return T(x || y);
  else if constexpr (op == Arith::bit_and)
    return T(x & y);
  else if constexpr (op == Arith::bit_xor)
    return T(x ^ y);
  else if constexpr (op == Arith::shl)
    return y < 0 ? T(x >> -y) : T(x << y);
  else if constexpr (op == Arith::flip)
    return x == 0 ? y : T(-y);
  else
    return y < 0 ? T(x << -y) : T(x >> y);
}
/// Executes step i of plan P. If the step is an expression, computes it and stores the result in slot i of s.
/// If the step is a check that fails, reports its rule as broken. Does not test for a zero divisor: an
/// earlier check has reported it.
template <class P, int i, int n>
ZELLIGE_STEP constexpr void step(Slots<n>& s) {
  using A = at<P>;
  if constexpr (A::op(i) == Arith::input) {
    return;
  } else if constexpr (A::op(i) == Arith::check) {
#if ZELLIGE_CHECK
    if (operand<P, A::a_id(i), A::a(i)>(s) == 0) {
      broken(A::step_rule(i), operand<P, A::step_x_id(i), A::step_x(i)>(s),
             operand<P, A::step_y_id(i), A::step_y(i)>(s));
    }
#endif
  } else {
    auto const r = arithmetic_on<A::op(i)>(operand<P, A::a_id(i), A::a(i)>(s), operand<P, A::b_id(i), A::b(i)>(s));
    if constexpr (A::is_wide(i))
      s.wide[i] = r;
    else
      s.narrow[i] = Narrow(r);
  }
}
template <class P, int n, int... I>
ZELLIGE_STEP constexpr void run_steps(Slots<n>& s, seq<I...>) {
  (step<P, I>(s), ...);
}

// Returns a number of an operation's result: the run-time number in slot `id` of s or, if `id` is negative, v
// as a static integer.
template <class P, int id, long long v, int n>
ZELLIGE_STEP constexpr auto make_number(Slots<n> const& s) {
  if constexpr (id >= 0)
    return slot<P, id>(s);
  else if constexpr (fits_int(v))
    return Int<int(v)>{};
  else
    return C<v>{};
}
template <long long e, int... N>
struct path_seq {
  using type = typename path_seq<e / 256, int(e % 256) - 1, N...>::type;
};
template <int... N>
struct path_seq<0, N...> {
  using type = seq<N...>;
};
template <class T, int... N>
ZELLIGE_STEP constexpr ScaledBasis<T, N...> on_basis(T const& t, seq<N...>) {
  return {t};
}
/// Returns a number (see make_number) times the basis element whose path of mode indices is e; returns the
/// number itself if e is 0.
template <class P, int id, long long v, long long e, int n>
ZELLIGE_STEP constexpr auto make_element(Slots<n> const& s) {
  if constexpr (e == 0)
    return make_number<P, id, v>(s);
  else
    return on_basis(make_number<P, id, v>(s), typename path_seq<e>::type{});
}
// The type of the shape (or, if `stride`, the stride) of a node whose numbers are all static. Computed
// without a function call, which halves the compile time.
template <class P, class S, bool stride, int node>
struct static_parts;
template <class P, int node, bool stride, bool inner = (P::value.nodes[node].kids >= 0)>
struct static_part {
  using type = typename static_parts<P, make_seq<P::value.nodes[node].kids>, stride, node>::type;
};
template <class P, int... I, bool stride, int node>
struct static_parts<P, seq<I...>, stride, node> {
  using type = tuple<typename static_part<P, child_of(P::value, node, I), stride>::type...>;
};
template <long long v, bool fits = fits_int(v)>
struct static_number {
  using type = C<int(v)>;
};
template <long long v>
struct static_number<v, false> {
  using type = C<v>;
};
template <class T, class Path>
struct static_basis;
template <class T, int... N>
struct static_basis<T, seq<N...>> {
  using type = ScaledBasis<T, N...>;
};
template <long long v, long long e>
struct static_element : static_basis<typename static_number<v>::type, typename path_seq<e>::type> {};
template <long long v>
struct static_element<v, 0> : static_number<v> {};
template <class P, int node>
struct static_part<P, node, false, false> : static_element<P::value.nodes[node].s.v, 0> {};
template <class P, int node>
struct static_part<P, node, true, false> : static_element<P::value.nodes[node].d.v, P::value.nodes[node].e> {};

/// Returns the shape (or, if `stride`, the strides) of node number `node` in the result's tree, which plan P
/// describes. s holds the run-time numbers.
template <class P, int node, bool stride, int n>
ZELLIGE_STEP constexpr auto make_part(Slots<n> const& s);
template <class P, int node, bool stride, int n, int... I>
ZELLIGE_STEP constexpr auto make_parts(Slots<n> const& s, seq<I...>) {
  return make_tuple(make_part<P, at<P>::child(node, I), stride>(s)...);
}
template <class P, int node, bool stride, int n>
ZELLIGE_STEP constexpr auto make_part(Slots<n> const& s) {
  using A = at<P>;
  if constexpr (A::is_static(node, stride)) {
    return typename static_part<P, node, stride, (A::kids(node) >= 0)>::type{};
  } else if constexpr (A::kids(node) >= 0) {
    return make_parts<P, node, stride>(s, make_seq<A::kids(node)>{});
  } else {
    constexpr int id = stride ? A::d_id(node) : A::s_id(node);
    constexpr long long v = stride ? A::d(node) : A::s(node);
    if constexpr (stride && A::e(node) != 0)
      return make_element<P, id, v, A::e(node)>(s);
    else if constexpr (id < 0 && fits_int(v))
      return C<int(v)>{};
    else if constexpr (id < 0)
      return C<v>{};
    else
      return slot<P, id>(s);
  }
}
/// Returns the object that the subtree of node number `node` describes in the result's tree of plan P: a
/// layout, number, tuple, swizzle or composed layout. s holds the run-time numbers.
template <class P, int node, int n>
ZELLIGE_STEP constexpr auto make_result(Slots<n> const& s);
template <class P, int node, int n, int... I>
ZELLIGE_STEP constexpr auto make_results(Slots<n> const& s, seq<I...>) {
  return make_tuple(make_result<P, at<P>::child(node, I)>(s)...);
}
template <class P, int node, int n>
ZELLIGE_STEP constexpr auto make_result(Slots<n> const& s) {
  using A = at<P>;
  constexpr ValueKind kind = A::kind(node);
  if constexpr (kind == ValueKind::layout) {
    return make_layout(make_part<P, node, false>(s), make_part<P, node, true>(s));
  } else if constexpr (kind == ValueKind::number) {
    return make_element<P, A::s_id(node), A::s(node), A::e(node)>(s);
  } else if constexpr (kind == ValueKind::boolean) {
    if constexpr (A::s_id(node) >= 0)
      return slot<P, A::s_id(node)>(s) != 0;
    else
      return C<(A::s(node) != 0)>{};
  } else if constexpr (kind == ValueKind::underscore) {
    return Underscore{};
  } else if constexpr (kind == ValueKind::tuple) {
    return make_results<P, node>(s, make_seq<A::kids(node)>{});
  } else if constexpr (kind == ValueKind::arithmetic) {
    return as_arithmetic_tuple(make_results<P, node>(s, make_seq<A::kids(node)>{}));
  } else if constexpr (kind == ValueKind::swizzle) {
    return Swizzle<int(A::s(node)), int(A::d(node)), int(A::e(node))>{};
  } else if constexpr (kind == ValueKind::flag) {
    return smem_ptr_flag_bits<int(A::s(node))>{};
  } else {
    return make_composed_layout(make_result<P, A::child(node, 0)>(s), make_result<P, A::child(node, 1)>(s),
                                make_result<P, A::child(node, 2)>(s));
  }
}

/// Returns the result of the operation that plan P was made for. Computes the plan's run-time expressions
/// from the arguments.
template <class P, class... T>
ZELLIGE_STEP constexpr auto execute(T const&... args) {
  Slots<at<P>::step_count()> slots{};
  if constexpr (at<P>::inputs() > 0) {
    int next = 0;
    (gather(slots, next, args), ...);
    run_steps<P>(slots, make_seq<at<P>::step_count()>{});
  }
  return make_result<P, 0>(slots);
}

}  // namespace detail

namespace detail {
/// Returns the result of operation op: makes a plan (the tree of the result and the expressions to compute at
/// run time) with enough capacity, and executes it. A refused operation is a compile error.
template <auto op, class... T>
ZELLIGE_STEP constexpr auto invoke_general([[maybe_unused]] T const&... args) {
  using P = plan<op, T...>;
  constexpr Room size_class = room<P>::value;
  if constexpr (at<P>::rule() != Rule::none) {
    refuse<op, at<P>::rule(), at<P>::x(), at<P>::y()>();
    return Layout<Int<1>, Int<0>>{};  // suppresses further errors
  } else if constexpr (size_class == Room::huge) {
    static_assert(at<P>::node_count() <= 400 && at<P>::step_count() <= 1000, "the result has more than 400 nodes");
    return execute<huge_plan<op, T...>>(args...);
  } else if constexpr (size_class == Room::big) {
    return execute<big_plan<op, T...>>(args...);
  } else {
    return execute<P>(args...);
  }
}
}  // namespace detail

namespace detail {
template <auto op, class First, class... Rest>
ZELLIGE_STEP constexpr auto invoke_before_user_module(First const& first, Rest const&... rest);
}
/// Returns the result of an operation of the algebra on layouts, tuples and numbers. A refusal that depends
/// only on static numbers is a compile error. Any other refusal is a LayoutError (host) or a trap (device),
/// if checks are enabled.
template <auto op, class... T>
ZELLIGE_STEP constexpr auto invoke([[maybe_unused]] T const&... args) {
  if constexpr ((detail::of_user_module<T> || ...)) {
    return detail::invoke_on_user_module<op>(args...);
  } else if constexpr ((detail::ends_in_user_module<T> || ...)) {
    return detail::invoke_before_user_module<op>(args...);
  } else if constexpr ((__is_empty(T) && ...)) {
    using P = detail::static_plan<op, T...>;
    if constexpr (P::outcome == detail::Outcome::layout)
      return typename detail::static_layout<P>::type{};
    else if constexpr (P::outcome == detail::Outcome::number)
      return typename detail::filled<P, detail::leaf_at<0>>::shape{};
    else if constexpr (P::outcome == detail::Outcome::boolean)
      return C<(detail::filled<P, detail::leaf_at<0>>::shape::value != 0)>{};
    else
      return detail::invoke_general<op>(args...);
  } else {
    return detail::invoke_general<op>(args...);
  }
}

namespace detail {
/// Returns the result of the operation on layouts with strides of a user's type. Replaces these strides by
/// basis elements, applies the operation, and puts the user's strides back in the result. `all` is the list
/// of these strides; `at...` has, per argument, the index in `all` of its first stride.
template <auto op, int... at, class All, class... T>
ZELLIGE_STEP constexpr auto invoke_on_coordinates(seq<at...>, All const& all, T const&... args) {
  return back_from_coordinates(invoke<op>(on_coordinates<at>(args)...), all);
}
/// Returns, for each of the argument types T, how many strides of a user's type the arguments before it have.
template <class... T, int... I>
ZELLIGE_ALGEBRA constexpr auto strides_before(seq<I...>) {
  constexpr int counts[] = {user_strides_in<T>...};
  constexpr auto before = [counts](int i) {
    int n = 0;
    for (int k = 0; k < i; ++k) n += counts[k];
    return n;
  };
  return seq<before(I)...>{};
}
/// Returns the result of an operation on layouts with strides of a user's type (see user_module.hpp):
/// replaces these strides by basis elements, applies the operation, and puts the strides back. Compile error
/// if the operation compares or divides strides.
template <auto op, class First, class... Rest>
ZELLIGE_STEP constexpr auto invoke_on_user_module(First const& first, Rest const&... rest) {
  if constexpr (!keeps_strides(op)) {
    strides_of_a_user_module_cannot_be_compared_or_divided<op, First>();
    return Layout<Int<1>, Int<0>>{};
  } else if constexpr (chooses_coordinates(op) && (of_user_module<Rest> || ...)) {
    a_right_operand_chooses_coordinates_and_has_no_strides_of_a_user_module<op, Rest...>();
    return Layout<Int<1>, Int<0>>{};
  } else {
    return invoke_on_coordinates<op>(strides_before<First, Rest...>(make_seq<1 + int(sizeof...(Rest))>{}),
                                     tuple_cat(user_strides(first), user_strides(rest)...), first, rest...);
  }
}
/// Returns the result of an operation on a composed layout c -> left(offset + right(c)) for which the strides
/// of `left` have a user's type: applies the operation to `right`, and composes `left` with the result.
/// Compile error if that is not possible.
template <auto op, class First, class... Rest>
ZELLIGE_STEP constexpr auto invoke_before_user_module(First const& first, Rest const&... rest) {
  if constexpr (counts_elements_together(op)) {
    return Int<1>{};
  } else if constexpr (is_same_v<decltype(op), Op> && int(op) == int(Op::slice_and_offset)) {
    return before((rest, ...), slice_and_offset(first, (rest, ...).layout_b()));
  } else if constexpr (ends_in_user_module<First> && !(ends_in_user_module<Rest> || ...) && is_of_the_right_part(op)) {
    return before(first, invoke<op>(first.layout_b(), rest...));
  } else {
    strides_of_a_user_module_cannot_be_compared_or_divided<op, First>();
    return Layout<Int<1>, Int<0>>{};
  }
}
}  // namespace detail

}  // namespace zellige
