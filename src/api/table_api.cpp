// Implements zellige_operators, zellige_dtypes and zellige_targets of the C API: what graphs consist of and what they are
// compiled for, as JSON.
#include <fmt/ranges.h>

#include "api/arguments.hpp"
#include "api/handles.hpp"
#include "graph/operand_scalar.hpp"
#include "graph/ops.hpp"
#include "target/target.hpp"

using namespace zellige;
using namespace zellige::api;

namespace {

/// Returns the family of an operator as far as callers treat its operators alike.
std::string_view family_name(graph::OpFamily family) {
  switch (family) {
    case graph::OpFamily::elementwise:
      return "elementwise";
    case graph::OpFamily::view:
      return "view";
    case graph::OpFamily::join:
      return "join";
    case graph::OpFamily::rows:
      return "rows";
    default:
      return "other";
  }
}

std::string operator_row(const graph::OpInfo& row) {
  constexpr std::string_view ranges[] = {"none", "finite", "any"};
  return fmt::format(
      R"({{"name": "{}", "family": "{}", "operands": {}, "optional": {}, "results": {}, "scalar": "{}"}})", row.name,
      family_name(row.family), row.inputs, row.optional, row.outputs,
      ranges[static_cast<std::size_t>(graph::scalar_range(row.kind))]);
}

}  // namespace

zellige_status zellige_operators(char** list) {
  return give_text(list, "list", [] {
    std::vector<std::string> rows;
    for (const graph::OpKind kind : graph::all_ops())
      if (graph::info(kind).kernel) rows.push_back(operator_row(graph::info(kind)));
    return fmt::format("[{}]", fmt::join(rows, ",\n "));
  });
}

zellige_status zellige_dtypes(char** list) {
  return give_text(list, "list", [] {
    std::vector<std::string> rows;
    for (const graph::DType dtype : graph::all_dtypes())
      rows.push_back(fmt::format(R"({{"name": "{}", "code": {}, "bits": {}}})", graph::name(dtype), dlpack_code(dtype),
                                 graph::bits(dtype)));
    return fmt::format("[{}]", fmt::join(rows, ",\n "));
  });
}

zellige_status zellige_targets(char** list) {
  return give_text(list, "list", [] {
    std::vector<std::string> rows;
    for (const target::Target& t : target::all())
      rows.push_back(fmt::format(R"({{"name": "{}", "compute_capability": {}, "tuned": {}}})", t.name,
                                 t.compute_capability, t.costs.measured));
    return fmt::format("[{}]", fmt::join(rows, ",\n "));
  });
}
