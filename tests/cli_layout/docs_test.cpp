// docs/cli.md: what its console blocks show is what the executable prints.
#include <fstream>

#include "cli/command.hpp"

namespace {

struct Example {
  std::string command, output;
};
std::vector<Example> examples(const std::string& page) {
  std::vector<Example> all;
  std::ifstream in(ZELLIGE_SOURCE_DIR "/docs/" + page);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```"))
      inside = line == "```console";
    else if (inside && line.starts_with("$ "))
      all.push_back({line.substr(2), ""});
    else if (inside && !all.empty())
      all.back().output += line + "\n";
  }
  return all;
}

TEST_F(Command, TheExamplesOfThePageAreReal) {
  const auto all = examples("cli.md");
  EXPECT_GT(all.size(), 15u);
  for (const Example& e : all) {
    std::string command = e.command;
    const auto at = command.find("zellige ");
    ASSERT_NE(at, std::string::npos) << command;
    command.replace(at, 7, ZELLIGE_EXECUTABLE);
    EXPECT_EQ(zellige::run::run_process({"/bin/sh", "-c", command}).output, e.output) << e.command;
  }
}

}  // namespace
