#include "graph/error.hpp"
#include "json/json.hpp"
#include "manifest/manifest.hpp"
#include "ranks/rank_program.hpp"

namespace zellige::ranks {
namespace {

using run::Bytes;

/// Runs one program of kernels.
void run_kernels(const RankStep& step, int rank, std::vector<Bytes>& memory, const toolchain::Cache& cache,
                 int workers) {
  const manifest::Manifest& m = step.program->manifest;
  const Segment& s = step.segment;
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : m.tensors)
    storage.push_back(t.role == manifest::Role::input ? memory[s.inputs.at(t.position)] : run::poisoned(t));
  const run::EmulatedRun e = run::run_emulated(*step.program, storage, cache, workers);
  if (!e.findings.empty()) fail("{}: rank {}: {}", m.name, rank, e.findings[0].message);
  if (!e.complete) fail("{}: rank {}: the emulator gave a launch up", m.name, rank);
  for (std::size_t i = 0; i < m.tensors.size(); ++i)
    if (m.tensors[i].role == manifest::Role::output)
      memory[s.outputs.at(m.tensors[i].position)] = std::move(storage[i]);
}

/// Computes this rank's result of a collective.
void run_collective(const graph::KernelGraph& g, const graph::KernelOp& op, Rendezvous& ranks,
                    std::vector<Bytes>& memory) {
  std::vector<std::vector<Bytes>> all(static_cast<std::size_t>(ranks.ranks()), std::vector<Bytes>(g.tensors.size()));
  if (!op.inputs.empty()) {
    const Bytes& mine = memory[op.inputs[0]];
    const std::string gathered = ranks.gather({reinterpret_cast<const char*>(mine.data()), mine.size()});
    const auto* at = reinterpret_cast<const std::byte*>(gathered.data());
    for (std::size_t r = 0; r < all.size(); ++r)
      all[r][op.inputs[0]].assign(at + r * mine.size(), at + (r + 1) * mine.size());
  }
  collective_on_host(g, op, all);
  memory[op.outputs[0]] = std::move(all[static_cast<std::size_t>(ranks.rank())][op.outputs[0]]);
}

}  // namespace

void run_rank_emulated(const RankProgram& p, Rendezvous& ranks, std::vector<Bytes>& memory,
                       const toolchain::Cache& cache, int workers) {
  const auto run_step = [&](const RankStep& step) {
    if (step.program)
      run_kernels(step, ranks.rank(), memory, cache, workers);
    else
      run_collective(p.graph, step.segment.collective, ranks, memory);
  };
  for (const RankStep& step : p.steps)
    if (step.by_symmetric)
      for (const RankStep& other : step.otherwise) run_step(other);
    else
      run_step(step);
}

std::vector<std::string> notes_of(const RankProgram& p) {
  std::size_t kernels = 0;
  int collectives = 0, by_symmetric = 0;
  std::vector<std::string> of_steps;
  for (const RankStep& step : p.steps) {
    if (step.program) kernels += step.program->manifest.kernels.size();
    if (step.by_symmetric) ++by_symmetric;
    if (step.program) continue;
    ++collectives;
    for (const std::string& why : step.notes)
      of_steps.push_back(
          fmt::format("NCCL computes {}, since no kernel can: {}", p.graph.tensors[step.segment.outputs[0]].name, why));
  }
  std::vector<std::string> all = {fmt::format("{} ranks, each with {} kernel{} and {} collective{}", p.graph.ranks,
                                              kernels, kernels == 1 ? "" : "s", collectives,
                                              collectives == 1 ? "" : "s")};
  if (by_symmetric > 0)
    all.push_back(fmt::format("ranks exchange tiles in {} of the kernels, in place of {}", by_symmetric,
                              by_symmetric == 1 ? "a collective" : "collectives"));
  all.insert(all.end(), of_steps.begin(), of_steps.end());
  return all;
}

RankFacts facts_of_ranks(const graph::KernelGraph& g, const std::string& target) {
  const manifest::Manifest version;
  return {{"version of Zellige", manifest::to_json(version)}, {"graph", json::to_json(g)}, {"target", target}};
}

}  // namespace zellige::ranks
