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

/// Runs the launch with these values on the emulator, and compares all outputs with the graph's: elements within 0.02 of their own value
/// and `share` of the largest one.
inline void expect_right(const graph::KernelGraph& g, const emit::EmittedProgram& p, const Values& values,
                         const toolchain::Cache& cache, double share = 0.02) {
  graph::SizeValues named;
  for (std::size_t i = 0; i < values.size(); ++i) named[p.manifest.sizes[i].name] = values[i];
  const graph::KernelGraph constants = graph::at(g, named);
  const manifest::Manifest launch = manifest::at_sizes(p.manifest, values);
  const std::vector<reference::Array> inputs = reference::random_inputs(constants, 3).arrays;
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : launch.tensors)
    storage.push_back(t.role == manifest::Role::input ? pack(t, inputs.at(static_cast<std::size_t>(t.position)).values)
                                                      : poisoned(t));
  const EmulatedRun r = run_emulated(p.source, launch, storage, cache, 2);
  for (const auto& f : r.findings) ADD_FAILURE() << f.message;
  const std::vector<reference::Array> expected = reference::run_reference(constants, inputs);
  for (std::size_t t = 0; t < launch.tensors.size(); ++t) {
    if (launch.tensors[t].role != manifest::Role::output) continue;
    const std::vector<double> found = unpack(launch.tensors[t], storage[t]);
    const std::vector<double>& right = expected[static_cast<std::size_t>(launch.tensors[t].position)].values;
    ASSERT_EQ(found.size(), right.size());
    double largest = 0;
    for (const double v : right) largest = std::max(largest, std::fabs(v));
    for (std::size_t i = 0; i < found.size(); ++i)
      if (std::isnan(right[i]))  // of a row that a mask removes
        ASSERT_TRUE(std::isnan(found[i])) << "element " << i;
      else
        ASSERT_NEAR(found[i], right[i], 0.02 * std::fabs(right[i]) + share * largest) << "element " << i;
  }
}

}  // namespace zellige::run
