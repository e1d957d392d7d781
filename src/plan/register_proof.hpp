// Compares register contents: each function proves one way of passing values on, for each thread and value,
// or throws Rejected with the two coordinates that differ. verify_registers.cpp decides which proofs are
// required.
#pragma once
#include <set>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

class RegisterProof {
 public:
  explicit RegisterProof(const KernelPlan& plan) : plan_(plan), p_(plan.program) {}

  /// Task `writer` left the values of node x at the coordinates at which `reader` expects them; `partial`:
  /// sums over a part of K suffice.
  void agree(int writer, int reader, int x, bool partial);

  /// Node x, one value per row from task `writer`, is read by `reader` over accumulators: each element at its
  /// own row.
  void in_lines(int writer, int reader, int x);

  /// Node x from task `writer` is read by `reader` at the other matrix of its batch's pair: each thread holds
  /// that, too.
  void in_pairs(int writer, int reader, int x);

  /// Task t reads buffer b after task w without a barrier: every in-bounds element that a thread reads was
  /// written by the same thread. `own`: t reads at its context's own coordinates.
  void same_thread(int t, int w, int b, bool own) const;

  /// Every element of a matmul's C is in one thread for each of the warps along K.
  void covers(int t);

  /// The A operand of matmul t is in the registers that `writer` left: each fragment is the one that the
  /// instruction expects there, and all of K is multiplied exactly once.
  void chained(int t, int writer);

  /// Task t combines the partial results of `writer`: every summand once; the result is stored for the right
  /// row, or left in all of its lanes.
  void sums(int t, int writer);

  /// 'to operand %5'
  std::string describe(int t) const;

 private:
  const Context& context(int t) const { return plan_.contexts[plan_.tasks[t].context]; }
  [[noreturn]] void clash(int writer, int reader, int x, int thread, int value, const Shape& found,
                          const Shape& wanted) const;
  int left_in(int t) const;
  void in_every_lane(int t) const;
  void added_once(int t) const;

  const KernelPlan& plan_;
  const BlockProgram& p_;
  std::set<std::pair<int, int>> agreed_;         // pairs of contexts
  std::set<int> covered_, summed_, multiplied_;  // contexts, and matmuls, that are already proved
};

}  // namespace zellige::plan
