// Evaluates the expressions of a tape for given inputs by a loop, as compiled code does.
#pragma once
#include <vector>
#include <zellige/layout/runtime.hpp>

namespace zellige::test {

/// Run-time leaves become the inputs of a tape; their values are kept.
inline Value with_inputs(Value v, std::vector<long long>& inputs) {
  auto name = [&](Num& n) {
    if (n.is_static()) return;
    inputs.push_back(n.v);
    n = expression(int(inputs.size()) - 1);
  };
  for (ValueNode& n : v.nodes) {
    name(n.s);
    name(n.d);
  }
  return v;
}

struct Computed {
  bool caught = false;
  Value result;
};
/// Computes the tape for these inputs, and puts the numbers into the result.
inline Computed compute_all(Tape const& tape, std::vector<long long> const& inputs, Value result) {
  Computed c;
  std::vector<long long> slots;
  auto value = [&](Num n) { return n.is_static() ? n.v : slots[std::size_t(n.id - 1)]; };
  for (TapeStep const& s : tape.steps()) {
    if (s.op == Arith::input)
      slots.push_back(inputs[slots.size()]);
    else if (s.op == Arith::check)
      c.caught = c.caught || value(s.a) == 0, slots.push_back(0);
    else
      slots.push_back(compute(s.op, value(s.a), value(s.b)));
  }
  for (ValueNode& n : result.nodes) {
    n.s = fixed(value(n.s));
    n.d = fixed(value(n.d));
  }
  c.result = result;
  return c;
}

}  // namespace zellige::test
