// Compiles totals over ranks as kernels of ours, in which ranks exchange tiles and read each other's memory, in place of calls of NCCL.
//
//   // y = all_reduce(x) over 2 ranks: a kernel that reads the windows of both
//   std::optional<RankStep> step = symmetric_step(graph, {segment, tail, SumBy::one_shot}, target, options, cache, why);
//   // y = all_reduce(a b): the product's kernel, which adds the tiles of both at its end
//   std::optional<RankStep> fused = fused_step(graph, product, segment, SumBy::one_shot, target, options, cache, why);
//
// They add in the order of ranks, in float32, and round once. So all ranks have the same bits, those of collective_on_host().
#pragma once
#include "ranks/rank_program.hpp"

namespace zellige::ranks {

/// What adds over ranks: NCCL, or kernels. In one shot each rank adds the tiles of all; in two, a share for all ranks.
enum class SumBy : std::uint8_t { nccl, one_shot, two_shots };

/// Returns what adds the operand of a collective: what `how` asks for, or what takes the least expected time on the target's links.
/// With Collectives::cheapest, ways that were not measured are left out where others were.
SumBy way_of_sum(run::Collectives how, const target::Target&, const graph::KernelGraph&, const Segment&);

/// A sum over ranks and the tail after it (tails.hpp), which may have no operators.
struct SumAndTail {
  const Segment& collective;
  const Segment& tail;
  SumBy by = SumBy::one_shot;
};
/// Returns the step in which ranks exchange tiles for a sum and compute its tail; nullopt if there is no such kernel, with the reason
/// in `why`. The caller sets RankStep::otherwise.
std::optional<RankStep> symmetric_step(const graph::KernelGraph&, const SumAndTail&, const target::Target&,
                                       const run::CompileOptions&, const std::optional<toolchain::Cache>&,
                                       std::string& why);

/// Returns the step that computes `kernels` and the collective of one of their outputs, which nothing else reads: the kernel that
/// makes it adds the tiles of all ranks at its end. Otherwise as symmetric_step().
std::optional<RankStep> fused_step(const graph::KernelGraph&, const Segment& kernels, const Segment& collective, SumBy,
                                   const target::Target&, const run::CompileOptions&,
                                   const std::optional<toolchain::Cache>&, std::string& why);

/// Returns the step in which ranks gather the rows that the products of `tail`, a tail of cut_product(), read: the kernel begins with its
/// rank's own rows while others arrive. Otherwise as symmetric_step().
std::optional<RankStep> gather_step(const graph::KernelGraph&, const Segment& collective, const Segment& tail,
                                    const target::Target&, const run::CompileOptions&,
                                    const std::optional<toolchain::Cache>&, std::string& why);
/// Returns the expected us by which a gather_step() is faster than NCCL's all_gather and the kernels of `separate` after it.
double gather_gain_us(const graph::KernelGraph&, const RankStep& gathers, const RankStep& separate,
                      const Segment& collective, const target::Target&);

/// Returns the expected us by which `fused`, a fused_step(), is faster than the kernels of `apart` and a sum after them.
double fused_gain_us(const graph::KernelGraph&, const RankStep& fused, const RankStep& apart, const Segment& collective,
                     SumBy sum, const target::Target&);

/// Where the memory of a tensor of a step's program is.
struct SymmetricPlace {
  enum Kind : std::uint8_t { tensor, window, sums, flags, state } kind = tensor;
  int tensor_of_graph = -1;  // tensor: that of the graph; -1: an intermediate one
  int rank = -1;             // else: of this rank; -1: this one
};
/// Returns where the memory of a tensor of the program is. Precondition: ranks exchange tiles in the step.
SymmetricPlace symmetric_place(const RankStep&, const manifest::TensorPlace&);

/// The bytes that a step in which ranks exchange tiles needs in memory of each rank: what others access, one after another, and the state.
struct SymmetricBytes {
  std::int64_t window = 0, sums = 0, flags = 0, state = 0;
  /// Returns where a kind of memory begins in what the ranks have in common.
  std::int64_t begin(SymmetricPlace::Kind) const;
  std::int64_t in_common() const { return window + sums + flags; }
};
SymmetricBytes symmetric_bytes(const RankStep&);

}  // namespace zellige::ranks
