// One program for all values of its sizes, compiled once, is right on the emulator at the ends, about multiples of tiles, and at random.
#include <gtest/gtest.h>

#include <cstdlib>

#include "../all_cases.hpp"
#include "../run/sized_run.hpp"
#include "cases.hpp"
#include "fuse/fuse.hpp"
#include "fuse/separate.hpp"
#include "graph/error.hpp"
#include "run/compile.hpp"

namespace zellige::run {
namespace {

using test::SizedCase;

emit::EmittedProgram program_of(const SizedCase& c, const char* target_name, bool fused) {
  const target::Target& target = target::find(target_name);
  const graph::KernelGraph given = c.graph(test::largest(c.sizes));
  const graph::KernelGraph g = fused ? fuse::optimize(given, target).graph : fuse::separate(given, target);
  return transpile(g, target, {.sizes = test::of_graph(c, g)});
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
            what = fault_of_launch(c.graph(values), p, values, cache, 0.005, 1e-4);
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
