#include "run/constant.hpp"

#include <algorithm>

#include "graph/nearest.hpp"
#include "graph/shown.hpp"

namespace zellige::run {

void declare_constant(graph::KernelGraph& g, const std::vector<std::string>& names) {
  std::vector<std::string> inputs;
  for (const int t : g.inputs) inputs.push_back(g.tensors[static_cast<std::size_t>(t)].name);
  for (const std::string& name : names) {
    const auto at = static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), name) - inputs.begin());
    if (at == inputs.size())
      fail("graph {} has no input {}, which --constant names{}", g.name, graph::shown(name),
           known_names("inputs", inputs, name));
    g.tensors[static_cast<std::size_t>(g.inputs[at])].constant = true;
  }
}

}  // namespace zellige::run
