// Compiles a graph to a program: the single entry point for C, C++ and Python.
//
//   const Compiled c = compile(graph, {.target = "sm_90a", .constants = {"W"}}, cache);
//   c.program.source      // CUDA source code
#pragma once
#include <string>
#include <vector>

#include "emit/emit.hpp"
#include "fuse/watch.hpp"
#include "run/cache.hpp"

namespace zellige::api {

enum class On : std::uint8_t { any, gpu, emulator, reference };

struct Options {
  On on = On::any;
  int tune = 0;
  std::string target;  // "": that of the GPU, else sm_80
  // given, chosen, or a manifest's content; "": chosen if the target's costs are measured
  std::string tiling;
  std::vector<std::string> constants;
  int workers = 0;        // of the emulator; 0: one per core
  bool as_given = false;  // one kernel per operator that needs one, without fusion
  fuse::Watch watch{};    // called during the search for groups
};

struct Compiled {
  emit::Program program;
  std::vector<std::string> limits{};  // that the search for groups reached
};

/// Throws Error if the graph, the options or the machine is at fault. `graph` must be validated.
Compiled compile(graph::KernelGraph graph, const Options&, const run::Cache&);

/// The target of this machine's GPU, or "" and why there is no usable GPU. Initializes the GPU; evaluated
/// once.
struct Gpu {
  std::string target, why_not;
};
const Gpu& gpu();

}  // namespace zellige::api
