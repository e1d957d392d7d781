// Compiles a graph, runs it on the GPU or the emulator, and compares the result with a reference evaluation:
// the work of the command `zellige run`.
//
//   const RunResult r = run(graph, {.on = Machine::emulator, .target = "sm_80"}, Cache::standard());
//   puts(summary(r).c_str());
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "graph/graph.hpp"
#include "ir/ir.hpp"
#include "reference/inputs.hpp"
#include "run/check.hpp"
#include "run/collectives.hpp"
#include "run/compile.hpp"
#include "run/outputs.hpp"
#include "run/result.hpp"
#include "run/sized.hpp"
#include "toolchain/cache.hpp"

namespace zellige::run {

/// The machine that executes a graph; reference: only the reference evaluation, in float64 on the host.
enum class Machine : std::uint8_t { gpu, emulator, reference };
std::string_view name(Machine);

/// Options of `run`.
struct RunOptions {
  Machine on = Machine::emulator;
  std::string target = "sm_80";
  CompileOptions compile{};    // with the seed and the files of the inputs
  graph::SizeValues sizes{};   // values of sizes that the graph leaves open; others are as bound_graph() says
  std::filesystem::path dump;  // folder for the graph's .npy files and source code; "": none
  Outputs* outputs = nullptr;  // writes the files of `dump`
  Timing time = Timing::off;   // which times to measure; GPU only
  int workers = 0;             // threads of the emulator and of a check by sample; 0: one per core
  std::optional<Check> check;  // nullopt: standard_check
  Collectives collectives = Collectives::cheapest;  // of a graph over ranks
  // runs this program, which is for `target`, in place of a plan of the graph, if it computes the graph (interpreted.hpp)
  std::shared_ptr<const ir::ReadProgram> program = {};
};

/// Runs a graph and returns its result. Precondition: the graph is valid (graph::validate) and has no collectives. Does not throw: a
/// graph that cannot be planned, unsuitable input files, or missing hardware or software result in
/// Status::refused with a reason, a fault of Zellige in Status::failed.
///
/// If the result is Status::borderline (outside of the tolerance, but rounding alone can explain it), runs the
/// graph again with the next two seeds. The result is Status::wrong if one of these runs is wrong, because a
/// wrong kernel is wrong for all inputs, and usually by much.
RunResult run(const graph::KernelGraph& graph, const RunOptions&, const toolchain::Cache&);

/// Runs a graph whose sizes have values, and stores the outcome in the result. Throws on failure.
using OneRun = std::function<void(graph::KernelGraph, const RunOptions&, RunResult&)>;
/// Does the same by another function for one run: of the graphs over ranks, ranks::run_ranks().
RunResult run_by(const graph::KernelGraph& graph, const RunOptions&, const OneRun&);

/// Returns the graph's inputs, given or random; with their values and the reference only if the check is full.
reference::RandomInputs inputs_of(const graph::KernelGraph&, const RunOptions&, Check);

/// A usable GPU with NVRTC, or the reason why there is none.
struct GpuFound {
  std::string target;   // the GPU's target, for example sm_90a; "" if there is no usable GPU
  std::string why_not;  // why there is no usable GPU; else ""
};
/// Returns the GPU and NVRTC of this machine, or why they cannot be used. Looks for them in a forked process,
/// because a process that has initialized CUDA cannot fork workers that use it.
GpuFound find_gpu();

/// Returns the target of this machine's GPU, such as sm_90a. Initializes CUDA in this process. Throws Error
/// if there is no GPU or no NVRTC, or if Zellige has no target for the GPU.
std::string gpu_target();

}  // namespace zellige::run
