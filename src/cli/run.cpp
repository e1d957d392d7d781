// zellige run: graphs become kernels, run, and are compared with their reference.
#include "run/run.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/tally.hpp"
#include "graph/load.hpp"
#include "run/pool.hpp"
#include "run/report.hpp"
#include "target/target.hpp"

namespace zellige::cli {
namespace {

struct Arguments {
  std::vector<std::string> files;
  int index = -1;
  bool all = false, time = false, no_cache = false;
  std::string on = "auto", target, json, dump;
  std::uint64_t seed = 1;
  int jobs = 0;
};

struct Job {
  std::string file;
  int index;
  graph::Loaded loaded;
};

std::vector<Job> choose(const Arguments& a) {
  std::vector<Job> jobs;
  for (const std::string& file : a.files) {
    auto graphs = graph::load_each(file);
    const int count = static_cast<int>(graphs.size());
    if (count == 0) fail("{}: holds no graphs", file);
    if (a.index >= count) {
      fail("{}: --index {} is out of range; the file holds {} graph{}, counted from 0", file, a.index, count,
           count == 1 ? "" : "s");
    }
    if (!a.all && a.index < 0 && count > 1) {
      fmt::print(stderr, "{}: the first of its {} graphs; --all runs all of them, --index N another\n", file,
                 count);
    }
    const int first = a.all ? 0 : std::max(a.index, 0), last = a.all ? count - 1 : first;
    for (int i = first; i <= last; ++i)
      jobs.push_back({file, i, std::move(graphs[static_cast<std::size_t>(i)])});
  }
  return jobs;
}

run::Options options(const Arguments& a) {
  run::Options o{.seed = a.seed, .dump = a.dump, .time = a.time};
  run::GpuFound gpu;
  if (a.on == "auto" || a.on == "gpu") gpu = run::find_gpu();
  if (a.on == "gpu" && gpu.target.empty()) fail("--on gpu: {}", gpu.why_not);
  const bool on_gpu = a.on == "gpu" || (a.on == "auto" && !gpu.target.empty());
  o.on = on_gpu ? run::Engine::gpu : a.on == "reference" ? run::Engine::reference : run::Engine::emulator;
  if (a.on == "auto" && !on_gpu) fmt::print(stderr, "on the emulator: {}\n", gpu.why_not);
  o.target = !a.target.empty() ? a.target : on_gpu ? gpu.target : "sm_80";
  o.target = target::find(o.target).name;  // fails for an unknown one
  // Asked for a GPU where there is one, --time goes without saying where there is none.
  o.time = a.time && on_gpu;
  if (a.time && !on_gpu && a.on != "auto")
    fail("--time: only a GPU's time means anything; this runs on the {}", run::name(o.on));
  return o;
}

// A graph that the loader refused has a result too.
run::RunResult result(const Job& job, const run::Options& o, const run::Cache& cache) {
  run::RunResult r;
  if (job.loaded.error.empty()) {
    r = run::run(job.loaded.graph, o, cache);
  } else {
    r.reason = job.loaded.error;
    r.on = run::name(o.on);
    r.target = o.target;
    r.seed = o.seed;
    r.graph = job.loaded.name;
  }
  r.file = job.file;
  r.index = job.index;
  return r;
}

run::RunResult crashed(const Job& job, const run::Options& o, const std::string& how) {
  run::RunResult r{.file = job.file,
                   .index = job.index,
                   .graph = job.loaded.name,
                   .target = o.target,
                   .on = std::string(run::name(o.on)),
                   .seed = o.seed,
                   .status = run::Status::wrong};
  r.reason = fmt::format("{}: the process that ran it was {}", job.loaded.name, how);
  return r;
}

int run(const Arguments& a) {
  run::Options o = options(a);
  const std::vector<Job> jobs = choose(a);
  run::Report report(a.json);
  const run::Cache cache = a.no_cache ? run::Cache::temporary() : run::Cache::standard();
  if (!a.dump.empty()) std::filesystem::create_directories(a.dump);

  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int width = std::min<int>(a.jobs > 0 ? a.jobs : cores, static_cast<int>(jobs.size()));
  o.workers = std::max(1, cores / width);

  std::vector<run::RunResult> results(jobs.size());
  int done = 0, wrong_count = 0, refused_count = 0;
  Progress progress(static_cast<int>(jobs.size()));
  auto ended = [&](int i, const run::JobEnd& end) {
    const Job& job = jobs[static_cast<std::size_t>(i)];
    const run::RunResult r = end.crash.empty() ? run::parse_result(end.result) : crashed(job, o, end.crash);
    ++done;
    wrong_count += r.status == run::Status::wrong;
    refused_count += r.status == run::Status::refused;
    report.add(i, run::to_json(r));
    progress.clear();
    fmt::print("{}\n", run::summary(r));
    std::fflush(stdout);
    results[static_cast<std::size_t>(i)] = r;
  };
  auto idle = [&] { progress.show(done, fmt::format("{} wrong, {} refused", wrong_count, refused_count)); };
  run::run_jobs(
      static_cast<int>(jobs.size()), width,
      [&](int i) { return run::to_json(result(jobs[static_cast<std::size_t>(i)], o, cache)); }, ended, idle);
  progress.clear();
  if (jobs.size() > 1) fmt::print("\n{}", tally(results));
  return wrong_count ? wrong : refused_count ? refused : success;
}

}  // namespace

Entry add_run(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("run", "Run graphs and compare them with their reference");
  command->add_option("FILE", a->files, "Graph files: Zellige's JSON or Mirage's")->required();
  auto* index = command->add_option("--index", a->index, "Which graph of each file (default: the first)");
  index->check(CLI::NonNegativeNumber);
  command->add_flag("--all", a->all, "Every graph of each file")->excludes(index);
  command
      ->add_option("--on", a->on,
                   "auto (a GPU if there is one, else the emulator), gpu, emulator or reference")
      ->check(CLI::IsMember({"auto", "gpu", "emulator", "reference"}));
  command->add_option("--target", a->target,
                      "sm_80, sm_86, sm_89 or sm_90a (default: the GPU's own; on the emulator sm_80)");
  command->add_option("--seed", a->seed, "Of the random inputs")->capture_default_str();
  command->add_option("--json", a->json, "Write one line a graph to this file");
  command->add_option("--dump", a->dump,
                      "Write inputs, kernel-level tensors, outputs (.npy) and kernels to this folder");
  command->add_option("--jobs", a->jobs, "Graphs at a time (default: one a core)")
      ->check(CLI::PositiveNumber);
  command->add_flag("--time", a->time, "Time the kernels on the GPU: hot, median of 200");
  command->add_flag("--no-cache", a->no_cache, "Compile anew, and leave the kernel cache alone");
  return {command, [a] { return run(*a); }};
}

}  // namespace zellige::cli
