// deletions [--jobs N] [--index N] [--target T] [--fused] [--tiling given|chosen|FILE] [--verbose] [--twice]
// FILE...: emits the graph of each file, unfused or fused and tiled as by `zellige run`, deletes each
// barrier, wait, commit and predicate one at a time, and runs the result on the emulator. Exit status 0 only
// if the emulator reports every deletion. --verbose prints each report. --twice doubles the barriers first,
// so that none is required: then none may be reported. See docs/explanation/fault-injection.md.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "emit/emit.hpp"
#include "emulate/engine.hpp"
#include "graph/error.hpp"
#include "json/json.hpp"
#include "reference/inputs.hpp"
#include "run/compile.hpp"
#include "run/emulated.hpp"
#include "run/storage.hpp"
#include "sites.hpp"
#include "system/process.hpp"
#include "toolchain/host_compiler.hpp"

namespace zellige::deletions {
namespace {

using run::Bytes;

struct Options {
  int jobs = 2, index = 0;
  bool verbose = false, twice = false, fused = false;
  std::string target = "sm_80", tiling = "given";
  std::vector<std::string> files;
};

emulate::dim3 narrow(const graph::Dim3& d) {
  return {static_cast<unsigned>(d.x), static_cast<unsigned>(d.y), static_cast<unsigned>(d.z)};
}

std::string doubled(std::string source) {
  const std::string_view barrier = "__syncthreads();";
  for (std::size_t at = 0; (at = source.find(barrier, at)) != source.npos; at += 2 * barrier.size()) {
    source.insert(at, barrier);
  }
  return source;
}

/// Emits as `zellige run` does, with the same tiling options.
emit::EmittedProgram program_of(const graph::KernelGraph& g, const Options& o) {
  const target::Target& target = target::find(o.target);
  return run::compile(g, target, {.fuse = o.fused, .plan = run::parse_tiling_option(o.tiling, target)}).program;
}

/// A program whose sites can be switched off one at a time.
class Subject {
 public:
  Subject(const graph::KernelGraph& g, const Options& o, const toolchain::Cache& cache)
      : program_(program_of(g, o)), switched_(with_switches(o.twice ? doubled(program_.source) : program_.source)) {
    const manifest::Manifest& m = program_.manifest;
    source_ = toolchain::source_file(switched_.text, m.name, cache).string();
    const toolchain::HostLibrary library = toolchain::compile_for_emulator(switched_.text, m.name, cache);
    handle_ = dlopen(library.file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) fail("{}: does not load: {}", g.name, dlerror());
    deleted_ = static_cast<int*>(dlsym(handle_, "zellige_deleted"));
    if (!deleted_)
      fail("{}: the emitted source has no line \"using namespace zellige;\" to put the switch after", g.name);
    const reference::RandomInputs inputs = reference::random_inputs(g, 1);
    for (const manifest::TensorPlace& t : m.tensors) {
      const bool input = t.role == manifest::Role::input;
      values_.push_back(input ? run::pack(t, inputs.arrays[static_cast<std::size_t>(t.position)].values) : Bytes{});
    }
    for (std::size_t k = 0; k < m.kernels.size(); ++k) whole(k);
  }
  ~Subject() {
    if (handle_) dlclose(handle_);
  }
  Subject(const Subject&) = delete;

  const std::vector<Site>& sites() const { return switched_.sites; }

