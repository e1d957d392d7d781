// The textual form of a program: what is printed of what is parsed is the same source, and so are the source and the
// manifest that are emitted of it, for all graphs of the replay net.
//
// By default every twentieth of the saved graphs and every tenth of examples/parts; ZELLIGE_ALL=1 takes all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "../loaded.hpp"
#include "emit/emit.hpp"
#include "graph/builder.hpp"
#include "graph/mugraphs.hpp"
#include "ir/ir.hpp"
#include "json/json.hpp"
#include "run/compile.hpp"
#include "system/process.hpp"

namespace zellige::ir {
namespace {

namespace fs = std::filesystem;

/// Returns the first line in which two sources differ, of both; "" if they are equal.
std::string difference(const std::string& a, const std::string& b) {
  if (a == b) return "";
  const auto [x, y] = std::ranges::mismatch(a, b);
  const auto line = [](const std::string& text, std::size_t at) {
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  };
  const auto at = static_cast<std::size_t>(x - a.begin());
  return fmt::format("{}\nis now\n{}", line(a, at), line(b, at));
}

/// Returns what is not as it was after printing and parsing; "" if everything is.
std::string lost(const graph::KernelGraph& graph, const target::Target& target, const char* tiling) {
  emit::EmittedProgram before;
  try {
    before =
        run::compile(graph, target, {.fuse = *tiling == '\0', .plan = run::tiling_options(tiling, target)}).program;
  } catch (const Fault&) {
    throw;
  } catch (const Error&) {
    return "";  // the graph is refused
  }
  const std::string text = print(before);
  try {
    if (const std::string d = difference(text, print(parse(text, "x.ir"))); !d.empty()) return "text: " + d;
    const emit::EmittedProgram after = compile(text, "x.ir").program;
    if (const std::string d = difference(consequences(before.plan), consequences(after.plan)); !d.empty())
      return "plan: " + d;
    if (const std::string d = difference(before.source, after.source); !d.empty()) return "source: " + d;
    return difference(manifest::to_json(before.manifest), manifest::to_json(after.manifest));
  } catch (const std::exception& e) {
    return e.what();
  }
}

struct Case {
  json::Loaded loaded;
  const target::Target* target;
  const char* tiling;
};

void hold(const std::vector<Case>& cases) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  system::run_jobs(
      static_cast<int>(cases.size()), cores,
      [&](int i) {
        const Case& c = cases[static_cast<std::size_t>(i)];
        return lost(c.loaded.graph, *c.target, c.tiling);
      },
      [&](int i, const system::JobEnd& end) {
        const Case& c = cases[static_cast<std::size_t>(i)];
        EXPECT_EQ(end.crash + end.result, "")
            << c.loaded.name << ", " << c.target->name << ", " << (*c.tiling ? c.tiling : "chosen");
      });
}

/// The graphs of a folder's files, each `step`-th of them.
void add(std::vector<Case>& cases, const fs::path& folder, std::size_t step, const std::vector<const char*>& tilings) {
  const char* all = std::getenv("ZELLIGE_ALL");
  if (all && *all == '1') step = 1;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::ranges::sort(files);
  ASSERT_FALSE(files.empty()) << folder;
  for (const fs::path& file : files) {
    const std::vector<json::Loaded> graphs = json::load_each(file.string());
    for (std::size_t i = 0; i < graphs.size(); i += step)
      for (const char* target : {"sm_80", "sm_90a"})
        for (const char* tiling : tilings) cases.push_back({graphs[i], &target::find(target), tiling});
  }
}

TEST(RoundTrip, SavedGraphs) {
  const std::string lora = graph::test::mugraph_file("lora.json");
  if (lora.empty()) GTEST_SKIP() << "the saved graphs are not here: ZELLIGE_MUGRAPHS names their folder";
  const fs::path saved = fs::path(lora).parent_path();
  std::vector<Case> cases;
  add(cases, saved, 20, {"given", ""});
  if (const fs::path faults = saved.parent_path() / "faults"; fs::exists(faults)) add(cases, faults, 1, {""});
  hold(cases);
}

TEST(RoundTrip, Examples) {
  const fs::path examples = fs::path(ZELLIGE_SOURCE_DIR) / "examples";
  std::vector<Case> cases;
  add(cases, examples, 1, {"given", ""});
  add(cases, examples / "layers", 1, {""});
  add(cases, examples / "parts", 10, {""});
  hold(cases);
}

TEST(RoundTrip, ALoopOfWhichNothingIsNeeded) {
  graph::Builder g("unread");
  const graph::TensorHandle x = g.input("x", {16, 32}), w = g.input("w", {64, 32});
  g.output(g.custom({.grid = {}, .block = {64}, .loop = 4},
                    [&](graph::BlockBuilder& t) {
                      reduction_max(t.load(w, {.loop = 0}), 1);
                      t.store(relu(t.load(x)));
                    })[0],
           "y");
  for (const char* target : {"sm_80", "sm_90a"}) EXPECT_EQ(lost(g.build(), target::find(target), "given"), "");
}

}  // namespace
}  // namespace zellige::ir
