#include "emit/formula.hpp"

#include "emit/text.hpp"
#include "graph/ops.hpp"

namespace zellige::emit {

using graph::OpKind;

std::string formula(const plan::Node& n, const std::vector<std::string>& in) {
  const graph::OpInfo& row = graph::info(n.op);
  const std::size_t expected = graph::is_unary(n.op) ? 1 : graph::is_binary(n.op) ? 2 : 0;
  if (expected == 0) fail("{} is not an elementwise operator: kernels have no formula for it", row.name);
  if (in.size() != expected)
    fail("{} takes {} operand{}, the plan gives it {}", row.name, expected, expected > 1 ? "s" : "",
         in.size());
  const auto infix = [&](const char* op) { return fmt::format("({} {} {})", in[0], op, in[1]); };
  const auto call = [&] { return fmt::format("zellige::{}({})", row.name, fmt::join(in, ", ")); };
  switch (n.op) {
    case OpKind::add:
      return infix("+");
    case OpKind::sub:
      return infix("-");
    case OpKind::mul:
      return infix("*");
    case OpKind::div:
      return infix("/");
    case OpKind::mul_scalar:
      return fmt::format("({} * {})", in[0], float_literal(n.scalar));
    case OpKind::clamp:
      return fmt::format("zellige::clamp({}, {}, {})", in[0], float_literal(n.lo), float_literal(n.hi));
    case OpKind::pow:
    case OpKind::exp:
    case OpKind::square:
    case OpKind::sqrt:
    case OpKind::silu:
    case OpKind::sigmoid:
    case OpKind::gelu:
    case OpKind::relu:
    case OpKind::log:
      return call();
    default:
      break;
  }
  fail("{} has no formula in kernels; src/emit/formula.cpp lacks its row", row.name);
}

}  // namespace zellige::emit
