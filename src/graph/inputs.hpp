// Random inputs that distinguish a wrong kernel from a right one: no two rows have the same magnitude, and
// nothing overflows.
//
//   RandomInputs in = random_inputs(g, 1);      // the same for the same graph and seed, on any machine
//   in.arrays[0], in.exponents[0]               // values rounded to the dtype; scaled by 2^exponent
//   in.reference                                // the reference run on them, which the search ends with
//   InputChoice c = choose_inputs(g, 1);        // the scales alone, found on parts of the graph
//   input_part(g, c, 0, region)                 // and the values where they are needed
//
// Elements are normally distributed with variance 1; each row is scaled by its own factor between 2^-2 and
// 2^2. If some kernel-level tensor or block-level matmul operand would not be finite and at most 2^13, inputs
// are scaled down by powers of two: one input alone if that is enough, else all; if no scale helps (log of a
// negative number), again with absolute values. The limit is a preference: if no scale satisfies it (a sum of
// exp over 16,384 columns is at least that large), the smallest finite values are accepted; and if no scale
// makes every tensor finite, values without NaN and with some finite element in every output.
//
// Integers are up to a few hundred, of both signs, and never scaled; indices of rows are in range, and each
// is drawn at most once if scatter reads them. An input may also be given: it is used unchanged, and the
// others are scaled.
#pragma once
#include <memory>
#include <string>

#include "graph/reference.hpp"
#include "graph/region.hpp"
#include "graph/rows.hpp"

namespace zellige::graph {

constexpr double magnitude_limit = 8192;
/// Limit of exp's arguments if some scale allows it; see ReferenceOptions::exp_limit.
constexpr double exponent_limit = 4;

/// Per input; nullptr: random. A given array has the input's shape, with values of the input's dtype.
using GivenInputs = std::vector<std::shared_ptr<const Array>>;

/// Determines all values of the inputs.
struct InputChoice {
  std::uint64_t seed = 1;
  std::vector<int> exponents;  // the scale of each is 2^exponent
  bool positive = false;       // absolute values were taken
  int trials = 0;              // number of reference runs of the search
  GivenInputs given;
  std::vector<Numbers> numbers;  // per input: how integers must be drawn
};

struct RandomInputs : InputChoice {
  std::vector<Array> arrays;  // one per graph input
  Reference reference;
};

/// The graph must be valid. Throws Error if no scale leaves anything to compare; never if all inputs are
/// given.
RandomInputs random_inputs(const KernelGraph&, std::uint64_t seed, const GivenInputs& = {});

/// The same from a reduced graph: one tile of each output with everything that it sums over, and one of each
/// intermediate too if a tile of an output costs too much; one operand then represents all of its kind.
/// Limits are halved, because the whole graph has larger elements.
InputChoice choose_inputs(const KernelGraph&, std::uint64_t seed, const GivenInputs& = {});

/// A part of an input; below: `count` elements of one of its rows (along the last dimension), starting at
/// `from`.
Array input_part(const KernelGraph&, const InputChoice&, int input, const Region&);
void input_row(const KernelGraph&, const InputChoice&, int input, std::int64_t row, std::int64_t from,
               std::int64_t count, double* to);

/// Draws indices of rows, starting at the `first`: any of them, or each once, by a step that is coprime to
/// their number.
void draw_numbers(const Numbers&, std::uint64_t key, std::int64_t first, std::int64_t count, double* to);

/// "X0 x 1, X1 x 2^-3, X2 given": the scales in one line.
std::string describe_scales(const KernelGraph&, const InputChoice&);

}  // namespace zellige::graph
