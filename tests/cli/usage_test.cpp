#include "command.hpp"

namespace {

TEST_F(Command, VersionAndHelp) {
  expect({"--version"}, 0, "zellige 0.1.0\n");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--help"}, {"run", "--help"}, {"transpile", "--help"}}) {
    const auto f = run(words);
    EXPECT_EQ(f.status, 0);
    EXPECT_NE(f.output.find("Exit status: 0 done"), std::string::npos) << f.output;
  }
}

TEST_F(Command, HelpOfEachCommandHasAnExample) {
  for (const std::string command :
       {"run", "transpile", "emit", "optimize", "layout", "banks", "equal", "cache", "doctor", "emulate"}) {
    const auto f = run({command, "--help"});
    EXPECT_EQ(f.status, 0);
    EXPECT_NE(f.output.find("\nExample:\n  zellige " + command + " "), std::string::npos) << f.output;
    EXPECT_NE(f.output.find("\nExit status: 0 "), std::string::npos) << f.output;
  }
}

TEST_F(Command, WrongUseIsOneLineAndStatus2) {
  expect({}, 2, "zellige: A subcommand is required (zellige --help shows the usage)\n");
  expect({"bogus"}, 2, "zellige: bogus is no command; zellige --help lists them\n");
  expect({"run"}, 2, "zellige: FILE is required (zellige run --help shows the usage)\n");
  expect({"cache", "x"}, 2, "zellige: unexpected argument x (zellige cache --help shows the usage)\n");
  expect({"run", "x.json", "--index", "1", "--all"}, 2,
         "zellige: --index excludes --all (zellige run --help shows the usage)\n");
  expect({"run", "x.json", "--on", "fpga"}, 2,
         "zellige: --on: expected one of auto, gpu, emulator, reference, found fpga (zellige run --help "
         "shows the usage)\n");
  expect({"run", "x.json", "--on", "emulator", "--target", "sm_75"}, 2,
         "zellige: target sm_75: unknown; known targets are sm_80, sm_86, sm_87, sm_89, sm_90a, sm_100a, sm_103a, "
         "sm_120a, sm_121a\n");
  expect({"run", "x.json", "--on", "emulator", "--time"}, 2,
         "zellige: --time: needs a GPU; this runs on the emulator\n");
}

// Every number that an option takes has its range, in words.
TEST_F(Command, NumbersOutOfRange) {
  struct {
    std::vector<std::string> words;
    std::string range;
  } const options[] = {{{"run", "x.json", "--index"}, "0 to 2147483647"},
                       {{"transpile", "x.json", "--index"}, "0 to 2147483647"},
                       {{"run", "x.json", "--seed"}, "0 to 18446744073709551615"},
                       {{"run", "x.json", "--jobs"}, "1 to 4096"}};
  for (const auto& o : options) {
    for (const std::string bad : {"-1", "99999999999999999999", "1.5", "1e3", "0x10", "two", "+1"}) {
      std::vector<std::string> words = o.words;
      words.push_back(bad);
      expect(words, 2,
             "zellige: " + words[2] + ": expected an integer from " + o.range + ", found " + bad + " (zellige " +
                 words[0] + " --help shows the usage)\n");
    }
  }
}

TEST_F(Command, NamesThatNobodyKnowsHaveANearestOne) {
  expect({"--helpp"}, 2, "zellige: --helpp is no option; did you mean --help? (zellige --help lists them)\n");
  expect({"run", "--helpp"}, 2,
         "zellige: --helpp is no option; did you mean --help? (zellige run --help lists them)\n");
  expect({"banks", "4:1", "--acess=32:1"}, 2,
         "zellige: --acess is no option; did you mean --access? (zellige banks --help lists them)\n");
  expect({"layuot"}, 2, "zellige: layuot is no command; did you mean layout?; zellige --help lists them\n");
  expect({"layout", "4:1", "--color", "thraed"}, 2,
         "zellige: --color: expected one of bank, thread, value, found thraed; did you mean thread? (zellige "
         "layout "
         "--help shows the usage)\n");
  expect({"layout", "logical_divid(4:1, 2)"}, 2,
         "zellige: logical_divid is no operation; zellige layout --list shows them; did you mean "
         "logical_divide?\n"
         "  logical_divid(4:1, 2)\n  ^~~~~~~~~~~~~~~~~~~~~\n");
  expect({"layout", "4:1", "--table", "--type", "bf61"}, 2,
         "zellige: type bf61: unknown; f16, bf16, f32, f64, e4m3, i8, ... or 4, 8, 16, 32, 64 or 128 bits are "
         "known; did you mean bf16?\n");
}

}  // namespace
