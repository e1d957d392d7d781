// Precompiled headers of the emulator: made for the third program of a cache, and never needed.
#include <gtest/gtest.h>

#include <algorithm>

#include "system/files.hpp"
#include "toolchain/host_compiler.hpp"

namespace zellige::toolchain {
namespace {

std::vector<Cache::Entry> precompiled_of(const Cache& cache) {
  std::vector<Cache::Entry> all = cache.entries();
  std::erase_if(all, [](const Cache::Entry& e) { return e.file.extension() != ".gch"; });
  return all;
}

HostLibrary compiled(int i, const Cache& cache) {
  return compile_for_emulator("#include <zellige/block/tile.hpp>\nint answer() { return " + std::to_string(i) + "; }\n",
                              "one", cache);
}

TEST(Precompiled, IsMadeForTheThirdProgramAndOnlySpeedsUpTheOthers) {
  const Cache cache = Cache::temporary();
  if (compiled(0, cache); host_compiler("a test").find("clang") != std::string::npos) GTEST_SKIP() << "not with clang";
  compiled(1, cache);
  EXPECT_TRUE(precompiled_of(cache).empty());
  compiled(2, cache);
  const std::vector<Cache::Entry> made = precompiled_of(cache);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_GT(made[0].bytes, 1'000'000u);
  EXPECT_NO_THROW(compiled(3, cache));
  system::write_whole(made[0].file, "no header", 0600);  // an invalid entry is made again
  EXPECT_NO_THROW(compiled(4, cache));
  ASSERT_EQ(precompiled_of(cache).size(), 1u);
  EXPECT_GT(precompiled_of(cache)[0].bytes, 1'000'000u);
}

TEST(Precompiled, HeadersThatDoNotCompileAreNotTriedAgain) {
  const Cache cache = Cache::temporary();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(precompiled("#include <no/such/header.hpp>\n", {"-std=c++20"}, cache), "");
  EXPECT_TRUE(precompiled_of(cache).empty());
}

}  // namespace
}  // namespace zellige::toolchain
