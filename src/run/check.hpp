// Compares the result of a run with the meaning of the graph: every output, and every intermediate that a
// kernel stored.
//
//   check_all(g, manifest, storage, inputs, result);              // whole tensors
//   check_sample(g, manifest, storage, choice, options, result);  // tiles, by their subgraphs
//
// The graph is the original one, before fusion: the rounding of a tensor that the program does not store, or
// stores in another dtype, is omitted (graph/omit_roundings.hpp); tensors that only the program stores are checked
// through their consumers.
//
// Both functions set the result's status, its reason and the report on each tensor. graph/sample.hpp chooses
// the tiles and what they are computed from; the judge decides what is right.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "emit/manifest.hpp"
#include "graph/inputs.hpp"
#include "graph/sample.hpp"
#include "run/result.hpp"
#include "run/storage.hpp"

namespace zellige::run {

enum class Check : std::uint8_t { full, sampled, none };
std::string_view name(Check);

/// The default: by sample if checking everything would take long (graph::sampled_from).
Check standard_check(const graph::KernelGraph&);

using Say = std::function<void(const std::string&)>;

void check_all(const graph::KernelGraph&, const emit::Manifest&, const std::vector<Bytes>& storage,
               const graph::RandomInputs&, RunResult&);

struct SampledCheck {
  int threads = 0;  // 0: one per core
  graph::SampleLimits limits = {};
  Say say = [](const std::string&) {};  // reports progress
};
void check_sample(const graph::KernelGraph&, const emit::Manifest&, const std::vector<Bytes>& storage,
                  const graph::InputChoice&, const SampledCheck&, RunResult&);

}  // namespace zellige::run
