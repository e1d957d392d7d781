// What the rules of spellings.hpp write instead of one operator.
#pragma once
#include <cmath>

#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::fuse {

using graph::Attributes;
using graph::DType;
using graph::KernelOp;
using graph::OpKind;
using graph::Shape;

/// The operators that replace one operator.
class Written {
 public:
  Written(const rewrite::Known& g, const KernelOp& op, rewrite::Rewrite& out) : g_(g), op_(op), out_(out) {}

  /// Appends an operator and returns its result.
  int add(OpKind kind, std::vector<int> in, const Attributes& a = {}) {
    return out_.add(kind, std::move(in), a, made() + "_w");
  }
  int scalar(OpKind kind, int x, double s) { return add(kind, {x}, {.scalar = s}); }
  /// Appends the last operator, which makes the replaced operator's result. Returns true.
  bool last(OpKind kind, std::vector<int> in, const Attributes& a = {}) {
    out_.add(kind, std::move(in), a, "", op_.outputs[0]);
    return true;
  }
  bool last_scalar(OpKind kind, int x, double s) { return last(kind, {x}, {.scalar = s}); }
  int cast(int x, DType dtype) { return add(OpKind::cast, {x}, {.dtype = dtype}); }
  int in(std::size_t i = 0) const { return op_.inputs[i]; }
  std::size_t operands() const { return op_.inputs.size(); }
  DType dtype(int t) const { return out_.tensor(t).dtype; }
  const Shape& shape(int t) const { return out_.shape(t); }
  const std::string& made() const { return g_.graph.tensors[op_.outputs[0]].name; }
  const Attributes& attributes() const { return op_.attributes; }
  OpKind kind() const { return op_.kind; }

 private:
  const rewrite::Known& g_;
  const KernelOp& op_;
  rewrite::Rewrite& out_;
};

inline bool is_power_of_two(double s) {
  int exponent = 0;
  return s != 0 && std::abs(std::frexp(s, &exponent)) == 0.5;
}

using Body = bool (*)(Written&);
/// A rule that applies to operators of one kind with a number of operands (0: any).
template <OpKind Kind, std::size_t Operands, Body Write>
bool on(const rewrite::Known& g, const KernelOp& op, rewrite::Rewrite& out) {
  if (op.kind != Kind || (Operands > 0 && op.inputs.size() != Operands)) return false;
  Written w(g, op, out);
  return Write(w);
}

}  // namespace zellige::fuse
