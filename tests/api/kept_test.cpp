// Programs and strings that are kept in the user's cache: found again without planning, and missed where anything
// differs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "floats.hpp"
#include "refused.hpp"

namespace {

namespace fs = std::filesystem;
using zellige::Graph;
using zellige::Program;
using zellige::ProgramOptions;

class Kept : public testing::Test {
 protected:
  Kept() {
    std::string name = (fs::temp_directory_path() / "zellige-test-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    if (const char* before = std::getenv("ZELLIGE_CACHE")) before_ = before;
    setenv("ZELLIGE_CACHE", folder_.c_str(), 1);
  }
  ~Kept() override {
    fs::remove_all(folder_);
    before_.empty() ? unsetenv("ZELLIGE_CACHE") : setenv("ZELLIGE_CACHE", before_.c_str(), 1);
  }
  /// Returns the program of a graph; counts the steps of the search for kernels in `steps_`.
  Program program(const std::string& graph, ProgramOptions o = {}) {
    o.keep = true, steps_ = 0;
    if (o.on == ZELLIGE_ON_AUTO) o.on = ZELLIGE_ON_EMULATOR;
    if (o.target.empty()) o.target = "sm_90a";
    if (!o.watch) o.watch = [&](auto...) { return ++steps_ > 0; };
    return Program(Graph::from_json(graph), o);
  }
  std::vector<fs::path> files(const std::string& extension) const {
    std::vector<fs::path> found;
    for (const auto& file : fs::recursive_directory_iterator(folder_))
      if (file.path().extension() == extension) found.push_back(file.path());
    return found;
  }
  int steps_ = 0;
  fs::path folder_;
  std::string before_;
};

TEST_F(Kept, AProgramIsPlannedOnceAndIsTheSame) {
  const Program first = program(scaled);
  EXPECT_GT(steps_, 0);
  Program again = program(scaled);
  EXPECT_EQ(steps_, 0);
  for (const zellige_text which : {ZELLIGE_SOURCE, ZELLIGE_STANDALONE, ZELLIGE_MANIFEST, ZELLIGE_PLAN, ZELLIGE_PRICE,
                                   ZELLIGE_GRAPH, ZELLIGE_TARGET, ZELLIGE_NOTES, ZELLIGE_REJECTED})
    EXPECT_EQ(again.text(which), first.text(which)) << which;
  EXPECT_EQ(again.price(), first.price());
  EXPECT_EQ(again.workspace(), first.workspace());
  Floats x, y;
  for (int i = 0; i < 32; ++i) x.values[i] = static_cast<float>(i), y.values[i] = -1;
  again.call({x.tensor()}, {y.tensor()});
  for (int i = 0; i < 32; ++i) EXPECT_EQ(y.values[i], 3 * x.values[i]);
  EXPECT_EQ(steps_, 0);
}

TEST_F(Kept, AProgramIsMissedWhereAnythingDiffers) {
  program(scaled);
  const auto planned = [&](const std::string& graph, const ProgramOptions& o) {
    program(graph, o);
    return steps_ > 0;
  };
  std::string other = scaled;
  other.replace(other.find("[4, 8]"), 6, "[8, 8]");
  EXPECT_TRUE(planned(other, {}));
  EXPECT_TRUE(planned(scaled, {.target = "sm_80"}));
  EXPECT_TRUE(planned(scaled, {.constants = {"X"}}));
  EXPECT_TRUE(planned(scaled, {.tiling = "chosen"}));
  EXPECT_FALSE(planned(scaled, {}));
  EXPECT_EQ(files(".program").size(), 5u);
  program(scaled, {.as_given = true});
  EXPECT_EQ(files(".program").size(), 6u);
}

TEST_F(Kept, ASearchThatTheCallerEndedIsNotKept) {
  program(scaled, {.watch = [](auto...) { return false; }});
  EXPECT_TRUE(files(".program").empty());
}

TEST_F(Kept, ADamagedEntryIsPlannedAgain) {
  const std::string source = program(scaled).text(ZELLIGE_SOURCE);
  ASSERT_EQ(files(".program").size(), 1u);
  for (const char* content : {"", "damaged"}) {
    std::ofstream(files(".program")[0]) << content;
    EXPECT_EQ(program(scaled).text(ZELLIGE_SOURCE), source);
    EXPECT_GT(steps_, 0);
  }
  program(scaled);
  EXPECT_EQ(steps_, 0);
}

TEST_F(Kept, WithoutAFolderForTheCacheItIsPlanned) {
  fs::permissions(folder_, fs::perms::all);
  EXPECT_EQ(why([&] { program(scaled); }), "nothing was refused");
  EXPECT_GT(steps_, 0);
}

TEST_F(Kept, ATextIsFoundAgainAndADamagedOneIsNot) {
  char* text = nullptr;
  ASSERT_EQ(zellige_kept("key", &text), ZELLIGE_OK);
  EXPECT_EQ(text, nullptr);
  ASSERT_EQ(zellige_keep("key", "decided"), ZELLIGE_OK);
  ASSERT_EQ(zellige_kept("key", &text), ZELLIGE_OK);
  EXPECT_EQ(zellige::detail::taken(text), "decided");
  ASSERT_EQ(zellige_kept("kex", &text), ZELLIGE_OK);
  EXPECT_EQ(text, nullptr);
  ASSERT_EQ(files(".decisions").size(), 1u);
  std::fstream(files(".decisions")[0], std::ios::in | std::ios::out) << "x";
  ASSERT_EQ(zellige_kept("key", &text), ZELLIGE_OK);
  EXPECT_EQ(text, nullptr);
}

TEST_F(Kept, ThreadsKeepAndFindWholeTexts) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 25; ++i) {
        EXPECT_EQ(zellige_keep("key", std::string(20000, static_cast<char>('a' + t)).c_str()), ZELLIGE_OK);
        char* text = nullptr;
        ASSERT_EQ(zellige_kept("key", &text), ZELLIGE_OK);
        ASSERT_NE(text, nullptr);
        const std::string found = zellige::detail::taken(text);
        EXPECT_EQ(found, std::string(20000, found[0]));
      }
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace
