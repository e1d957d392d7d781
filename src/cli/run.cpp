// Implements `zellige run`: compiles graphs to kernels, runs them, and compares the results with the float64 reference.
#include "run/run.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <map>
#include <thread>

#include "cli/choose.hpp"
#include "cli/commands.hpp"
#include "cli/sizes.hpp"
#include "cli/tally.hpp"
#include "cli/terminal.hpp"
#include "graph/collective.hpp"
#include "ir/ir.hpp"
#include "ranks/job.hpp"
#include "ranks/run_ranks.hpp"
#include "run/dump.hpp"
#include "run/outputs.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "target/target.hpp"
#include "toolchain/nvrtc.hpp"

namespace zellige::cli {
namespace {

struct RunArguments {
  std::vector<std::string> files;
  int index = -1;
  bool all = false, no_cache = false, force = false, as_given = false;
  std::string on = "auto", target, json, dump, check, tiling, ir;
  std::string time;                 // "rotated" (cold L2) or "hot" (warm L2); "": no timing
  std::vector<std::string> inputs;  // each is NAME=FILE
  std::vector<std::string> constants, sizes;
  std::uint64_t seed = 1;
  int jobs = 0, tune = 0, ranks = 0;
  std::string collectives = "cheapest";
};

/// Parses the values of --input. Throws Error unless each is NAME=FILE, with each name once.
run::InputFiles input_files(const std::vector<std::string>& given) {
  run::InputFiles files;
  for (const std::string& word : given) {
    const std::size_t at = word.find('=');
    if (at == word.npos || at == 0 || at + 1 == word.size())
      fail("--input: expected NAME=FILE.npy, found {}", word.empty() ? "nothing" : word);
    const std::string name = word.substr(0, at), file = word.substr(at + 1);
    for (const auto& [other, first] : files)
      if (other == name) fail("--input: {} is given twice, as {} and as {}", name, first, file);
    files.emplace_back(name, file);
  }
  return files;
}

/// The values of --collectives, in the order of run::Collectives.
const std::vector<std::string> ways_of_collectives = {"cheapest", "nccl",      "symmetric",
                                                      "one-shot", "two-shots", "fused"};

/// Returns the options of the run that the command-line arguments select; finds the GPU if one may be used.
/// Throws Error if arguments contradict each other, or if they need a GPU and the machine has none.
run::RunOptions options(const RunArguments& a) {
  run::RunOptions o{.compile = {.constants = a.constants, .fuse = !a.as_given, .tune = a.tune, .seed = a.seed}};
  for (const run::Check c : {run::Check::full, run::Check::sampled, run::Check::none})
    if (a.check == run::name(c)) o.check = c;
  o.collectives = static_cast<run::Collectives>(std::ranges::find(ways_of_collectives, a.collectives) -
                                                ways_of_collectives.begin());
  if (a.on == "reference" && o.check && *o.check != run::Check::full)
    fail("--check {}: --on reference runs the reference alone, so there is nothing to check", a.check);
  o.compile.inputs = input_files(a.inputs);
  // The GPU of a process that torchrun or mpirun has started.
  if (const std::optional<ranks::RankedProcess> job = ranks::job_of_environment();
      job && !std::getenv("ZELLIGE_DEVICE"))
    setenv("ZELLIGE_DEVICE", std::to_string(job->local_rank).c_str(), 1);
  o.sizes = size_values(a.sizes);
  run::GpuFound gpu;
  if (a.on == "auto" || a.on == "gpu") {
    toolchain::require_named_nvrtc();
    gpu = run::find_gpu();
  }
  if (a.on == "gpu" && gpu.target.empty()) fail("--on gpu: {}", gpu.why_not);
  const bool on_gpu = a.on == "gpu" || (a.on == "auto" && !gpu.target.empty());
  o.on = on_gpu ? run::Machine::gpu : a.on == "reference" ? run::Machine::reference : run::Machine::emulator;
  if (a.on == "auto" && !on_gpu) say(stderr, "on the emulator: {}\n", gpu.why_not);
  if (!a.ir.empty()) o.program = std::make_shared<ir::ReadProgram>(ir::compile(system::read_whole(a.ir), a.ir));
  o.target = o.program           ? o.program->program.manifest.target
             : !a.target.empty() ? a.target
             : on_gpu            ? gpu.target
                                 : "sm_80";
  const target::Target& target = target::find(o.target);  // throws if unknown
  o.target = target.name;
  o.compile.plan = run::parse_tiling_option(a.tiling, target);
  for (const run::Timing t : {run::Timing::rotated, run::Timing::hot})
    if (on_gpu && a.time == run::name(t)) o.time = t;
  if (a.tune > 0 && !on_gpu) fail("--tune: needs a GPU; this runs on the {}", run::name(o.on));
  if (!a.time.empty() && !on_gpu) {
    const std::string why = fmt::format("--time: needs a GPU; this runs on the {}", run::name(o.on));
    if (a.on != "auto") throw Error(why);
    say(stderr, "{}, so nothing is timed\n", why);
  }
  return o;
}

/// Returns a result with the graph's file, index and name and the options of the run, but no measurements.
run::RunResult empty_result(const Job& job, const run::RunOptions& o) {
  return {.file = job.file,
          .index = job.index,
          .graph = job.loaded.name,
          .target = o.target,
          .on = std::string(run::name(o.on)),
          .seed = o.compile.seed};
}

// Runs a graph, over `ranks` ranks if that is not 0, and returns its result. If the loader rejected the graph, returns a result with status refused
// and the loader's message.
run::RunResult result(const Job& job, int ranks, run::RunOptions o, const toolchain::Cache& cache) {
  run::RunResult r = empty_result(job, o);
  r.reason = job.loaded.error;
  if (r.reason.empty()) {
    o.dump = job.dump;
    try {
      r = ranks::run_ranks(ranks > 0 ? graph::with_ranks(job.loaded.graph, ranks) : job.loaded.graph, o, cache);
    } catch (const Error& e) {  // of operators that are not defined for that number of ranks
      r.reason = e.what();
    }
  }
  r.file = job.file;
  r.index = job.index;
  return r;
}

// Returns the result of a graph whose process ended without a result. The status is wrong if a signal such as
// SIGSEGV ended the process, which a kernel on the emulator may cause; otherwise it is failed.
run::RunResult crashed(const Job& job, const run::RunOptions& o, const system::JobEnd& end) {
  constexpr int of_kernels[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  run::RunResult r = empty_result(job, o);
  r.status = std::ranges::count(of_kernels, end.signal) ? run::Status::wrong : run::Status::failed;
  r.reason = fmt::format("{}: the process that ran it {}{}", job.loaded.name, end.signal ? "was " : "", end.crash);
  if (end.signal == SIGKILL) r.reason += ", by somebody or for want of memory; nothing is known of its result";
  return r;
}

// Assigns a graph a folder inside `root`, that of --dump. `owners`: the graph that is written to each folder. A second
// graph of the same name is rejected, because it would overwrite the first.
void choose_folder(Job& job, const std::string& root, std::map<std::string, std::string>& owners) {
  if (root.empty() || !job.loaded.error.empty()) return;
  const std::string name = run::file_name(job.loaded.name);
  const auto [at, first] = owners.emplace(system::folded(name), fmt::format("{}[{}]", job.file, job.index));
  job.dump = (std::filesystem::path(root) / name).string();
  if (!first)
    job.loaded.error = fmt::format("graph {}: --dump would write it to {}, where {} is written; run them separately",
                                   job.loaded.name, job.dump, at->second);
}

/// Returns the text of the progress line: the graph that was started first among those that run, because the user waits
/// for it ("": none runs), with its phase; and the results so far.
std::string progress_text(const std::string& graph, const std::string& phase, const Tally::Row& done) {
  std::string text = graph + (graph.empty() || phase.empty() ? "" : ": " + phase);
  if (done.graphs > 0)
    text += fmt::format("{}{} wrong, {} failed, {} refused", text.empty() ? "" : "; ", done.wrong, done.failed,
                        done.refused);
  return text;
}

/// Runs all selected graphs, each in a process of its own. Prints a line per graph and a table, and returns
/// the exit status.
int run(const RunArguments& a) {
  run::RunOptions o = options(a);
  std::vector<std::string> read = a.files;
  for (const auto& [name, file] : o.compile.inputs) read.push_back(file);
  if (!a.ir.empty()) read.push_back(a.ir);
  run::Outputs outputs(read, a.force);
  o.outputs = &outputs;
  Jobs jobs(a.files, a.index, a.all);
  run::Report report(outputs, a.json);
  const toolchain::Cache cache = a.no_cache ? toolchain::Cache::temporary() : toolchain::Cache::standard();
  if (a.no_cache) setenv("CUDA_CACHE_DISABLE", "1", 1);  // NVRTC has a cache of its own if there is a driver
  if (!a.dump.empty()) system::create_folders(a.dump);
  std::map<std::string, std::string> folders;

  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int max_jobs = a.jobs > 0 ? a.jobs : cores;
  const int width = std::clamp(jobs.peek(max_jobs + 1), 1, max_jobs);
  o.workers = std::max(1, cores / width);

  Tally tally;
  std::map<int, Job> running;
  int started = 0;
  ProgressLine progress;
  auto next = [&](int i) -> system::PooledWork {
    std::optional<Job> job = jobs.next();
    if (!job) return {};
    choose_folder(*job, a.dump, folders);
    ++started;
    const Job& kept = running[i] = std::move(*job);
    return [&](const run::Say& say) {
      run::RunOptions mine = o;
      mine.compile.say = say;
      return run::to_json(result(kept, a.ranks, mine, cache));
    };
  };
  auto ended = [&](int i, const system::JobEnd& end) {
    const Job& job = running.at(i);
    const run::RunResult r = end.crash.empty() ? run::parse_result(end.result) : crashed(job, o, end);
    running.erase(i);
    report.add(i, run::to_json(r));
    progress.clear();
    if (r.status != run::Status::failed) tell(r.graph, r.rejected);
    say(stdout, "{}\n", run::summary(r));
    std::fflush(stdout);
    tally.add(r);
  };
  auto idle = [&](int i, const std::string& phase) {
    const std::string graph = i < 0 ? "" : running.at(i).loaded.name;
    progress.show(tally.all().graphs, started, progress_text(graph, phase, tally.all()));
  };
  system::run_jobs(next, width, ended, idle);
  progress.clear();
  const Tally::Row& all = tally.all();
  if (all.graphs > 1) say(stdout, "\n{}", tally.text());
  return all.wrong || all.failed ? wrong : all.refused ? refused : success;
}

}  // namespace

/// Adds the options of graphs over ranks.
void add_ranks(CLI::App* command, RunArguments& a) {
  command
      ->add_option("--ranks", a.ranks,
                   "Ranks that run the graph, in place of the number that it states; the emulator runs them all")
      ->check(integer(1, graph::max_ranks));
  command
      ->add_option("--collectives", a.collectives,
                   "What computes sums over ranks: nccl; symmetric, kernels that read the memory of other ranks, of "
                   "the kind that takes "
                   "the least expected time or of a given one (one-shot, two-shots, fused); or the cheapest of all")
      ->check(one_of(ways_of_collectives))
      ->capture_default_str();
}

void add_run(CLI::App& app, int& status) {
  auto a = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "Compile and run graphs, and compare them with their reference");
  add_example(command, "zellige run examples/attention.json --on emulator");
  command->add_option("FILE", a->files, "Graph files: Zellige's JSON or Mirage's; - is stdin")->required();
  auto* index = command->add_option("--index", a->index, "Number of the graph in each file (default: the first)");
  index->check(integer(0, max_index));
  CLI::Option* all = command->add_flag("--all", a->all, "Every graph of each file")->excludes(index);
  command->add_option("--on", a->on, "auto (a GPU if there is one, else the emulator), gpu, emulator or reference")
      ->check(one_of({"auto", "gpu", "emulator", "reference"}));
  CLI::Option* target = command->add_option(
      "--target", a->target,
      fmt::format("{} (default: the GPU's own; on the emulator sm_80)", fmt::join(target::names(), ", ")));
  add_as_given(command, a->as_given);
  add_tiling(command, a->tiling);
  CLI::Option* tune = command->add_option(
      "--tune", a->tune, "Measure the N best tilings on the GPU and take the fastest; the cache remembers it");
  tune->check(integer(1, 1000));
  command
      ->add_option("--ir", a->ir,
                   "Run the program of this file, which transpile --emit ir wrote, in place of a plan of the graph")
      ->type_name("FILE.ir")
      ->excludes(all)
      ->excludes(target)
      ->excludes(tune);
  command->add_option("--seed", a->seed, "Seed of the random inputs")
      ->check(integer(0, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  command
      ->add_option("--check", a->check,
                   "How much is compared: full (complete tensors), sampled (random tiles) or none. Default: sampled if "
                   "the reference takes 4e10 operations or more, some ten seconds on two cores; else full")
      ->check(one_of({"full", "sampled", "none"}));
  add_ranks(command, *a);
  command
      ->add_option(
          "--input", a->inputs,
          "Values of an input, as NAME=FILE.npy, or of one rank's, as NAME@RANK=FILE.npy; the others are random. "
          "Repeatable")
      ->expected(1)
      ->take_all();
  add_constants(command, a->constants);
  add_size_values(command, a->sizes);
  command->add_option("--json", a->json, "Write one line of JSON per graph to this file")->type_name(output_file);
  command->add_option("--dump", a->dump, "Write inputs, stored tensors, outputs (.npy) and kernels to this folder")
      ->type_name(output_folder);
  command->add_option("--jobs", a->jobs, "Graphs that run in parallel (default: one per core)")
      ->check(integer(1, 4096));
  command->add_flag("--force", a->force, force_help);
  command
      ->add_flag("--time{rotated}", a->time,
                 "Time the program on the GPU, with a cold L2: inputs rotate, CUDA graphs, median of 15 rounds; "
                 "--time=hot: with a warm L2, one set of buffers, median of 200")
      ->check(one_of({"rotated", "hot"}));
  command->add_flag("--no-cache", a->no_cache, "Compile again, and do not use the kernel cache");
  command->callback([a, &status] { status = run(*a); });
}

}  // namespace zellige::cli
