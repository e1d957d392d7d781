// zellige_random: random graphs through the whole pipeline on the emulator or on a GPU, against the reference.
//
//   zellige_random --count 2000 --seed 1 --jobs 2 --target both
//   zellige_random --plain --print 17
//
// A graph is identified by its kind and its seed; with --chains only seeds that draw a chain are used;
// --plain draws graphs of unfused operators, which run after fusion; --products draws matmuls with small M; --weights products with
// weights of 4 and 8 bits;
// --soak draws the first four kinds in rotation. On a GPU each graph runs in a separate process, whose context is
// checked afterwards. --machine-code compiles by NVRTC and reads its output (toolchain/machine_code.hpp), and needs
// no GPU. Graphs with wrong results are printed and kept as JSON. docs/explanation/random-graphs.md describes
// what is drawn.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "disassembly.hpp"
#include "emit/emit.hpp"
#include "generate.hpp"
#include "json/json.hpp"
#include "run/compile.hpp"
#include "run/driver.hpp"
#include "run/run.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "target/target.hpp"
#include "toolchain/machine_code.hpp"
#include "toolchain/nvrtc.hpp"

namespace {

using namespace zellige;

enum class Kind { graphs, chains, unfused, products, weights, soak };
struct KindOption {
  const char *flag, *help;
};
constexpr KindOption kind_options[] = {{"--graphs", "Custom operators and chains (default)"},
                                       {"--chains", "Chains alone"},
                                       {"--plain", "Unfused operators, fused"},
                                       {"--products", "Products of small M"},
                                       {"--weights", "Products with weights of 4 and 8 bits"},
                                       {"--soak", "The first four kinds, one after another"}};
constexpr int kinds_of_a_soak = 4;
constexpr int graphs_per_refusal =
    100;                     // in chains: the reciprocal of the fraction that may exceed a target's shared memory
constexpr int skipped = 77;  // the status that CTest treats as skipped
constexpr unsigned max_seconds = 120;  // of one graph on a GPU: a kernel that never ends is killed then
constexpr double long_seconds = 30;    // what takes longer is named while it runs

struct Arguments {
  int count = 2000, jobs = 2;
  std::uint64_t seed = 1;
  std::string keep = "wrong_graphs";
  std::vector<std::string> targets = {"sm_80"};
  Kind kind = Kind::graphs;
  bool coverage_only = false, print = false, verbose = false, gpu = false, machine_code = false;

  int runs() const { return count * static_cast<int>(targets.size()); }
  /// The kind of the i-th graph; in a soak one of the four.
  Kind kind_of(int i) const { return kind == Kind::soak ? static_cast<Kind>(i % kinds_of_a_soak) : kind; }
  std::uint64_t seed_of(int i) const {
    const auto at = static_cast<std::uint64_t>(kind == Kind::soak ? i / kinds_of_a_soak : i);
    return kind_of(i) == Kind::chains ? (seed + at) * random_graphs::chain_every : seed + at;
  }
  graph::KernelGraph graph_of(int i) const {
    const std::uint64_t s = seed_of(i);
    return kind_of(i) == Kind::products  ? random_graphs::random_product(s)
           : kind_of(i) == Kind::weights ? random_graphs::random_weights(s)
           : kind_of(i) == Kind::unfused ? random_graphs::random_unfused(s)
                                         : random_graphs::random_graph(s);
  }
  bool fused(int i) const { return kind_of(i) >= Kind::unfused; }
  /// The options that reproduce the i-th graph: "--plain --seed 17".
  std::string call(int i) const {
    const std::string_view flag = kind_of(i) == Kind::graphs ? "" : kind_options[static_cast<int>(kind_of(i))].flag;
    const std::uint64_t s = kind_of(i) == Kind::chains ? seed_of(i) / random_graphs::chain_every : seed_of(i);
    return fmt::format("{}{}--seed {}", flag, flag.empty() ? "" : " ", s);
  }
};

/// The number of runs by verdict, and the refusals by their reason.
struct Tally {
  std::map<std::string, int> verdicts, refusals;
  int rejected = 0;  // plans that the proof rejected, those of a search that went on among them

  void add(const std::string& verdict, const std::string& reason) {
    ++verdicts[verdict];
    if (verdict == "refused") ++refusals[without_numbers(reason)];
  }
  int of(const std::string& verdict) const { return verdicts.count(verdict) ? verdicts.at(verdict) : 0; }

  /// Removes the kernel's name and every number, so that equal reasons are counted together.
  static std::string without_numbers(const std::string& reason) {
    std::string text;
    const std::size_t colon = reason.find(": ");
    for (char c : reason.substr(colon == reason.npos ? 0 : colon + 2)) {
      const bool digit = c >= '0' && c <= '9';
      if (digit && !text.empty() && text.back() == '#') continue;
      text += digit ? '#' : c;
    }
    return text;
  }

