#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "command.hpp"
#include "graphs.hpp"
#include "reference/array.hpp"
#include "run/npy.hpp"
#include "run/result.hpp"
#include "strings/shown.hpp"
#include "system/files.hpp"

namespace {

using namespace zellige;
using run::RunResult;
using run::Status;
using system::read_whole;
using system::write_whole;

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

TEST_F(Run, OperatorThatNoOutputNeedsHasNoKernelAsGiven) {
  write_whole(path("unused.json"), R"({"zellige_graph": 1, "name": "unused",
    "inputs": [{"name": "x", "dtype": "f16", "shape": [8, 64]}],
    "operators": [{"op": "softmax", "inputs": ["x"], "outputs": ["s"], "dim": 1}, {"op": "relu", "inputs": ["x"], "outputs": ["y"]}],
    "outputs": ["y"]})");
  const auto f = run({"run", path("unused.json"), "--on", "emulator", "--as-given", "--json", path("out.jsonl")});
  EXPECT_EQ(f.status, 0) << f.output;
  EXPECT_EQ(results(path("out.jsonl")).at(0).kernels.size(), 1U);
}

TEST_F(Run, TheEmulatorAgreesWithTheReference) {
  const auto f = run({"run", path("three.json"), "--index", "1", "--on", "emulator", "--json", path("out.jsonl")});
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

TEST_F(Run, ConstantInputsAreNamed) {
  const auto f =
      run({"run", path("three.json"), "--index", "1", "--on", "emulator", "--target", "sm_90a", "--constant", "B"});
  EXPECT_EQ(f.status, 0) << f.output;
  const auto wrong =
      run({"run", path("three.json"), "--index", "1", "--on", "emulator", "--constant", "B", "--constant", "b2"});
  EXPECT_EQ(wrong.status, 2) << wrong.output;
  EXPECT_NE(wrong.output.find(
                "graph product has no input b2, which --constant names; known inputs are A, B; did you mean B?\n"),
            std::string::npos)
      << wrong.output;
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
  EXPECT_EQ(
      f.output.find(path("three.json") + ": the first of its 3 graphs; --all runs all of them, --index N another\n"),
      0u)
      << f.output;
}

TEST_F(Run, ASecondRunFindsItsKernelCompiled) {
  for (const bool cached : {false, true}) {
    run({"run", path("three.json"), "--index", "0", "--on", "emulator", "--json", path("out.jsonl")});
    EXPECT_EQ(results(path("out.jsonl")).at(0).compile_cached, cached);
  }
  run({"run", path("three.json"), "--index", "0", "--on", "emulator", "--no-cache", "--json", path("out.jsonl")});
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
    run::NpyFile file(path("dump/product/" + name));
    return reference::Array{file.shape(), file.values()};
  };
  const reference::Array a = load("input_A.npy"), b = load("input_B.npy"), y = load("output_Y.npy");
  EXPECT_EQ(y.shape, (graph::Shape{16, 8}));
  EXPECT_EQ(load("output_Y.reference.npy").shape, y.shape);
  double dot = 0;
  for (std::size_t k = 0; k < 16; ++k) dot += a.values[3 * 16 + k] * b.values[k * 8 + 5];
  EXPECT_NEAR(y.values[3 * 8 + 5], dot, 2e-3 * (1 + std::abs(dot)));
  EXPECT_NE(read_whole(path("dump/product/product.cu")).find("__global__"), std::string::npos);
  EXPECT_NE(read_whole(path("dump/product/product.manifest.json")).find("\"name\": \"product\""), std::string::npos);
}

