// tests/bad_graphs: each file is refused with the whole message stored next to it, where `{operators}` is the list of those of
// its level.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "../loaded.hpp"
#include "graph/ops.hpp"
#include "json/json.hpp"

namespace zellige::graph {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// The reason why the first bad graph of a string is refused; empty if none is.
std::string refusal(const std::string& text, const fs::path& path) {
  try {
    for (const json::Loaded& l : json::load_text(text, path.filename().string(), path.stem().string()))
      if (!l.error.empty()) return l.error;
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

/// The stored message with the names of a level's operators in place of `{operators}`.
std::string with_operators(std::string message) {
  const std::string_view place = "{operators}";
  const std::size_t at = message.find(place);
  if (at == message.npos) return message;
  std::vector<std::string_view> names;
  for (const OpKind kind : all_ops())
    if (message.find("of the block level") < at ? info(kind).block : info(kind).kernel) names.push_back(name(kind));
  return message.replace(at, place.size(), fmt::format("{}", fmt::join(names, ", ")));
}

TEST(BadGraphs, EachHasItsWholeMessage) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(ZELLIGE_SOURCE_DIR) / "tests/bad_graphs")) {
    if (entry.path().extension() != ".json") continue;
    ++count;
    fs::path expected = entry.path();
    expected.replace_extension(".txt");
    ASSERT_TRUE(fs::exists(expected)) << expected;
    EXPECT_EQ(refusal(read(entry.path()), entry.path()) + "\n", with_operators(read(expected))) << entry.path();
  }
  EXPECT_GE(count, 100);
}

// Every prefix of a valid file, and the file with any one byte removed or changed, is refused or is a graph.
TEST(BadGraphs, DamagedTextNeverDoesHarm) {
  const fs::path path = fs::path(ZELLIGE_SOURCE_DIR) / "examples/attention.json";
  const std::string good = read(path);
  ASSERT_EQ(refusal(good, path), "");
  const std::size_t end = good.find_last_of('}');
  for (std::size_t n = 0; n <= end; n += 3) EXPECT_NE(refusal(good.substr(0, n), path), "") << n;
  int refused = 0;
  for (std::size_t i = 0; i < good.size(); i += 2)
    for (char c : {'9', '"', '-', '\0'}) {
      std::string text = good;
      text[i] = c;
      refused += !refusal(text, path).empty();
    }
  EXPECT_GT(refused, static_cast<int>(good.size()) / 2);
}

TEST(BadGraphs, FilesThatCannotBeRead) {
  const auto message = [](const std::string& path) {
    try {
      json::load(path);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("/nowhere/x.json"),
            "/nowhere/x.json: expected a graph file that can be read, found: No such file or directory");
  EXPECT_EQ(message("/"), "/: expected a graph file, found a directory");
}

}  // namespace
}  // namespace zellige::graph
