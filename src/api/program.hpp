// Defines Program: a compiled graph that can be called on tensors in host or GPU memory. Thread-safe. A
// zellige_program of the C API is a handle of a Program.
//
// Compiles a tensor graph to CUDA source code and a manifest, which describes the kernels and tensors to a
// caller. Used by the C API, and through it by C++ and Python.
//
//   const Compiled c = compile(graph, {.target = "sm_90a", .constants = {"W"}}, cache);
//   c.program.source      // CUDA source code
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/arguments.hpp"
#include "api/call_form.hpp"
#include "api/call_sizes.hpp"
#include "api/launcher.hpp"
#include "run/collectives.hpp"
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
  run::Collectives collectives = run::Collectives::cheapest;  // of a graph over ranks
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
CompiledProgram compile(graph::KernelGraph graph, const CallOptions&, const toolchain::Cache&);

// The next two keep planned programs in the user's cache, so that the next process need not plan an equal graph. An entry
// has what runs: the source code and the manifest, with the estimated time. The plan, its cost in detail and the fused
// graph are not in it; they are planned again when they are asked for (api/program.hpp). The key is the graph in JSON, the
// target, the options that change a plan, and the build of this library.

/// Returns the program that this build planned for an equal graph with equal options; nullopt if there is none.
/// Its plan and graph are empty.
std::optional<CompiledProgram> kept_program(const graph::KernelGraph&, const CallOptions&, const toolchain::Cache&);
/// Stores a program in the cache. Does nothing if the cache cannot be written.
void keep_program(const graph::KernelGraph&, const CallOptions&, const toolchain::Cache&, const CompiledProgram&);

/// Returns the page of HTML that explains the compiled graph (explain/page.hpp). Plans it, with the reasons of all decisions.
std::string explained_page(const graph::KernelGraph&, const CallOptions&, const toolchain::Cache&);

/// Returns this machine's GPU, or the reason why there is no usable GPU. The first call initializes the driver.
const run::GpuFound& gpu();

/// A compiled graph with its options and GPU modules.
class CallableProgram {
 public:
  /// Compiles a graph. For On::gpu, it also compiles the kernels for this machine's GPU.
  CallableProgram(const graph::KernelGraph&, const CallOptions&);
  /// Uses precompiled kernels, with the manifest that describes them. Such a program runs on a GPU only.
  CallableProgram(manifest::Manifest, toolchain::Cubin);

  /// Returns the source code, the manifest and the estimated time. If the program came from the user's cache, the
  /// plan, its cost in detail and the fused graph are empty: see planned().
  const emit::EmittedProgram& emitted() const { return emitted_; }
  std::string manifest() const;  // in JSON
  /// Returns everything about the program. Plans the graph first, if the program came from the user's cache.
  const emit::EmittedProgram& planned() const;
  const manifest::TensorPlace& input(std::size_t i) const { return place(signature_.inputs.at(i)); }
  const manifest::TensorPlace& output(std::size_t i) const { return place(signature_.outputs.at(i)); }
  const Signature& signature() const { return signature_; }

  /// Runs the program on the caller's tensors: on the GPU that holds them, or, if they are on the host, in
  /// the emulator or as a float64 evaluation of the graph. `stream` must be null on the host. Precondition:
  /// check_counts() has passed. If `untrusted` is not null, first checks that the tensors' arrays of extents
  /// and strides can be read. Throws Error if the tensors do not match the manifest or the options.
  void call(std::span<const zellige_tensor> inputs, std::span<const zellige_tensor> outputs, void* stream,
            ReadablePages* untrusted);
  /// Launches the program on the current GPU. `sizes`: of the manifest's, in order. `inputs`, `outputs`: device addresses in
  /// the order of the graph's inputs and outputs. `workspace` may be null: see Launcher::launch().
  void launch(std::span<const std::int64_t> sizes, void* const* inputs, void* const* outputs, void* workspace,
              void* stream);
  /// Returns the bytes of the workspace of a launch with these sizes.
  std::int64_t workspace(std::span<const std::int64_t> sizes) { return at(sizes)->buffer_size; }
  /// Returns the manifest of a launch with these sizes.
  std::shared_ptr<const manifest::Manifest> at(std::span<const std::int64_t> sizes) { return launches_.at(sizes); }
  /// Returns what a caller sees of the manifest's tensor `t`: extents and strides that sizes decide are -1.
  const manifest::TensorPlace& told(int t) const { return told_[static_cast<std::size_t>(t)]; }
  /// Compiles the kernels, unless that is done already, for the GPU of the thread's current context. Without
  /// a context, compiles for the default device.
  void compile();
  double time() const;  // median time per run with a cold L2, in microseconds, on the default device
  std::string page() const { return explained_page(graph_, options_, cache_); }
  /// Returns notes, one per line: limits of the search for operators to fuse, and, once the kernels are
  /// compiled, remarks about the compilation.
  std::string notes() const;

 private:
  /// Returns the compiled graph, planned or from the user's cache, in which case it sets from_cache_.
  CompiledProgram made();
  const manifest::TensorPlace& place(int i) const { return emitted_.manifest.tensors[i]; }
  /// Returns the graph, before fusion, of a call with these sizes.
  graph::KernelGraph graph_of_launch(std::span<const std::int64_t> sizes) const;
  const emit::EmittedProgram* alone_at(std::span<const std::int64_t> sizes);
  /// Returns the launcher. The first call compiles and loads the kernels.
  Launcher& launcher();
  /// Launches the program on tensors of a GPU; `kept`: as of Launcher::launch().
  void launch(const manifest::Manifest&, int device, std::span<const zellige_tensor> inputs,
              std::span<const zellige_tensor> outputs, void* stream, KeptLaunch* kept);

  const graph::KernelGraph graph_;  // before fusion
  const CallOptions options_;
  const toolchain::Cache cache_;
  bool from_cache_ = false;  // compiled_ came from the user's cache, without plan and fused graph
  const CompiledProgram compiled_;
  const emit::EmittedProgram& emitted_;
  const toolchain::Cubin loaded_;  // empty if the source code is compiled here
  const Signature signature_;
  const std::vector<manifest::TensorPlace> told_;
  LaunchManifests launches_;
  mutable std::mutex planning_;
  mutable std::unique_ptr<const CompiledProgram> planned_;  // null until planned() plans; guarded by the mutex
  mutable std::mutex compiling_;
  std::map<const manifest::Manifest*, emit::EmittedProgram> alone_;  // by variant that a launch has run on the emulator
  // null until the kernels are compiled; guarded by the mutex, like notes_
  std::unique_ptr<Launcher> launcher_;
  std::string notes_;
  CallForms forms_;  // of calls on a GPU, whose tensors a framework described
};

}  // namespace zellige::api
