#include <unistd.h>

#include <algorithm>

#include "command.hpp"
#include "graphs.hpp"
#include "run/files.hpp"
#include "run/npy.hpp"
#include "run/result.hpp"

namespace {

using namespace zellige;
using run::read_whole;
using run::RunResult;
using run::Status;
using run::write_whole;

struct Run : Command {
  Run() { write_whole(path("three.json"), three_graphs); }

  std::vector<RunResult> results(const std::string& file) {
    std::vector<RunResult> all;
    std::string text = read_whole(file);
    for (std::size_t end; (end = text.find('\n')) != text.npos; text.erase(0, end + 1)) {
      all.push_back(run::parse_result(text.substr(0, end)));
    }
    EXPECT_EQ(text, "") << "every line ends";
    return all;
  }
};

TEST_F(Run, TheEmulatorAgreesWithTheReference) {
  const auto f =
      run({"run", path("three.json"), "--index", "1", "--on", "emulator", "--json", path("out.jsonl")});
  EXPECT_EQ(f.status, 0) << f.output;
  const auto all = results(path("out.jsonl"));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].status, Status::correct) << all[0].reason;
  EXPECT_EQ(all[0].index, 1);
  EXPECT_EQ(all[0].target, "sm_80");
  ASSERT_EQ(all[0].tensors.size(), 1u);
  EXPECT_TRUE(all[0].tensors[0].output);
  EXPECT_LE(all[0].tensors[0].worst, 1);
  const auto mma =
      std::find_if(all[0].counters.begin(), all[0].counters.end(), [](auto& c) { return c.first == "mma"; });
  EXPECT_NE(mma, all[0].counters.end()) << "an f16 matmul runs on mma";
  EXPECT_NE(read_whole(all[0].kernel).find("__global__"), std::string::npos);
}

TEST_F(Run, ARefusedGraphLeavesTheOthersAlone) {
  const auto f = run({"run", path("three.json"), "--all", "--on", "emulator", "--target", "sm_90a", "--json",
                      path("out.jsonl"), "--jobs", "2"});
  EXPECT_EQ(f.status, 2) << f.output;
  const auto all = results(path("out.jsonl"));
  ASSERT_EQ(all.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].index, i);
  EXPECT_EQ(all[0].status, Status::correct) << all[0].reason;
  EXPECT_EQ(all[1].status, Status::correct) << all[1].reason;
  EXPECT_EQ(all[2].status, Status::refused);
  EXPECT_NE(all[2].reason.find("(16, 16)"), std::string::npos) << all[2].reason;
  EXPECT_NE(all[2].reason.find("(3, 8)"), std::string::npos) << all[2].reason;
  EXPECT_EQ(all[1].target, "sm_90a");
}

TEST_F(Run, WithoutAChoiceItIsTheFirstAndSaysSo) {
  const auto f = run({"run", path("three.json"), "--on", "reference"});
  EXPECT_EQ(f.status, 0);
  EXPECT_EQ(f.output.find(path("three.json") +
                          ": the first of its 3 graphs; --all runs all of them, --index N another\n"),
            0u)
      << f.output;
}

TEST_F(Run, ASecondRunFindsItsKernelCompiled) {
  for (const bool cached : {false, true}) {
    run({"run", path("three.json"), "--index", "0", "--on", "emulator", "--json", path("out.jsonl")});
    EXPECT_EQ(results(path("out.jsonl")).at(0).compile_cached, cached);
  }
  run({"run", path("three.json"), "--index", "0", "--on", "emulator", "--no-cache", "--json",
       path("out.jsonl")});
  EXPECT_FALSE(results(path("out.jsonl")).at(0).compile_cached);
}

