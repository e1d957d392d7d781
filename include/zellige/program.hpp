// Defines the C++ API of compiled programs: loads a tensor graph, compiles it to CUDA kernels, and launches the kernels
// on the caller's device pointers and stream. A program may be used from any thread and on any of several GPUs. This
// header is a wrapper of the C API <zellige/api.h>, the only other Zellige header that it needs.
//
//   // W is a constant input: no earlier work on the stream writes it
//   zellige::Program program(zellige::Graph::from_file("mlp.json"), {.target = "sm_90a", .constants = {"W"}});
//   program.launch({x, w}, {y}, stream);                    // device addresses; may be captured in a CUDA graph
//   for (const zellige_tensor_info& t : program.inputs()) std::cout << t.name << "\n";
//
// Every error is thrown as a ProgramError, whose what() is a sentence.
#pragma once
#include <zellige/api.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zellige {

/// Error of any function of this header.
struct ProgramError : std::runtime_error {
  using std::runtime_error::runtime_error;
  bool ours = false;  // true: an internal error of Zellige; false: the input or the machine is at fault
};

namespace detail {
/// Throws ProgramError, with the calling thread's last error message, unless the status is ZELLIGE_OK.
inline void check(zellige_status status) {
  if (status == ZELLIGE_OK) return;
  ProgramError error(zellige_last_error());
  error.ours = status == ZELLIGE_FAILED;
  throw error;
}
/// Returns `found`, a count that the C API returned. Throws ProgramError if `found` is -1, which means that
/// the call failed.
template <class Count>
Count counted(Count found) {
  if (found < 0) check(ZELLIGE_REFUSED);
  return found;
}
/// Returns a copy of a string that the C API allocated, and frees the original.
inline std::string taken(char* text) {
  const std::unique_ptr<char, void (*)(char*)> owner(text, zellige_text_free);
  return text;
}
/// Returns the contents of a file. Throws ProgramError if the file cannot be read.
inline std::string whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) throw ProgramError(path + ": cannot be read");
  return text.str();
}
}  // namespace detail

/// Returns the text `manifest` (docs/reference/manifest.md) with hashes of itself and of `cubin`, the contents
/// of the cubin file. By these hashes, Program::load checks that the two belong together. Must be called after
/// a manifest was edited by hand. `name` appears in error messages.
inline std::string sealed(const std::string& manifest, const std::string& cubin, const std::string& name) {
  char* text = nullptr;
  detail::check(zellige_manifest_seal(manifest.c_str(), name.c_str(), cubin.data(), cubin.size(), &text));
  return detail::taken(text);
}

/// A parsed and validated tensor graph, the input of the compiler.
class Graph {
 public:
  /// Returns the graph that a string in Zellige's JSON form describes; if the JSON is a list of graphs, the
  /// first one. `name` is used if the JSON has no name. Throws ProgramError if the graph is invalid.
  static Graph from_json(const std::string& text, const std::string& name = "graph") {
    zellige_graph* made = nullptr;
    detail::check(zellige_graph_from_json(text.c_str(), name.c_str(), &made));
    return Graph(made);
  }
  /// Returns the graph in a JSON file (see from_json). The default name is the file name without its
  /// extension.
  static Graph from_file(const std::string& path) {
    const std::string name = path.substr(path.find_last_of('/') + 1);
    return from_json(detail::whole(path), name.substr(0, name.find_last_of('.')));
  }
  /// Returns the graph as a handle of the C API, which this object owns.
  const zellige_graph* handle() const { return handle_.get(); }
  /// Returns the names, dtypes and shapes of the inputs and outputs. The pointers in the result are valid as long as the graph.
  std::vector<zellige_tensor_info> inputs() const { return all(zellige_graph_inputs(handle()), zellige_graph_input); }
  std::vector<zellige_tensor_info> outputs() const {
    return all(zellige_graph_outputs(handle()), zellige_graph_output);
  }

 private:
  explicit Graph(zellige_graph* made) : handle_(made, zellige_graph_free) {}
  template <class Get>
  std::vector<zellige_tensor_info> all(int count, Get get) const {
    std::vector<zellige_tensor_info> list(static_cast<std::size_t>(detail::counted(count)));
    for (int i = 0; i < count; ++i) detail::check(get(handle(), i, &list[static_cast<std::size_t>(i)]));
    return list;
  }
  std::unique_ptr<zellige_graph, void (*)(zellige_graph*)> handle_;
};

