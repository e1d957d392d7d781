#include "toolchain/headers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "system/files.hpp"

namespace zellige::toolchain {
namespace {
namespace fs = std::filesystem;

TEST(Headers, AreThoseOfTheSource) {
  std::size_t files = 0;
  const fs::path root = fs::path(ZELLIGE_SOURCE_DIR) / "include";
  for (const auto& f : fs::recursive_directory_iterator(root)) {
    if (!f.is_regular_file() || f.path().extension() != ".hpp") continue;
    if (f.path().filename() == "program.hpp") continue;  // of the library, not of kernels
    ++files;
    const Header* h = find_header(fs::relative(f.path(), root).generic_string());
    ASSERT_NE(h, nullptr) << f.path();
    EXPECT_TRUE(h->text == system::read_whole(f.path())) << f.path() << " differs from what was embedded";
  }
  EXPECT_EQ(headers().size(), files);
  EXPECT_TRUE(std::is_sorted(headers().begin(), headers().end(),
                             [](const Header& a, const Header& b) { return a.path < b.path; }));
}

TEST(Headers, IncludeLines) {
  const Header* half = find_header("zellige/atom/half.hpp");
  ASSERT_NE(half, nullptr);
  EXPECT_EQ(included("#include <zellige/atom/half.hpp>", ""), half);
  EXPECT_EQ(included("  #  include\t\"zellige/atom/half.hpp\"  // why", ""), half);
  EXPECT_EQ(included("#include \"half.hpp\"", "zellige/atom/vec.hpp"), half);
  EXPECT_EQ(included("#include \"../atom/half.hpp\"", "zellige/layout/x.hpp"), half);
  for (const char* other :
       {"#include <half.hpp>", "#include \"half.hpp\"", "// #include <zellige/atom/half.hpp>",
        "include <zellige/atom/half.hpp>", "#include <zellige/atom/half.hpp", "#include", "", "#"}) {
    EXPECT_EQ(included(other, ""), nullptr) << other;
  }
}

TEST(Headers, ClosureIsEveryHeaderWithinReach) {
  const auto reached = closure("// text\n#include <zellige/atom/half.hpp>\n");
  auto has = [&](std::string_view path) {
    return std::any_of(reached.begin(), reached.end(), [&](const Header* h) { return h->path == path; });
  };
  EXPECT_TRUE(has("zellige/atom/half.hpp"));
  EXPECT_TRUE(has("zellige/atom/config.hpp")) << "half.hpp includes it";
  EXPECT_FALSE(has("zellige/atom/mma.hpp"));
  EXPECT_TRUE(closure("no includes").empty());
  EXPECT_EQ(closure("#include <zellige/atom/half.hpp>").size(), reached.size()) << "the last line needs no end";
}

}  // namespace
}  // namespace zellige::toolchain
