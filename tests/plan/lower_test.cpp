// Lowering, by enumeration: the blocks' tiles cover every output once, and read nothing but their tensors.
#include <gtest/gtest.h>

#include <algorithm>

#include "random_plans.hpp"
#include "tiles.hpp"

namespace zellige::plan {
namespace {

/// An operator's later kernel: scatter's and slice_scatter's replaces a part of what the one before it has copied.
bool later(const tile::TileProgram& k) { return k.name.find('_', k.name.rfind("_k") + 2) != k.name.npos; }

TEST(Lower, WritesEveryOutputOnce) {
  for (const Planned& planned : plans()) {
    const tile::TilePrograms& p = planned.plan.program;
    std::vector<std::vector<int>> written(p.tensors.size());
    for (const tile::TileProgram& k : p.kernels)
      for (const tile::Node& n : k.nodes) {
        if (n.kind != tile::NodeKind::store) continue;
        const graph::Shape& whole = p.tensors[n.tensor].shape;
        auto& count = written[p.memory_of(n.tensor)];
        count.resize(static_cast<std::size_t>(graph::size(whole)));
        const bool whole_yet = std::find(count.begin(), count.end(), 0) == count.end();
        if (p.tensors[p.value_of(n.tensor)].memory >= 0)
          count.assign(count.size(), 1);  // an input's memory, of which a part is replaced
        else if (later(k) && whole_yet)
          continue;
        else if (graph::size(whole) > 400'000)
          count.assign(count.size(), 1);
        else
          for_each_block(k, [&](const graph::Shape& block) {
            for (std::int64_t i = 0; i < graph::size(n.shape); ++i) {
              std::int64_t rest = i, at = 0, pitch = 1;
              bool inside = true;
              for (std::size_t d = whole.size(); d-- > 0;) {
                const tile::Cut& s = n.view.cuts[d];
                const std::int64_t c = start(s, block, 1, 0) + rest % n.shape[d];
                EXPECT_TRUE(c < s.extent || s.overhang) << planned.name;
                inside = inside && c < s.extent && s.offset + c >= 0;
                at += (s.offset + c) * pitch;
                pitch *= whole[d], rest /= n.shape[d];
              }
              if (inside) ++count[static_cast<std::size_t>(at)];
            }
          });
      }
    for (std::size_t t = 0; t < written.size(); ++t) {
      std::size_t wrong = 0;
      for (int c : written[t]) wrong += c != 1;
      EXPECT_EQ(wrong, 0u) << planned.name << ": elements of " << p.tensors[t].name << " not written once";
    }
    for (int t : p.outputs) EXPECT_FALSE(written[p.memory_of(t)].empty()) << planned.name << ": " << p.tensors[t].name;
  }
}

TEST(Lower, ReadsInsideTheTensors) {
  for_each_kernel([](const std::string& name, const kernel::Kernel& k, const Plan& plan) {
    const tile::TileProgram& p = k.program;
    for (const tile::Node& n : p.nodes) {
      if (n.kind != tile::NodeKind::load) continue;
      const graph::Shape& whole = plan.program.tensors[n.tensor].shape;
      for (std::size_t d = 0; d < whole.size(); ++d) {
        const tile::Cut& s = n.view.cuts[d];
        ASSERT_LE(s.offset + s.extent, whole[d]) << name;
        if (tile::number_of(n) >= 0 && n.dim == static_cast<int>(d)) continue;  // any row of them
        ASSERT_EQ(s.tile, n.shape[d]) << name;
        std::int64_t last = 0, first = 0;  // of the block's iterations
        for_each_block(p, [&](const graph::Shape& block) {
          first = std::max(first, start(s, block, p.loop, 0));
          last = std::max(last, start(s, block, p.loop, s.loop ? p.loop - 1 : 0));
        });
        // Of blocks that share a loop, the last one's last iterations may be beyond the tensor's end.
        const bool shares = s.overhang && s.loop && s.axis >= 0;
        EXPECT_LT(shares ? first : last, s.extent) << name << ": a tile of " << n.name << " begins after its tensor";
        EXPECT_TRUE(s.overhang || last + s.tile <= s.extent)
            << name << ": " << n.name << " passes its edge along " << d;
      }
    }
  });
}

TEST(Lower, OrdersItsNodesAndRoundsWhatMatmulsRead) {
  for_each_kernel([](const std::string& name, const kernel::Kernel& k, const Plan&) {
    const tile::TileProgram& p = k.program;
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      for (int in : p.nodes[i].in) EXPECT_LT(in, static_cast<int>(i)) << name;
      if (p.nodes[i].kind != tile::NodeKind::matmul) continue;
      for (int in : p.nodes[i].in)
        EXPECT_TRUE(p.nodes[in].kind == tile::NodeKind::load || p.nodes[in].kind == tile::NodeKind::round ||
                    p.nodes[in].dtype == graph::DType::f32)
            << name << ": matmul %" << i << " reads %" << in << " unrounded";
    }
  });
}

}  // namespace
}  // namespace zellige::plan
