// docs/explanation/planner.md quotes the plan of examples/lora.json: it is the plan that `zellige transpile --explain` prints.
#include <gtest/gtest.h>

#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "golden.hpp"
#include "graphs.hpp"
#include "ir/ir.hpp"

namespace zellige::plan {
namespace {

TEST(Docs, QuoteThePlanOfLora) {
  const std::string path = ZELLIGE_SOURCE_DIR "/docs/explanation/planner.md", open = "```plan\n", close = "```\n";
  const emit::EmittedProgram lora = test::transpile(example("lora"), target::find("sm_80"));
  const std::string page = read_file(path), plan = ir::print(lora) + ir::consequences(lora.plan);
  const std::size_t begin = page.find(open);
  ASSERT_NE(begin, std::string::npos) << path << " quotes no plan: a block that opens with ```plan is needed";
  const std::size_t from = begin + open.size(), to = page.find(close, from);
  ASSERT_NE(to, std::string::npos) << path << ": the block ```plan is not closed";
  if (updating_goldens()) return write_file(path, page.substr(0, from) + plan + page.substr(to));
  EXPECT_EQ(page.substr(from, to - from), plan) << "in " << path << "; tests/plan/golden.sh --update quotes it again";
}

}  // namespace
}  // namespace zellige::plan
