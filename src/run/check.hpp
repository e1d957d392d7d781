// Compares the results of a run with a reference evaluation of the graph: every output, and every
// intermediate tensor that a kernel stored.
//
//   check_all(g, manifest, storage, inputs, result);              // whole tensors
//   check_sample(g, manifest, storage, choice, options, result);  // tiles, by their subgraphs
//
// The reference evaluates the graph before fusion. A rounding that the program omits, because it does not store the
// tensor or stores it in another dtype, is omitted in the reference, too (reference/omit_roundings.hpp). Tensors that
// only the program has are checked through the tensors that are computed from them.
//
// Both functions set the result's status and reason, and add a report on each tensor. reference/sample.hpp chooses the
// tiles of a sample and what they are computed from; reference/judge.hpp decides which differences are errors.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "manifest/manifest.hpp"
#include "reference/inputs.hpp"
#include "reference/sample.hpp"
#include "run/result.hpp"
#include "run/storage.hpp"

namespace zellige::run {

/// How a program's results are compared with the reference: all elements, a sample of tiles, or not at all.
enum class Check : std::uint8_t { full, sampled, none };
std::string_view name(Check);

/// Returns the check that is used by default: a sample of tiles for graphs whose evaluation takes long
/// (reference::work(g) >= reference::sampled_from), else a full check.
Check standard_check(const graph::KernelGraph&);

/// A function that receives the progress of the check in words.
using Say = std::function<void(const std::string&)>;

/// Compares all elements of a program's results with the reference evaluation that RandomInputs contains, and
/// sets the result's status, reason and tensors. `storage`: the bytes of each tensor of the manifest after
/// the run. Throws Fault if the manifest lacks an output of the graph.
void check_all(const graph::KernelGraph&, const manifest::Manifest&, const std::vector<Bytes>& storage,
               const reference::RandomInputs&, RunResult&);

/// Options of check_sample.
struct SampledCheck {
  int threads = 0;  // worker threads; 0: one per core
  reference::SampleLimits limits = {};
  Say say = [](const std::string&) {};
};
/// Compares a sample of tiles of each tensor with a reference. For each tile, the reference evaluates only
/// the part of the graph on which the tile depends. `storage`: the bytes of each tensor of the manifest after
/// the run. Sets the result's status, reason and tensors. If the reference has no finite value in the checked
/// tiles of some output, there is nothing to compare, and the status is `refused`.
void check_sample(const graph::KernelGraph&, const manifest::Manifest&, const std::vector<Bytes>& storage,
                  const reference::InputChoice&, const SampledCheck&, RunResult&);

}  // namespace zellige::run
