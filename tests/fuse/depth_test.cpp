// Depth is linear: N layers cost N times one layer, in planning time, kernels and estimated time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "../all_cases.hpp"
#include "fuse/fuse.hpp"
#include "fuse/stack.hpp"
#include "json/json.hpp"

namespace zellige::fuse {
namespace {

struct Planned {
  SearchWork work;
  std::size_t kernels = 0;
  double us = 0;
  std::vector<std::string> limits;  // that were met
};

Planned planned(const graph::KernelGraph& g) {
  const Optimized o = optimize(g, target::find("sm_90a"));
  Planned p{o.work, 0, 0, {}};
  for (const FusedKernel& k : o.kernels) p.kernels += static_cast<std::size_t>(k.parts), p.us += k.estimated_us;
  for (const std::string& note : o.limits)
    if (note.find("were looked at") != note.npos || note.find("a beam of") != note.npos) p.limits.push_back(note);
  return p;
}

/// The example graphs; every ninth, or all with ZELLIGE_ALL.
std::vector<graph::KernelGraph> graphs() {
  std::vector<graph::KernelGraph> all, some;
  for (const char* folder : {"layers", "parts"})
    for (const auto& file : std::filesystem::directory_iterator(std::string(ZELLIGE_SOURCE_DIR "/examples/") + folder))
      if (file.path().extension() == ".json")
        for (graph::KernelGraph& g : json::load(file.path().string())) all.push_back(std::move(g));
  std::ranges::sort(all, {}, &graph::KernelGraph::name);
  const std::size_t step = test::every(9);
  for (std::size_t i = 0; i < all.size(); i += step) some.push_back(std::move(all[i]));
  return some;
}

/// From the number of layers on at which no group spans all of them, each layer costs the same.
void expect_linear(const Planned& few, const Planned& twice, const Planned& four_times) {
  const auto expect = [&](const char* what, std::size_t SearchWork::*count) {
    const std::size_t more = twice.work.*count > few.work.*count ? twice.work.*count - few.work.*count : 0;
    const std::size_t steady = twice.work.*count + 2 * more;
    EXPECT_LE(four_times.work.*count, steady + steady / 50) << what;
  };
  expect("groups", &SearchWork::groups);
  expect("states", &SearchWork::states);
  EXPECT_LE(four_times.work.plans, 2 * twice.work.plans);
  if (four_times.limits.empty())
    EXPECT_EQ(four_times.work.kinds, twice.work.kinds);
  else
    EXPECT_LE(four_times.work.kinds, twice.work.kinds * 5 / 4);  // of each layer, the limit leaves others
}

class Depth : public testing::TestWithParam<graph::KernelGraph> {};

TEST_P(Depth, LayersAreNoWorseThanOne) {
  const graph::KernelGraph& g = GetParam();
  std::vector<Planned> stacks;
  for (int layers = 1; layers <= (g.ops.size() < 10 ? 64 : 16); layers *= 2) {
    const Planned& p = stacks.emplace_back(planned(stack(g, layers)));
    EXPECT_LE(p.us, layers * stacks[0].us * 1.001) << layers << " layers";
    if (p.us >
        layers * stacks[0].us * (1 - target::find("sm_90a").costs.search.tie))  // one kernel more may be clearly faster
      EXPECT_LE(p.kernels, static_cast<std::size_t>(layers) * stacks[0].kernels) << layers << " layers";
    fmt::print("{:2} layers: {} groups, {} kinds, {} plans, {} states, {} kernels, {:.1f} us\n", layers, p.work.groups,
               p.work.kinds, p.work.plans, p.work.states, p.kernels, p.us);
  }
  const std::size_t last = stacks.size() - 1;
  expect_linear(stacks[last - 2], stacks[last - 1], stacks[last]);
}

INSTANTIATE_TEST_SUITE_P(Examples, Depth, testing::ValuesIn(graphs()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace zellige::fuse
