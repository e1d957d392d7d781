// docs/reference/kernel-ir.md shows a kernel as it is printed.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "emit/emit.hpp"
#include "ir/ir.hpp"
#include "json/load.hpp"
#include "tiling/options.hpp"

namespace zellige::ir {
namespace {

TEST(Page, ShowsAKernelAsItIsPrinted) {
  const target::Target& target = target::find("sm_80");
  const graph::KernelGraph gemm = graph::load(ZELLIGE_SOURCE_DIR "/examples/gemm.json").front();
  const std::string printed = print(emit::transpile(gemm, target, plan::tiling_options("given", target)));
  std::ifstream file(ZELLIGE_SOURCE_DIR "/docs/reference/kernel-ir.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  constexpr std::string_view begin = "<!-- kernel -->\n```text\n", end = "```\n<!-- end -->";
  const std::size_t at = page.find(begin) + begin.size();
  EXPECT_EQ(page.substr(at, page.find(end) - at), printed);
}

}  // namespace
}  // namespace zellige::ir
