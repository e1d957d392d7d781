#include "run/given.hpp"

#include <algorithm>
#include <limits>

#include "graph/dtype.hpp"
#include "graph/nearest.hpp"
#include "graph/shown.hpp"
#include "run/npy.hpp"

namespace zellige::run {

void check_numbers(const graph::Numbers& numbers, const reference::Array& a, const std::string& which) {
  if (numbers.rows == 0) return;
  std::vector<bool> seen(numbers.rows, false);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double n = a.values[i];
    const auto at = [&] { return graph::to_string(graph::coordinates(static_cast<std::int64_t>(i), a.shape)); };
    if (!(n >= 0 && n < static_cast<double>(numbers.rows)))
      fail("{} holds row indices from 0 to {}, found {} at {}", which, numbers.rows - 1, n, at());
    if (numbers.distinct && seen[n])
      fail("{} holds row indices that are written, each once, found {} again at {}", which, n, at());
    seen[n] = true;
  }
}

std::size_t input_named(const graph::KernelGraph& g, const std::string& name, std::string_view option) {
  std::vector<std::string> names;
  for (const int t : g.inputs) names.push_back(g.tensors[t].name);
  const auto at = std::ranges::find(names, name);
  if (at == names.end())
    fail("graph {} has no input {}, which {}{}", g.name, graph::shown(name), option,
         known_names("inputs", names, name));
  return at - names.begin();
}

reference::GivenInputs given_inputs(const graph::KernelGraph& g, const InputFiles& files) {
  reference::GivenInputs given(g.inputs.size());
  const std::vector<graph::Numbers> numbers = graph::drawn_numbers(g);
  for (const auto& [name, file] : files) {
    const std::size_t at = input_named(g, name, "--input gives");
    const graph::KernelTensor& t = g.tensors[g.inputs[at]];
    NpyFile found(file);
    const graph::DType written = npy_dtype(t.dtype);
    if (found.dtype() != written || found.shape() != t.shape)
      fail("{}: input {} of graph {} is {} {}{}, found {} {}", graph::shown(file), name, g.name, graph::name(t.dtype),
           graph::to_string(t.shape), written == t.dtype ? "" : ", in a file f32", graph::name(found.dtype()),
           graph::to_string(found.shape()));
    std::vector<double> values = found.values();
    graph::round_to(t.dtype, values.data(), static_cast<std::int64_t>(values.size()));
    for (double& v : values)
      if (v != v)
        // one NaN for all: other bits of a NaN mean "never written"
        v = std::numeric_limits<double>::quiet_NaN();
    reference::Array array{t.shape, std::move(values)};
    check_numbers(numbers[at], array, fmt::format("{}: input {} of graph {}", graph::shown(file), name, g.name));
    given[at] = std::make_shared<reference::Array>(std::move(array));
  }
  return given;
}

}  // namespace zellige::run
