// Compiles all_reduce as a kernel of ours, in which ranks exchange tiles and read each other's memory, in place of a call of NCCL.
//
//   // y = all_reduce(x) over 2 ranks: a kernel whose inputs are the two windows and what the exchange needs
//   std::optional<RankStep> step = symmetric_step(graph, segment, target, options, cache);
//
// Its program adds the windows in the order of ranks, in float32, and rounds once. So all ranks have the same bits, those of
// collective_on_host().
#pragma once
#include "ranks/rank_program.hpp"

namespace zellige::ranks {

/// Returns the step in which ranks exchange tiles for the collective of a segment and compute a tail after it (tails.hpp), which may have
/// no operators; nullopt if there is no such kernel, with the reason in `why`. The caller sets RankStep::otherwise.
std::optional<RankStep> symmetric_step(const graph::KernelGraph&, const Segment&, const Segment& tail,
                                       const target::Target&, const run::CompileOptions&,
                                       const std::optional<toolchain::Cache>&, std::string& why);

/// Returns whether `how`, or the expected times on the target's links, ask for such a step.
bool wants_symmetric(run::Collectives how, const target::Target&, const graph::KernelGraph&, const Segment&);

/// What an input of a program in which ranks exchange tiles is, by its position among the arguments (plan/symmetric.hpp).
struct SymmetricInput {
  enum Kind : std::uint8_t { window, operand, published, own_window, flags, state } kind{};
  int index = 0;  // window, flags: the rank; operand: the position among the segment's inputs
};
/// Returns what the input at `position` of a step's program is. Precondition: ranks exchange tiles in the step.
SymmetricInput symmetric_input(const RankStep&, int ranks, int position);

/// The bytes that a step in which ranks exchange tiles needs in memory of each rank.
struct SymmetricBytes {
  std::int64_t half = 0, flags = 0,
               state = 0;  // of half a window; of the flags; of the state, which no other rank reads
};
SymmetricBytes symmetric_bytes(const RankStep&, int ranks);

}  // namespace zellige::ranks
