// Every elementwise operator has a formula that uses each of its operands; other operators have
// none.
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "emit/source_lines.hpp"
#include "graph/elementwise.hpp"
#include "graph/ops.hpp"

namespace zellige::emit {
namespace {

TEST(Formula, OfEachOperatorHoldsAllItsOperands) {
  std::map<int, int> seen;  // operators by their number of operands; 0: none that is elementwise
  for (graph::OpKind kind : graph::all_ops()) {
    tile::Node n;
    n.kind = tile::NodeKind::map;
    n.op = kind;
    n.scalar = 0.625;
    const std::vector<std::string> operands{"first", "second", "third", "fourth"};
    const int right = graph::is_elementwise(kind) ? graph::elementwise(kind).operands : 0;
    for (int count = 0; count <= 4; ++count) {
      const std::vector<std::string> in(operands.begin(), operands.begin() + count);
      const bool scalar = right > 1 && count == right - 1 && graph::elementwise(kind).scalar;
      if (right == 0 || (count != right && !scalar)) {
        EXPECT_THROW(formula(n, in, graph::DType::f32), Error) << name(kind) << " of " << count;
        continue;
      }
      const std::string text = formula(n, in, graph::DType::f32);
      for (const std::string& operand : in) EXPECT_NE(text.find(operand), std::string::npos) << text;
      if (scalar) EXPECT_NE(text.find("0.625f"), std::string::npos) << text;
      EXPECT_FALSE(std::regex_search(text, std::regex("\\{[0-9]"))) << text;  // no operand is omitted
    }
    ++seen[right];
  }
  EXPECT_GE(seen[1], 16);
  EXPECT_GE(seen[2], 13);
  EXPECT_GE(seen[3], 1);
  EXPECT_GE(seen[0], 5);
}

TEST(Formula, SaysWhatIsWrong) {
  tile::Node n;
  n.op = graph::OpKind::mul;
  try {
    formula(n, {"x"}, graph::DType::f32);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "mul takes 2 operands, the plan gives it 1");
  }
  n.op = graph::OpKind::concat;
  try {
    formula(n, {"x", "y"}, graph::DType::f32);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "concat is not an elementwise operator: kernels have no formula for it");
  }
}

}  // namespace
}  // namespace zellige::emit
