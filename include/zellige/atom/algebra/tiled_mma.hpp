// Computes how a TiledMMA, a matrix instruction repeated over threads, partitions its operands. Layouts are
// objects of class `Value`, not C++ types, so that the same functions run at compile time and at run time.
//
//   thrfrg          (M, N, ...)  ->  ((ThrV, (ThrM, ThrN)), (FrgV, (RestM, RestN, ...)))
//   mma_layout_tv   (thread index, value) -> element of the tile of one operand (A, B or C)
//   mma_partition   one thread's part of a tensor, (FrgV, RestM, RestN, ...), and the offset at which it starts
//
// ThrV are the threads of one instruction, (ThrM, ThrN) its repetitions over threads, FrgV the values of a
// thread. A function that fails records the violated rule in its parameter `t`, a Tape
// (layout/algebra/tape.hpp).
#pragma once

#include <zellige/atom/algebra/mma.hpp>
#include <zellige/layout/algebra/tensors.hpp>

namespace zellige::algebra {

/// Returns the result of operation `op` of the layout algebra on the operand `a`, or an empty value if `t` has
/// recorded a failure before the call.
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
/// Returns the tuple (a, b).
ZELLIGE_ALGEBRA constexpr Value pair(Value const& a, Value const& b) { return bundle(ValueKind::tuple, a, b); }
/// Returns the innermost layout of `l` if `l` is a composed layout, such as one with a swizzle; otherwise
/// `l`.
ZELLIGE_ALGEBRA constexpr Value without_swizzle(Value const& l) { return innermost(l); }
/// Returns the layout n:1, or 1:0 if n is the static 1.
ZELLIGE_ALGEBRA constexpr Value run_of(Num n) { return mode(n, {fixed(n.is(1) ? 0 : 1)}); }
/// Returns the number of elements of a layout or tuple.
ZELLIGE_ALGEBRA constexpr Num size_of(Tape& t, Value const& v) { return product_of(t, shape_of(v)); }

/// A TiledMMA seen from one operand: the instruction, its repetition over threads, and the permutations of M, N
/// and K.
struct MmaTiling {
  MmaPart part;       // the operand: a, b or c
  Value tv;           // the operand's (thread, value) -> element in one instruction
  Value shape;        // (M, N, K) of one instruction
  Value vmnk;         // (v, m, n, k) -> thread: thread v of the instruction at repetition (m, n, k)
  Value permutation;  // of M, N and K: a layout, a number or `_` (none) each

  /// Returns the position in (M, N, K) of mode i (0 or 1) of the operand. For example, mode 1 of A, which is (M, K),
  /// has position 2.
  ZELLIGE_ALGEBRA constexpr int mode_of(int i) const {
    if (part == MmaPart::a) return i == 0 ? 0 : 2;
    return part == MmaPart::b ? 1 + i : i;
  }
};

/// Returns the permutation of M, N or K, selected by mnk = 0, 1 or 2. If that mode has no permutation,
/// returns the extent of the TiledMMA's tile along it: the instruction's extent times the number of its
/// repetitions over threads.
ZELLIGE_ALGEBRA constexpr Value permutation_mnk(Tape& t, MmaTiling const& m, int mnk) {
  Value const given = m.permutation[mnk];
  if (!given.is(ValueKind::underscore)) return given;
  return number(t.mul(m.shape[mnk].root().s, size_of(t, m.vmnk[mnk + 1])));
}

/// Divides `layout`, an operand (M, N, ...), into tiles and distributes them over the threads. Returns
/// ((ThrV, (ThrM, ThrN)), (FrgV, (RestM, RestN, ...))): ThrV are the threads of one instruction, (ThrM, ThrN)
/// its repetitions over threads, FrgV a thread's values. Records Rule::rank_mismatch in `t` if `layout` has
/// fewer than 2 modes.
ZELLIGE_ALGEBRA constexpr Value thrfrg(Tape& t, Value const& layout, MmaTiling const& m) {
  int const rank = without_swizzle(layout).rank();
  if (rank < 2) return t.refused(Rule::rank_mismatch, rank, 2);
  int const i = m.mode_of(0), j = m.mode_of(1);
  Value const permuted = call(Op::logical_divide, t, layout, pair(permutation_mnk(t, m, i), permutation_mnk(t, m, j)));
  Value const atoms =
      call(Op::zipped_divide, t, permuted, pair(run_of(m.shape[i].root().s), run_of(m.shape[j].root().s)));
  Value const held = call(Op::composition, t, atoms, pair(m.tv, underscore()));
  Value const threads = pair(run_of(size_of(t, m.vmnk[i + 1])), run_of(size_of(t, m.vmnk[j + 1])));
  return call(Op::zipped_divide, t, held, pair(underscore(), threads));
}

/// Returns the inverse of `vmnk`, a layout (v, m, n, k) -> thread index: the layout that maps a thread index to an
/// index in (v, m, n, k). The index of a thread that does not take part, so that `vmnk` maps no coordinate to it, gets
/// the same result as that of another thread.
ZELLIGE_ALGEBRA constexpr Value thread_to_vmnk(Tape& t, Value const& vmnk) {
  Value const others = complement(t, vmnk);
  if (t.failed()) return nothing();
  Value const everyone = right_inverse(t, bundle(ValueKind::layout, vmnk, others));
  if (t.failed()) return nothing();
  return composition(t, bundle(ValueKind::layout, run_of(size_of(t, vmnk)), unit()), everyone);
}

/// Returns the layout (thread, value) -> element of the tile of the operand that `m.part` selects (A, B or C).
/// Threads that differ only along the mode that this operand does not have (N for A, M for B, K for C) own the
/// same elements.
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
    Value const along = bundle(ValueKind::layout, mode(size_of(t, m.vmnk[2]), {fixed(1)}), mode(k, {fixed(0)}));
    held = call(Op::composition, t, held, pair(pair(underscore(), pair(underscore(), along)), underscore()));
  }
  return call(Op::composition, t, held, pair(thread_to_vmnk(t, m.vmnk), underscore()));
}

/// Returns the coordinate (v, m, n, k) that the layout `vmnk` maps to the thread index `thread`.
ZELLIGE_ALGEBRA constexpr Value thread_vmnk(Tape& t, Value const& vmnk, Value const& thread) {
  return call(Op::get_flat_coord, t, vmnk, thread);
}
/// Returns the partition of `layout` that belongs to the thread at coordinate `at` = (v, m, n, k), as a pair
/// (layout, offset). The layout has the modes (FrgV, RestM, RestN, ...), where FrgV are the thread's values
/// of one instruction.
ZELLIGE_ALGEBRA constexpr Value mma_partition(Tape& t, Value const& layout, MmaTiling const& m, Value const& at) {
  Value const held = thrfrg(t, layout, m);
  if (t.failed()) return nothing();
  Value const plain = without_swizzle(held);
  int const rest = plain[1][1].rank();
  Value marks = empty(ValueKind::tuple);
  for (int i = 0; i < rest; ++i) marks.add(underscore());
  Value const thread = pair(at[0], pair(at[m.mode_of(0) + 1], at[m.mode_of(1) + 1]));
  return call(Op::slice_and_offset, t, pair(thread, pair(underscore(), marks)), held);
}

/// Returns the shape (FrgV, RestM, RestN, ...) of a thread's partition of a tensor of shape `shape`, where
/// FrgV are the thread's values of one instruction.
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