  std::string table() const {
    std::string text;
    for (const char* verdict : {"correct", "borderline", "refused", "wrong", "failed"})
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", of(verdict), verdict);
    text += "\n";
    text += fmt::format("  {} plans rejected by the proof\n", rejected);
    for (const auto& [reason, n] : refusals) text += fmt::format("  {} refused: {}\n", n, reason);
    return text;
  }
};

/// Nothing where it was asked for help, which is printed.
std::optional<Arguments> parse(int count, char** words) {
  Arguments a;
  std::string target = "sm_80", on = "emulator";
  std::optional<std::uint64_t> print;
  CLI::App app("Random graphs through the whole pipeline, against the reference.", "zellige_random");
  app.add_option("--count", a.count, "How many graphs")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--seed", a.seed, "Of the first; the next has the next")->capture_default_str();
  app.add_option("--jobs", a.jobs, "Graphs at a time")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--target", target, "A target's name; both: sm_80 and sm_90a; blackwell: sm_100a and sm_120a")
      ->capture_default_str();
  auto* kinds = app.add_option_group("kind", "What is drawn")->require_option(0, 1);
  for (std::size_t k = 0; k < std::size(kind_options); ++k)
    kinds->add_flag_callback(
        kind_options[k].flag, [&a, k] { a.kind = static_cast<Kind>(k); }, kind_options[k].help);
  app.add_option("--on", on, "Where they run")->check(CLI::IsMember({"emulator", "gpu"}))->capture_default_str();
  app.add_flag("--machine-code", a.machine_code, "Compile by NVRTC and read what it made; nothing runs");
  app.add_option("--keep", a.keep, "Folder for the JSON of what is not correct")->capture_default_str();
  app.add_flag("--coverage", a.coverage_only, "Only report what is drawn");
  app.add_flag("--verbose", a.verbose, "A line a graph");
  app.add_option("--print", print, "Print the graph of this seed, and run nothing");
  app.footer(
      "Exit status: 0 all right; 1 something is wrong, failed, or a plan that the proof rejects; 2 a wrong "
      "call.");
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != 0) throw;
    app.exit(e);
    return std::nullopt;
  }
  a.gpu = on == "gpu";
  if (print) a.print = true, a.seed = *print;
  if (target == "both")
    a.targets = {"sm_80", "sm_90a"};
  else if (target == "blackwell")
    a.targets = {"sm_100a", "sm_120a"};
  else
    a.targets = {std::string(target::find(target).name)};
  return a;
}

