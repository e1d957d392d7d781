// Puts two consecutive matmuls of a loop on warpgroups, as in attention: the accumulators of the first,
// after elementwise work and rounding, are the A operand of the second and stay in registers.
//
//   s = q k            q: resident, loaded before the loop         k, v: a ring filled by TMA
//   p = round(f(s))    f: elementwise, with row statistics
//   o = o * r + p v
//
// Each warpgroup has 64 rows of q, p and o. Later passes recognise the chain by the matmuls' instructions,
// as in warpgroups.hpp.
//
// Runs after the pass `resolve_layouts`, which chooses the contiguous dimension of every tile.
#pragma once
#include <optional>
#include <string>

#include "select/select.hpp"

namespace zellige::plan {

/// Selects wgmma instructions and warp layouts for the loop's two chained matmuls, as in attention: the
/// accumulators of the first one are the A operand of the second. Returns an empty string on success, nullopt
/// if the loop has no such pair of matmuls, or the reason, for a note, if the pair cannot run on warpgroups.
std::optional<std::string> warpgroup_chain(Selection&, const Program&, const target::Target&);

/// Returns the first matmul of the chain if the value of operator `node`, between the two matmuls, is kept in
/// registers, in the layout of that matmul's accumulators. Returns -1 if the value is evaluated wherever it
/// is read. These values are kept:
///
/// - the value of the second matmul's A operand, because the operand's registers are being read by the
///   second matmul of the preceding iteration;
/// - a value with several users that is expensive to recompute (it loads data or computes a tanh).
///
/// `Sections` are those of the selection's program.
int accumulators_to_keep_in(const Selection&, const Sections&, int node);

}  // namespace zellige::plan
