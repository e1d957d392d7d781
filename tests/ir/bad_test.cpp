// Bad plans, each with its whole message: the first line of bad/NAME.ir is what `zellige emit NAME.ir` says of it. The plans of
// good/ are the nearest ones that the proof accepts. ZELLIGE_UPDATE_GOLDENS=1 writes the messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ir/ir.hpp"

namespace zellige::ir {
namespace {

namespace fs = std::filesystem;

/// Returns the paths of the sources in a folder of tests/ir, and in the folders in it.
std::vector<fs::path> files(const char* folder) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(ZELLIGE_SOURCE_DIR "/tests/ir") / folder))
    if (entry.path().extension() == ".ir") all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns what is wrong with the file's program; "" if nothing is.
std::string mistake(const fs::path& path) {
  const std::string name = path.filename().string();
  try {
    verify(parse(text_of(path), name), name);
  } catch (const Mistake& e) {
    return e.what();
  }
  return "";
}

TEST(Bad, PlansAreRefusedWithTheirMessages) {
  const std::vector<fs::path> all = files("bad");
  EXPECT_GE(all.size(), 90u);
  const char* update = std::getenv("ZELLIGE_UPDATE_GOLDENS");
  for (const fs::path& path : all) {
    const std::string text = text_of(path), first = text.substr(0, text.find('\n') + 1),
                      found = "# " + mistake(path) + "\n";
    EXPECT_NE(found, "# \n") << path << " is accepted";
    if (update && *update == '1')
      std::ofstream(path, std::ios::binary) << found << text.substr(first.size());
    else
      EXPECT_EQ(first, found) << path;
  }
}

TEST(Bad, TheNearestGoodPlansAreAccepted) {
  const std::vector<fs::path> all = files("good");
  EXPECT_GE(all.size(), 10u);
  for (const fs::path& path : all) EXPECT_EQ(mistake(path), "") << path;
}

/// The proof asks not which values the steps compute; the emitter does.
TEST(Bad, AStepThatDoesNothingIsNotEmitted) {
  const auto refused = [](std::string text) {
    try {
      compile(text, "x.ir");
    } catch (const Mistake& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  std::string text = text_of(ZELLIGE_SOURCE_DIR "/tests/ir/good/order/read_after_a_barrier.ir");
  EXPECT_EQ(refused(text), "x.ir:2:1: k: a thread needs 1 register or more");
  text.replace(text.find("registers 0"), 11, "registers 8");
  EXPECT_EQ(refused(text), "x.ir:8:5: step 'fill' does nothing with a value: do");
}

TEST(Bad, PlansArePrintedAsTheyAreWritten) {
  std::vector<fs::path> all = files("good");
  for (const fs::path& path : files("bad"))
    if (text_of(path).find(": k: ") < text_of(path).find('\n')) all.push_back(path);  // the parser accepts it
  for (const fs::path& path : all) {
    std::string lines, text = text_of(path);
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
      if (text[at] != '#') lines += text.substr(at, text.find('\n', at) + 1 - at);
    EXPECT_EQ(print(parse(text, path.filename().string())), lines) << path;
  }
}

}  // namespace
}  // namespace zellige::ir
