#include "emit/formula.hpp"

#include "emit/text.hpp"
#include "graph/elementwise.hpp"

namespace zellige::emit {

std::string formula(const plan::Node& n, const std::vector<std::string>& in) {
  if (!graph::is_elementwise(n.op))
    fail("{} is not an elementwise operator: kernels have no formula for it", graph::name(n.op));
  const graph::Elementwise& row = graph::elementwise(n.op);
  std::vector<std::string> all = in;
  if (graph::takes_scalar(n.op, in.size())) all.push_back(float_literal(n.scalar));
  const auto expected = static_cast<std::size_t>(row.operands);
  if (all.size() != expected)
    fail("{} takes {} operand{}, the plan gives it {}", row.name, expected, expected > 1 ? "s" : "",
         in.size());
  all.resize(graph::max_operands);
  return fmt::format(fmt::runtime(row.text), all[0], all[1], all[2],
                     fmt::arg("scalar", float_literal(n.scalar)), fmt::arg("lo", float_literal(n.lo)),
                     fmt::arg("hi", float_literal(n.hi)), fmt::arg("dtype", type_name(n.to_dtype)));
}

}  // namespace zellige::emit
