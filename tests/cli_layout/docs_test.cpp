// The console blocks of docs/ show what the executable prints.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

#include "cli/command.hpp"

namespace {

struct Example {
  std::string command, output;
};
std::vector<Example> examples(const std::filesystem::path& page) {
  std::vector<Example> all;
  std::ifstream in(page);
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

std::vector<Example> examples_of_all_pages() {
  std::vector<std::filesystem::path> pages;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ZELLIGE_SOURCE_DIR "/docs"))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  std::sort(pages.begin(), pages.end());
  std::vector<Example> all;
  for (const auto& page : pages)
    for (Example& e : examples(page)) all.push_back(std::move(e));
  return all;
}

TEST_F(Command, ConsoleBlocksOfTheDocsShowWhatIsPrinted) {
  const auto all = examples_of_all_pages();
  EXPECT_GT(all.size(), 15u);
  for (const Example& e : all) {
    std::string command = e.command;
    ASSERT_NE(command.find("zellige "), std::string::npos) << command;
    command = std::regex_replace(command, std::regex("\\bzellige "), ZELLIGE_EXECUTABLE " ");
    const std::string printed =
        zellige::system::run_process({"/bin/sh", "-c", "cd '" ZELLIGE_SOURCE_DIR "' && " + command}).output;
    // Less the progress of what takes longer than two seconds.
    EXPECT_EQ(std::regex_replace(printed, std::regex("\\[[0-9]+/[0-9]+\\] [0-9]+:[0-9]{2}  [^\n]*\n"), ""), e.output)
        << e.command;
  }
}

}  // namespace