TEST_F(Run, BadInputIsOneMessageAndStatus2) {
  expect({"run", path("three.json"), "--index", "3", "--on", "reference"}, 2,
         "zellige: " + path("three.json") + ": --index 3 is out of range; the file holds 3 graphs, counted from 0\n");
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

// A fake compiler: it prints its version, and then does something else.
struct RunWithCompiler : Run {
  zellige::system::Finished with(const std::string& does) {
    write_whole(path("cxx"), "#!/bin/sh\nif [ \"$1\" = --version ]; then echo substitute; exit 0; fi\n" + does + "\n");
    std::filesystem::permissions(path("cxx"), std::filesystem::perms::owner_all);
    setenv("ZELLIGE_CXX", path("cxx").c_str(), 1);
    const auto f = run({"run", path("three.json"), "--index", "0", "--on", "emulator", "--json", path("out.jsonl")});
    unsetenv("ZELLIGE_CXX");
    return f;
  }
};

TEST_F(RunWithCompiler, WhatDoesNotCompileIsZelligesFault) {
  const auto f = with("echo 'scaled.cu:3:1: error: expected by the test'; exit 1");
  EXPECT_EQ(f.status, 1) << f.output;
  EXPECT_NE(f.output.find("three[0]               failed    emulator sm_80"), f.output.npos) << f.output;
  EXPECT_NE(f.output.find("does not compile scaled.cu (status 1):\nscaled.cu:3:1: error: expected by the test"),
            f.output.npos)
      << f.output;
  EXPECT_EQ(results(path("out.jsonl")).at(0).status, Status::failed);
}

TEST_F(RunWithCompiler, AFullDiskIsNot) {
  const auto f = with("echo 'fatal error: error writing to /tmp/x.s: No space left on device'; exit 1");
  EXPECT_EQ(f.status, 2) << f.output;
  EXPECT_EQ(results(path("out.jsonl")).at(0).status, Status::refused);
}

TEST_F(RunWithCompiler, TooLittleMemoryIsNot) {
  for (const std::string does :
       {"echo 'cc1plus: out of memory allocating 65536 bytes after a total of 1048576 bytes'; exit 1",
        "echo 'virtual memory exhausted: Cannot allocate memory'; exit 1",
        "echo 'g++: fatal error: Killed signal terminated program cc1plus'; exit 1",
        "echo 'c++: internal compiler error: Killed (program cc1plus)'; exit 4",
        "echo 'LLVM ERROR: out of memory'; exit 134", "kill -KILL $$"}) {
    const auto f = with(does);
    EXPECT_EQ(f.status, 2) << f.output;
    const RunResult r = results(path("out.jsonl")).at(0);
    EXPECT_EQ(r.status, Status::refused) << does;
    EXPECT_EQ(r.reason.find("emulator: this machine has too little memory for "), 0u) << r.reason;
  }
  // A crash of the compiler is not.
  EXPECT_EQ(with("echo 'internal compiler error: Segmentation fault'; exit 4").status, 1);
}

// After two seconds a line says what keeps us; a shorter run has none.
TEST_F(RunWithCompiler, WhatTakesLongSaysWhatItIs) {
  const auto f = with("sleep 3; echo 'scaled.cu:1:1: error: late'; exit 1");
  EXPECT_TRUE(f.output.starts_with("[0/1] 0:02  scaled: compiling and running\n")) << f.output;
  EXPECT_EQ(with("echo 'scaled.cu:1:1: error: early'; exit 1").output.find("[0/1]"), f.output.npos);
}

// The compiler's parent is the process that runs the graph.
TEST_F(RunWithCompiler, AWorkerKilledFromOutsideFailed) {
  for (const std::string signal : {"KILL", "TERM", "HUP", "INT"}) {
    const auto f = with("kill -" + signal + " $PPID");
    EXPECT_EQ(f.status, 1) << f.output;
    const RunResult r = results(path("out.jsonl")).at(0);
    EXPECT_EQ(r.status, Status::failed);
    EXPECT_EQ(r.reason.find("scaled: the process that ran it was killed by signal "), 0u) << r.reason;
    EXPECT_EQ(r.reason.find("memory") != r.reason.npos, signal == "KILL") << r.reason;
  }
  // A crash, however, is what a wrong kernel does.
  EXPECT_EQ(with("kill -SEGV $PPID").status, 1);
  EXPECT_EQ(results(path("out.jsonl")).at(0).status, Status::wrong);
}

TEST_F(Run, StdinIsAFile) {
  const auto shell = [&](const std::string& arguments) {
    return zellige::system::run_process(
        {"sh", "-c", std::string(ZELLIGE_EXECUTABLE) + " " + arguments + " < " + path("three.json")});
  };
  const auto f = shell("run - --index 1 --on reference");
  EXPECT_EQ(f.status, 0);
  EXPECT_EQ(f.output.find("stdin[1] "), 0u) << f.output;
  EXPECT_EQ(shell("transpile - -o " + path("out")).output,
            path("out/scaled.cu") + "\n" + path("out/scaled.manifest.json") + "\n");
  EXPECT_EQ(
      shell("run - --on reference --json " + path("three.json")).output,
      "stdin: the first of its 3 graphs; --all runs all of them, --index N another\nzellige: " + path("three.json") +
          ": is an input of this command (stdin), which is never written over; name another output\n");
}

// Graphs before the damage have their results, and the damage is one more.
TEST_F(Run, ADamagedListRunsUpToTheDamage) {
  write_whole(path("cut.json"), three_graphs.substr(0, three_graphs.find("\"misfit\"") + 20));
  const auto f = run({"run", path("cut.json"), "--all", "--on", "reference", "--json", path("out.jsonl")});
  EXPECT_EQ(f.status, 2) << f.output;
  const auto all = results(path("out.jsonl"));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].status, Status::reference);
  EXPECT_EQ(all[1].status, Status::reference);
  EXPECT_EQ(all[2].status, Status::refused);
  EXPECT_EQ(all[2].reason.find(path("cut.json") + ": expected JSON, found a parse error at line 11, column "), 0u)
      << all[2].reason;
}

