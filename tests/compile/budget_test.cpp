// Limits of compile time: units must cost what they should, with a wide margin for slow and busy machines.
// bench/compile_time measures the exact numbers, and CuTe's.
#include "compiler.hpp"

namespace compile_test {
namespace {

std::string expressions(int count, bool run_time) {
  std::string text = "#include <zellige/layout.hpp>\nusing namespace zellige;\n";
  for (int i = 0; i < count; ++i) {
    std::string const b = std::to_string(8 * (i + 3));
    std::string const rows = run_time ? "n" : "Int<" + b + ">{}";
    text += "int f" + std::to_string(i) + "([[maybe_unused]] int n) { auto l = zipped_divide(make_layout(make_shape(" +
            rows + ", Int<" + b + ">{}), make_stride(Int<" + b +
            ">{}, _1{})), Shape<_4, _8>{}); return size(l) + cosize(l); }\n";
  }
  return text;
}
double net_seconds(std::string const& text) {
  double const empty = run(host + "-c -o /dev/null", "empty.cpp", "int nothing;\n").cpu_seconds;
  Compiled const c = run(host + "-c -o /dev/null", "budget.cpp", text);
  EXPECT_EQ(c.status, 0) << c.output;
  return c.cpu_seconds - empty;
}

TEST(Budget, Headers) {
  EXPECT_LT(net_seconds("#include <zellige/layout.hpp>\n"), 1.0);
  EXPECT_LT(net_seconds("#include <zellige/tensor.hpp>\n"), 1.5);
}
// CuTe takes some 100 ms for one such expression; ours under 15.
TEST(Budget, HundredStaticExpressions) { EXPECT_LT(net_seconds(expressions(100, false)), 4.5); }
TEST(Budget, FiftyExpressionsWithRunTimeLeaves) { EXPECT_LT(net_seconds(expressions(50, true)), 9.0); }

}  // namespace
}  // namespace compile_test
