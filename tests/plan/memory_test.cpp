// Memory: no two buffers, and no two intermediate tensors, that are live at the same time share a
// byte.
#include <gtest/gtest.h>

#include "random_plans.hpp"
#include "timeline.hpp"

namespace zellige::plan {
namespace {

/// The stretches in which each buffer holds something: from its first touch to its last.
std::vector<std::pair<int, int>> lifetimes(const kernel::Kernel& k) {
  std::vector<std::pair<int, int>> alive(k.tensors.size(), {1 << 30, -1});
  for (const Moment& m : timeline(k).moments) {
    const auto touch = [&](int b, int stretch) {
      alive[b].first = std::min(alive[b].first, stretch);
      alive[b].second = std::max(alive[b].second, stretch);
    };
    const kernel::Work& t = m.step->work;
    if (!m.start)  // which sets registers
      for (const kernel::Access& a : m.step->reads) touch(a.tensor, m.stretch);
    if (t.tensor >= 0) touch(t.tensor, m.stretch), touch(t.tensor, m.arrives);
    if (t.kind == kernel::WorkKind::accumulate && t.tensor >= 0) touch(t.tensor, 0);
  }
  return alive;
}

TEST(Memory, SeparatesWhatIsAliveTogether) {
  int shared = 0;
  for_each_kernel([&](const std::string& name, const kernel::Kernel& k, const Plan&) {
    const auto alive = lifetimes(k);
    for (std::size_t a = 0; a < k.tensors.size(); ++a) {
      const kernel::SmemTensor& x = k.tensors[a];
      EXPECT_EQ(x.offset % 128, 0) << name << " " << x.name;
      EXPECT_TRUE(x.offset >= 0 && x.offset + x.bytes() <= k.shared_bytes) << name << " " << x.name;
      for (std::size_t b = 0; b < a; ++b) {
        const kernel::SmemTensor& y = k.tensors[b];
        if (x.offset + x.bytes() <= y.offset || y.offset + y.bytes() <= x.offset) continue;
        ++shared;
        EXPECT_TRUE(alive[a].second < alive[b].first || alive[b].second < alive[a].first)
            << name << ": " << x.name << " and " << y.name << " share memory and are alive together";
      }
    }
  });
  EXPECT_GE(shared, 5);
}

TEST(Memory, SeparatesTensorsOfTheWorkspace) {
  int placed = 0;
  for (const Planned& p : plans()) {
    const tile::TilePrograms& program = p.plan.program;
    const DevicePlacement& device = p.plan.device;
    const int n = static_cast<int>(program.tensors.size());
    std::vector<std::pair<int, int>> alive(n, {1 << 30, -1});
    for (int k = 0; k < static_cast<int>(program.kernels.size()); ++k)
      for (const tile::Node& node : program.kernels[k].nodes)
        if (node.tensor >= 0) {
          const int memory = program.memory_of(node.tensor);
          alive[memory] = {std::min(alive[memory].first, k), k};
        }
    for (int a = 0; a < n; ++a) {
      if (program.views.count(a)) continue;
      const bool callers = std::count(program.inputs.begin(), program.inputs.end(), a) +
                           std::count(program.outputs.begin(), program.outputs.end(), a);
      const bool untouched = alive[a].second < 0;  // evaluated where it is read: a part of a concatenation
      EXPECT_EQ(device.offset[a] < 0, callers || untouched) << p.name << " " << program.tensors[a].name;
      if (device.offset[a] < 0) continue;
      ++placed;
      EXPECT_LE(device.offset[a] + device.bytes[a], device.total) << p.name;
      for (int b = 0; b < a; ++b) {
        if (device.offset[b] < 0 || device.offset[a] + device.bytes[a] <= device.offset[b] ||
            device.offset[b] + device.bytes[b] <= device.offset[a])
          continue;
        EXPECT_TRUE(alive[a].second < alive[b].first || alive[b].second < alive[a].first)
            << p.name << ": " << program.tensors[a].name << " and " << program.tensors[b].name;
      }
    }
  }
  EXPECT_GE(placed, 5);
}

}  // namespace
}  // namespace zellige::plan
