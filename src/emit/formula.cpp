#include "emit/formula.hpp"

#include "emit/source_lines.hpp"
#include "graph/elementwise.hpp"

namespace zellige::emit {

std::string formula(const tile::Node& n, const std::vector<std::string>& in, graph::DType from) {
  if (!graph::is_elementwise(n.op))
    fail("{} is not an elementwise operator: kernels have no formula for it", graph::name(n.op));
  const graph::Elementwise& row = graph::elementwise(n.op);
  const bool integers = graph::is_integer(from);
  const std::string_view text = integers ? row.integers : row.text;
  if (text.empty()) fail("{} of {}: kernels have no formula for it", graph::name(n.op), graph::name(from));
  const auto literal = [&](double x) { return integers ? int_literal(x) : float_literal(x); };
  std::vector<std::string> all = in;
  if (graph::takes_scalar(n.op, in.size())) all.push_back(literal(n.scalar));
  const auto expected = static_cast<std::size_t>(row.operands);
  if (all.size() != expected)
    fail("{} takes {} operand{}, the plan gives it {}", row.name, expected, expected > 1 ? "s" : "", in.size());
  all.resize(graph::max_operands);
  const std::string y =
      fmt::format(fmt::runtime(text), all[0], all[1], all[2], fmt::arg("scalar", literal(n.scalar)),
                  fmt::arg("lo", literal(n.lo)), fmt::arg("hi", literal(n.hi)),
                  fmt::arg("dtype", type_name(n.to_dtype)), fmt::arg("saturate", n.saturate ? ", true" : ""));
  const bool wraps = n.dtype == graph::DType::int8 && n.op != graph::OpKind::cast;
  return wraps ? fmt::format("int(int8_t({}))", y) : y;
}

std::string join_source(const graph::Monoid& monoid) {
  return fmt::format("[](float x, float y) {{ return {}; }}",
                     fmt::format(fmt::runtime(graph::elementwise(monoid.join).text), "x", "y"));
}

}  // namespace zellige::emit