  /// The effect of a deletion: "!..." a finding, "~..." other numbers, "#" more is read or written than is predicted, "="
  /// nothing. Runs one block first, which usually suffices.
  std::string without(int site) const {
    const std::string& kernel = switched_.sites[static_cast<std::size_t>(site)].kernel;
    const auto& kernels = program_.manifest.kernels;
    std::size_t k = 0;
    while (k < kernels.size() && kernels[k].name != kernel) ++k;
    if (k == kernels.size()) fail("{}: the manifest has no such kernel", kernel);
    *deleted_ = site;
    for (const bool one_block : {true, false}) {
      Launched l = launch(k, one_block ? graph::Dim3{kernels[k].cluster, 1, 1} : kernels[k].grid, 1);
      if (!l.report.findings.empty()) return "!" + l.report.findings[0].message;
      if (!l.report.complete) return "!the launch was given up";
      if (one_block) continue;
      for (std::size_t a = 0; a < l.buffers.size(); ++a) {
        const std::size_t t = static_cast<std::size_t>(kernels[k].tensors[a]);
        if (!kernels[k].writes[a]) continue;
        if (std::memcmp(l.buffers[a].data(), values_[t].data(), values_[t].size()) != 0) {
          return "~" + program_.manifest.tensors[t].name;
        }
      }
      if (switched_.sites[static_cast<std::size_t>(site)].kind == Kind::predicate &&
          !std::ranges::equal(l.report.counters.value, counters_[k].value))
        return "#";
    }
    return "=";
  }

 private:
  struct Launched {
    std::vector<emulate::Buffer> buffers;  // one an argument
    emulate::EmulationReport report;
  };

  Launched launch(std::size_t k, const graph::Dim3& grid, int workers) const {
    const manifest::KernelLaunch& kernel = program_.manifest.kernels[k];
    Launched l;
    l.buffers.reserve(kernel.tensors.size());
    emulate::LaunchConfig config{.grid = narrow(grid),
                                 .block = narrow(kernel.block),
                                 .shared_bytes = static_cast<unsigned>(kernel.shared_bytes),
                                 .arguments = {},
                                 .writes = {},
                                 .source_file = source_,
                                 .workers = workers,
                                 .cluster = {static_cast<unsigned>(kernel.cluster), 1, 1},
                                 .programmatic = kernel.programmatic};
    for (std::size_t a = 0; a < kernel.tensors.size(); ++a) {
      const std::size_t t = static_cast<std::size_t>(kernel.tensors[a]);
      const manifest::TensorPlace& place = program_.manifest.tensors[t];
      emulate::Buffer& b = l.buffers.emplace_back(place.name, static_cast<std::size_t>(place.bytes));
      if (!kernel.writes[a]) {
        std::memcpy(b.data(), values_[t].data(), values_[t].size());
        b.mark_initialised();
      }
      config.parameters.push_back(run::parameter(program_.manifest, kernel, a, &b));
    }
    using Entry = void (*)(emulate::Launch&);
    const Entry entry = reinterpret_cast<Entry>(dlsym(handle_, ("emulate_" + kernel.name).c_str()));
    if (!entry) fail("{}: the emitted source has no emulate_{}", program_.manifest.name, kernel.name);
    l.report = emulate::run(entry, config);
    return l;
  }

  // The undamaged kernel: its results are the inputs of later kernels, and the reference of damaged ones.
  void whole(std::size_t k) {
    const manifest::KernelLaunch& kernel = program_.manifest.kernels[k];
    *deleted_ = -1;
    Launched l = launch(k, kernel.grid, 0);
    if (!l.report.findings.empty()) fail("{}: with nothing deleted: {}", kernel.name, l.report.findings[0].message);
    counters_.push_back(l.report.counters);
    for (std::size_t a = 0; a < l.buffers.size(); ++a) {
      if (!kernel.writes[a]) continue;
      const std::byte* from = reinterpret_cast<const std::byte*>(l.buffers[a].data());
      values_[static_cast<std::size_t>(kernel.tensors[a])].assign(from, from + l.buffers[a].bytes());
    }
  }

