// Compiles a graph to the CUDA source code and the manifest of its kernels. The commands, the C API and the tests
// that need a program as users get it call this function; none of them assembles the passes itself.
//
//   const Compiled c = compile(graph, target::find("sm_90a"), {.constants = {"W"}, .fuse = true});
//   c.program.source      // CUDA source code
//   c.fused.notes         // what was fused, what was not, and why
//
// It runs the passes from a graph to its CUDA source, in order. Each is a function from state to state, and prints what it
// left.
//
//   PassState s{.graph = graph, .target = &target::find("sm_90a"), .options = options};
//   run_passes(passes(), std::move(s), cache).program.source   // what compile() returns
//
// `zellige transpile --list-passes` prints the list, and `--print-after PASS` what a pass left.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emit/emit.hpp"
#include "fuse/custom.hpp"
#include "plan/plan.hpp"
#include "run/check.hpp"
#include "run/npy.hpp"
#include "run/tune.hpp"
#include "toolchain/cache.hpp"

namespace zellige::run {

struct Pass;
struct PassState;

/// Options of a compilation.
struct CompileOptions {
  // names of constant inputs (not written by earlier work on the stream), in addition to those that the graph declares
  std::vector<std::string> constants;
  bool fuse = false;         // fuse kernel-level operators; else one kernel per operator that needs one
  bool in_parts = false;     // compute custom operators in several kernels, because one cannot hold their tiles
  plan::PlanOptions plan{};  // of --tiling: parse_tiling_option
  int variants = 8;          // with sizes: at most this many programs, each for a part of their values
  int tune = 0;              // measure this many tilings on the GPU and use the fastest
  std::uint64_t seed = 1;    // of the random inputs with which tilings are measured
  InputFiles inputs;         // inputs that are read from files; other inputs are random
  kernel::Rejections* rejected = nullptr;  // receives the rejected plans, also if the compilation fails
  rewrite::Watch watch{};                  // called during the search for operators to fuse; may end it
  fuse::Reasons reasons = fuse::Reasons::told;
  Say say = [](const std::string&) {};                         // receives the current phase
  std::function<void(const Pass&, const PassState&)> after{};  // called after each pass
};

/// A compiled graph.
struct Compiled {
  emit::EmittedProgram program;  // its plan has the messages of all plans that the verifier rejected on the way
  fuse::Optimized fused;         // the fused graph, or the graph as it was given
  Tuned tuned;                   // the outcome of CompileOptions::tune
  double plan_ms = 0;            // time that fusing, planning and emission took; not that of tuning
};

/// Returns the compiled program of a validated graph. If it has sizes that are known at launch, it is fused for their greatest
/// values, and planned for all; it has variants for parts of the values (variants/variants.hpp), unless its tilings are given or measured.
/// Expected times of kernels are taken from the cache, and new ones
/// are added to it. Precondition: there is a cache if tilings are measured. Throws Error if the options, the graph or
/// the machine do not allow the compilation, and Rejected if the verifier rejects the plan.
Compiled compile(graph::KernelGraph, const target::Target&, CompileOptions,
                 const std::optional<toolchain::Cache>& = std::nullopt);

/// Returns the fused graph: the pass "fuse", for what needs no plan. Of a graph with sizes it is the one of their greatest values.
///
/// - If CompileOptions::fuse is false, the graph is unchanged. Throws Error if the tiling is one of decomposed operators.
/// - With automatic tiles, custom operators are kept or decomposed, whichever is cheaper.
/// - With explicit tiles, custom operators are kept or decomposed as in the graph for which the tiles were made.
///
/// Sets PlanOptions::decomposed: whether custom operators were decomposed. If the given graph has no custom operators,
/// replaces TilingPolicy::automatic by TilingPolicy::given, because fusion has selected the tiles already.
fuse::Optimized fused(graph::KernelGraph, const target::Target&, CompileOptions&,
                      const std::optional<toolchain::Cache>& = std::nullopt);

/// Returns the planner options for `tiling`: "given", the graph's own tilings; "chosen", those that the planner chooses;
/// "", the target's default (chosen if its costs are measured, else given); or the source of a manifest or a list of
/// tilings to replay, which `source` names in messages. Throws Error if the source contains no tiling.
plan::PlanOptions tiling_options(std::string_view tiling, const target::Target&, std::string_view source = "tiling");
/// Returns the planner options for the value of the option --tiling: as above, with a file's name in place of its
/// contents. Throws Error if the file cannot be read.
plan::PlanOptions parse_tiling_option(const std::string& tiling, const target::Target&);

/// Marks the inputs with these names as constant: no earlier work on the stream writes them, so a kernel may read them
/// before the preceding kernel has ended. Throws Error if a name is not that of an input of the graph.
void declare_constant(graph::KernelGraph&, const std::vector<std::string>& names);

/// What the passes make of a graph. A pass reads what the ones before it have set.
struct PassState {
  graph::KernelGraph graph;  // as it was given; with fused operators; with the tilings that are taken
  const target::Target* target = nullptr;
  CompileOptions options{};
  graph::ExtentNames extents{};      // which the graph's tensors keep in all states
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
  PassState (*run)(PassState, const std::optional<toolchain::Cache>&);
  std::string (*print)(const PassState&);
};

/// Returns the passes in order.
std::span<const Pass> passes();
/// Returns the pass of this name. Throws Error, with the names that there are, if there is none.
const Pass& pass_named(std::string_view);

/// Returns what some passes, in order, make of a state. Calls CompileOptions::after after each. If custom operators need more of the
/// target than it has, and tilings are not fixed, runs the passes again to compute them in parts. Throws as compile() does.
PassState run_passes(std::span<const Pass>, PassState, const std::optional<toolchain::Cache>& = std::nullopt);

/// Returns the program of a validated graph of custom operators, views and copies: the passes from "tile" on. Throws Error
/// if the graph needs more than the target or this machine has, and Rejected if the verifier rejects the plan.
emit::EmittedProgram transpile(const graph::KernelGraph&, const target::Target&, const plan::PlanOptions& = {});

}  // namespace zellige::run
