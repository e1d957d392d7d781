// Defines the reductions and accumulators in one table: the monoid by which each joins elements, along which dimensions
// or iterations, and what it applies to the elements before.
//
//   monoid_of(OpKind::amax).join        // OpKind::maximum
//   reduction_of(OpKind::softmax)       // nullptr: it is composed of operators of the table (compose.hpp)
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

/// An associative and commutative operation with an identity. No member has a default.
struct Monoid {
  constexpr Monoid(std::string_view one, std::string_view several, OpKind joined_by, double neutral, double from,
                   bool joins_equals, bool has_functions, int slots_of_join, std::string_view joined_in)
      : name(one),
        plural(several),
        join(joined_by),
        identity(neutral),
        start(from),
        idempotent(joins_equals),
        functions(has_functions),
        slots(slots_of_join),
        carrier(joined_in) {}
  std::string_view name, plural;
  OpKind join;      // the elementwise operator that joins two elements: its row has the meaning and the source
  double identity;  // join(identity, x) is x
  double start;     // from which the iterations of a loop are joined: the identity, or the finite number next to it
  bool idempotent;  // join(x, x) is x
  // Whether kernels have functions NAME_lanes and read_NAME (block/reduce.hpp, tile.hpp). Else they call join_lanes and
  // read_joined with the source of `join`.
  bool functions;
  int slots;  // issue slots (warp instructions) in which threads join 32 elements
  // The class of what a thread joins its elements in, if one number would be slow or inexact; else "". NAME_lanes makes
  // a number of it, and such numbers are joined again as elements: in shared memory, and in other kernels.
  std::string_view carrier;
};
/// The monoids. A minimum is the negated maximum of the negated elements (compose.hpp): that is exact, and as fast, since
/// the instruction that takes a maximum negates its operands. Online softmax, and the equality of graphs, know maxima.
namespace monoids {
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double lowest = std::numeric_limits<float>::lowest();
inline constexpr Monoid sum{"sum", "sums", OpKind::add, 0, 0, false, true, 1, ""};
inline constexpr Monoid max{"max", "maxima", OpKind::maximum, -infinity, lowest, true, true, 1, ""};
inline constexpr Monoid product{"product", "products", OpKind::mul, 1, 1, false, false, 1, ""};
// Its carrier is a maximum and a sum of exponentials (block/log_sum.hpp): a maximum, a difference, an exponential, a sum.
inline constexpr Monoid logsumexp{
    "logsumexp", "logarithms of sums", OpKind::logaddexp, -infinity, -infinity, false, true, 9, "LogSum"};
}  // namespace monoids

/// What a reduction joins. `iterations` are those of a block's loop.
enum class Along : std::uint8_t {
  dim,              // a dimension, down to `to` elements
  dims,             // one dimension or several, which may stay with extent 1 (compose.hpp)
  running,          // a dimension, and the iterations so far
  iterations,       // the iterations, element by element
  iterations_last,  // the iterations and the last dimension
  then_last         // the iterations and, after the loop, the last dimension
};

/// What a reduction makes of what it has joined; `n` is the number of elements.
enum class Then : std::uint8_t {
  nothing,
  mean,         // x / n
  root_of_mean  // the square root of x / n
};

/// A row of the table. No member has a default.
struct ReductionRow {
  constexpr ReductionRow(OpKind op, std::string_view spelled, std::string_view in_mirage, const Monoid* monoid,
                         Along joined_along, bool of_squares, bool is_rescaled, Then afterwards)
      : of(monoid),
        name(spelled),
        mirage(in_mirage),
        kind(op),
        along(joined_along),
        squares(of_squares),
        rescales(is_rescaled),
        then(afterwards) {}
  const Monoid* of;
  std::string_view name, mirage;  // as in OpInfo (ops.hpp)
  OpKind kind;
  Along along;
  bool squares;   // of accumulators alone: joins the squares of the elements
  bool rescales;  // of accumulators alone: multiplies what it has joined by its second operand before each iteration
  Then then;      // of accumulators alone
};