// The millionth part of a long file takes no longer than a short one, nor more memory: the first verdict
// comes while the rest is still being written.
TEST_F(Run, ALongFileStartsAtOnce) {
  const std::string one = three_graphs.substr(2, three_graphs.find(",\n  {\"zellige_graph\"", 5) - 2);
  const std::string script =
      "{ printf '['; i=0; while [ $i -lt 64 ]; do printf '%s,' \"$GRAPH\"; i=$((i+1)); done; "
      "while [ ! -s " +
      path("out.jsonl") +
      " ]; do sleep 0.05; i=$((i+1)); [ $i -lt 1000 ] || "
      "exit 1; done; printf '%s]' \"$GRAPH\"; } | " +
      ZELLIGE_EXECUTABLE + " run - --all --jobs 2 --on reference --json " + path("out.jsonl");
  setenv("GRAPH", one.c_str(), 1);
  const auto f = zellige::system::run_process({"timeout", "100", "sh", "-c", script});
  unsetenv("GRAPH");
  EXPECT_EQ(f.status, 0) << f.output;
  EXPECT_EQ(results(path("out.jsonl")).size(), 65u);
}

TEST_F(Run, TimeWithoutAGpuSaysSo) {
  const auto f = run({"run", path("three.json"), "--index", "0", "--on", "auto", "--time"});
  EXPECT_EQ(f.status, 0);
  if (f.output.find("on the emulator: ") == f.output.npos) GTEST_SKIP() << "there is a GPU";
  EXPECT_NE(f.output.find("--time: needs a GPU; this runs on the emulator, so nothing is timed\n"), f.output.npos)
      << f.output;
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

TEST_F(Run, ASampleSaysWhatItTook) {
  const auto f = run({"run", path("three.json"), "--index", "1", "--on", "emulator", "--check", "sampled", "--seed",
                      "4", "--json", path("out.jsonl"), "--dump", path("dump")});
  EXPECT_EQ(f.status, 0) << f.output;
  EXPECT_NE(f.output.find("\n    Y by sample: 1 of 1 tiles of 16x8 (100%, seed 4), from the inputs A, B\n"),
            f.output.npos)
      << f.output;
  const RunResult r = results(path("out.jsonl")).at(0);
  EXPECT_EQ(r.status, Status::correct) << r.reason;
  EXPECT_EQ(r.check, "sampled");
  EXPECT_TRUE(std::filesystem::exists(path("dump/product/output_Y.npy")));
  EXPECT_FALSE(std::filesystem::exists(path("dump/product/output_Y.reference.npy"))) << "nothing computed all of it";
}

TEST_F(Run, WithoutACheckNothingIsCalledCorrect) {
  const auto f = run(
      {"run", path("three.json"), "--index", "1", "--on", "emulator", "--check", "none", "--json", path("out.jsonl")});
  EXPECT_EQ(f.status, 0) << f.output;
  const RunResult r = results(path("out.jsonl")).at(0);
  EXPECT_EQ(r.status, Status::unchecked);
  EXPECT_EQ(r.check, "none");
  EXPECT_TRUE(r.tensors.empty());
  expect({"run", path("three.json"), "--on", "reference", "--check", "none"}, 2,
         "zellige: --check none: --on reference runs the reference alone, so there is nothing to check\n");
  expect({"run", path("three.json"), "--check", "half"}, 2,
         "zellige: --check: expected one of full, sampled, none, found half (zellige run --help shows the "
         "usage)\n");
}

// A mask of -inf among the inputs: what is given is what the run sees, and NaN where all is masked agrees with NaN.
TEST_F(Run, InputsComeFromFiles) {
  write_whole(path("masked.json"), R"({"zellige_graph": 1, "name": "masked",
   "inputs": [{"name": "X", "dtype": "f16", "shape": [16, 32]}, {"name": "M", "dtype": "f16", "shape": [16, 32]},
              {"name": "B", "dtype": "bf16", "shape": [4]}],
   "operators": [{"op": "add", "inputs": ["X", "M"], "outputs": ["S"]}, {"op": "exp", "inputs": ["S"], "outputs": ["E"]},
                 {"op": "reduction", "inputs": ["E"], "dim": 1, "outputs": ["T"]},
                 {"op": "div", "inputs": ["E", "T"], "outputs": ["P"]}, {"op": "relu", "inputs": ["B"], "outputs": ["R"]}],
   "outputs": ["P", "R"]})");
  std::vector<double> mask(16 * 32);
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 32 > i / 32 || i / 32 == 9 ? -INFINITY : 0;
  write_whole(path("m=1.npy"), run::npy(graph::DType::f16, {16, 32}, mask));
  write_whole(path("b.npy"), run::npy(graph::DType::f32, {4}, {-1, 1, 1.00390625, 3}));
  for (const std::string check : {"full", "sampled"}) {
    const auto f = run({"run", path("masked.json"), "--on", "emulator", "--input", "M=" + path("m=1.npy"), "--input",
                        "B=" + path("b.npy"), "--check", check, "--dump", path("dump"), "--json", path("out.jsonl")});
    EXPECT_EQ(f.status, 0) << f.output;
    EXPECT_EQ(results(path("out.jsonl")).at(0).status, Status::correct) << results(path("out.jsonl")).at(0).reason;
    const auto load = [&](const std::string& name) {
      return run::NpyFile(path("dump/masked/" + name + ".npy")).values();
    };
    EXPECT_EQ(load("input_M"), mask);
    EXPECT_EQ(load("input_B"), (std::vector<double>{-1, 1, 1, 3})) << "rounded to bf16";
    const std::vector<double> p = load("output_P");
    EXPECT_TRUE(std::isnan(p[9 * 32 + 1]));
    EXPECT_EQ(p[5 * 32 + 6], 0);
    double sum = 0;
    for (int i = 0; i < 32; ++i) sum += p[5 * 32 + i];
    EXPECT_NEAR(sum, 1, 1e-2);
  }
}