TEST_F(Run, TheSameSeedGivesTheSameRun) {
  std::vector<std::string> seen;
  for (const char* seed : {"1", "1", "2"}) {
    run({"run", path("three.json"), "--on", "reference", "--seed", seed, "--dump", path("dump")});
    seen.push_back(read_whole(path("dump/scaled/input_A.npy")));
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_NE(seen[0], seen[2]);
}

TEST_F(Run, DumpHoldsWhatTheRunSaw) {
  const auto f = run({"run", path("three.json"), "--index", "1", "--on", "emulator", "--dump", path("dump")});
  ASSERT_EQ(f.status, 0) << f.output;
  auto load = [&](const std::string& name) {
    return run::parse_npy(read_whole(path("dump/product/" + name)), name);
  };
  const run::Npy a = load("input_A.npy"), b = load("input_B.npy"), y = load("output_Y.npy");
  EXPECT_EQ(y.shape, (graph::Shape{16, 8}));
  EXPECT_EQ(load("output_Y.reference.npy").shape, y.shape);
  double dot = 0;
  for (std::size_t k = 0; k < 16; ++k) dot += a.values[3 * 16 + k] * b.values[k * 8 + 5];
  EXPECT_NEAR(y.values[3 * 8 + 5], dot, 2e-3 * (1 + std::abs(dot)));
  EXPECT_NE(read_whole(path("dump/product/product.cu")).find("__global__"), std::string::npos);
  EXPECT_NE(read_whole(path("dump/product/product.json")).find("\"name\": \"product\""), std::string::npos);
}

TEST_F(Run, BadInputIsOneMessageAndStatus2) {
  expect({"run", path("three.json"), "--index", "3", "--on", "reference"}, 2,
         "zellige: " + path("three.json") +
             ": --index 3 is out of range; the file holds 3 graphs, counted from 0\n");
  expect({"run", path("three.json"), "--on", "reference", "--json", path("no/out.jsonl")}, 2,
         path("three.json") + ": the first of its 3 graphs; --all runs all of them, --index N another\n" +
             "zellige: " + path("no/out.jsonl") + ": cannot be written: No such file or directory\n");
  const auto missing = run({"run", path("none.json"), "--on", "reference"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_EQ(missing.output.find("zellige: " + path("none.json") + ": "), 0u) << missing.output;
  EXPECT_EQ(std::count(missing.output.begin(), missing.output.end(), '\n'), 1);
  write_whole(path("cut.json"), three_graphs.substr(0, 200));
  const auto cut = run({"run", path("cut.json"), "--on", "reference", "--json", path("cut.jsonl")});
  EXPECT_EQ(cut.status, 2);
  EXPECT_EQ(std::count(cut.output.begin(), cut.output.end(), '\n'), 1) << cut.output;
  EXPECT_FALSE(std::filesystem::exists(path("cut.jsonl")));
}

TEST_F(Run, NoCompilerIsARefusal) {
  setenv("ZELLIGE_CXX", "no-such-compiler", 1);
  const auto f = run({"run", path("three.json"), "--index", "0", "--on", "emulator"});
  unsetenv("ZELLIGE_CXX");
  EXPECT_EQ(f.status, 2);
  EXPECT_EQ(f.output,
            "three[0]               refused   emulator sm_80\n"
            "    emulator: no C++ compiler no-such-compiler on PATH; install g++ 12 or newer, or set "
            "ZELLIGE_CXX\n");
}

TEST_F(Run, NoGpuWhereOneWasAsked) {
  const auto f = run({"run", path("three.json"), "--index", "0", "--on", "gpu"});
  if (f.status == 0) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(f.status, 2);
  EXPECT_EQ(f.output.find("zellige: --on gpu: "), 0u) << f.output;
  EXPECT_EQ(std::count(f.output.begin(), f.output.end(), '\n'), 1) << f.output;
}

TEST_F(Run, AnUnwritableCacheIsARefusalThatSaysWhere) {
  write_whole(path("file"), "in the way");
  setenv("ZELLIGE_CACHE", path("file/cache").c_str(), 1);
  const auto f = run({"run", path("three.json"), "--index", "0", "--on", "emulator"});
  EXPECT_EQ(f.status, 2);
  EXPECT_NE(f.output.find(path("file/cache")), std::string::npos) << f.output;
  EXPECT_NE(f.output.find("Not a directory"), std::string::npos) << f.output;
}

}  // namespace
