// From a graph to a program as users ask for it: the one way that a compilation takes, from C, C++ and Python alike.
//
//   const Compiled c = compile(graph, {.target = "sm_90a", .constants = {"W"}}, cache);
//   c.program.source      // CUDA text
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
  std::string target;  // "": the GPU's, else sm_80
  std::string tiling;  // given, chosen, a manifest's text; "": chosen where prices are measured
  std::vector<std::string> constants;
  int workers = 0;  // of the emulator; 0: one a core
  bool as_given =
      false;  // a kernel for each operator that needs one, as the graph has them; else what fuses is fused
  fuse::Watch watch{};  // while groups are looked for
};

struct Compiled {
  emit::Program program;
  std::vector<std::string> limits{};  // that the search for groups met
};

/// Throws Error where the graph, the options or the machine is at fault. `graph` is validated.
Compiled compile(graph::KernelGraph graph, const Options&, const run::Cache&);

/// The target of the GPU here, or "" and why there is none to run on. It touches the GPU; asked once.
struct Gpu {
  std::string target, why_not;
};
const Gpu& gpu();

}  // namespace zellige::api
