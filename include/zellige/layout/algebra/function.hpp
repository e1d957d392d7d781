// Evaluates layouts, composed ones included, at a coordinate. apply_function computes on a Tape (tape.hpp), which
// accepts numbers that are known only at run time. Class Function is faster, but requires layouts whose numbers are
// known integers.
//
//   apply_function(t, (_4,_8):(_8,_1) o _0 o (_10,_3):(_1,_10), 25)   is  14
//   Function f(layout);  f(25)                                        is  14, for the same layout
#pragma once
#include <zellige/layout/algebra/swizzle.hpp>

namespace zellige::algebra {

/// Returns the offset of a composed layout as a number: 0 if `offset` is a smem_ptr_flag, the placeholder for
/// the address of a shared-memory tile that is not known yet.
ZELLIGE_ALGEBRA constexpr Value start_of(View offset) {
  if (offset.is(ValueKind::flag)) return number(0);
  return offset;
}
/// Returns the index that f, a layout, composed layout or swizzle, gives coordinate crd. Refused if a swizzle
/// is applied to a coordinate instead of an integer.
ZELLIGE_ALGEBRA constexpr Value apply_function(Tape& t, View f, View crd) {
  if (t.failed()) return nothing();
  if (f.is(ValueKind::composed)) {
    Value const inner = apply_function(t, f[2], crd);
    if (t.failed()) return nothing();
    Value const at = add(t, start_of(f[1]), inner);
    return apply_function(t, f[0], at);
  }
  Value at = crd;
  if (at.is_number()) at = as_arithmetic_tuple(at);
  if (!f.is(ValueKind::swizzle)) return index_of(t, at, f);
  if (!at.is_number()) return t.refused(Rule::integer_index, at.rank(), 1);
  return number(swizzled(t, bits_of(f), at.root().s));
}

/// A layout with known integer strides as a function of the linear index. Layouts that map to coordinates are
/// not supported: integers() returns false for them.
class Function {
 public:
  ZELLIGE_ALGEBRA constexpr Function() {}
  ZELLIGE_ALGEBRA constexpr explicit Function(View f) { append(f, 0); }

  ZELLIGE_ALGEBRA constexpr bool integers() const { return integers_; }
  /// Returns the index that the layout gives linear coordinate i.
  ZELLIGE_ALGEBRA constexpr long long operator()(long long i) const {
    Mode const* m = modes_.data;
    for (Part const& p : parts_) {
      long long rest = i + p.offset;
      if (p.modes == 0) {
        long long const y = rest & p.bits.y();
        i = rest ^ (p.bits.shift >= 0 ? y >> p.bits.shift : y << -p.bits.shift);
        continue;
      }
      i = 0;
      for (Mode const* const last = m + p.modes - 1; m != last; ++m) {
        i += rest % m->extent * m->stride;
        rest /= m->extent;
      }
      i += rest * m++->stride;
    }
    return i;
  }

 private:
  struct Mode {
    long long extent;
    long long stride;
  };
  /// One function of the chain: a swizzle (`modes` is 0), or a layout of `modes` modes. Its argument is
  /// `offset` plus the result of the previous function.
  struct Part {
    long long offset;
    int modes;
    Bits bits;
  };
  /// Appends to parts_ the functions of which f is composed, in the order of their application, the innermost
  /// first. `offset` is added to the argument of f.
  ZELLIGE_ALGEBRA constexpr void append(View f, long long offset) {
    if (f.is(ValueKind::composed)) {
      View const start = f[1];
      bool const known = start.is(ValueKind::flag) || (start.is_number() && start.root().e == 0);
      integers_ = integers_ && known;
      append(f[2], offset);
      return append(f[0], start.is_number() ? start.root().s.v : 0);
    }
    if (f.is(ValueKind::swizzle)) return parts_.push_back({offset, 0, bits_of(f)});
    int const before = modes_.count;
    integers_ = integers_ && f.is_layout();
    for (ValueNode const& n : f) {
      if (n.kids >= 0) continue;
      integers_ = integers_ && n.e == 0;
      modes_.push_back({n.s.v, n.d.v});
    }
    if (modes_.count == before) modes_.push_back({1, 0});
    for (int i = before; i + 1 < modes_.count; ++i) integers_ = integers_ && modes_[i].extent != 0;
    parts_.push_back({offset, modes_.count - before, {0, 0, 0}});
  }

  List<Part> parts_;
  List<Mode> modes_;
  bool integers_ = true;
};

}  // namespace zellige::algebra
