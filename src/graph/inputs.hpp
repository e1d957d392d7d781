// Random inputs that tell a wrong kernel from a right one: no two rows of one magnitude, nothing that
// overflows.
//
//   RandomInputs in = random_inputs(g, 1);      // the same for the same graph and seed, on any machine
//   in.arrays[0], in.exponents[0]               // values rounded to the dtype; scaled by 2^exponent
//   in.reference                                // the reference run on them, which the search ends with
//
// Elements are bell-shaped with variance 1, each row times a factor of its own between 2^-2 and 2^2. Where
// some kernel-level tensor or block-level matmul operand would not be finite and at most 2^13, inputs are
// scaled down by powers of two: one input alone if that is enough, else all; if no scale helps (log of a
// negative number), again with the absolute values. That limit is a preference: where no scale keeps it (a sum
// of exp over 16,384 columns is at least that large), what is finite will do, no larger than need be; and where none keeps
// every tensor finite, what has no NaN and leaves something finite in every output.
#pragma once
#include "graph/reference.hpp"

namespace zellige::graph {

constexpr double magnitude_limit = 8192;
/// Arguments of exp stay within it where some scale keeps them there; see ReferenceOptions::exp_limit.
constexpr double exponent_limit = 4;

struct RandomInputs {
  std::vector<Array> arrays;   // one a graph input
  std::vector<int> exponents;  // the scale of each is 2^exponent
  bool positive = false;       // absolute values were taken
  int trials = 0;              // reference runs that the search took
  Reference reference;
};

/// The graph must be valid. Throws Error if no scale leaves anything to compare.
RandomInputs random_inputs(const KernelGraph&, std::uint64_t seed);

/// "X0 x 1, X1 x 2^-3": the scales as a line of text.
std::string describe_scales(const KernelGraph&, const RandomInputs&);

}  // namespace zellige::graph
