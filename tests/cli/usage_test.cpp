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

TEST_F(Command, WrongUseIsOneLineAndStatus2) {
  expect({}, 2, "zellige: A subcommand is required (zellige --help tells how it is used)\n");
  expect({"bogus"}, 2, "zellige: bogus is no command; zellige --help lists them\n");
  expect({"run"}, 2, "zellige: FILE is required (zellige --help tells how it is used)\n");
  expect({"run", "x.json", "--index", "1", "--all"}, 2,
         "zellige: --index excludes --all (zellige --help tells how it is used)\n");
  expect({"run", "x.json", "--on", "fpga"}, 2,
         "zellige: --on: fpga not in {auto,gpu,emulator,reference} (zellige --help tells how it is used)\n");
  expect({"run", "x.json", "--on", "emulator", "--target", "sm_75"}, 2,
         "zellige: target sm_75: unknown; the known ones are sm_80, sm_86, sm_89, sm_90a\n");
  expect({"run", "x.json", "--on", "emulator", "--time"}, 2,
         "zellige: --time: only a GPU's time means anything; this runs on the emulator\n");
}

}  // namespace
