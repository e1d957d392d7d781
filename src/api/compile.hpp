// Compiles a tensor graph to CUDA source code and a manifest, which describes the kernels and tensors to a
// caller. Used by the C API, and through it by C++ and Python.
//
//   const Compiled c = compile(graph, {.target = "sm_90a", .constants = {"W"}}, cache);
//   c.program.source      // CUDA source code
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "run/run.hpp"

namespace zellige::api {

/// Where a program runs. `any`: on the device of a call's tensors, with the emulator on the host. `gpu`,
/// `emulator`: there only. `reference`: the float64 reference on the host.
enum class On : std::uint8_t { any, gpu, emulator, reference };

/// Options of a compilation.
struct CallOptions {
  On on = On::any;
  std::string target;  // such as "sm_90a"; "": that of the machine's GPU, else sm_80
  // tile sizes of custom operators: "given", "chosen", or the content of a manifest; "": the target's default
  std::string tiling;
  int workers = 0;                // threads of the emulator; 0: one per core
  run::CompileOptions compile{};  // its `plan` follows from the tiling
  bool keep = false;              // look for the program in the user's cache, and keep it there
};

/// A compiled program.
struct CompiledProgram {
  emit::EmittedProgram program;
  std::vector<std::string> limits{};  // messages: limits at which the search for operators to fuse ended
  // The manifest in JSON, if the program came from the user's cache: `program` lacks the kernels' costs.
  std::string manifest{};
};

/// Returns the target that the options name, or that of this machine's GPU. Throws Error if there is none.
const target::Target& target_of(const CallOptions&);

/// Returns the compiled program of a validated graph. Throws Error if the options, the graph or the machine
/// do not allow the compilation.
CompiledProgram compile(graph::KernelGraph graph, const CallOptions&, const run::Cache&);

// The next two keep planned programs in the user's cache, so that the next process need not plan an equal graph. An entry
// has what runs: the source code and the manifest, with the estimated time. The plan, its cost in detail and the fused
// graph are not in it; they are planned again when they are asked for (api/program.hpp). The key is the graph in JSON, the
// target, the options that change a plan, and the build of this library.

/// Returns the program that this build planned for an equal graph with equal options; nullopt if there is none.
/// Its plan and graph are empty.
std::optional<CompiledProgram> kept_program(const graph::KernelGraph&, const CallOptions&, const run::Cache&);
/// Stores a program in the cache. Does nothing if the cache cannot be written.
void keep_program(const graph::KernelGraph&, const CallOptions&, const run::Cache&, const CompiledProgram&);

/// Returns this machine's GPU, or the reason why there is no usable GPU. The first call initializes the driver.
const run::GpuFound& gpu();

}  // namespace zellige::api
