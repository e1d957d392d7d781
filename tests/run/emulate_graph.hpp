// Runs a graph on the emulator with given inputs, and returns the reference's results too.
#pragma once
#include <gtest/gtest.h>

#include <cmath>

#include "../unfused.hpp"
#include "reference/reference.hpp"
#include "run/emulated.hpp"

namespace zellige::run {

/// Small integers, so that every sum is exact.
inline reference::Array integers(const graph::Shape& shape, int salt) {
  reference::Array a{shape, std::vector<double>(static_cast<std::size_t>(graph::size(shape)))};
  for (std::size_t i = 0; i < a.values.size(); ++i)
    a.values[i] = static_cast<double>((i * 2654435761u + static_cast<unsigned>(salt) * 40503u) >> 7 & 7) - 3;
  return a;
}

inline std::vector<std::vector<double>> emulate_graph(const graph::KernelGraph& g,
                                                      const std::vector<reference::Array>& inputs, const char* target,
                                                      const plan::PlanOptions& plan_options = {}) {
  static const toolchain::Cache cache = toolchain::Cache::temporary();
  const emit::EmittedProgram p = test::transpile(g, target::find(target), plan_options);
  std::vector<Bytes> storage;
  std::vector<std::vector<double>> outputs(g.outputs.size());
  for (const manifest::TensorPlace& t : p.manifest.tensors)
    storage.push_back(t.role == manifest::Role::input ? pack(t, inputs.at(static_cast<std::size_t>(t.position)).values)
                                                      : poisoned(t));
  const EmulatedRun r = run_emulated(p, storage, cache, 2);
  for (const auto& f : r.findings) ADD_FAILURE() << g.name << ": " << f.message;
  for (std::size_t t = 0; t < storage.size(); ++t)
    if (const manifest::TensorPlace& place = p.manifest.tensors[t]; place.role == manifest::Role::output)
      outputs[static_cast<std::size_t>(place.position)] = unpack(place, storage[t]);
  return outputs;
}

/// Element by element: a NaN for a NaN, an infinity for itself, and numbers to a share of their size.
inline void expect_as_reference(const graph::KernelGraph& g, const std::vector<reference::Array>& inputs, double share,
                                double minimum, const char* target = "sm_80",
                                const plan::PlanOptions& plan_options = {}) {
  const std::vector<reference::Array> expected = reference::run_reference(g, inputs);
  const std::vector<std::vector<double>> found = emulate_graph(g, inputs, target, plan_options);
  for (std::size_t o = 0; o < expected.size(); ++o) {
    const std::string& name = g.tensors[static_cast<std::size_t>(g.outputs[o])].name;
    ASSERT_EQ(found[o].size(), expected[o].values.size()) << name;
    int wrong = 0;
    for (std::size_t i = 0; i < found[o].size() && wrong < 5; ++i) {
      const double x = found[o][i], y = expected[o].values[i];
      const bool same = y != y ? x != x : x == y || std::fabs(x - y) <= share * std::fabs(y) + minimum;
      wrong += !same;
      EXPECT_TRUE(same) << g.name << ", " << name << ", element " << i << ": found " << x << ", expected " << y;
    }
  }
}

}  // namespace zellige::run
