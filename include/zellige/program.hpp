// Programs for C++: loads and compiles a graph and launches it on the caller's pointers and stream, from any
// thread, on any of several GPUs. A thin header-only wrapper of <zellige/api.h>, the only other Zellige
// header it needs.
//
//   zellige::Program program(zellige::Graph::from_file("mlp.json"), {.target = "sm_90a", .constants = {"W"}});
//   program.launch({x, w}, {y}, stream);                    // device addresses; may be captured
//   for (const zellige_tensor_info& t : program.inputs()) std::cout << t.name << "\n";
//
// Errors are thrown as ProgramError, with one sentence.
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

struct ProgramError : std::runtime_error {
  using std::runtime_error::runtime_error;
  bool ours = false;  // an internal error of Zellige, not the caller's or the machine's
};

namespace detail {
inline void check(zellige_status status) {
  if (status == ZELLIGE_OK) return;
  ProgramError error(zellige_last_error());
  error.ours = status == ZELLIGE_FAILED;
  throw error;
}
/// Returns the count, or throws if it is -1.
template <class Count>
Count counted(Count found) {
  if (found < 0) check(ZELLIGE_REFUSED);
  return found;
}
inline std::string taken(char* text) {
  const std::unique_ptr<char, void (*)(char*)> owner(text, zellige_text_free);
  return text;
}
inline std::string whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) throw ProgramError(path + ": cannot be read");
  return text.str();
}
}  // namespace detail

/// Adds to a hand-edited manifest (docs/reference/manifest.md) the hashes by which Program::load checks that
/// it matches the cubin; `name` is used in messages.
inline std::string sealed(const std::string& manifest, const std::string& cubin, const std::string& name) {
  char* text = nullptr;
  detail::check(zellige_manifest_seal(manifest.c_str(), name.c_str(), cubin.data(), cubin.size(), &text));
  return detail::taken(text);
}

/// A validated graph.
class Graph {
 public:
  static Graph from_json(const std::string& text, const std::string& name = "graph") {
    zellige_graph* made = nullptr;
    detail::check(zellige_graph_from_json(text.c_str(), name.c_str(), &made));
    return Graph(made);
  }
  static Graph from_file(const std::string& path) {
    const std::string name = path.substr(path.find_last_of('/') + 1);
    return from_json(detail::whole(path), name.substr(0, name.find_last_of('.')));
  }
  const zellige_graph* handle() const { return handle_.get(); }

 private:
  explicit Graph(zellige_graph* made) : handle_(made, zellige_graph_free) {}
  std::unique_ptr<zellige_graph, void (*)(zellige_graph*)> handle_;
};

struct ProgramOptions {
  zellige_on on = ZELLIGE_ON_AUTO;
  std::string target = {};  // "": the GPU's, else sm_80
  std::string tiling = {};  // given, chosen, or a manifest's contents; "": the target's default
  std::vector<std::string> constants = {};
  int tune = 0, workers = 0;
  bool as_given = false;  // true: operators are not fused
  /// Progress callback of the search for fusion groups: the phase, the work done and the work known so far.
  /// Returning false ends the search; an exception is rethrown to the caller.
  std::function<bool(std::string_view phase, std::int64_t done, std::int64_t of)> watch = {};
};

class Program {
 public:
  explicit Program(const Graph& graph, const ProgramOptions& o = {}) {
    std::vector<const char*> names;
    for (const std::string& c : o.constants) names.push_back(c.c_str());
    zellige_options options{};
    options.size = sizeof options;
    options.on = o.on, options.tune = o.tune, options.workers = o.workers, options.as_given = o.as_given;
    options.target = o.target.empty() ? nullptr : o.target.c_str();
    options.tiling = o.tiling.empty() ? nullptr : o.tiling.c_str();
    options.constants = names.data(), options.constant_count = static_cast<int32_t>(names.size());
    Watcher watcher{o.watch, nullptr};
    if (o.watch) options.watch = &Watcher::call, options.watcher = &watcher;
    zellige_program* made = nullptr;
    const zellige_status status = zellige_program_new(graph.handle(), &options, &made);
    handle_.reset(made);
    if (watcher.thrown) std::rethrow_exception(watcher.thrown);
    detail::check(status);
  }

