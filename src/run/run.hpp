// The main job: a graph becomes a kernel, runs, and is compared with what the graph means.
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
  std::filesystem::path dump;  // a folder for this graph's .npy files and emitted text; "": none
  Outputs* outputs = nullptr;  // what a dump is written through
  Timing time = Timing::off;   // GPU only
  std::vector<std::string>
      constants;               // inputs that no earlier work on the stream writes, beside those that say so
  int workers = 0;             // of the emulator, and of a check by sample; 0: one a core
  std::optional<Check> check;  // without: standard_check
  InputFiles inputs;           // the others are random
  bool fuse = false;  // plain operators become fewer kernels first; the check is against the graph as given
  plan::Wishes wishes{};                // of the planner
  int tune = 0;                         // GPU only: of so many tilings the fastest is taken
  Say say = [](const std::string&) {};  // what it is doing, now and then
};

/// A kernel that is wrong is wrong for any inputs, and mostly not by a little. So a borderline result is tried
/// with the two seeds that follow, and is wrong if one of those is. Bad graphs, and machines that lack something,
/// are `refused` results with the reason, and what is Zellige's own fault is `failed`; nothing is thrown.
/// `graph` is validated.
RunResult run(const graph::KernelGraph& graph, const Options&, const Cache&);

/// Whether a GPU and NVRTC are here: the target to emit for, or why not. Asked in a process of its own,
/// because one that has touched the GPU cannot fork workers that use it.
struct GpuFound {
  std::string target;  // sm_90a; "" where there is none
  std::string why_not;
};
GpuFound find_gpu();

/// The target of the GPU here, found in this process. Fails where there is no GPU, no NVRTC, or no target that it runs.
std::string gpu_target();

/// The fastest tiling of `options.tune`, measured on the GPU here, or remembered.
Tuned tuned(const graph::KernelGraph&, const Options& options, const Cache&);

}  // namespace zellige::run