/// The runs in flight, to name those that take long: a process that hangs is identified by its graph.
class UnderWay {
 public:
  explicit UnderWay(const Arguments& a) : a_(a) {}
  void started(int run) { since_[run] = Clock::now(); }
  void ended(int run) { since_.erase(run), named_.erase(run); }
  void name_long_ones() {
    for (const auto& [run, since] : since_) {
      const double seconds = std::chrono::duration<double>(Clock::now() - since).count();
      if (seconds < long_seconds || !named_.insert(run).second) continue;
      std::printf("%s: running for %.0f s\n", a_.call(run / static_cast<int>(a_.targets.size())).c_str(), seconds);
      std::fflush(stdout);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Arguments& a_;
  std::map<int, Clock::time_point> since_;
  std::set<int> named_;
};

/// Runs the i-th graph for a target.
run::RunResult run_one(const Arguments& a, int i, const std::string& target, const toolchain::Cache& cache) {
  if (a.gpu) ::alarm(max_seconds);
  run::RunResult r = run::run(a.graph_of(i),
                              {.on = a.gpu ? run::Machine::gpu : run::Machine::emulator,
                               .target = target,
                               .compile = {.fuse = a.fused(i)},
                               .workers = 1},
                              cache);
  if (!a.gpu || r.status == run::Status::refused || r.status == run::Status::failed) return r;
  try {  // a fault that no launch has reported yet
    run::DeviceBytes probe(256);
    probe.fill(0);
    run::Stream().wait();
  } catch (const Error& e) {
    r.status = run::Status::failed, r.reason = fmt::format("afterwards: {}", e.what());
  }
  return r;
}

/// Compiles the i-th graph by NVRTC and reads its machine code: wrong where a descriptor is odd, or where hints had to go.
run::RunResult read_one(const Arguments& a, int i, const std::string& target, const toolchain::Cache& cache) {
  run::RunResult r{.target = target, .on = "nvrtc", .status = run::Status::correct};
  try {
    const emit::EmittedProgram p =
        run::compile(a.graph_of(i), target::find(target), {.fuse = a.fused(i), .rejected = &r.rejected}).program;
    const toolchain::Cubin cubin = toolchain::compile_cubin(p.source, target, cache);
    const auto odd = toolchain::odd_descriptors(cubin.bytes);
    r.counters.emplace_back("descriptors", toolchain::descriptors(cubin.bytes).size());
    r.counters.emplace_back("kernels", p.manifest.kernels.size());
    r.compile_ms = cubin.compile_ms;
    if (!odd.empty()) r.status = run::Status::wrong, r.reason = to_string(odd.front());
    if (!cubin.note.empty()) r.status = run::Status::wrong, r.reason = cubin.note;
    if (const auto printed = random_graphs::odd_by_nvdisasm(cubin.bytes)) {
      r.counters.emplace_back("by nvdisasm, too,", 1);
      if (printed->size() != odd.size())
        r.status = run::Status::wrong,
        r.reason = fmt::format("nvdisasm prints {} descriptors in odd registers, the encoding has {}", printed->size(),
                               odd.size());
    }
  } catch (const Rejected& e) {
    r.status = run::Status::failed, r.reason = e.what(), kernel::add(r.rejected, e.what());
  } catch (const Fault& e) {
    r.status = run::Status::failed, r.reason = e.what();
  } catch (const Error& e) {
    r.status = run::Status::refused, r.reason = e.what();
  }
  return r;
}

int run_all(const Arguments& a) {
  random_graphs::Coverage coverage;
  Tally tally;
  int done = 0;
  const toolchain::Cache cache = toolchain::Cache::standard();
  const auto start = std::chrono::steady_clock::now();
  std::printf("%d graphs, %s to %s\n", a.count, a.call(0).c_str(), a.call(a.count - 1).c_str());
  for (int i = 0; i < a.count; ++i) coverage.add(a.graph_of(i));
  const int targets = static_cast<int>(a.targets.size());
  std::map<std::string, std::uint64_t> counted;
  UnderWay under_way(a);
  const auto work = [&](int i) -> system::PooledWork {
    if (i >= a.runs()) return {};
    under_way.started(i);
    return [&, i](const auto&) {
      const auto one = a.machine_code ? read_one : run_one;
      return run::to_json(one(a, i / targets, a.targets[static_cast<std::size_t>(i % targets)], cache));
    };
  };
  if (!a.coverage_only)
    system::run_jobs(
        work, a.jobs,
        [&](int i, const system::JobEnd& end) {
          under_way.ended(i);
          const int g = i / targets;
          std::string ended = "failed", reason = end.crash;
          if (end.crash.empty()) {
            const run::RunResult r = run::parse_result(end.result);
            ended = run::name(r.status), reason = r.reason;
            if (a.machine_code)
              for (const auto& [what, n] : r.counters) counted[what] += n;
            tally.rejected += static_cast<int>(r.rejected.size());
            for (const std::string& sentence : r.rejected)
              std::printf("%s, %s: rejected: %s\n", a.call(g).c_str(), r.target.c_str(), sentence.c_str());
            for (const std::string& note : r.notes) std::printf("%s: note: %s\n", a.call(g).c_str(), note.c_str());
            if (a.verbose) std::printf("%s: %s\n", a.call(g).c_str(), run::summary(r).c_str());
          }
          tally.add(ended, reason);
          if (ended != "correct") {
            std::printf("%s, %s: %s: %s\n", a.call(g).c_str(), a.targets[static_cast<std::size_t>(i % targets)].c_str(),
                        ended.c_str(), reason.c_str());
            system::create_folders(a.keep);
            const graph::KernelGraph graph = a.graph_of(g);
            system::write_whole(a.keep + fmt::format("/{}.json", graph.name), json::to_json(graph));
          }
          if (++done % 100 == 0)
            std::printf("%d of %d done, %.0f s: %s", done, a.runs(),
                        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                        tally.table().c_str());
          std::fflush(stdout);
        },
        [&](int, const std::string&) { under_way.name_long_ones(); });
  std::printf("%s", coverage.table().c_str());
  const std::string shortfall = a.count >= 1000 && a.kind == Kind::graphs ? coverage.shortfall() : "";
  if (!shortfall.empty()) std::printf("coverage falls short: %s\n", shortfall.c_str());
  if (a.coverage_only) return shortfall.empty() ? 0 : 1;
  for (const auto& [what, n] : counted) std::printf("%llu %s read\n", static_cast<unsigned long long>(n), what.c_str());
  std::printf("%s", tally.table().c_str());
  const bool chains_drawn = a.kind != Kind::unfused && a.kind != Kind::products && a.kind != Kind::weights;
  const int hundreds = (a.count + graphs_per_refusal - 1) / graphs_per_refusal;
  const int allowed = chains_drawn ? hundreds * static_cast<int>(a.targets.size()) : 0;
  if (tally.of("refused") > allowed) std::printf("%d refused, where at most %d may be\n", tally.of("refused"), allowed);
  return tally.of("wrong") + tally.of("failed") + tally.rejected == 0 && tally.of("refused") <= allowed &&
                 shortfall.empty()
             ? 0
             : 1;
}

}  // namespace

int main(int count, char** words) {
  try {
    const std::optional<Arguments> parsed = parse(count, words);
    if (!parsed) return 0;
    const Arguments& a = *parsed;
    if (a.print) {
      std::printf("%s\n", json::to_json(a.graph_of(0)).c_str());
      return 0;
    }
    if (a.machine_code) {
      try {
        toolchain::nvrtc_version();
      } catch (const Error& e) {
        std::printf("skipped: %s\n", e.what());
        return skipped;
      }
    }
    return run_all(a);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "zellige_random: %s\n", e.what());
    return 2;
  }
}
