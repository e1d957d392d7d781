// The algebra of TiledMMA on values: partitions tensors for a matrix instruction repeated over threads.
//
//   thrfrg      (M, N, ...)  ->  ((ThrV, (ThrM, ThrN)), (FrgV, (RestM, RestN, ...)))
//   layout_tv   (thread, value) -> (M, N), by thread index
//   partition   one thread's part of a tensor: (FrgV, RestM, RestN, ...), and where it starts
#pragma once

#include <zellige/atom/algebra/mma.hpp>
#include <zellige/layout/algebra/tensors.hpp>

namespace zellige::algebra {

ZELLIGE_ALGEBRA constexpr Value call(Op op, Tape& t, Value const& a) {
  Values v;
  v.push_back(a);
  if (t.failed()) return nothing();
  return apply(op, t, v);
}
ZELLIGE_ALGEBRA constexpr Value call(Op op, Tape& t, Value const& a, Value const& b) {
  Values v;
  v.push_back(a);
  v.push_back(b);
  if (t.failed()) return nothing();
  return apply(op, t, v);
}
ZELLIGE_ALGEBRA constexpr Value pair(Value const& a, Value const& b) {
  return bundle(ValueKind::tuple, a, b);
}
ZELLIGE_ALGEBRA constexpr Value without_swizzle(Value const& l) { return innermost(l); }
/// The layout n:1.
ZELLIGE_ALGEBRA constexpr Value run_of(Num n) { return mode(n, {fixed(n.is(1) ? 0 : 1)}); }
ZELLIGE_ALGEBRA constexpr Num size_of(Tape& t, Value const& v) { return product_of(t, shape_of(v)); }

/// The instruction, its repetition over threads, and the permutation of each mode of (M, N, K).
struct MmaTiling {
  MmaPart part;
  Value tv;           // the part's (thread, value) layout
  Value shape;        // (M, N, K) of one instruction
  Value vmnk;         // (v, m, n, k) -> thread
  Value permutation;  // a layout, a number or `_` each

  ZELLIGE_ALGEBRA constexpr int mode_of(int i) const {  // the mode of (M, N, K) that is the part's mode i
    if (part == MmaPart::a) return i == 0 ? 0 : 2;
    return part == MmaPart::b ? 1 + i : i;
  }
};

/// The permutation of M, N or K; by default, the number of elements that the threads cover.
ZELLIGE_ALGEBRA constexpr Value permutation_mnk(Tape& t, MmaTiling const& m, int mnk) {
  Value const given = m.permutation[mnk];
  if (!given.is(ValueKind::underscore)) return given;
  return number(t.mul(m.shape[mnk].root().s, size_of(t, m.vmnk[mnk + 1])));
}

ZELLIGE_ALGEBRA constexpr Value thrfrg(Tape& t, Value const& layout, MmaTiling const& m) {
  int const rank = without_swizzle(layout).rank();
  if (rank < 2) return t.refused(Rule::rank_mismatch, rank, 2);
  int const i = m.mode_of(0), j = m.mode_of(1);
  Value const permuted =
      call(Op::logical_divide, t, layout, pair(permutation_mnk(t, m, i), permutation_mnk(t, m, j)));
  Value const atoms =
      call(Op::zipped_divide, t, permuted, pair(run_of(m.shape[i].root().s), run_of(m.shape[j].root().s)));
  Value const held = call(Op::composition, t, atoms, pair(m.tv, underscore()));
  Value const threads = pair(run_of(size_of(t, m.vmnk[i + 1])), run_of(size_of(t, m.vmnk[j + 1])));
  return call(Op::zipped_divide, t, held, pair(underscore(), threads));
}

/// thread -> (v, m, n, k), as indices; surplus threads repeat the others.
ZELLIGE_ALGEBRA constexpr Value thread_to_vmnk(Tape& t, Value const& vmnk) {
  Value const others = complement(t, vmnk);
  if (t.failed()) return nothing();
  Value const everyone = right_inverse(t, bundle(ValueKind::layout, vmnk, others));
  if (t.failed()) return nothing();
  return composition(t, bundle(ValueKind::layout, run_of(size_of(t, vmnk)), unit()), everyone);
}

/// (thread, value) -> the part's tile. Threads along the mode that the part lacks own the same elements.
ZELLIGE_ALGEBRA constexpr Value mma_layout_tv(Tape& t, MmaTiling const& m) {
  Value extents = empty(ValueKind::tuple);
  for (int i = 0; i < 2; ++i) extents.add(number(size_of(t, permutation_mnk(t, m, m.mode_of(i)))));
  Value held = thrfrg(t, compact_left(t, extents), m);
  if (t.failed()) return nothing();
  if (m.part != MmaPart::c) {
    bool const a = m.part == MmaPart::a;
    Value const along = bundle(ValueKind::layout, mode(size_of(t, m.vmnk[1]), {fixed(a ? 1 : 0)}),
                               mode(size_of(t, m.vmnk[2]), {fixed(a ? 0 : 1)}));
    held = call(Op::composition, t, held, pair(pair(underscore(), pair(along, underscore())), underscore()));
  } else if (Num const k = size_of(t, m.vmnk[3]); !k.is(1)) {
    Value const along =
        bundle(ValueKind::layout, mode(size_of(t, m.vmnk[2]), {fixed(1)}), mode(k, {fixed(0)}));
    held = call(Op::composition, t, held, pair(pair(underscore(), pair(underscore(), along)), underscore()));
  }
  return call(Op::composition, t, held, pair(thread_to_vmnk(t, m.vmnk), underscore()));
}

/// The (v, m, n, k) of a thread.
ZELLIGE_ALGEBRA constexpr Value thread_vmnk(Tape& t, Value const& vmnk, Value const& thread) {
  return call(Op::get_flat_coord, t, vmnk, thread);
}
/// (layout, offset) of the part owned by the thread at (v, m, n, k).
ZELLIGE_ALGEBRA constexpr Value mma_partition(Tape& t, Value const& layout, MmaTiling const& m,
                                              Value const& at) {
  Value const held = thrfrg(t, layout, m);
  if (t.failed()) return nothing();
  Value const plain = without_swizzle(held);
  int const rest = plain[1][1].rank();
  Value marks = empty(ValueKind::tuple);
  for (int i = 0; i < rest; ++i) marks.add(underscore());
  Value const thread = pair(at[0], pair(at[m.mode_of(0) + 1], at[m.mode_of(1) + 1]));
  return call(Op::slice_and_offset, t, pair(thread, pair(underscore(), marks)), held);
}

/// The shape of a partition, from the shape of the whole tensor.
ZELLIGE_ALGEBRA constexpr Value mma_partition_shape(Tape& t, Value const& shape, MmaTiling const& m) {
  Value const held = thrfrg(t, compact_left(t, shape), m);
  if (t.failed()) return nothing();
  Value const part = slice(t, pair(number(0), pair(underscore(), underscore())), held);
  if (t.failed()) return nothing();
  Value r = bundle(ValueKind::tuple, shape_of(part[0]));
  for (int i = 0; i < part[1].rank(); ++i) r.add(shape_of(part[1][i]));
  return r;
}

}  // namespace zellige::algebra
