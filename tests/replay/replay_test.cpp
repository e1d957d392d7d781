// A regression test for refactorings: sources, estimated times, counters, shared memory and the work of
// planning for the saved graphs and the examples, on sm_80 and sm_90a, and fused on two of Blackwell, equal those in
// tests/replay/golden.
//
// By default every tenth of the saved graphs and every fifth of examples/parts, of Blackwell far fewer; ZELLIGE_ALL=1 takes all,
// some ten minutes of one core.
// ZELLIGE_REPLAY=NAME takes the records whose keys begin so. ZELLIGE_UPDATE_GOLDENS=1 writes all, or those of that name.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "../loaded.hpp"
#include "graph/mugraphs.hpp"
#include "json/json.hpp"
#include "record.hpp"
#include "system/process.hpp"

namespace zellige::replay {
namespace {

namespace fs = std::filesystem;

bool asked(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value == '1';
}

/// A folder of graphs: which of its graphs are taken by default, and what is kept of each.
struct Set {
  std::string name;
  fs::path folder;
  std::size_t step = 1;
  std::vector<Way> ways{Way::automatic};
  Counters counters = Counters::listed;
  std::vector<const char*> targets{"sm_80", "sm_90a"};
  std::size_t files_step = 1;  // of the folder's files, too
};

/// The records of this many graphs are one file, so that a person can read it.
constexpr std::size_t graphs_of_a_file = 24;

struct Case {
  std::size_t file;  // of its record, among those of its graphs
  const json::Loaded* graph;
  const target::Target* target;
  Way way;
  bool by_default;
  std::string key() const { return replay::key(graph->name, *target, way); }
};

std::vector<Case> cases_of(const std::vector<json::Loaded>& graphs, const Set& set) {
  std::vector<Case> cases;
  for (std::size_t i = 0; i < graphs.size(); ++i)
    for (const char* target : set.targets)
      for (const Way way : set.ways)
        cases.push_back({i / graphs_of_a_file, &graphs[i], &target::find(target), way, i % set.step == 0});
  return cases;
}

/// Keeps this process on one of its cores. Planning shares its work between the cores it may use, and which of two
/// threads plans a kernel first changes how much heap both take; on one core the work is the same at every run.
void use_one_core(int job) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  std::vector<int> cores;
  for (int c = 0; c < CPU_SETSIZE; ++c)
    if (CPU_ISSET(c, &allowed)) cores.push_back(c);
  CPU_ZERO(&one);
  CPU_SET(cores[static_cast<std::size_t>(job) % cores.size()], &one);
  sched_setaffinity(0, sizeof one, &one);
}

/// Each in a process of its own, so that the order of cases changes nothing of what planning takes.
void record_each(const std::vector<Case>& cases, Counters counters,
                 const std::function<void(const Case&, Record)>& ended) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  system::run_jobs(
      static_cast<int>(cases.size()), cores,
      [&](int i) {
        const Case& c = cases[static_cast<std::size_t>(i)];
        use_one_core(i);
        return record(c.graph->graph, c.graph->name, *c.target, c.way, counters).str();
      },
      [&](int i, const system::JobEnd& end) {
        ASSERT_EQ(end.crash, "") << cases[static_cast<std::size_t>(i)].key();
        ended(cases[static_cast<std::size_t>(i)], read(end.result).at(0));
      });
}

void replay(const fs::path& file, const Set& set, bool file_by_default) {
  const std::vector<json::Loaded> graphs = json::load_each(file.string());
  ASSERT_FALSE(graphs.empty()) << file;
  for (const json::Loaded& l : graphs) ASSERT_EQ(l.error, "") << l.name;
  const bool update = asked("ZELLIGE_UPDATE_GOLDENS"), all = update || asked("ZELLIGE_ALL");
  const char* only = std::getenv("ZELLIGE_REPLAY");
  const std::size_t files = (graphs.size() + graphs_of_a_file - 1) / graphs_of_a_file;
  std::vector<Case> taken;
  std::vector<std::vector<std::string>> keys(files);
  for (const Case& c : cases_of(graphs, set)) {
    keys[c.file].push_back(c.key());
    if (only ? c.key().starts_with(only) : all || (file_by_default && c.by_default)) taken.push_back(c);
  }
  std::vector<Golden> goldens;
  for (std::size_t i = 0; i < files; ++i)
    goldens.emplace_back(fmt::format("{}/tests/replay/golden/{}_{}{}.txt", ZELLIGE_SOURCE_DIR, set.name,
                                     file.stem().string(),
                                     files == 1 ? "" : fmt::format("_from_{:03}", i * graphs_of_a_file)));
  if (update) {
    record_each(taken, set.counters, [&](const Case& c, Record now) { goldens[c.file].put(std::move(now)); });
    for (std::size_t i = 0; i < files; ++i) goldens[i].keep(keys[i]), goldens[i].write();
    return;
  }
  for (std::size_t i = 0; i < files; ++i)
    EXPECT_EQ(goldens[i].size(), keys[i].size()) << file << ": the records are of other graphs";
  record_each(taken, set.counters, [&](const Case& c, const Record& now) {
    EXPECT_EQ(goldens[c.file].compare(now), "") << "where the change is meant, ZELLIGE_UPDATE_GOLDENS=1 writes it";
  });
}

void replay(const Set& set) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(set.folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::ranges::sort(files);
  ASSERT_FALSE(files.empty()) << set.folder;
  for (std::size_t i = 0; i < files.size(); ++i) replay(files[i], set, i % set.files_step == 0);
}

TEST(Replay, SavedGraphsBecomeWhatTheyWere) {
  const std::string lora = graph::test::mugraph_file("lora.json");
  if (lora.empty()) GTEST_SKIP() << "the saved graphs are not here: ZELLIGE_MUGRAPHS names their folder";
  const fs::path saved = fs::path(lora).parent_path();
  replay({.name = "saved",
          .folder = saved,
          .step = 10,
          .ways = {Way::given, Way::automatic},
          .counters = Counters::hashed});
  if (const fs::path faults = saved.parent_path() / "faults"; fs::exists(faults))
    replay({.name = "faults", .folder = faults});
}

TEST(Replay, ExamplesBecomeWhatTheyWere) {
  const fs::path examples = fs::path(ZELLIGE_SOURCE_DIR) / "examples";
  replay({.name = "examples", .folder = examples});
  replay({.name = "layers", .folder = examples / "layers"});
  replay({.name = "parts", .folder = examples / "parts", .step = 5});
}

/// What the architectures without a GPU of ours have: a default sample of a few graphs for each.
Set of_blackwell(std::string name, const fs::path& folder, std::size_t step, std::size_t files_step) {
  return {.name = "blackwell_" + std::move(name),
          .folder = folder,
          .step = step,
          .counters = Counters::hashed,
          .targets = {"sm_100a", "sm_120a"},
          .files_step = files_step};
}

TEST(Replay, GraphsOnBlackwellBecomeWhatTheyWere) {
  const fs::path examples = fs::path(ZELLIGE_SOURCE_DIR) / "examples";
  replay(of_blackwell("examples", examples, 1, 1));
  replay(of_blackwell("layers", examples / "layers", 1, 5));
  replay(of_blackwell("parts", examples / "parts", 20, 3));
  if (const std::string lora = graph::test::mugraph_file("lora.json"); !lora.empty())
    replay(of_blackwell("saved", fs::path(lora).parent_path(), 40, 2));
}

}  // namespace
}  // namespace zellige::replay
