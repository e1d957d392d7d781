
#include <gtest/gtest.h>

#include "../run/failing.hpp"
#include "../run/folder.hpp"
#include "../run/kernel.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "toolchain/headers.hpp"

namespace zellige::toolchain {
namespace {

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at += word.size()) ++n;
  return n;
}

TEST(Standalone, HoldsEveryHeaderOnceAndIncludesNoneOfThem) {
  const std::string source = "#include <zellige/atom/half.hpp>\n#include <zellige/atom/half.hpp>\nint x;\n";
  const std::string text = standalone(source);
  EXPECT_EQ(count(text, "struct half_t {"), 1u);
  EXPECT_EQ(count(text, "#pragma once"), 0u);
  EXPECT_EQ(count(text, "#include <zellige/"), 0u);
  EXPECT_EQ(count(text, "int x;\n"), 1u);
}

TEST(Standalone, OtherIncludesAreKept) {
  EXPECT_EQ(standalone("#include <cstdio>\n#include \"mine.hpp\"\n"), "#include <cstdio>\n#include \"mine.hpp\"\n");
}

// An untaken branch includes nothing: the header must appear again where it is really included.
TEST(Standalone, ConditionsKeepTheirMeaning) {
  const std::string text = standalone(
      "#if defined(NEVER)\n#include <zellige/atom/half.hpp>\n#endif\n#include <zellige/atom/half.hpp>\n"
      "zellige::half_t h;\n");
  EXPECT_EQ(count(text, "struct half_t {"), 2u);
  const Folder folder;
  system::write_whole(folder / "t.cpp", text);
  const std::string file = (folder / "t.cpp").string(), object = (folder / "t.o").string();
  for (const std::string define : {"-DNEVER", "-DOTHER"}) {
    const system::Finished f = system::run_process({"g++", "-std=c++20", define, "-c", file, "-o", object});
    EXPECT_EQ(f.status, 0) << f.output;
  }
}

TEST(Standalone, EmulatorsIncludesKeepTheirCondition) {
  const std::string text = standalone(hand_written().source);
  EXPECT_EQ(count(text, "struct Thread {"), 0u);
  EXPECT_EQ(count(text, "#include <zellige/"), count(text, "#include <zellige/emulate/"));
  EXPECT_EQ(count(text, "void __launch_bounds__(64) reverse("), 1u);
}

}  // namespace
}  // namespace zellige::toolchain
