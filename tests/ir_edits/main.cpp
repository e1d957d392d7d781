// zellige_edits --seed S --count N: random edits of printed kernels. Each is refused with its position, or right: what is emitted
// is what was emitted before the edit, or the emulator finds it equal to the graph's reference, without a finding.
//
//   zellige_edits --seed 7 --count 600 --jobs 2 --keep wrong     the sources that are accepted and wrong, in a folder
//   zellige_edits --seed 7 --count 5000 --prove                  nothing is run: refused, the same source, or accepted
//   zellige_edits --seed 7 --only 123                            prints that edit's source, and what becomes of it
//   zellige_edits --seed 7 --random 40 --tile                    edits of the tile programs of 40 random graphs' programs
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>

#include "edit.hpp"
#include "generate.hpp"
#include "ir/ir.hpp"
#include "json/json.hpp"
#include "manifest/manifest.hpp"
#include "run/compile.hpp"
#include "run/run.hpp"
#include "system/files.hpp"
#include "system/process.hpp"

namespace zellige::ir_edits {
namespace {

namespace fs = std::filesystem;

/// A graph that is planned, and how.
struct Seed {
  const char *file, *target, *tiling;
  std::vector<plan::BlockAssignment> blocks = {};  // empty: whichever is fastest
};
using plan::Blocks;
const std::vector<Seed> seeds = {
    {"examples/gemm.json", "sm_80", "given"},
    {"examples/gemm.json", "sm_90a", "given"},
    {"examples/attention.json", "sm_80", "given"},
    {"examples/attention.json", "sm_90a", "given"},
    {"examples/lora.json", "sm_90a", "given"},
    {"examples/rmsnorm.json", "sm_80", "given"},
    {"tests/ir_edits/graphs/chain.json", "sm_80", ""},
    {"tests/ir_edits/graphs/cluster_split_k.json", "sm_90a", ""},
    {"tests/ir_edits/graphs/integers.json", "sm_80", ""},
    {"tests/ir_edits/graphs/masked_attention.json", "sm_80", ""},
    {"tests/ir_edits/graphs/masked_attention.json", "sm_90a", ""},
    {"tests/ir_edits/graphs/product.json", "sm_90a", ""},
    {"tests/ir_edits/graphs/product.json", "sm_90a", "", {Blocks::persistent}},
    {"tests/ir_edits/graphs/product.json", "sm_90a", "", {Blocks::pairs}},
    {"tests/ir_edits/graphs/ragged.json", "sm_80", ""},
    {"tests/ir_edits/graphs/ragged.json", "sm_90a", ""},
    {"tests/ir_edits/graphs/rows.json", "sm_90a", ""},
    {"tests/ir_edits/graphs/split_k.json", "sm_90a", ""},
    {"tests/ir_edits/graphs/views.json", "sm_80", ""},
};

/// A seed's program.
struct Original {
  std::string name;
  graph::KernelGraph graph;
  std::string text, source, manifest;
};

Original original(const Seed& seed, const toolchain::Cache& cache) {
  Original o;
  o.graph = json::load(seed.file).front();
  const target::Target& target = target::find(seed.target);
  run::CompileOptions options{.fuse = *seed.tiling == '\0', .plan = run::tiling_options(seed.tiling, target)};
  if (!seed.blocks.empty()) options.plan.blocks = seed.blocks;
  const emit::EmittedProgram p = run::compile(o.graph, target, options, cache).program;
  o.name = fmt::format("{} {}{}", fs::path(seed.file).stem().string(), seed.target,
                       seed.blocks.empty() ? "" : " " + std::to_string(&seed - seeds.data()));
  o.text = ir::print(p), o.source = p.source, o.manifest = manifest::to_json(p.manifest);
  return o;
}

/// Returns the programs of random graphs, without those that are refused.
std::vector<Original> random_originals(int count, const toolchain::Cache& cache) {
  std::vector<Original> all;
  for (int seed = 1; seed <= count; ++seed) {
    Original o;
    o.graph = seed % 2 ? random_graphs::random_graph(seed) : random_graphs::random_unfused(seed);
    const char* target = seed % 4 < 2 ? "sm_80" : "sm_90a";
    try {
      const emit::EmittedProgram p = run::compile(o.graph, target::find(target), {.fuse = seed % 3 > 0}, cache).program;
      o.name = fmt::format("random {} {}", seed, target);
      o.text = ir::print(p), o.source = p.source, o.manifest = manifest::to_json(p.manifest);
      all.push_back(std::move(o));
    } catch (const Error&) {
    }
  }
  return all;
}

/// What becomes of an edit.
enum class Outcome : std::uint8_t { refused, same, right, accepted, wrong, failed, crashed };
constexpr std::array<const char*, 7> outcomes{"refused", "same", "right", "accepted", "WRONG", "FAILED", "CRASHED"};

std::string end(Outcome o, const std::string& why = "") { return fmt::format("{}{}", static_cast<int>(o), why); }

/// Ends this process if it takes more than 6 GiB, or this number of seconds.
void limit(unsigned seconds) {
  constexpr rlimit memory{std::uint64_t{6} << 30, std::uint64_t{6} << 30};
  ::setrlimit(RLIMIT_AS, &memory);
  ::alarm(seconds);
}

/// Reads, proves and emits the source, and runs what is accepted. Returns the outcome's number, and why.
std::string outcome(const Original& o, const std::string& text, bool run, const toolchain::Cache& cache) {
  ir::ReadProgram p;
  try {
    p = ir::compile(text, "x.ir");
  } catch (const ir::Mistake& e) {
    static const std::regex raw(R"(std::|basic_string|vector::|\[json|bad_alloc|an error within)");
    static const std::regex position(R"(^x\.ir:\d+:\d+: \S)");
    const std::string why = e.what();
    return end(!std::regex_search(why, position) || std::regex_search(why, raw) ? Outcome::failed : Outcome::refused,
               why);
  } catch (const std::exception& e) {
    return end(Outcome::failed, fmt::format("no position: {}", e.what()));
  }
  if (p.program.source == o.source && manifest::to_json(p.program.manifest) == o.manifest) return end(Outcome::same);
  if (!run) return end(Outcome::accepted);
  limit(300);
  const run::RunResult r = run::run(o.graph,
                                    {.on = run::Machine::emulator,
                                     .target = p.program.manifest.target,
                                     .workers = 1,
                                     .program = std::make_shared<ir::ReadProgram>(p)},
                                    cache);
  const bool right = r.status == run::Status::correct || r.status == run::Status::borderline;
  // The caller's graph is another one: its arguments are, which the command refuses. Or the tile programs compute another one.
  static const std::regex position(R"(^x\.ir:\d+:\d+: \S)");
  const bool other =
      r.status == run::Status::refused && (r.reason.starts_with("--ir: ") || std::regex_search(r.reason, position));
  return end(right                            ? Outcome::right
             : other                          ? Outcome::refused
             : r.status == run::Status::wrong ? Outcome::wrong
                                              : Outcome::failed,
             r.reason);
}

struct Arguments {
  std::uint64_t seed = 1;
  int count = 60, jobs = 2, only = -1, random = 0;
  bool prove = false, verbose = false, tile = false;
  std::string keep, file;
};

int main_of(const Arguments& a) {
  if (!a.file.empty()) {
    const std::string text = system::read_whole(a.file), found = outcome({}, text, false, toolchain::Cache::standard());
    fmt::print("{} {}\n", outcomes[static_cast<std::size_t>(found[0] - '0')], found.substr(1));
    return 0;
  }
  const toolchain::Cache cache = toolchain::Cache::standard();
  std::vector<Original> originals;
  if (a.random > 0)
    originals = random_originals(a.random, cache);
  else
    for (const Seed& seed : seeds) originals.push_back(original(seed, cache));
  const auto of = [&](int i) { return Rng(a.seed * 1000003 + static_cast<std::uint64_t>(i)).next(); };
  const auto original_of = [&](int i) -> const Original& { return originals[of(i) % originals.size()]; };
  const auto edit_of = [&](int i) {
    return edited(original_of(i).text, of(i) / originals.size(), a.tile ? Part::tile : Part::all);
  };
  if (a.only >= 0) {
    const std::string found = outcome(original_of(a.only), edit_of(a.only).text, !a.prove, cache);
    fmt::print("{}# {}: {}\n# {} {}\n", edit_of(a.only).text, original_of(a.only).name, edit_of(a.only).what,
               outcomes[static_cast<std::size_t>(found[0] - '0')], found.substr(1));
    return 0;
  }
  std::map<std::string, std::array<int, outcomes.size()>> table;
  int bad = 0;
  for (const Original& o : originals)
    if (const std::string found = outcome(o, o.text, false, cache); found != end(Outcome::same))
      fmt::print("{} without an edit: {}\n", o.name, found.substr(1)), ++bad;
  system::run_jobs(
      a.count, a.jobs,
      [&](int i) {
        limit(20);
        return outcome(original_of(i), edit_of(i).text, !a.prove, cache);
      },
      [&](int i, const system::JobEnd& job) {
        const std::string result = job.crash.empty() ? job.result : end(Outcome::crashed, job.crash);
        const auto number = static_cast<std::size_t>(result.at(0) - '0');
        const Edited edit = edit_of(i);
        ++table[original_of(i).name][number], ++table["together"][number];
        const bool is_bad = number >= static_cast<std::size_t>(Outcome::wrong);
        bad += is_bad;
        if (!is_bad && !a.verbose) return;
        fmt::print("{} {} {} ({}): {}\n", i, outcomes[number], original_of(i).name, edit.what, result.substr(1));
        std::fflush(stdout);
        if (!is_bad || a.keep.empty()) return;
        fs::create_directories(a.keep);
        std::ofstream(fmt::format("{}/{}_{}.ir", a.keep, a.seed, i))
            << fmt::format("# {} ({}): {} {}\n", original_of(i).name, edit.what, outcomes[number],
                           result.substr(1, result.find('\n') - 1))
            << edit.text;
      });
  fmt::print("{:40}", "");
  for (const char* name : outcomes) fmt::print("{:>10}", name);
  fmt::print("\n");
  for (const auto& [name, row] : table) {
    fmt::print("{:40}", name);
    for (const int n : row) fmt::print("{:>10}", n);
    fmt::print("\n");
  }
  return bad > 0;
}

}  // namespace
}  // namespace zellige::ir_edits

int main(int argc, char** argv) {
  using namespace zellige::ir_edits;
  Arguments a;
  CLI::App app("Random edits of printed kernels: each is refused with its position, or right.");
  app.add_option("--seed", a.seed, "Of the edits")->capture_default_str();
  app.add_option("--count", a.count, "Number of edits")->capture_default_str();
  app.add_option("--jobs", a.jobs, "Edits at a time")->capture_default_str();
  app.add_option("--random", a.random, "Edit the programs of so many random graphs");
  app.add_option("--only", a.only, "Print this edit's text and outcome alone");
  app.add_option("--file", a.file, "Prove this text alone, in this process");
  app.add_option("--keep", a.keep, "Folder for the texts that are accepted and wrong");
  app.add_flag("--tile", a.tile, "Edit tile programs alone");
  app.add_flag("--prove", a.prove, "Run nothing");
  app.add_flag("--verbose", a.verbose, "A line for each edit");
  CLI11_PARSE(app, argc, argv);
  return main_of(a);
}