TEST_F(Run, AnEntryOfTheCacheThatWasChangedIsMadeAgainAndNoted) {
  const std::vector<std::string> words{"run", path("three.json"), "--index", "0", "--on", "emulator"};
  ASSERT_EQ(Command::run(words).status, 0);
  const auto changed = [&](auto change) {
    int entries = 0;
    for (const auto& f : std::filesystem::recursive_directory_iterator(folder / "cache"))
      if (f.path().extension() == ".so") change(f.path().string()), ++entries;
    EXPECT_EQ(entries, 1);
    const system::Finished f = Command::run(words);
    EXPECT_EQ(f.status, 0) << f.output;
    EXPECT_NE(f.output.find("\n    note: the kernel cache's "), f.output.npos) << f.output;
    EXPECT_EQ(f.output.find("(cached)"), f.output.npos) << f.output;
    return f.output;
  };
  const auto holds = [](const std::string& output, const std::string& why) {
    EXPECT_NE(output.find(".so is not used, and made again: " + why), output.npos) << output;
  };
  holds(changed([](const std::string& file) {
          std::string bytes = read_whole(file);
          bytes[bytes.size() / 2] ^= 1;
          write_whole(file, bytes, 0600);
        }),
        "its hash is ");
  holds(changed([](const std::string& file) { write_whole(file, read_whole(file).substr(0, 5000), 0600); }),
        "it does not end as entries do");
  holds(changed([](const std::string& file) { ::chmod(file.c_str(), 0666); }), path("cache"));
  const system::Finished again = Command::run(words);
  EXPECT_EQ(again.output.find("note:"), again.output.npos) << again.output;
  EXPECT_NE(again.output.find("(cached)"), again.output.npos) << again.output;
  ::chmod(path("cache").c_str(), 0777);
  const system::Finished open = Command::run(words);
  EXPECT_EQ(open.status, 2);
  EXPECT_EQ(open.output, "three[0]               refused   emulator sm_80\n    kernel cache " + path("cache") +
                             ": its mode is 0777, expected 0700: others may put code there that this process "
                             "runs; make it this user's alone (chmod 700), or set ZELLIGE_CACHE to another "
                             "folder\n");
  ::chmod(path("cache").c_str(), 0700);
}

