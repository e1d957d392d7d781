// Programs with sizes that are known at launch, on the emulator: one program, compiled once, is right at the ends of its range,
// at multiples of its tiles, one less and one more, and at random values; where a program of a constant size has the same tiles
// its bits are the same; and its counters are those that are predicted for these sizes.
#include "emit/host_text.hpp"
#include "kernel/launches.hpp"
#include "plan/at_sizes.hpp"
#include "predict/predict.hpp"
#include "size_families.hpp"
#include "zellige/emulate/counter_names.hpp"

namespace zellige::run {
namespace {

/// Counters that are predicted for the plan of a launch are those that were counted.
void expect_predicted(const plan::Plan& plan, const std::vector<EmulatedKernel>& kernels) {
  const std::vector<kernel::LaunchGroup> launches = kernel::launches(plan.kernels);
  ASSERT_EQ(launches.size(), kernels.size());
  for (std::size_t k = 0; k < launches.size(); ++k)
    if (launches[k].count() == 1)
      for (const auto& [counter, n] : predict::predict(plan.kernels[launches[k].first]))
        EXPECT_EQ(n, kernels[k].counters[counter]) << kernels[k].name << ": " << emulate::name(counter);
}

TEST(Sizes, OneProgramIsRightAtAllOfThem) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  int same = 0, compared = 0;
  for (const Family& f : families()) {
    const target::Target& target = target::find(f.target);
    const emit::EmittedProgram p = test::transpile(f.graph(f.size.high), target, options(f, true));
    ASSERT_EQ(p.manifest.sizes.size(), 1u);
    for (const std::int64_t n : values(f.size)) {
      SCOPED_TRACE(fmt::format("{} on {} at {}", f.name, f.target, n));
      const KernelGraph g = f.graph(n);
      const std::vector<reference::Array> inputs = inputs_of(g);
      const std::int64_t at[] = {n};
      const manifest::Manifest launch = manifest::at_sizes(p.manifest, at);
      const Ran sized = ran(p.source, launch, inputs, cache);
      expect_near(g, launch, sized, inputs);
      const plan::Plan plan = plan::proved(plan::at_sizes(p.plan, at), target, false);
      expect_predicted(plan, sized.kernels);
      if (++compared % 6 != 0) continue;  // a source of its own is compiled for each
      const emit::EmittedProgram tiles = emit::from_plan(plan, g.name, {}, false);
      EXPECT_TRUE(same_outputs(launch, sized, ran(tiles.source, tiles.manifest, inputs, cache)));
      const emit::EmittedProgram constant = test::transpile(g, target, options(f, false));
      if (!std::ranges::equal(constant.manifest.kernels, launch.kernels, [](const auto& a, const auto& b) {
            return a.block.count() == b.block.count() && a.grid.count() == b.grid.count();
          }))
        continue;
      EXPECT_TRUE(same_outputs(launch, sized, ran(constant.source, constant.manifest, inputs, cache)));
      ++same;
    }
  }
  EXPECT_GT(same, 5);
}

/// The planner takes sizes from 1 on; a manifest may have 0, at which kernels have no blocks.
TEST(Sizes, MayBeZeroInAManifest) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const Family f{"softmax", softmax_of_rows, "sm_80", rows(1, 24)};
  emit::EmittedProgram p = test::transpile(f.graph(24), target::find(f.target), options(f, true));
  p.manifest.sizes[0].low = 0;
  emit::Text host;
  emit::host_entry(p.manifest, host);
  EXPECT_NE(host.str().find("\n  if ((nT + "), std::string::npos) << host.str();
  EXPECT_EQ(manifest::parse_manifest(manifest::to_json(p.manifest), "zero").sized, p.manifest.sized);
  for (const std::int64_t n : {0, 5}) {
    const std::int64_t at[] = {n};
    const manifest::Manifest launch = manifest::at_sizes(p.manifest, at);
    check(launch);
    const reference::Array x = n == 0 ? reference::Array{{0, 96}, {}} : integers({n, 96}, 0);
    const Ran r = ran(p.source, launch, {x}, cache);
    ASSERT_EQ(r.kernels.size(), 1u);
    EXPECT_EQ(named(r.kernels[0].counters).empty(), n == 0);
    if (n > 0) expect_near(f.graph(n), launch, r, {x});
  }
}

}  // namespace
}  // namespace zellige::run
