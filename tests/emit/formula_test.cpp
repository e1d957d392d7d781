// Every elementwise operator has a formula in which each of its operands stands; nothing else has one.
#include "emit/formula.hpp"

#include <gtest/gtest.h>

#include "graph/ops.hpp"

namespace zellige::emit {
namespace {

TEST(Formula, OfEachOperatorHoldsAllItsOperands) {
  int unary = 0, binary = 0, without = 0;
  for (graph::OpKind kind : graph::all_ops()) {
    plan::Node n;
    n.kind = plan::NodeKind::map;
    n.op = kind;
    const std::vector<std::string> operands{"first", "second", "third"};
    for (std::size_t count = 0; count <= operands.size(); ++count) {
      const std::vector<std::string> in(operands.begin(), operands.begin() + static_cast<int>(count));
      const std::size_t right = graph::is_unary(kind) ? 1 : graph::is_binary(kind) ? 2 : 0;
      if (right == 0 || count != right) {
        EXPECT_THROW(formula(n, in), Error) << name(kind) << " of " << count;
        continue;
      }
      const std::string text = formula(n, in);
      for (const std::string& operand : in) EXPECT_NE(text.find(operand), std::string::npos) << text;
    }
    (graph::is_unary(kind) ? unary : graph::is_binary(kind) ? binary : without) += 1;
  }
  EXPECT_GE(unary, 10);
  EXPECT_GE(binary, 5);
  EXPECT_GE(without, 5);
}

TEST(Formula, SaysWhatIsWrong) {
  plan::Node n;
  n.op = graph::OpKind::pow;
  try {
    formula(n, {"x"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "pow takes 2 operands, the plan gives it 1");
  }
  n.op = graph::OpKind::concat;
  try {
    formula(n, {"x", "y"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "concat is not an elementwise operator: kernels have no formula for it");
  }
}

}  // namespace
}  // namespace zellige::emit
