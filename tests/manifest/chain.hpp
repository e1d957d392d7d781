// A program with one size: four softmaxes in a row, one kernel each.
#pragma once
#include "../unfused.hpp"
#include "graph/builder.hpp"

namespace zellige::test {

/// Returns the program for T rows, a multiple of `multiple` up to `high`.
inline emit::EmittedProgram chain(std::int64_t high, std::int64_t multiple = 1) {
  graph::Builder b("chain");
  const graph::TensorHandle x = b.input("x", {high, 96}), one = softmax(x, 1), two = softmax(one, 1),
                            three = softmax(two, 1);
  b.output(softmax(three, 1), "y");
  plan::PlanOptions o{.blocks = {plan::Blocks::a_tile}};
  o.sizes = {{.name = "T", .low = multiple, .high = high, .multiple = multiple, .of = {{0, 0}}}};
  return transpile(b.build(), target::find("sm_80"), o);
}

}  // namespace zellige::test
