// Compiles and runs graphs over ranks: programs of kernels, and collectives between them.
//
//   const RankProgram p = compile_over_ranks(g, target::find("sm_90a"), {}, cache);
//   p.steps[0].program     // the kernels before the first collective: an EmittedProgram; nullopt: a collective
//
// On the emulator one process runs all ranks: each has memory of its own, and collectives are computed on the host, in the
// order of ranks. So all ranks have the same bits of a sum.
#pragma once
#include "graph/sized_graph.hpp"
#include "ranks/rendezvous.hpp"
#include "ranks/segments.hpp"
#include "run/collectives.hpp"
#include "run/compile.hpp"
#include "run/emulated.hpp"

namespace zellige::ranks {

/// Kernels without collectives, or one collective.
struct RankStep {
  Segment segment;
  std::optional<emit::EmittedProgram> program;  // of the segment's kernels; nullopt: the segment is a collective
  std::vector<std::string> notes{};             // what was fused, what was not, and why
  /// The program computes the segment's collective, and what follows it: ranks read each other's memory (symmetric_steps.hpp).
  bool by_symmetric = false;
  std::vector<RankStep> otherwise{};  // the steps that do the same without memory in common
};

/// What each rank runs.
struct RankProgram {
  graph::KernelGraph graph;  // of one rank
  std::vector<RankStep> steps;
  double plan_ms = 0;
};

/// Returns the program of a graph over ranks. Its graph is that of flat_collectives(): the given tensors keep their
/// names, others come after them. If the graph has sizes that are known at launch, so has the program (at_values). Throws as compile() does.
RankProgram compile_over_ranks(const graph::KernelGraph&, const target::Target&, const run::CompileOptions&,
                               const std::optional<toolchain::Cache>& = std::nullopt,
                               run::Collectives = run::Collectives::nccl);

/// Returns the program of a launch with these values of its graph's sizes: its graph, and the kernels' arguments and grids, are constants.
/// Throws Error if a size has no value, or one that it does not have.
RankProgram at_values(RankProgram, const graph::SizeValues&);

/// Returns how many kernels and collectives the program has, what computes the collectives, and why: one line each.
std::vector<std::string> notes_of(const RankProgram&);

/// Returns the program as JSON: its tensors, and its steps, each a program by the name of its manifest, or a collective
/// (docs/explanation/ranks.md).
std::string to_json(const RankProgram&);

/// Returns the place of a rank's tensor in memory of its own: with the strides that the graph gives it, else row-major.
manifest::TensorPlace place_of_rank(const graph::KernelTensor&, manifest::Role, int position);

/// Computes a collective of graph `g`, on the host. `memory[r][t]` has the bytes of tensor t of rank r, at its place_of_rank().
void collective_on_host(const graph::KernelGraph& g, const graph::KernelOp&,
                        std::vector<std::vector<run::Bytes>>& memory);

/// What all ranks computed: a manifest of their tensors, by the names and positions of over_ranks(), and their bytes.
struct RanksRun {
  manifest::Manifest manifest;  // without kernels
  std::vector<run::Bytes> storage;
  std::vector<run::EmulatedKernel> kernels;  // of all ranks
  std::vector<emulate::Finding> findings;
  bool complete = true;
  double compile_ms = 0, run_ms = 0;
  int rank = -1;       // whose tensors these are; -1: those of all
  std::string note{};  // why NCCL computes what kernels could
  run::Times times{};  // of this rank, if it is timed
};

/// Runs this process's rank on the GPU, with the other processes of the job. The result has this rank's tensors alone, and the
/// kernels without counters. With Timing::hot, all evaluations read the same inputs. Throws Error if a rank is missing or runs something else: `facts` are what must be the same, by
/// name.
RanksRun run_rank_on_gpu(const RankProgram&, const graph::KernelGraph& over_ranks, const reference::InputChoice& inputs,
                         const RankFacts& facts, const toolchain::Cache&, run::Timing = run::Timing::off);

/// Runs all ranks of a program on the emulator. `inputs`: values of the inputs of over_ranks(). Throws as
/// run_emulated() does.
RanksRun run_ranks_emulated(const RankProgram&, const graph::KernelGraph& over_ranks,
                            const reference::InputChoice& inputs, const toolchain::Cache&, int workers = 0);

/// Runs one rank of a program on the emulator, and its collectives on the host. The other ranks are other processes or
/// threads, which pass it their operands. `memory` has the bytes of the graph's tensors, at their place_of_rank(): of inputs
/// before, of outputs after. Throws Error with the first finding, if there is one.
void run_rank_emulated(const RankProgram&, Rendezvous&, std::vector<run::Bytes>& memory, const toolchain::Cache&,
                       int workers = 0);

/// Returns what must be the same on all ranks that run a graph: version, graph and target.
RankFacts facts_of_ranks(const graph::KernelGraph&, const std::string& target);

}  // namespace zellige::ranks
