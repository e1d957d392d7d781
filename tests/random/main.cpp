// zellige_random: random graphs through the whole pipeline on the emulator, against the reference.
//
//   zellige_random --count 2000 --seed 1 --jobs 2 [--target both] [--chains] [--plain] [--keep FOLDER] [--coverage] [--print SEED]
//
// A graph is called by its seed; with --chains every seed is one that draws a chain; with --plain it is one of plain operators, which
// run as they were fused. What is not correct is printed and kept as
// JSON. docs/random_graphs.md says what is drawn.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "generate.hpp"
#include "graph/json.hpp"
#include "run/files.hpp"
#include "run/pool.hpp"
#include "run/run.hpp"
#include "target/target.hpp"

namespace {

using namespace zellige;

struct Arguments {
  int count = 2000, jobs = 2;
  std::uint64_t seed = 1;
  std::string keep = "wrong_graphs";
  std::vector<std::string> targets = {"sm_80"};
  bool coverage_only = false, print = false, verbose = false, chains = false, plain = false;

  int runs() const { return count * static_cast<int>(targets.size()); }
  graph::KernelGraph graph_of(std::uint64_t s) const {
    return plain ? random_graphs::random_plain(s) : random_graphs::random_graph(s);
  }
  std::uint64_t seed_of(int i) const { return chains ? (seed + i) * random_graphs::chain_every : seed + i; }
};

/// How the runs ended, by verdict, and the refusals by their reason's words.
struct Tally {
  std::map<std::string, int> verdicts, refusals;

  void add(const std::string& verdict, const std::string& reason) {
    ++verdicts[verdict];
    if (verdict == "refused") ++refusals[without_numbers(reason)];
  }
  int of(const std::string& verdict) const { return verdicts.count(verdict) ? verdicts.at(verdict) : 0; }

  /// The kernel's name and every number left out, so that like reasons are counted together.
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
    for (const auto& [reason, n] : refusals) text += fmt::format("  {} refused: {}\n", n, reason);
    return text;
  }
};

Arguments parse(int count, char** words) {
  Arguments a;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto next = [&]() -> std::string {
      if (i + 1 >= count) fail("{}: expected a value behind it", word);
      return words[++i];
    };
    if (word == "--count")
      a.count = std::stoi(next());
    else if (word == "--seed")
      a.seed = std::stoull(next());
    else if (word == "--jobs")
      a.jobs = std::stoi(next());
    else if (word == "--target") {
      const std::string name = next();
      if (name == "both")
        a.targets = {"sm_80", "sm_90a"};
      else
        a.targets = {std::string(target::find(name).name)};
    } else if (word == "--chains")
      a.chains = true;
    else if (word == "--plain")
      a.plain = true;
    else if (word == "--keep")
      a.keep = next();
    else if (word == "--coverage")
      a.coverage_only = true;
    else if (word == "--verbose")
      a.verbose = true;
    else if (word == "--print")
      a.print = true, a.seed = std::stoull(next());
    else
      fail(
          "{}: no such option; there are --count --seed --jobs --target --chains --plain --keep --coverage "
          "--verbose "
          "--print",
          word);
  }
  return a;
}

int run_all(const Arguments& a) {
  random_graphs::Coverage coverage;
  Tally tally;
  int done = 0;
  const run::Cache cache = run::Cache::standard();
  const auto start = std::chrono::steady_clock::now();
  std::printf("seeds %llu to %llu%s\n", static_cast<unsigned long long>(a.seed_of(0)),
              static_cast<unsigned long long>(a.seed_of(a.count - 1)), a.chains ? ", every tenth" : "");
  for (int i = 0; i < a.count; ++i) coverage.add(a.graph_of(a.seed_of(i)));
  const int targets = static_cast<int>(a.targets.size());
  if (!a.coverage_only)
    run::run_jobs(
        a.runs(), a.jobs,
        [&](int i) {
          return run::to_json(run::run(
              a.graph_of(a.seed_of(i / targets)),
              {.on = run::Engine::emulator, .target = a.targets[i % targets], .workers = 1, .fuse = a.plain},
              cache));
        },
        [&](int i, const run::JobEnd& end) {
          const std::uint64_t seed = a.seed_of(i / targets);
          std::string ended = "failed", reason = end.crash;
          if (end.crash.empty()) {
            const run::RunResult r = run::parse_result(end.result);
            ended = run::name(r.status), reason = r.reason;
            if (a.verbose)
              std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), run::summary(r).c_str());
          }
          tally.add(ended, reason);
          if (ended != "correct") {
            std::printf("seed %llu, %s: %s: %s\n", static_cast<unsigned long long>(seed),
                        a.targets[i % targets].c_str(), ended.c_str(), reason.c_str());
            run::create_folders(a.keep);
            run::write_whole(a.keep + fmt::format("/{}.json", seed), graph::to_json(a.graph_of(seed)));
          }
          if (++done % 100 == 0)
            std::printf("%d of %d done, %.0f s: %s", done, a.runs(),
                        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                        tally.table().c_str());
          std::fflush(stdout);
        });
  std::printf("%s", coverage.table().c_str());
  const std::string shortfall = a.count >= 1000 && !a.chains && !a.plain ? coverage.shortfall() : "";
  if (!shortfall.empty()) std::printf("coverage falls short: %s\n", shortfall.c_str());
  if (a.coverage_only) return shortfall.empty() ? 0 : 1;
  std::printf("%s", tally.table().c_str());
  return tally.of("correct") + tally.of("borderline") == a.runs() && shortfall.empty() ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  try {
    const Arguments a = parse(count, words);
    if (a.print) {
      std::printf("%s\n", graph::to_json(a.graph_of(a.seed)).c_str());
      return 0;
    }
    return run_all(a);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "zellige_random: %s\n", e.what());
    return 2;
  }
}
