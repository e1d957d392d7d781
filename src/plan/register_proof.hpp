// What registers hold, compared: each of these proves one way of handing values on, thread by thread and value
// by value, or throws Rejected with the two coordinates that clash. verify_registers.cpp says which is owed when.
#pragma once
#include <set>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

class RegisterProof {
 public:
  explicit RegisterProof(const KernelPlan& plan) : plan_(plan), p_(plan.program) {}

  /// Values of node x as task `writer` left them are at the coordinates that `reader` takes them for;
  /// `partial`: sums over a part of K will do.
  void agree(int writer, int reader, int x, bool partial);

  /// Node x as task `writer` left it, one value for each row, is read by `reader` over accumulators: each at its own row's.
  void in_lines(int writer, int reader, int x);

  /// Node x as task `writer` left it is read by `reader` where the other matrix of its batch's pair is: each thread holds that, too.
  void in_pairs(int writer, int reader, int x);

  /// Task t reads buffer b behind task w without a barrier: every element that a thread reads, past the tile
  /// its last one, it wrote itself. `own`: t reads at its context's own coordinates.
  void same_thread(int t, int w, int b, bool own) const;

  /// Every element of a product's C is in one thread for each of the warps along K.
  void covers(int t);

  /// A of product t in the registers that `writer` left: each fragment is the one that the instruction takes
  /// there, and all of K is multiplied once.
  void chained(int t, int writer);

  /// What `writer` summed in each thread, task t adds up: every summand once, and stored, or left in all of its lanes, as its own row.
  void sums(int t, int writer);

  /// 'to operand %5'
  std::string said(int t) const;

 private:
  const Context& context(int t) const { return plan_.contexts[plan_.tasks[t].context]; }
  [[noreturn]] void clash(int writer, int reader, int x, int thread, int value, const Shape& found,
                          const Shape& wanted) const;
  int left_in(int t) const;
  void in_every_lane(int t) const;
  void added_once(int t) const;

  const KernelPlan& plan_;
  const BlockProgram& p_;
  std::set<std::pair<int, int>> agreed_;         // contexts
  std::set<int> covered_, summed_, multiplied_;  // contexts, and products, proved already
};

}  // namespace zellige::plan