/// How a graph is compiled and where it runs.
struct ProgramOptions {
  /// Where it runs: on the GPU, the emulator or the float64 reference. AUTO: where the arguments are.
  zellige_on on = ZELLIGE_ON_AUTO;
  std::string target = {};  // such as sm_90a; "": the GPU's, else sm_80
  /// Tile sizes: "given" (as in the graph), "chosen" (by the cost model), or a manifest's contents, whose
  /// tiling is used. "": the target's default.
  std::string tiling = {};
  std::vector<std::string> constants = {};  // inputs that no earlier work on the stream writes (weights)
  /// tune: number of tilings to measure on the GPU, of which the fastest is used. workers: threads of the
  /// emulator; 0: one per core.
  int tune = 0, workers = 0;
  bool as_given = false;  // true: operators are not fused into common kernels
  /// Progress callback of the search for fusion groups. Arguments: the phase of the search, the work done,
  /// and the total work known so far. Returning false ends the search; an exception is rethrown to the
  /// caller.
  std::function<bool(std::string_view phase, std::int64_t done, std::int64_t of)> watch = {};
  bool keep = false;  // true: planned once, and taken from the user's cache by later processes
  int collectives =
      0;  // of a graph over ranks: 0, the cheapest; 1, NCCL; 2 to 5, kernels that access the memory of other ranks (api.h)
};

/// A compiled program: the kernels of a graph in launch order. Movable; each method throws ProgramError on
/// failure.
class Program {
 public:
  /// Compiles a graph. The GPU code is compiled immediately if o.on is ZELLIGE_ON_GPU, else at the first
  /// launch or by compile().
  explicit Program(const Graph& graph, const ProgramOptions& o = {}) {
    std::vector<const char*> names;
    for (const std::string& c : o.constants) names.push_back(c.c_str());
    zellige_options options{};
    options.size = sizeof options;
    options.on = o.on, options.tune = o.tune, options.workers = o.workers, options.as_given = o.as_given;
    options.target = o.target.empty() ? nullptr : o.target.c_str();
    options.tiling = o.tiling.empty() ? nullptr : o.tiling.c_str();
    options.keep = o.keep;
    options.constants = names.data(), options.constant_count = static_cast<int32_t>(names.size());
    Watcher watcher{o.watch, nullptr};
    if (o.watch) options.watch = &Watcher::call, options.watcher = &watcher;
    zellige_program* made = nullptr;
    const zellige_status status = zellige_program_new(graph.handle(), &options, &made);
    handle_.reset(made);
    if (watcher.thrown) std::rethrow_exception(watcher.thrown);
    detail::check(status);
  }

  /// Loads a program that `zellige transpile --emit cubin` wrote; needs no compiler. `manifest` is the path
  /// of NAME.manifest.json, and NAME.cubin must be in the same folder. Throws ProgramError if the two files
  /// do not match.
  static Program load(const std::string& manifest) {
    const std::string ending = ".manifest.json";
    if (manifest.size() <= ending.size() ||
        manifest.compare(manifest.size() - ending.size(), ending.size(), ending) != 0)
      throw ProgramError(manifest + ": expected a manifest, NAME.manifest.json, with NAME.cubin next to it");
    const std::string cubin = detail::whole(manifest.substr(0, manifest.size() - ending.size()) + ".cubin");
    zellige_program* made = nullptr;
    detail::check(
        zellige_program_load(detail::whole(manifest).c_str(), manifest.c_str(), cubin.data(), cubin.size(), &made));
    return Program(made);
  }

  /// Returns the names, dtypes, shapes and strides of the inputs, in the order of arguments. The pointers in
  /// the result are valid as long as the program exists.
  std::vector<zellige_tensor_info> inputs() const {
    return all<zellige_tensor_info>(zellige_program_inputs(handle_.get()), zellige_program_input);
  }
  std::vector<zellige_tensor_info> outputs() const {
    return all<zellige_tensor_info>(zellige_program_outputs(handle_.get()), zellige_program_output);
  }
  /// Returns a string that describes the program, for example its CUDA source (ZELLIGE_SOURCE) or its manifest.
  std::string text(zellige_text which) const {
    char* text = nullptr;
    detail::check(zellige_program_text(handle_.get(), which, &text));
    return detail::taken(text);
  }
  /// Returns the time of one run that the cost model expects, in microseconds.
  double price() const {  // microseconds
    const double us = zellige_program_price(handle_.get());
    if (us != us) detail::check(ZELLIGE_REFUSED);
    return us;
  }
  /// Returns the sizes that are known at launch only, in the order in which launch() takes them; none if all shapes are constants.
  std::vector<zellige_size_info> sizes() const {
    return all<zellige_size_info>(zellige_program_sizes(handle_.get()), zellige_program_size);
  }
  /// Returns the bytes of temporary device memory of a run with these sizes.
  std::int64_t workspace(const std::vector<std::int64_t>& sizes) const {
    return detail::counted(
        zellige_program_workspace_sizes(handle_.get(), sizes.data(), static_cast<int>(sizes.size())));
  }
  /// Returns the size of the temporary device memory of one run, in bytes; for the largest sizes.
  std::int64_t workspace() const {  // bytes
    return detail::counted(zellige_program_workspace(handle_.get()));
  }

