// The edits of modes, by number.
#pragma once
#include <zellige/layout/algebra/coordinate.hpp>
#include <zellige/layout/algebra/op.hpp>

namespace zellige::algebra {

/// What append and prepend pad with: the third argument, or a mode of one element.
ZELLIGE_ALGEBRA constexpr Value extra(Values const& a, View padded) {
  if (a.size() > 2) return a[2];
  if (padded.is_layout()) return unit();
  return number(1);
}
/// x in the place of every leaf.
ZELLIGE_ALGEBRA constexpr Value repeat_like(View v, View x) {
  if (v.is_leaf()) return x;
  Value r = empty(v.kind());
  for (int i = 0; i < v.rank(); ++i) r.add(repeat_like(v[i], x));
  return r;
}
ZELLIGE_ALGEBRA constexpr int small(View v) { return int(v.root().s.v); }

ZELLIGE_ALGEBRA constexpr Value apply_modes(Op op, Tape& t, Values const& a) {
  switch (op) {
    case Op::append:
      return append(a[0], a[1]);
    case Op::append_to:
      return pad_to(t, a[0], small(a[1]), extra(a, a[0]));
    case Op::prepend:
      return prepend(a[0], a[1]);
    case Op::prepend_to:
      return pad_front(t, a[0], small(a[1]), extra(a, a[0]));
    case Op::take:
      return take(t, a[0], small(a[1]), small(a[2]));
    case Op::group:
      return group(t, a[0], small(a[1]), small(a[2]));
    case Op::get: {
      Value v = a[0];
      for (int i = 1; i < a.size() && !t.failed(); ++i) v = get(t, v, small(a[i]));
      return v;
    }
    case Op::select: {
      Value r = empty(a[0].kind());
      for (int i = 1; i < a.size() && !t.failed(); ++i) r.add(get(t, a[0], small(a[i])));
      return r;
    }
    case Op::replace:
      return replace(t, a[0], small(a[1]), a[2]);
    case Op::insert:
      return insert(t, a[0], small(a[1]), a[2]);
    case Op::remove:
      return remove(t, a[0], small(a[1]));
    case Op::reverse:
      return reverse(a[0]);
    case Op::flatten:
      return flatten_value(a[0]);
    case Op::flatten_to_tuple:
      return choose(a[0].is_leaf(), bundle(ValueKind::tuple, a[0]), flatten_value(a[0]));
    case Op::unflatten:
      return unflatten(t, a[0], a[1]);
    case Op::zip1:
      return transpose_modes(t, a[0]);
    case Op::zip2:
      return zip(t, a[0], a[1]);
    case Op::slice:
      return slice(t, a[0], a[1]);
    case Op::dice:
      return dice(t, a[0], a[1]);
    case Op::slice_and_offset: {
      Value const part = slice(t, a[0], a[1]);
      Value const start = offset_of(t, a[0], a[1]);
      if (t.failed()) return nothing();
      return bundle(ValueKind::tuple, part, start);
    }
    case Op::wrap:
      return choose(a[0].is_tuple(), a[0], bundle(ValueKind::tuple, a[0]));
    case Op::unwrap: {
      Value v = a[0];
      while (v.is_tuple() && v.rank() == 1) {
        Value const inner = v[0];
        v = inner;
      }
      return v;
    }
    case Op::repeat_like:
      return repeat_like(a[0], a[1]);
    default:
      return t.refused(Rule::not_a_layout, int(op), 0);
  }
}

}  // namespace zellige::algebra
