// Kernels as source: from arbitrary bytes, and from edits of the sources of tests/plan/golden and tests/ir. A source is
// refused at a place in it, or becomes a program. Bytes that begin like a source are one; of others the first says
// which source is edited, and each two that follow are the seed of an edit.
#include "ir/ir.hpp"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "../ir_edits/edit.hpp"

namespace {

namespace fs = std::filesystem;
namespace ir = zellige::ir;

std::vector<std::string> texts() {
  std::vector<fs::path> files;
  for (const char* folder : {"tests/plan/golden", "tests/ir/good", "tests/ir/bad"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(ZELLIGE_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".ir") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> all;
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    all.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return all;
}

void check(const std::string& text) {
  try {
    ir::compile(text, "x.ir");
  } catch (const ir::Mistake& e) {
    static const std::regex position(R"(^x\.ir:\d+:\d+: \S)"), raw(R"(std::|basic_string|vector::|\[json)");
    const std::string why = e.what();
    if (std::regex_search(why, position) && !std::regex_search(why, raw)) return;
    fmt::print(stderr, "{}\n{}", why, text);
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static const std::vector<std::string> all = texts();
  std::string text(reinterpret_cast<const char*>(data), bytes);
  if (text.starts_with("program ")) {
    check(text);
    return 0;
  }
  if (bytes < 3) return 0;
  text = all[data[0] % all.size()];
  for (std::size_t i = 1; i + 1 < bytes && i < 9; i += 2)
    text = zellige::ir_edits::edited(text, 256 * std::uint64_t{data[i]} + data[i + 1]).text;
  check(text);
  return 0;
}
