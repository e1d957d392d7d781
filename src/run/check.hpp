// What a run computed, against what the graph means: every output, and every intermediate that a kernel stored.
//
//   check_all(g, manifest, storage, inputs, result);              // whole tensors, by a reference of the whole graph
//   check_sample(g, manifest, storage, choice, options, result);  // tiles, each by a reference of what it takes
//
// The graph is the one that was given, whatever the program was made of: a tensor of it that the program does not store, or stores
// in another dtype, has its rounding left out (graph/left_out.hpp); what only the program stores shows in what follows from it.
//
// Both set the result's status, its reason and what is said of each tensor. Which tiles, and what they follow from, is
// graph/sample.hpp's; what is right, the judge's.
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

/// What is done where nobody chose: sampled where all of it would take long (graph::sampled_from).
Check standard_check(const graph::KernelGraph&);

using Say = std::function<void(const std::string&)>;

void check_all(const graph::KernelGraph&, const emit::Manifest&, const std::vector<Bytes>& storage,
               const graph::RandomInputs&, RunResult&);

struct SampledCheck {
  int threads = 0;  // 0: one a core
  graph::SampleLimits limits = {};
  Say say = [](const std::string&) {};  // how far it is
};
void check_sample(const graph::KernelGraph&, const emit::Manifest&, const std::vector<Bytes>& storage,
                  const graph::InputChoice&, const SampledCheck&, RunResult&);

}  // namespace zellige::run
