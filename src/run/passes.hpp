// The passes from a graph to its CUDA source, in order. Each is a function from state to state, and prints what it left.
//
//   PassState s{.graph = graph, .target = &target::find("sm_90a"), .options = options};
//   run_passes(passes(), std::move(s), cache).program.source   // what compile() returns
//
// `zellige transpile --list-passes` prints the list, and `--print-after PASS` what a pass left.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "emit/emit.hpp"
#include "plan/plan.hpp"
#include "run/compile.hpp"

namespace zellige::run {

/// What the passes make of a graph. A pass reads what the ones before it have set.
struct PassState {
  graph::KernelGraph graph;  // as it was given; with fused operators; with the tilings that are taken
  const target::Target* target = nullptr;
  CompileOptions options{};
  fuse::Optimized fused{};           // of the pass "fuse": its kernels and notes
  Tuned tuned{};                     // of "tune"
  std::vector<std::string> notes{};  // of "tile"
  plan::Selected selected{};         // of "lower" and "select"
  plan::Plan plan{};                 // of "schedule" and "prove"
  emit::EmittedProgram program{};    // of "emit"
  double plan_ms = 0;                // time that the passes took, but for "tune"
};

/// A pass: its name, what it does in one sentence, the header of the function that does it, the function, and what it left
/// as text.
struct Pass {
  std::string_view name, does, header;
  PassState (*run)(PassState, const std::optional<Cache>&);
  std::string (*print)(const PassState&);
};

/// Returns the passes in order.
std::span<const Pass> passes();
/// Returns the pass of this name. Throws Error, with the names that there are, if there is none.
const Pass& pass_named(std::string_view);

/// Returns what some passes, in order, make of a state. Calls CompileOptions::after after each. Throws as compile() does.
PassState run_passes(std::span<const Pass>, PassState, const std::optional<Cache>& = std::nullopt);

/// Returns the program of a validated graph of custom operators, views and copies: the passes from "tile" on. Throws Error
/// if the graph needs more than the target or this machine has, and Rejected if the verifier rejects the plan.
emit::EmittedProgram transpile(const graph::KernelGraph&, const target::Target&, const plan::PlanOptions& = {});

}  // namespace zellige::run
