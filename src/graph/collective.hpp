// Graphs over ranks: each of several processes, usually one per GPU, runs the same graph on tensors of its own, its shard.
// Collectives are the operators by which ranks exchange tensors.
//
//   Builder b("mlp", /*ranks=*/2);                       // shapes are those of one rank
//   Tensor x = b.input("x", {16, 256}), up = b.input("up", {256, 512}), down = b.input("down", {512, 256});
//   b.output(all_reduce(matmul(silu(matmul(x, up)), down)), "y");
//
// With R ranks, of which x is one rank's tensor, and n the extent along a collective's dimension:
//
//   all_reduce, all_reduce_max   the sum or maximum of the ranks' x, elementwise; every rank has the same bits
//   all_gather                   the ranks' x one after another along `dim`: R n
//   reduce_scatter               part r of the sum goes to rank r; R divides n along `dim`: n / R
//   all_to_all                   R parts along dims[0], of which part r goes to rank r; joined along dims[1] in order of ranks
//   broadcast                    rank `root`'s x
//   rank                         the number of the rank, 0 to R - 1: int32, of shape (1)
//
// A sum over ranks is that of the values in the order of ranks, in float32 (int32 for int32), rounded once. An engine may
// add in another order and round each partial sum to the dtype; it does the same on all ranks.
//
// ranks/over_ranks.hpp defines what such a graph computes.
#pragma once
#include "graph/graph.hpp"
#include "graph/ops.hpp"
#include "graph/where.hpp"

namespace zellige::graph {

constexpr int max_ranks = 1024;

/// Returns whether the operator exchanges tensors between ranks, or depends on the rank's number.
inline bool is_collective(OpKind kind) { return family(kind) == OpFamily::collective; }
/// Returns whether the collective combines the ranks' tensors elementwise, by a sum or a maximum.
inline bool combines_ranks(OpKind kind) {
  return kind == OpKind::all_reduce || kind == OpKind::all_reduce_max || kind == OpKind::reduce_scatter;
}
/// Returns whether the graph has a collective.
bool has_collectives(const KernelGraph&);
/// Throws Error if the graph has a collective. `what` completes the message: "graph mlp, operator 2 (all_reduce): expected
/// a graph without collectives, found one over 2 ranks; `what`".
void refuse_collectives(const KernelGraph&, std::string_view what);

/// Returns the graph for another number of ranks: inputs are as they were, other shapes are inferred. Throws Error if an
/// operator cannot be applied then.
KernelGraph with_ranks(KernelGraph, int ranks);

/// Returns the result of a collective over `ranks` ranks: its shape and dtype. `operand` is null for the operator rank.
/// Throws Error if the operator cannot be applied to the operand.
KernelTensor collective_result(const Where&, OpKind, const Attributes&, const KernelTensor* operand, int ranks);

}  // namespace zellige::graph
