// One program for all values of its sizes, compiled once, is right on the emulator at the ends, about multiples of tiles, and at random.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "../all_cases.hpp"
#include "cases.hpp"
#include "fuse/fuse.hpp"
#include "fuse/separate.hpp"
#include "graph/error.hpp"
#include "manifest/launch_sizes.hpp"
#include "reference/inputs.hpp"
#include "reference/reference.hpp"
#include "run/compile.hpp"
#include "run/emulated.hpp"

namespace zellige::run {
namespace {

using test::SizedCase;

emit::EmittedProgram program_of(const SizedCase& c, const char* target_name, bool fused) {
  const target::Target& target = target::find(target_name);
  const graph::KernelGraph given = c.graph(test::largest(c.sizes));
  const graph::KernelGraph g = fused ? fuse::optimize(given, target).graph : fuse::separate(given, target);
  return transpile(g, target, {.sizes = test::of_graph(c, g)});
}

/// Returns what is wrong with a run for these values; "" if nothing is.
std::string wrong(const SizedCase& c, const emit::EmittedProgram& p, const tile::ValuesBySize& values,
                  const toolchain::Cache& cache) {
  const graph::KernelGraph g = c.graph(values);
  const manifest::Manifest m = manifest::at_sizes(p.manifest, values);
  const std::vector<reference::Array> inputs = reference::random_inputs(g, 3).arrays;
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : m.tensors)
    storage.push_back(t.role == manifest::Role::input ? pack(t, inputs.at(static_cast<std::size_t>(t.position)).values)
                                                      : poisoned(t));
  const EmulatedRun r = run_emulated(p.source, m, storage, cache, 2);
  for (const auto& f : r.findings) return f.message;
  const std::vector<reference::Array> expected = reference::run_reference(g, inputs);
  for (std::size_t t = 0; t < m.tensors.size(); ++t) {
    if (m.tensors[t].role != manifest::Role::output) continue;
    const std::vector<double> found = unpack(m.tensors[t], storage[t]);
    const std::vector<double>& right = expected[static_cast<std::size_t>(m.tensors[t].position)].values;
    if (found.size() != right.size()) return fmt::format("{} elements for {}", found.size(), right.size());
    double largest = 0;
    for (const double y : right) largest = std::max(largest, std::fabs(y));
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!(std::fabs(found[i] - right[i]) <= 0.02 * std::fabs(right[i]) + 0.005 * largest + 1e-4))
        return fmt::format("element {} of {}: found {}, expected {}", i, graph::to_string(m.tensors[t].shape), found[i],
                           right[i]);
  }
  return "";
}

TEST(SizesOnTheEmulator, OneProgramIsRightAtAllValues) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const char* only = std::getenv("ZELLIGE_SIZED_CASE");
  std::size_t number = 0;
  for (const SizedCase& c : test::sized_cases())
    for (const char* target : {"sm_80", "sm_90a"})
      for (const bool fused : {true, false}) {
        if (only ? c.name.find(only) == std::string::npos : number++ % test::every(11) != 0) continue;
        SCOPED_TRACE(fmt::format("{} on {}{}", c.name, target, fused ? ", fused" : ""));
        emit::EmittedProgram p;
        try {
          p = program_of(c, target, fused);
        } catch (const std::exception& e) {
          ADD_FAILURE() << e.what();
          continue;
        }
        for (const tile::ValuesBySize& values : test::sampled(c.sizes, 8, 61)) {
          std::string what;
          try {
            what = wrong(c, p, values, cache);
          } catch (const std::exception& e) {
            what = e.what();
          }
          EXPECT_EQ(what, "") << "at " << graph::to_string(values) << (only ? p.source : "");
          if (!what.empty()) break;
        }
      }
}

}  // namespace
}  // namespace zellige::run
