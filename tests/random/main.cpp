// zellige_random: random graphs through the whole pipeline on the emulator, against the reference.
//
//   zellige_random --count 2000 --seed 1 --jobs 2 [--target sm_80] [--keep FOLDER] [--coverage] [--print SEED]
//
// A graph is called by its seed. What is wrong is printed and kept as JSON. docs/random_graphs.md says what is drawn.
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

namespace {

using namespace zellige;

struct Arguments {
  int count = 2000, jobs = 2;
  std::uint64_t seed = 1;
  std::string target = "sm_80", keep = "wrong_graphs";
  bool coverage_only = false, print = false, verbose = false;
};

Arguments parse(int count, char** words) {
  Arguments a;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto next = [&]() -> std::string {
      if (i + 1 >= count) fail("{}: expected a value behind it", word);
      return words[++i];
    };
    if (word == "--count") a.count = std::stoi(next());
    else if (word == "--seed") a.seed = std::stoull(next());
    else if (word == "--jobs") a.jobs = std::stoi(next());
    else if (word == "--target") a.target = next();
    else if (word == "--keep") a.keep = next();
    else if (word == "--coverage") a.coverage_only = true;
    else if (word == "--verbose") a.verbose = true;
    else if (word == "--print") a.print = true, a.seed = std::stoull(next());
    else fail("{}: no such option; there are --count --seed --jobs --target --keep --coverage --verbose --print", word);
  }
  return a;
}

int run_all(const Arguments& a) {
  random_graphs::Coverage coverage;
  std::map<run::Status, int> tally;
  int crashed = 0, done = 0;
  const run::Cache cache = run::Cache::standard();
  const auto start = std::chrono::steady_clock::now();
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(a.seed), static_cast<unsigned long long>(a.seed + a.count - 1));
  for (int i = 0; i < a.count; ++i) coverage.add(random_graphs::random_graph(a.seed + i));
  if (!a.coverage_only)
    run::run_jobs(
        a.count, a.jobs,
        [&](int i) {
          return run::to_json(run::run(random_graphs::random_graph(a.seed + i),
                                       {.on = run::Engine::emulator, .target = a.target, .workers = 1}, cache));
        },
        [&](int i, const run::JobEnd& end) {
          const std::uint64_t seed = a.seed + i;
          std::string reason = end.crash;
          bool bad = !end.crash.empty();
          if (bad) {
            ++crashed;
          } else {
            const run::RunResult r = run::parse_result(end.result);
            ++tally[r.status];
            reason = r.reason;
            bad = r.status != run::Status::correct && r.status != run::Status::borderline;
            if (!reason.empty()) reason = std::string(run::name(r.status)) + ": " + reason;
            if (a.verbose) std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), run::summary(r).c_str());
          }
          if (!reason.empty()) std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), reason.c_str());
          if (bad) {
            run::create_folders(a.keep);
            run::write_whole(a.keep + fmt::format("/{}.json", seed), graph::to_json(random_graphs::random_graph(seed)));
          }
          if (++done % 100 == 0)
            std::printf("%d of %d done, %.0f s\n", done, a.count,
                        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
          std::fflush(stdout);
        });
  std::printf("%s", coverage.table().c_str());
  const std::string shortfall = a.count >= 1000 ? coverage.shortfall() : "";
  if (!shortfall.empty()) std::printf("coverage falls short: %s\n", shortfall.c_str());
  if (a.coverage_only) return shortfall.empty() ? 0 : 1;
  const int correct = tally[run::Status::correct], borderline = tally[run::Status::borderline];
  std::printf("%d correct, %d borderline, %d wrong, %d refused, %d crashed\n", correct, borderline, tally[run::Status::wrong],
              tally[run::Status::refused], crashed);
  return correct + borderline == a.count && shortfall.empty() ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  try {
    const Arguments a = parse(count, words);
    if (a.print) {
      std::printf("%s\n", graph::to_json(random_graphs::random_graph(a.seed)).c_str());
      return 0;
    }
    return run_all(a);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "zellige_random: %s\n", e.what());
    return 2;
  }
}
