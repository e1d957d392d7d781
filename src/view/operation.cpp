#include "view/operation.hpp"

#include <sstream>
#include <zellige/atom/evaluate.hpp>

#include "graph/nearest.hpp"

namespace zellige::view {
namespace {

// Returns the names of an operation as a list. Operation::names has them in one string, separated by blanks.
std::vector<std::string> names_of(const Operation& o) {
  std::istringstream names(o.names);
  std::vector<std::string> all;
  for (std::string name; names >> name;) all.push_back(name);
  return all;
}

}  // namespace

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = [] {
    std::vector<Operation> rows(std::begin(layout_operations), std::end(layout_operations));
    rows.insert(rows.end(), std::begin(detail::tensor_operations), std::end(detail::tensor_operations));
    rows.insert(rows.end(), std::begin(detail::atom_operations), std::end(detail::atom_operations));
    return rows;
  }();
  return all;
}

Rows named(std::string_view name) { return zellige::named(operations(), name); }

std::string near_operation(std::string_view name) {
  std::vector<std::string> known;
  for (const Operation& o : operations())
    for (const std::string& n : names_of(o)) known.push_back(n);
  return did_you_mean(name, known);
}

std::string list_of_operations() {
  std::string text;
  for (const Operation& o : operations())
    for (const std::string& name : names_of(o))
      for (std::string_view letters : detail::alternatives(o))
        text += fmt::format("{}({})\n", name, detail::letters_text(letters));
  return text;
}

}  // namespace zellige::view
