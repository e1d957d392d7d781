// Proves that the values which one task (a matmul, a loop nest, ...) leaves in registers are those that
// another task expects there, by evaluating the thread-value layouts of both for each thread and value.
//
// Each function proves one way of passing values on, or throws Rejected with the two coordinates that
// differ. verify_registers.cpp decides which proofs a plan needs.
#pragma once
#include <set>

#include "kernel/kernel.hpp"

namespace zellige::plan {

/// The proofs for one kernel's plan. Tasks (the work of steps) are indices into Kernel::tasks; nodes
/// (operators) are indices into BlockProgram::nodes. A pair of thread-value layouts is evaluated once.
class RegisterProof {
 public:
  explicit RegisterProof(const Kernel& plan) : plan_(plan), p_(plan.program) {}

  /// Proves that task `writer` left each value of node x (an operator of the kernel) in the thread and
  /// register in which task `reader` reads it. Throws Rejected if the values are sums over a part of K,
  /// unless `partial` allows that.
  void agree(int writer, int reader, int x, bool partial);

  /// Proves that each thread of task `reader`, which iterates over accumulators, has the value of node x (an
  /// operator of the kernel) for the row of each of its elements. Task `writer` left one value of x per row
  /// in registers.
  void in_lines(int writer, int reader, int x);

  /// Matrices with the batch indices 2 i and 2 i + 1 are a pair. Proves that each thread that has an element
  /// of node x (an operator of the kernel, computed by task `writer`) also has the element at the same row
  /// and column of the other matrix of the pair. Task `reader` reads both from registers.
  void in_pairs(int writer, int reader, int x);

  /// Proves that task t may read buffer b after task w without a barrier: each thread reads only elements
  /// that the same thread wrote. `own` says whether each thread reads b at exactly the coordinates of its
  /// elements in t's thread-value layout. If it is false, throws Rejected.
  void same_thread(int t, int w, int b, bool own) const;

  /// Proves that every element of a matmul's result is in the accumulators of exactly one thread, or of one
  /// thread per warp along K.
  void covers(int t);

  /// Proves that `writer` left the A operand of matmul t in registers: each fragment is the one that the
  /// instruction expects there, and all of K is multiplied exactly once.
  void chained(int t, int writer);

  /// Proves that task t combines the partial results of task `writer` correctly: each partial result is added
  /// once, and the total is stored for the right row, or is kept by all lanes of that row. Throws Rejected
  /// otherwise.
  void sums(int t, int writer);

  /// Returns a task's name for messages: 'to operand %5'.
  std::string describe(int t) const;

 private:
  const Context& context(int t) const { return plan_.contexts[plan_.tasks[t].context]; }
  [[noreturn]] void clash(int writer, int reader, int x, int thread, int value, const Shape& found,
                          const Shape& wanted) const;
  int left_in(int t) const;
  void in_every_lane(int t) const;
  void added_once(int t) const;

  const Kernel& plan_;
  const BlockProgram& p_;
  std::set<std::pair<int, int>> agreed_;  // pairs of contexts that are proved equal
  // Contexts, and in multiplied_ matmuls, that are proved already.
  std::set<int> covered_, summed_, multiplied_;
};

}  // namespace zellige::plan
