// Chooses random inputs that distinguish a wrong kernel from a right one: rows differ in magnitude, and
// nothing overflows if a scale of the inputs can avoid it.
//
//   RandomInputs in = random_inputs(g, /*seed=*/1);  // the same for the same graph and seed, on any machine
//   in.arrays[0], in.exponents[0]                    // input 0: values rounded to its dtype; scaled by 2^exponent
//   in.reference                                     // results of the float64 reference for these inputs
//   InputChoice c = choose_inputs(g, /*seed=*/1);    // only the scales, found by running tiles of the graph
//   input_part(g, c, /*input=*/0, region)            // the values of a region of input 0
//
// Elements are approximately normal with variance 1; each row is scaled by a random factor between 2^-2 and
// 2^2. Inputs are scaled down by powers of two if a kernel-level tensor or an operand of a block-level matmul
// is not finite or exceeds 2^13. One input is scaled if that is enough, else all. If no scale helps, as for
// the logarithm of a negative number, absolute values are tried.
//
// The limit of 2^13 is a preference. If no scale satisfies it, as in a sum of exp over 16,384 columns, scales
// with the smallest finite magnitudes are accepted. If no scale makes every tensor finite, inputs are accepted
// that cause no NaN and leave a finite element in every output.
//
// Integers have both signs and up to three digits, and are not scaled. Row indices are in range; if scatter
// reads them, each occurs at most once. The caller may give some of the inputs: they are used unchanged.
#pragma once
#include "graph/rows.hpp"
#include "reference/reference.hpp"
#include "reference/region.hpp"

namespace zellige::reference {

/// Preferred limit of a tensor's magnitude.
constexpr double magnitude_limit = 8192;
/// Preferred limit of the arguments of exp. See ReferenceOptions::exp_limit.
constexpr double exponent_limit = 4;

/// Inputs that the caller gives: one array per graph input, with the input's shape and values of its dtype;
/// nullptr: the input is random.
using GivenInputs = std::vector<std::shared_ptr<const Array>>;

/// Determines all values of the inputs, without storing them. input_row() and input_part() compute them.
struct InputChoice {
  std::uint64_t seed = 1;
  std::vector<int> exponents;  // per input: it is scaled by 2^exponent
  bool positive = false;       // random values are absolute values
  int trials = 0;              // number of reference runs of the search
  GivenInputs given;
  std::vector<graph::Numbers> numbers;  // per input: constraints on its integers
};

/// Random inputs with their values, and the reference's results for them.
struct RandomInputs : InputChoice {
  std::vector<Array> arrays;  // one per graph input
  Reference reference;
};

/// Returns random inputs for a valid graph, with the results of the float64 reference. Throws Error if no
/// scale of the inputs leaves finite values to compare, but not if the caller gives all inputs.
RandomInputs random_inputs(const graph::KernelGraph&, std::uint64_t seed, const GivenInputs& = {});

/// Chooses scales of the inputs at which no tensor exceeds its magnitude limit, like random_inputs(), but
/// evaluates only parts of the graph: one tile of each output, with everything on which the tile depends. If
/// that costs too much, evaluates one tile of each tensor that an operator computes; if such a tile is
/// expensive, its operands are filled with values of the tiles that were evaluated for them. The limits are
/// half of those of random_inputs(), because a tensor's largest element may be outside of its tile.
InputChoice choose_inputs(const graph::KernelGraph&, std::uint64_t seed, const GivenInputs& = {});

/// Returns the values of a region of the graph's input number `input`, computed on all cores.
Array input_part(const graph::KernelGraph&, const InputChoice&, int input, const TensorRegion&);
/// Writes `count` elements of row `row` (last dimension) of an input to `to`, starting at element `from` of the row.
void input_row(const graph::KernelGraph&, const InputChoice&, int input, std::int64_t row, std::int64_t from,
               std::int64_t count, double* to);

/// Writes `count` random row indices or lengths to `to`: elements `first`, `first` + 1, ... of the random
/// sequence with the seed `key`. Each number is in [0, Numbers::bound). If they must be distinct
/// (Numbers::distinct), the sequence advances by a step that is coprime to the bound.
void draw_numbers(const graph::Numbers&, std::uint64_t key, std::int64_t first, std::int64_t count, double* to);

}  // namespace zellige::reference