/// Characters that control a terminal are printed as \x1b, in all output.
TEST_F(Run, NamesOfFilesDoNotReachTheTerminalAsTheyAre) {
  const std::string name = "a\x1b[31m\nzellige: b\a\xc2\x9b\xff", shown = "a\\x1b[31m\\nzellige: b\\x07\\u009b\\xff";
  const std::string file = path(name) + ".json", there = path(shown) + ".json";
  expect({"run", file, "--on", "emulator"}, 2,
         "zellige: " + there + ": expected a graph file that can be read, found: No such file or directory\n");
  write_whole(file, "[");
  const auto clean = [&](const std::vector<std::string>& words) {
    const system::Finished f = Command::run(words);
    EXPECT_EQ(strings::shown_lines(f.output), f.output) << words[0];
    EXPECT_EQ(f.output.find("\nzellige: b"), f.output.npos) << f.output;
    EXPECT_NE(f.output.find("\\x1b[31m"), f.output.npos) << words[0] << f.output;
    return f;
  };
  for (const std::string command : {"run", "transpile", "optimize"}) EXPECT_EQ(clean({command, file}).status, 2);
  clean({"equal", file, file});
  write_whole(file, three_graphs);
  clean({"run", file, "--on", "emulator", "--index", "7"});
  clean({"run", file, "--on", "reference", "--all"});
  clean({"run", file, "--on", "reference"});
  write_whole(path("three.json"), three_graphs);
  const std::string three = path("three.json");
  clean({"run", three, "--on", "reference", "--input", "A=" + file});
  clean({"run", three, "--on", "reference", "--input", "A=" + path("no" + name)});
  clean({"run", three, "--on", "reference", "--input", name});
  clean({"run", three, "--on", "reference", "--json", path("no/" + name)});
  clean({"run", three, "--on", "reference", "--json", file});
  clean({"run", three, "--on", "reference", "--dump", file + "/below"});
  clean({"run", three, "--on", name});
  clean({"run", three, "--on", "emulator", "--target", name});
  clean({"run", three, "--on", "emulator", "--tiling", path("no" + name)});
  clean({"run", three, "--on", "emulator", "--tiling", file});
  clean({"run", three, "--on", "emulator", "--constant", name});
  clean({"transpile", three, "-o", file});
  clean({"transpile", three, "--emit", name});
  clean({name});
  clean({"run", three, "--" + name});
}

}  // namespace
