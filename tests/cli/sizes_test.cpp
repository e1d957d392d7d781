// The option --size of run, transpile and optimize, and equal on graphs with sizes.
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "system/files.hpp"

namespace {

const std::string rows = ZELLIGE_SOURCE_DIR "/examples/sizes/any_rows.json",
                  growing = ZELLIGE_SOURCE_DIR "/examples/sizes/growing_attention.json",
                  cached = ZELLIGE_SOURCE_DIR "/examples/sizes/cached_attention.json";

struct SizeOption : Command {
  /// That `run` on the reference with these words ends with status 2 and this reason.
  void expect_refused(std::vector<std::string> words, const std::string& reason) {
    words.insert(words.begin(), {"run", rows, "--on", "reference"});
    const auto f = run(words);
    EXPECT_EQ(f.status, 2) << f.output;
    EXPECT_EQ(f.output, reason);
  }
};

TEST_F(SizeOption, EveryValueRunsAndIsRight) {
  for (const char* value : {"1", "17", "512"}) {
    const auto f = run({"run", rows, "--on", "emulator", "--size", std::string("T=") + value});
    EXPECT_EQ(f.status, 0) << f.output;
    EXPECT_NE(f.output.find(" correct "), f.output.npos) << f.output;
    EXPECT_NE(f.output.find(std::string("    note: at T = ") + value + "\n"), f.output.npos) << f.output;
  }
}

TEST_F(SizeOption, OneProgramIsForAllValues) {
  std::string kernel;
  for (const auto& [t, p] : {std::pair{"T=20", "P=70"}, {"T=64", "P=100"}}) {
    const auto f =
        run({"run", cached, "--on", "emulator", "--size", t, "--size", p, "--json", path("r.json"), "--force"});
    EXPECT_EQ(f.status, 0) << f.output;
    EXPECT_EQ(f.output.find("for these sizes alone"), f.output.npos) << f.output;
    const std::string source = nlohmann::json::parse(zellige::system::read_whole(path("r.json"))).at("kernel");
    EXPECT_EQ(kernel.empty() ? source : kernel, source);
    kernel = source;
  }
}

TEST_F(SizeOption, SizesThatAreLeftOutHaveTheirGreatestTypicalValue) {
  const auto f = run({"run", growing, "--on", "reference", "--size", "T=3"});
  EXPECT_EQ(f.status, 0) << f.output;
  EXPECT_NE(f.output.find("    note: at P = 64, T = 3\n"), f.output.npos) << f.output;
  const auto g = run({"run", growing, "--on", "reference"});
  EXPECT_NE(g.output.find("    note: at P = 64, T = 16\n"), g.output.npos) << g.output;
}

TEST_F(SizeOption, WhatARunRefuses) {
  const std::string head = "any_rows[0]            refused   reference sm_80\n    ";
  expect_refused({"--size", "T=513"}, head + "graph any_rows: expected T from 1 to 512, found 513\n");
  expect_refused({"--size", "T=0"}, head + "graph any_rows: expected T from 1 to 512, found 0\n");
  expect_refused({"--size", "rows=3"}, head + "graph any_rows: expected one of the sizes T, found rows\n");
  expect_refused({"--size", "T"}, "zellige: --size: expected NAME=VALUE, found T\n");
  expect_refused({"--size", "T=1:3"}, "zellige: --size: expected NAME=VALUE, found T=1:3\n");
  expect_refused({"--size", "T=3x"}, "zellige: --size: expected NAME=VALUE, found T=3x\n");
  expect_refused({"--size", "T=1", "--size", "T=2"}, "zellige: --size: T is given twice\n");
}

TEST_F(SizeOption, ACompilationForFewerValues) {
  const auto transpiled = [&](const std::string& size) {
    return run({"transpile", rows, "-o", path("out"), "--force", "--size", size});
  };
  EXPECT_EQ(transpiled("T=16").status, 0);
  const auto manifest = nlohmann::json::parse(zellige::system::read_whole(path("out/any_rows.manifest.json")));
  EXPECT_EQ(manifest.at("tensors").back().at("shape"), (std::vector{16, 512}));
  EXPECT_EQ(transpiled("T=1:513").output, "zellige: graph any_rows: expected size T from 1 to 512, found 1 to 513\n");
  EXPECT_EQ(transpiled("T=8:12:16").output,
            "zellige: graph any_rows: expected size T to have a multiple of at least 1 with a value from 8 to 12, "
            "found 16\n");
  EXPECT_EQ(transpiled("T=1:2:3:4").output,
            "zellige: --size: expected NAME=MIN:MAX[:MULTIPLE] or NAME=VALUE, found T=1:2:3:4\n");
  const auto f = run({"optimize", rows, "--size", "T=1:64:8"});
  EXPECT_EQ(f.status, 0) << f.output;
  EXPECT_NE(f.output.find("\n  fused for T = 64, the greatest values\n"), f.output.npos) << f.output;
}

TEST_F(SizeOption, AProgramForAllValuesIsPlanned) {
  const auto f = run({"transpile", rows, "-o", path("out"), "--print-after", "lower", "--size", "T=8:512:8"});
  EXPECT_NE(f.output.find("\nsize T from 8 to 512 multiple 8\n"), f.output.npos) << f.output;
}

TEST_F(SizeOption, AProgramForAllValuesIsWrittenAndReadAgainAsIr) {
  for (const char* target : {"sm_80", "sm_90a"}) {
    const auto f = run({"transpile", rows, "-o", path("out"), "--force", "--emit", "cu,ir", "--target", target});
    EXPECT_EQ(f.status, 0) << f.output;
    const auto g = run({"emit", path("out/any_rows.ir"), "-o", path("again"), "--force"});
    EXPECT_EQ(g.status, 0) << g.output;
    const std::string source = zellige::system::read_whole(path("out/any_rows.cu"));
    EXPECT_NE(source.find("launch_any_rows(int64_t nT, "), source.npos) << source;
    EXPECT_EQ(zellige::system::read_whole(path("again/any_rows.cu")), source);
    const std::string manifest = zellige::system::read_whole(path("out/any_rows.manifest.json"));
    EXPECT_NE(manifest.find("\"number\": \"T\""), manifest.npos) << manifest;
  }
}

TEST_F(SizeOption, GraphsAreEqualForAllValues) {
  const auto f = run({"equal", growing, growing});
  EXPECT_EQ(f.status, 0) << f.output;
  EXPECT_NE(f.output.find("\n  for all values of P, T: the same operators on the same operands, which proves it\n"),
            f.output.npos)
      << f.output;
}

}  // namespace
