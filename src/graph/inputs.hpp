// Random inputs that tell a wrong kernel from a right one: no two rows of one magnitude, nothing that
// overflows.
//
//   RandomInputs in = random_inputs(g, 1);      // the same for the same graph and seed, on any machine
//   in.arrays[0], in.exponents[0]               // values rounded to the dtype; scaled by 2^exponent
//   in.reference                                // the reference run on them, which the search ends with
//   InputChoice c = choose_inputs(g, 1);        // the scales alone, found on parts of the graph
//   input_part(g, c, 0, region)                 // and the values where they are needed
//
// Elements are bell-shaped with variance 1, each row times a factor of its own between 2^-2 and 2^2. Where
// some kernel-level tensor or block-level matmul operand would not be finite and at most 2^13, inputs are
// scaled down by powers of two: one input alone if that is enough, else all; if no scale helps (log of a
// negative number), again with the absolute values. That limit is a preference: where no scale keeps it (a sum
// of exp over 16,384 columns is at least that large), what is finite will do, no larger than need be; and where none keeps
// every tensor finite, what has no NaN and leaves something finite in every output.
//
// Integers are up to a few hundred, of both signs, and never scaled; those that name rows name rows that there are, in what
// scatter reads each once.
// An input may be given instead: then it stays as it is, and the others are scaled.
#pragma once
#include <memory>
#include <string>

#include "graph/reference.hpp"
#include "graph/region.hpp"
#include "graph/rows.hpp"

namespace zellige::graph {

constexpr double magnitude_limit = 8192;
/// Arguments of exp stay within it where some scale keeps them there; see ReferenceOptions::exp_limit.
constexpr double exponent_limit = 4;

/// By input; nullptr where it is random. A given array has the input's shape, and its values are of the input's dtype.
using GivenInputs = std::vector<std::shared_ptr<const Array>>;

/// What says all of an input's values.
struct InputChoice {
  std::uint64_t seed = 1;
  std::vector<int> exponents;  // the scale of each is 2^exponent
  bool positive = false;       // absolute values were taken
  int trials = 0;              // reference runs that the search took
  GivenInputs given;
  std::vector<Numbers> numbers;  // by input: how integers must be drawn
};

struct RandomInputs : InputChoice {
  std::vector<Array> arrays;  // one a graph input
  Reference reference;
};

/// The graph must be valid. Throws Error if no scale leaves anything to compare; never if all inputs are given.
RandomInputs random_inputs(const KernelGraph&, std::uint64_t seed, const GivenInputs& = {});

/// The same from a reduced graph: of each output one tile, with all that it sums over, and of each intermediate too where a tile
/// of an output takes too much; an operand then stands for more of its kind. Limits are half: the whole has larger elements.
InputChoice choose_inputs(const KernelGraph&, std::uint64_t seed, const GivenInputs& = {});

/// A part of an input; and `count` elements of one of its rows, which lie along the last dimension, from `from` on.
Array input_part(const KernelGraph&, const InputChoice&, int input, const Region&);
void input_row(const KernelGraph&, const InputChoice&, int input, std::int64_t row, std::int64_t from,
               std::int64_t count, double* to);

/// Numbers of rows, from the `first` on: any of them, or each once, by steps that share no factor with how many there are.
void draw_numbers(const Numbers&, std::uint64_t key, std::int64_t first, std::int64_t count, double* to);

/// "X0 x 1, X1 x 2^-3, X2 given": the scales as a line of text.
std::string describe_scales(const KernelGraph&, const InputChoice&);

}  // namespace zellige::graph