  /// Loads what `zellige transpile --emit cubin` wrote: NAME.manifest.json, with NAME.cubin in the same
  /// folder.
  static Program load(const std::string& manifest) {
    const std::string ending = ".manifest.json";
    if (manifest.size() <= ending.size() ||
        manifest.compare(manifest.size() - ending.size(), ending.size(), ending) != 0)
      throw ProgramError(manifest + ": expected a manifest, NAME.manifest.json, with NAME.cubin next to it");
    const std::string cubin = detail::whole(manifest.substr(0, manifest.size() - ending.size()) + ".cubin");
    zellige_program* made = nullptr;
    detail::check(zellige_program_load(detail::whole(manifest).c_str(), manifest.c_str(), cubin.data(),
                                       cubin.size(), &made));
    return Program(made);
  }

  /// In order; valid as long as the program.
  std::vector<zellige_tensor_info> inputs() const {
    return all(zellige_program_inputs(handle_.get()), zellige_program_input);
  }
  std::vector<zellige_tensor_info> outputs() const {
    return all(zellige_program_outputs(handle_.get()), zellige_program_output);
  }
  std::string text(zellige_text which) const {
    char* text = nullptr;
    detail::check(zellige_program_text(handle_.get(), which, &text));
    return detail::taken(text);
  }
  double price() const {  // microseconds
    const double us = zellige_program_price(handle_.get());
    if (us != us) detail::check(ZELLIGE_REFUSED);
    return us;
  }
  std::int64_t workspace() const {  // bytes
    return detail::counted(zellige_program_workspace(handle_.get()));
  }

  /// Throws unless every tensor's dtype, shape, strides, device and alignment match the program's.
  void call(const std::vector<zellige_tensor>& inputs, const std::vector<zellige_tensor>& outputs,
            void* stream = nullptr) {
    detail::check(zellige_program_call(handle_.get(), inputs.data(), static_cast<int>(inputs.size()),
                                       outputs.data(), static_cast<int>(outputs.size()), stream));
  }
  /// Takes device addresses of the current context, by position.
  void launch(const std::vector<void*>& inputs, const std::vector<void*>& outputs, void* stream,
              void* workspace = nullptr) {
    const int takes = detail::counted(zellige_program_inputs(handle_.get())),
              gives = detail::counted(zellige_program_outputs(handle_.get()));
    if (inputs.size() != static_cast<std::size_t>(takes) || outputs.size() != static_cast<std::size_t>(gives))
      throw ProgramError("launch: expected " + std::to_string(takes) + " inputs and " +
                         std::to_string(gives) + " outputs, found " + std::to_string(inputs.size()) +
                         " and " + std::to_string(outputs.size()));
    detail::check(zellige_program_launch(handle_.get(), inputs.data(), outputs.data(), workspace, stream));
  }
  /// Compiles now what the first launch would compile; threads may compile several programs in parallel.
  void compile() { detail::check(zellige_program_compile(handle_.get())); }
  /// Measures one evaluation on the default device, in microseconds.
  double time() const {
    double us = 0;
    detail::check(zellige_program_time(handle_.get(), &us));
    return us;
  }

 private:
  explicit Program(zellige_program* made) { handle_.reset(made); }
  /// Adapts `watch` to the C ABI, which no exception may cross.
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
  template <class Get>
  std::vector<zellige_tensor_info> all(int count, Get get) const {
    std::vector<zellige_tensor_info> list(static_cast<std::size_t>(detail::counted(count)));
    for (int i = 0; i < count; ++i) detail::check(get(handle_.get(), i, &list[static_cast<std::size_t>(i)]));
    return list;
  }
  std::unique_ptr<zellige_program, void (*)(zellige_program*)> handle_{nullptr, zellige_program_free};
};

}  // namespace zellige