// clang-format off
inline constexpr ReductionRow reduction_rows[] = {
    {OpKind::reduction, "reduction", "reduction_#", &monoids::sum, Along::dim, false, false, Then::nothing},
    {OpKind::reduction_max, "reduction_max", "reduction_#_max", &monoids::max, Along::running, false, false, Then::nothing},
    {OpKind::amax, "amax", "", &monoids::max, Along::dims, false, false, Then::nothing},
    {OpKind::prod, "prod", "", &monoids::product, Along::dims, false, false, Then::nothing},
    {OpKind::logsumexp, "logsumexp", "", &monoids::logsumexp, Along::dims, false, false, Then::nothing},
    {OpKind::accum, "accum", "accum_nored", &monoids::sum, Along::iterations, false, false, Then::nothing},
    {OpKind::accum_red_sum, "accum_red_sum", "accum_red_ld_sum", &monoids::sum, Along::iterations_last, false, false, Then::nothing},
    {OpKind::accum_red_mean, "accum_red_mean", "accum_red_ld_mean", &monoids::sum, Along::iterations_last, false, false, Then::mean},
    {OpKind::accum_red_rms, "accum_red_rms", "accum_red_ld_rms", &monoids::sum, Along::iterations_last, true, false, Then::root_of_mean},
    {OpKind::accum_redtox_sum, "accum_redtox_sum", "accum_redtox_ld_sum", &monoids::sum, Along::iterations_last, false, false, Then::nothing},
    {OpKind::accum_max, "accum_max", "accum_max", &monoids::max, Along::iterations, false, false, Then::nothing},
    {OpKind::accum_logsumexp, "accum_logsumexp", "", &monoids::logsumexp, Along::iterations, false, false, Then::nothing},
    {OpKind::accum_rescale, "accum_rescale", "accum_nored_rescale", &monoids::sum, Along::iterations, false, true, Then::nothing},
    {OpKind::accum_red_sum_rescale, "accum_red_sum_rescale", "accum_red_ld_sum_rescale", &monoids::sum, Along::then_last, false, true, Then::nothing},
};
// clang-format on

/// Returns whether the rows of dimensions only join. They are applied to several dimensions one after another, so that the
/// second one joins what the first has made: squares would be squared again. Such an operator is composed (compose.hpp).
constexpr bool dimensions_are_only_joined() {
  for (const ReductionRow& row : reduction_rows)
    if (row.along <= Along::running && (row.squares || row.rescales || row.then != Then::nothing)) return false;
  return true;
}
static_assert(dimensions_are_only_joined(),
              "squares, rescales and then are of accumulators: compose the reduction of others");

/// Returns the operator's row, or nullptr if it is neither a reduction nor an accumulator, or is composed of others.
constexpr const ReductionRow* reduction_of(OpKind kind) {
  for (const ReductionRow& row : reduction_rows)
    if (row.kind == kind) return &row;
  return nullptr;
}
/// Returns the monoid of an operator of the table, and that of sums for any other operator, such as a matmul.
constexpr const Monoid& monoid_of(OpKind kind) {
  const ReductionRow* row = reduction_of(kind);
  return row ? *row->of : monoids::sum;
}
/// Returns the number from which the iterations of a loop are joined, as kernels have it in this dtype: the lowest finite
/// float64 in place of the lowest float32 for f64.
constexpr double start_in(const Monoid& monoid, DType dtype) {
  return dtype == DType::f64 && monoid.start == monoids::lowest ? std::numeric_limits<double>::lowest() : monoid.start;
}
/// Returns the accumulator that joins by the same monoid, element by element, what the operator makes in the iterations;
/// nullptr if there is none.
constexpr const ReductionRow* accumulator_of(OpKind kind) {
  for (const ReductionRow& row : reduction_rows)
    if (row.of == &monoid_of(kind) && row.along == Along::iterations && !row.rescales) return &row;
  return nullptr;
}
/// Returns whether the operator is an accumulator with a factor, by which it multiplies what it has joined so far.
constexpr bool rescales(OpKind kind) {
  const ReductionRow* row = reduction_of(kind);
  return row && row->rescales;
}
/// Returns whether the operator is a reduction along one dimension or several.
constexpr bool folds(OpKind kind) {
  const ReductionRow* row = reduction_of(kind);
  return row && row->along == Along::dims;
}

}  // namespace zellige::graph
