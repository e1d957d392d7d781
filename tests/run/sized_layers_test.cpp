// Layers of models with sizes that are known at launch: rows, batch, keys, columns, height and width. One program, compiled once, is right
// on the emulator at the ends of its sizes and at random values of them.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "../all_cases.hpp"
#include "json/json.hpp"
#include "json/json_text.hpp"
#include "run/compile.hpp"
#include "sized_run.hpp"
#include "system/files.hpp"

namespace zellige::run {
namespace {

TEST(SizedLayers, OneProgramIsRightAtAllSizes) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  std::mt19937 random(6040);
  std::size_t place = 0;
  for (const char* name :
       {"gate", "prefill", "decode", "bert", "norms", "layer_norm", "attention", "cross_entropy", "unet", "group_norm"})
    for (const char* target : {"sm_80", "sm_90a"}) {
      if (place++ % test::every(20) != 0) continue;
      SCOPED_TRACE(fmt::format("{} on {}", name, target));
      const std::string text =
          system::read_whole(fmt::format(ZELLIGE_SOURCE_DIR "/tests/run/sized_layers/{}.json", name));
      const graph::KernelGraph g = json::from_json(json::parse_json(text, name), name);
      emit::EmittedProgram p;
      const auto error = refused([&] { p = compile(g, target::find(target), {.fuse = true, .variants = 1}).program; });
      if (error) {
        ADD_FAILURE() << error->what();
        continue;
      }
      for (const Values& values : values_of(p.manifest.sizes, test::all_cases() ? 40 : 1, random, test::all_cases())) {
        SCOPED_TRACE(fmt::format("at {}", fmt::join(values, ", ")));
        expect_right(g, p, values, cache);
      }
    }
}

}  // namespace
}  // namespace zellige::run
