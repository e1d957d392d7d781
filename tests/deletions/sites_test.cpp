#include "sites.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zellige::deletions {
namespace {

std::string kernel(std::string_view line) {
  return fmt::format(
      "#include <zellige/block.hpp>\nusing namespace zellige;\nextern \"C\" __global__ void "
      "__launch_bounds__(128) a_k0(gmem<half_t> Y) {{\n{}\n}}\nif (host) return;\n",
      line);
}

// The switched line and the sites, as "kind: text".
std::vector<std::string> switched(std::string_view line) {
  const Switched s = with_switches(kernel(line));
  std::vector<std::string> result;
  std::string_view rest = s.text;
  for (int i = 1; i < 4; ++i) rest.remove_prefix(rest.find('\n') + 1);
  result.emplace_back(rest.substr(0, rest.find('\n')));
  for (const Site& site : s.sites) {
    EXPECT_EQ(site.kernel, "a_k0");
    EXPECT_EQ(site.line, 4);
    result.push_back(fmt::format("{}: {}", name(site.kind), site.text));
  }
  return result;
}

using Lines = std::vector<std::string>;

TEST(DeletionSites, BarriersAndWaits) {
  EXPECT_EQ(switched("  __syncthreads();"),
            (Lines{"  if (zellige_deleted != 0) __syncthreads();", "barrier: __syncthreads();"}));
  EXPECT_EQ(switched("cp_async_commit(); cp_async_wait<2>();"),
            (Lines{"if (zellige_deleted != 1) cp_async_commit(); if (zellige_deleted != 0) cp_async_wait<2>();",
                   "wait: cp_async_wait<2>();", "commit: cp_async_commit();"}));
}

TEST(DeletionSites, EachPartOfAConditionAlone) {
  EXPECT_EQ(switched("if (tid % 16 == 0 && (o < 2 && p)) write<1>(st3(o, 0), x);"),
            (Lines{"if ((zellige_deleted == 0 || (tid % 16 == 0)) && (zellige_deleted == 1 || ((o < 2 && p)))) "
                   "write<1>(st3(o, 0), x);",
                   "predicate: tid % 16 == 0", "predicate: (o < 2 && p)"}));
}

TEST(DeletionSites, ZeroFillsButNoRings) {
  EXPECT_EQ(switched("const int valid = a + i0 < 19 ? 8 : 0;"),
            (Lines{"const int valid = (zellige_deleted == 0 || (a + i0 < 19)) ? 8 : 0;", "zero fill: a + i0 < 19"}));
  EXPECT_EQ(switched("r[v] = (m < 3 && n + v < 5 ? f(x) : 0.0f);"),
            (Lines{"r[v] = ((zellige_deleted == 0 || (m < 3)) && (zellige_deleted == 1 || (n + v < 5)) ? "
                   "f(x) : 0.0f);",
                   "zero fill: m < 3", "zero fill: n + v < 5"}));
  EXPECT_EQ(switched("stage = stage + 1 == 4 ? 0 : stage + 1;"), (Lines{"stage = stage + 1 == 4 ? 0 : stage + 1;"}));
}

TEST(DeletionSites, Clamps) {
  EXPECT_EQ(switched("read<1>(s(at_most(at.m, 4), edge(127 - i1, 8)));"),
            (Lines{"read<1>(s(at_most(at.m, zellige_deleted == 0 ? 0x7fffffff : 4), edge(zellige_deleted == 1 ? "
                   "0x7fffffff : 127 - i1, 8)));",
                   "clamp: at_most(at.m, 4)", "clamp: edge(127 - i1, 8)"}));
}

TEST(DeletionSites, LeavesCommentsAndTheHostAlone) {
  EXPECT_EQ(switched("x = 1;  // if (this) __syncthreads();"), (Lines{"x = 1;  // if (this) __syncthreads();"}));
  EXPECT_EQ(switched("if constexpr (K == 8) x = 1;"), (Lines{"if constexpr (K == 8) x = 1;"}));
  const std::string text = with_switches(kernel("x = 1;")).text;
  EXPECT_NE(text.find("\nif (host) return;\n"), std::string::npos);
  EXPECT_NE(text.find("using namespace zellige; extern \"C\" { int zellige_deleted = -1; }\n"), std::string::npos);
}

}  // namespace
}  // namespace zellige::deletions
