// Two graphs have the same values at their own sizes, where the comparison at small sizes is undecided.
//
//   test::expect_same_values(graph, fuse::optimize(graph, target).graph);
#pragma once
#include <gtest/gtest.h>

#include "reference/compare.hpp"
#include "reference/inputs.hpp"

namespace zellige::test {

/// Expects that no element of an output of `b` is out of tolerance, for random inputs, where `a` is the reference.
inline void expect_same_values(const graph::KernelGraph& a, const graph::KernelGraph& b) {
  const reference::RandomInputs inputs = reference::random_inputs(a, 1);
  const reference::Reference of_b = reference::run(b, inputs.arrays);
  for (std::size_t i = 0; i < a.outputs.size(); ++i) {
    const reference::Comparison c = reference::compare(of_b.tensors[static_cast<std::size_t>(b.outputs[i])],
                                                       inputs.reference.tensors[static_cast<std::size_t>(a.outputs[i])],
                                                       a.tensors[static_cast<std::size_t>(a.outputs[i])].dtype);
    EXPECT_EQ(c.wrong, 0) << a.name << ": " << reference::to_string(c);
  }
}

}  // namespace zellige::test
