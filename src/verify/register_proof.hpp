// Proves that the values which one work (a matmul, a loop nest, ...) leaves in registers are those that
// another work expects there, by evaluating the thread-value layouts of both for each thread and value.
//
// Each function proves one way of passing values on, or throws Rejected with the two coordinates that
// differ. verify_registers.cpp decides which proofs a plan needs.
#pragma once
#include <set>

#include "kernel/evaluated_layout.hpp"
#include "verify/words.hpp"

namespace zellige::verify {

using kernel::EvaluatedLayout;

/// The proofs for one kernel. Nodes (operators) are indices into TileProgram::nodes. A pair of thread-value layouts is evaluated once.
class RegisterProof {
 public:
  explicit RegisterProof(const Kernel& kernel) : plan_(kernel), p_(kernel.program) {}

  /// Proves that work `writer` left each value of node x in the thread and register in which work `reader` reads it.
  /// Throws Rejected for sums over a part of K, unless `partial` allows them.
  void agree(const Work& writer, const Work& reader, int x, bool partial);

  /// Proves that each thread of work `reader`, which iterates over accumulators, has the value of node x for the row of
  /// each of its elements. Work `writer` left one value of x per row in registers.
  void in_lines(const Work& writer, const Work& reader, int x);

  /// Matrices with the batch indices 2 i and 2 i + 1 are a pair. Proves that each thread that has an element of node x,
  /// computed by work `writer`, also has the element at the same row and column of the other matrix of the pair. Work
  /// `reader` reads both from registers.
  void in_pairs(const Work& writer, const Work& reader, int x);

  /// Proves that work t, which adds the partial results of `blocks` blocks to its accumulators, adds the part of each block
  /// to the columns that this block stores: of each thread's values the first part lies in the first columns, and so on.
  void in_columns(const Work& t, int blocks) const;

  /// Proves that the warps store what work t has in registers by the work's instruction, stmatrix: the threads' values
  /// are, in order, the elements of rows that are adjacent in the work's buffer.
  void in_matrices(const Work& t) const;

  /// Proves that work t may read buffer b after work w without a barrier: each thread reads only elements
  /// that the same thread wrote. `own` says whether each thread reads b at exactly the coordinates of its
  /// elements in t's thread-value layout. If it is false, throws Rejected.
  void same_thread(const Work& t, const Work& w, int b, bool own) const;

  /// Proves that every element of a matmul's result is in the accumulators of one thread, or of one per warp along K.
  void covers(const Work& t);

  /// Proves that `writer` left the A operand of matmul t in registers: each fragment is the one that the
  /// instruction expects there, and all of K is multiplied exactly once.
  void chained(const Work& t, const Work& writer);

  /// Proves that work t combines the partial results of work `writer` correctly: each partial result is added once, and
  /// the total is stored for the right row, or is kept by all lanes of that row. Throws Rejected otherwise.
  void sums(const Work& t, const Work& writer);

 private:
  const Context& context(const Work& t) const { return plan_.layout_of(t); }
  int left_in(const Work& writer, const Work& reader, int x) const;
  void in_every_lane(const Work& t) const;
  void added_once(const Work& t) const;

  const Kernel& plan_;
  const TileProgram& p_;
  std::set<std::pair<int, int>> agreed_;  // pairs of contexts that are proved equal
  std::set<int> covered_, summed_;        // contexts that are proved already
  std::set<Work> multiplied_;             // matmuls that are proved already
};

}  // namespace zellige::verify
