// The main pipeline: compiles a graph, runs it, and compares the result with the graph's meaning.
//
//   const RunResult r = run(graph, {.on = Engine::emulator, .target = "sm_80"}, Cache::standard());
//   puts(summary(r).c_str());
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "graph/graph.hpp"
#include "plan/plan.hpp"
#include "run/cache.hpp"
#include "run/check.hpp"
#include "run/given.hpp"
#include "run/outputs.hpp"
#include "run/result.hpp"
#include "run/tune.hpp"

namespace zellige::run {

enum class Engine : std::uint8_t { gpu, emulator, reference };
std::string_view name(Engine);

struct Options {
  Engine on = Engine::emulator;
  std::string target = "sm_80";
  std::uint64_t seed = 1;
  std::filesystem::path dump;  // folder for this graph's .npy files and source code; "": none
  Outputs* outputs = nullptr;  // writes the dump
  Timing time = Timing::off;   // GPU only
  // inputs that no earlier work on the stream writes, in addition to those declared so in the graph
  std::vector<std::string> constants;
  int workers = 0;                   // of the emulator, and of a check by sample; 0: one per core
  std::optional<Check> check;        // default: standard_check
  InputFiles inputs;                 // the other inputs are random
  bool fuse = false;                 // fuse unfused operators first; the check is against the original graph
  plan::PlanOptions plan_options{};  // planner options
  int tune = 0;                      // GPU only: measure this many tilings and take the fastest
  Say say = [](const std::string&) {};  // reports progress
};

/// A kernel that is wrong is wrong for any inputs, and usually by much. So a borderline result is run again
/// with the next two seeds, and is wrong if one of those is. Invalid graphs and missing hardware or software
/// give `refused` results with the reason, and faults of Zellige `failed` ones; nothing is thrown. `graph`
/// must be validated.
RunResult run(const graph::KernelGraph& graph, const Options&, const Cache&);

/// The result of looking for a GPU and NVRTC: the target to emit for, or why there is none. Determined in a
/// process of its own, because a process that has initialized CUDA cannot fork workers that use it.
struct GpuFound {
  std::string target;  // sm_90a; "" if there is none
  std::string why_not;
};
GpuFound find_gpu();

/// The target of this machine's GPU, determined in this process. Throws Error if there is no GPU, no NVRTC,
/// or no target that the GPU runs.
std::string gpu_target();

/// The fastest tiling for `options.tune`, measured on this machine's GPU, or cached.
Tuned tuned(const graph::KernelGraph&, const Options& options, const Cache&);

}  // namespace zellige::run