  emit::EmittedProgram program_;
  Switched switched_;
  std::string source_;
  void* handle_ = nullptr;
  int* deleted_ = nullptr;
  std::vector<emulate::Counters> counters_;  // of each kernel
  std::vector<Bytes> values_;                // of each of the manifest's tensors, once the kernel that makes it has run
};

struct Count {
  int all = 0, reported = 0, wrong = 0, counted = 0, unseen = 0;
};

void examine(const std::string& file, const Options& o, const toolchain::Cache& cache, Count& total) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const std::vector<graph::KernelGraph> graphs = json::load(file);
  if (o.index < 0 || o.index >= static_cast<int>(graphs.size())) {
    fail("{}: has {} graphs; there is none of index {}", file, graphs.size(), o.index);
  }
  const graph::KernelGraph& g = graphs[static_cast<std::size_t>(o.index)];
  const Subject subject(g, o, cache);
  const std::vector<Site>& sites = subject.sites();
  std::vector<std::string> seen(sites.size());
  system::run_jobs(
      static_cast<int>(sites.size()), o.jobs, [&](int i) { return subject.without(i); },
      [&](int i, const system::JobEnd& end) {
        seen[static_cast<std::size_t>(i)] = end.crash.empty() ? end.result : "~" + end.crash;
      });
  Count c;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const Site& s = sites[i];
    const char how = seen[i].empty() ? '=' : seen[i][0];
    ++c.all;
    ++(how == '!' ? c.reported : how == '~' ? c.wrong : how == '#' ? c.counted : c.unseen);
    if (how == '!' && !o.verbose) continue;
    const std::string what = how == '!'   ? seen[i].substr(1)
                             : how == '~' ? "ONLY WRONG NUMBERS: " + seen[i].substr(1)
                             : how == '#' ? "ONLY OTHER COUNTERS"
                                          : "NOT SEEN";
    fmt::print("  {}:{} {} {}\n      {}\n", s.kernel, s.line, name(s.kind), s.text, what);
  }
  std::map<Kind, int> kinds;
  for (const Site& s : sites) ++kinds[s.kind];
  std::string of;
  for (const auto& [kind, n] : kinds) of += fmt::format("{}{} {}", of.empty() ? "" : ", ", n, name(kind));
  fmt::print(
      "{}: {} deletions, {} reported, {} only wrong numbers, {} only other counters, {} not seen ({}; {:.1f} s)\n",
      g.name, c.all, c.reported, c.wrong, c.counted, c.unseen, of,
      std::chrono::duration<double>(Clock::now() - start).count());
  std::fflush(stdout);
  total.all += c.all, total.reported += c.reported, total.wrong += c.wrong, total.counted += c.counted,
      total.unseen += c.unseen;
}

int number(std::string_view option, std::string_view text) {
  int n = 0;
  const auto end = text.data() + text.size();
  if (const auto r = std::from_chars(text.data(), end, n); r.ec != std::errc() || r.ptr != end || n < 0) {
    fail("deletions: {} takes a number, not \"{}\"", option, text);
  }
  return n;
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&]() -> std::string_view {
      if (i + 1 == argc) fail("deletions: {} needs a value", word);
      return argv[++i];
    };
    if (word == "--jobs") {
      o.jobs = number(word, value());
    } else if (word == "--index") {
      o.index = number(word, value());
    } else if (word == "--target") {
      o.target = value();
    } else if (word == "--tiling") {
      o.tiling = value();
    } else if (word == "--fused") {
      o.fused = true;
    } else if (word == "--verbose") {
      o.verbose = true;
    } else if (word == "--twice") {
      o.twice = true;
    } else if (word.starts_with("--")) {
      fail(
          "deletions: there is no option {}; there are --jobs, --index, --target, --fused, --tiling, "
          "--verbose, --twice",
          word);
    } else {
      o.files.emplace_back(word);
    }
  }
  if (o.files.empty()) fail("deletions: name the graph files to go through");
  return o;
}

}  // namespace
}  // namespace zellige::deletions

int main(int argc, char** argv) {
  using namespace zellige;
  try {
    const deletions::Options o = deletions::parse(argc, argv);
    const toolchain::Cache cache = toolchain::Cache::standard();
    deletions::Count total;
    for (const std::string& file : o.files) deletions::examine(file, o, cache, total);
    fmt::print("{} of {} deletions are reported by the emulator, {} change its counters.\n", total.reported, total.all,
               total.counted);
    return total.all > 0 && total.reported + total.counted == total.all ? 0 : 1;
  } catch (const Error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
