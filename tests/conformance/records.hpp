// Maps the corpus's record names to operations: the corpus has a name for each combination of operand kinds,
// the library one for each operation.
#pragma once
#include <map>
#include <optional>
#include <zellige/atom/evaluate.hpp>

namespace conformance {

using Texts = std::vector<std::string>;

/// Records without an operation of the library: additions of basis elements and of an iterator, and printing.
inline bool named_here(std::string const& record) {
  for (std::string const printed : {"basis_print", "layout_print", "composed_print", "tensor_print"}) {
    if (record == printed) return true;
  }
  return record == "inttuple_iter_add" || record == "basis_sum4";
}
inline std::optional<std::string> evaluate_here(std::string const& record, Texts const& a) {
  using namespace zellige;
  if (!named_here(record)) return std::nullopt;
  Tape t;
  if (record == "inttuple_iter_add")
    return to_text(algebra::add(t, retag(parse_value(a.at(0)), ValueKind::arithmetic), parse_value(a.at(1))));
  if (record == "basis_sum4") {
    Value sum = number(0);
    for (std::size_t i = 0; i < a.size(); ++i) {
      auto const star = a[i].find('*');
      std::string const term = evaluate("mul", {a[i].substr(0, star), a[i].substr(star + 1)});
      sum = i == 0 ? parse_value(term) : algebra::add(t, sum, parse_value(term));
    }
    return to_text(sum);
  }
  return to_text(parse_value(a.at(0)));
}

/// The operation's name and its operands.
inline std::pair<std::string, Texts> operation_of(std::string record, Texts a) {
  static std::map<std::string, std::string> const names = {{"composition_tiler", "composition"},
                                                           {"composition_basis_rhs", "composition"},
                                                           {"swizzle_compose2", "composition"},
                                                           {"tile_to_shape_order", "tile_to_shape"},
                                                           {"layout_mode", "get"},
                                                           {"slice_tuple", "slice"},
                                                           {"dice_tuple", "dice"},
                                                           {"crd2idx2", "crd2idx"},
                                                           {"idx2crd2", "idx2crd"},
                                                           {"composed_eval", "layout_eval"},
                                                           {"basis_eq", "equal"},
                                                           {"basis_scale", "mul"},
                                                           {"basis_scale_r", "mul"},
                                                           {"ceil_div_layout", "ceil_div"},
                                                           {"append_N", "append"},
                                                           {"prepend_N", "prepend"},
                                                           {"local_tile_proj", "local_tile"},
                                                           {"local_partition_proj", "local_partition"}};
  if (auto const at = names.find(record); at != names.end()) return {at->second, a};
  if (record == "swizzle_apply" || record == "as_arithmetic_tuple") return {record, a};
  if (record == "gmma_smem_atom_tiled") {
    std::string const atom = zellige::evaluate("gmma_smem_atom", {a.at(0), a.at(1), a.at(2)});
    return {"tile_to_shape", {atom, a.at(3)}};
  }
  if (record == "select") {
    Texts modes = {a.at(0)};
    for (std::size_t i = 0, end; i < a.at(1).size(); i = end + 1) {
      end = std::min(a[1].find(',', i), a[1].size());
      modes.push_back(a[1].substr(i, end - i));
    }
    return {record, modes};
  }
  bool const makes = record.starts_with("make_") || record.starts_with("print_") || record.starts_with("ostream_");
  if (record.ends_with("_tensor") && !makes) {
    a.at(0) = zellige::evaluate("make_identity_tensor", {a[0]});
    return {record.substr(0, record.size() - 7), a};
  }
  for (std::string const prefix : {"t_", "i_", "at_", "basis_", "composed_", "swizzle_"}) {
    if (record.starts_with(prefix)) return {record.substr(prefix.size()), a};
  }
  if (record.ends_with("_mode")) record.resize(record.size() - 5);
  return {record, a};
}

/// The run-time API's answer to a record.
inline std::string evaluate_record(std::string const& record, Texts const& a) {
  if (auto const text = evaluate_here(record, a)) return *text;
  if (auto const text = zellige::evaluate_atom(record, a)) return *text;
  auto const [name, operands] = operation_of(record, a);
  return zellige::evaluate(name, operands);
}

}  // namespace conformance
