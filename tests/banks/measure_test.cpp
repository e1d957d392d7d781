// tests/gpu/banks/measure.py without a GPU: the tool's predictions against counts that are made up.
#include <filesystem>
#include <fstream>

#include "cli/command.hpp"

namespace {

struct Measure : Command {
  Measure() {
    // Stands in for the program: two patterns and the launch that accesses nothing.
    std::ofstream(path("banks")) << R"(#!/bin/sh
cat <<'END'
{"name": "nothing", "repeats": 64, "layout": "", "type": "", "access": "", "addresses": []}
{"name": "column", "repeats": 64, "layout": "2048:1", "type": "f32", "access": "ld.shared.b32 (2,_,64)", "addresses": [8, 256]}
{"name": "rows", "repeats": 64, "layout": "(8,8):(8,1)", "type": "f16", "access": "ldmatrix.x1", "addresses": [0, 16, 32, 48, 64, 80, 96, 112, 7]}
END
)";
    std::filesystem::permissions(path("banks"), std::filesystem::perms::owner_all);
} zellige::run::Finished measure(std::vector<std::string> more) {
  std::vector<std::string> words = {"python3", ZELLIGE_SOURCE_DIR "/tests/gpu/banks/measure.py",
                                    ZELLIGE_EXECUTABLE, path("banks")};
  words.insert(words.end(), more.begin(), more.end());
  return zellige::run::run_process(words);
}
void counts(const std::string& column, const std::string& rows) {
  const std::string metric = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
  std::ofstream(path("counts.csv"))
      << "==PROF== Connected\n\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n"
      << "\"0\",\"measured\",\"" << metric << "\",\"2\"\n"
      << "\"1\",\"measured\",\"" << metric << "\",\"" << column << "\"\n"
      << "\"2\",\"measured\",\"" << metric << "\",\"" << rows << "\"\n";
}
};

TEST_F(Measure, AgreementIsWrittenIntoThePage) {
  counts("66", "66");
  std::ofstream(path("page.md")) << "before\n<!-- measured: begin -->\nold\n<!-- measured: end -->\nafter\n";
  const auto f = measure({"--counts", path("counts.csv"), "--write", path("page.md")});
  EXPECT_EQ(f.status, 0) << f.output;
  EXPECT_EQ(f.output,
            "| pattern | predicted | counted |\n|---|--:|--:|\n| column | 1 | 1 |\n| rows | 1 | 1 |\n"
            "nothing: 2 counted, which is taken off the others\n2 of 2 patterns agree\n");
  std::ifstream in(path("page.md"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}),
            "before\n<!-- measured: begin -->\n| pattern | predicted | counted |\n|---|--:|--:|\n| column | "
            "1 | 1 |\n| rows | 1 "
            "| 1 |\n<!-- measured: end -->\nafter\n");
}

TEST_F(Measure, DisagreementIsShownAndFails) {
  counts("1,026", "66");
  const auto f = measure({"--counts", path("counts.csv")});
  EXPECT_EQ(f.status, 1);
  EXPECT_NE(f.output.find("| column | 1 | 16 (differs) |"), std::string::npos) << f.output;
  EXPECT_NE(f.output.find("1 of 2 patterns agree"), std::string::npos);
}

}  // namespace
