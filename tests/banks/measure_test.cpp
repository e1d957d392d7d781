// tests/gpu/banks/measure.py without a GPU: the tool's predictions against synthetic counts.
#include <filesystem>
#include <fstream>

#include "cli/command.hpp"

namespace {

// A substitute for the profiled program.
constexpr const char* program = R"sh(#!/bin/sh
cat <<'END'
{"name": "column", "repeats": 64, "layout": "2048:1", "type": "f32", "access": "ld.shared.b32 (2,_,64)", "addresses": [8, 256]}
{"name": "rows", "repeats": 64, "layout": "(8,8):(8,1)", "type": "f16", "access": "ldmatrix.x1", "addresses": [0, 16, 32, 48, 64, 80, 96, 112, 7]}
END
)sh";

struct Measure : Command {
  Measure() {
    std::ofstream(path("banks")) << program;
    std::filesystem::permissions(path("banks"), std::filesystem::perms::owner_all);
  }
  zellige::system::Finished measure(std::vector<std::string> more) {
    std::vector<std::string> words = {"python3", ZELLIGE_SOURCE_DIR "/tests/gpu/banks/measure.py", ZELLIGE_EXECUTABLE,
                                      path("banks")};
    words.insert(words.end(), more.begin(), more.end());
    return zellige::system::run_process(words);
  }
  // For each pattern a launch that repeats the instruction 64 times, and one that repeats it twice as often.
  void counts(const std::vector<std::string>& launches) {
    std::ofstream out(path("counts.csv"));
    out << "==PROF== Connected\n\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n";
    for (std::size_t i = 0; i < launches.size(); ++i)
      out << '"' << i << "\",\"measured\",\"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum\",\"" << launches[i]
          << "\"\n";
  }
};

TEST_F(Measure, AgreementIsWrittenIntoThePage) {
  counts({"66", "130", "70", "134"});
  std::ofstream(path("page.md")) << "before\n<!-- measured: begin -->\nold\n<!-- measured: end -->\nafter\n";
  const auto f = measure({"--counts", path("counts.csv"), "--write", path("page.md")});
  const std::string table = "| pattern | predicted | counted |\n|---|--:|--:|\n| column | 1 | 1 |\n| rows | 1 | 1 |\n";
  EXPECT_EQ(f.status, 0) << f.output;
  EXPECT_EQ(f.output, table + "2 of 2 patterns agree\n");
  std::ifstream in(path("page.md"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}),
            "before\n<!-- measured: begin -->\n" + table + "<!-- measured: end -->\nafter\n");
}

TEST_F(Measure, DisagreementIsShownAndFails) {
  counts({"1,026", "2,050", "66", "130"});
  const auto f = measure({"--counts", path("counts.csv")});
  EXPECT_EQ(f.status, 1);
  EXPECT_NE(f.output.find("| column | 1 | 16 (differs) |"), std::string::npos) << f.output;
  EXPECT_NE(f.output.find("1 of 2 patterns agree"), std::string::npos);
}

TEST_F(Measure, LaunchesThatAreMissingAreNotGuessed) {
  counts({"66", "130"});
  const auto f = measure({"--counts", path("counts.csv")});
  EXPECT_EQ(f.status, 1);
  EXPECT_EQ(f.output, "2 launches were counted; 4 are expected\n");
}

}  // namespace
