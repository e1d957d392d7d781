// Runs of a program with sizes on the emulator, compared with its graph at their values.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "emulate_graph.hpp"
#include "graph/sized_graph.hpp"
#include "manifest/launch_sizes.hpp"
#include "reference/inputs.hpp"

namespace zellige::run {

/// Values of a program's sizes, in their order.
using Values = std::vector<std::int64_t>;

/// Returns the ends of all sizes, and random values. `corners`: each size's least value with the others' greatest, too.
inline std::set<Values> values_of(const tile::SizeList& sizes, int random_ones, std::mt19937& random,
                                  bool corners = true) {
  std::set<Values> all;
  const int last = (1 << sizes.size()) - 1;
  for (int corner = 0; corner <= last; corner += corners ? 1 : last) {
    Values v;
    for (std::size_t i = 0; i < sizes.size(); ++i) v.push_back(corner >> i & 1 ? sizes[i].high : sizes[i].low);
    all.insert(v);
  }
  for (int i = 0; i < random_ones; ++i) {
    Values v;
    for (const tile::Size& s : sizes) v.push_back(std::uniform_int_distribution(s.low, s.high)(random));
    all.insert(v);
  }
  return all;
}

/// Runs the launch with these values on the emulator. Returns a finding, or the first element of an output that is not what the graph of
/// constants gives, within 0.02 of its own value, `share` of the largest one and `absolute`; "" if there is none.
inline std::string fault_of_launch(const graph::KernelGraph& constants, const emit::EmittedProgram& p,
                                   const Values& values, const toolchain::Cache& cache, double share,
                                   double absolute = 0) {
  const manifest::Manifest launch = manifest::at_sizes(p.manifest, values);
  const std::vector<reference::Array> inputs = reference::random_inputs(constants, 3).arrays;
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : launch.tensors)
    storage.push_back(t.role == manifest::Role::input ? pack(t, inputs.at(static_cast<std::size_t>(t.position)).values)
                                                      : poisoned(t));
  const EmulatedRun r = run_emulated(p.source, launch, storage, cache, 2);
  for (const auto& f : r.findings) return f.message;
  const std::vector<reference::Array> expected = reference::run_reference(constants, inputs);
  for (std::size_t t = 0; t < launch.tensors.size(); ++t) {
    const manifest::TensorPlace& place = launch.tensors[t];
    if (place.role != manifest::Role::output) continue;
    const std::vector<double> found = unpack(place, storage[t]);
    const std::vector<double>& right = expected[static_cast<std::size_t>(place.position)].values;
    if (found.size() != right.size()) return fmt::format("{} elements for {}", found.size(), right.size());
    double largest = 0;
    for (const double v : right)
      if (!std::isnan(v)) largest = std::max(largest, std::fabs(v));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool masked = std::isnan(right[i]);  // an element of a row that a mask removes
      if (masked ? !std::isnan(found[i])
                 : !(std::fabs(found[i] - right[i]) <= 0.02 * std::fabs(right[i]) + share * largest + absolute))
        return fmt::format("element {} of {}: found {}, expected {}", i, graph::to_string(place.shape), found[i],
                           right[i]);
    }
  }
  return "";
}

/// Expects no fault of the launch with these values of a graph with sizes.
inline void expect_right(const graph::KernelGraph& g, const emit::EmittedProgram& p, const Values& values,
                         const toolchain::Cache& cache, double share = 0.02) {
  graph::SizeValues named;
  for (std::size_t i = 0; i < values.size(); ++i) named[p.manifest.sizes[i].name] = values[i];
  EXPECT_EQ(fault_of_launch(graph::at(g, named), p, values, cache, share), "");
}

}  // namespace zellige::run