  /// Runs the program on tensors: asynchronously on `stream` if they are on a GPU, on the emulator if they
  /// are on the host. Throws ProgramError if a tensor's dtype, shape, strides, device or alignment is not the
  /// expected one.
  void call(const std::vector<zellige_tensor>& inputs, const std::vector<zellige_tensor>& outputs,
            void* stream = nullptr) {
    detail::check(zellige_program_call(handle_.get(), inputs.data(), static_cast<int>(inputs.size()), outputs.data(),
                                       static_cast<int>(outputs.size()), stream));
  }
  /// Launches the program asynchronously on device addresses of the current context, in the order of inputs()
  /// and outputs(). `workspace` points to workspace() bytes, aligned to 256; if null, the program's own
  /// memory is used. Throws ProgramError if the number of addresses is wrong.
  void launch(const std::vector<void*>& inputs, const std::vector<void*>& outputs, void* stream,
              void* workspace = nullptr) {
    check_counts(inputs, outputs);
    detail::check(zellige_program_launch(handle_.get(), inputs.data(), outputs.data(), workspace, stream));
  }
  /// The same for a program with sizes that are known at launch only: their values, in the order of sizes().
  void launch_sizes(const std::vector<std::int64_t>& sizes, const std::vector<void*>& inputs,
                    const std::vector<void*>& outputs, void* stream, void* workspace = nullptr) {
    check_counts(inputs, outputs);
    detail::check(zellige_program_launch_sizes(handle_.get(), sizes.data(), static_cast<int>(sizes.size()),
                                               inputs.data(), outputs.data(), workspace, stream));
  }
  /// Compiles the GPU code immediately, instead of at the first launch. Several threads may compile different
  /// programs in parallel.
  void compile() { detail::check(zellige_program_compile(handle_.get())); }
  /// Returns the median time of a run on the default device, in microseconds, measured with random inputs and
  /// a cold L2.
  double time() const {
    double us = 0;
    detail::check(zellige_program_time(handle_.get(), &us));
    return us;
  }

 private:
  explicit Program(zellige_program* made) { handle_.reset(made); }
  void check_counts(const std::vector<void*>& inputs, const std::vector<void*>& outputs) const {
    const int takes = detail::counted(zellige_program_inputs(handle_.get())),
              gives = detail::counted(zellige_program_outputs(handle_.get()));
    if (inputs.size() != static_cast<std::size_t>(takes) || outputs.size() != static_cast<std::size_t>(gives))
      throw ProgramError("launch: expected " + std::to_string(takes) + " inputs and " + std::to_string(gives) +
                         " outputs, found " + std::to_string(inputs.size()) + " and " + std::to_string(outputs.size()));
  }
  /// Adapts ProgramOptions::watch to the C API's callback: stores an exception, which is rethrown after the C
  /// function has returned.
  struct Watcher {
    decltype(ProgramOptions::watch) watch;
    std::exception_ptr thrown;
    static int32_t call(void* watcher, const char* phase, int64_t done, int64_t of) {
      auto& own = *static_cast<Watcher*>(watcher);
      try {
        return own.watch(phase, done, of);
      } catch (...) {
        own.thrown = std::current_exception();
        return 0;
      }
    }
  };
  template <class Info, class Get>
  std::vector<Info> all(int count, Get get) const {
    std::vector<Info> list(static_cast<std::size_t>(detail::counted(count)));
    for (int i = 0; i < count; ++i) detail::check(get(handle_.get(), i, &list[static_cast<std::size_t>(i)]));
    return list;
  }
  std::unique_ptr<zellige_program, void (*)(zellige_program*)> handle_{nullptr, zellige_program_free};
};

}  // namespace zellige
