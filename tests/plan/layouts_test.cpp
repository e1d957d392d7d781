// Layout resolution: each element of a tensor has its own address, vectors are aligned, operands suit
// ldmatrix.
#include "selection/layouts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "random_plans.hpp"

namespace zellige::plan {
namespace {

bool distinct(const graph::Shape& shape, const graph::Strides& strides) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < graph::size(shape); ++i) {
    std::int64_t rest = i, place = 0;
    for (std::size_t d = shape.size(); d-- > 0;) place += rest % shape[d] * strides[d], rest /= shape[d];
    places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) == places.end();
}

void expect_aligned(const std::string& name, const graph::Shape& shape, const graph::Strides& strides,
                    std::int64_t multiple) {
  const int inner = selection::innermost(shape, strides);
  int wide = 0;
  for (auto e : shape) wide += e > 1;
  if (wide > 0)
    EXPECT_EQ(strides[inner], 1) << name << " " << graph::to_string(shape) << ":" << graph::to_string(strides);
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (static_cast<int>(d) != inner && shape[d] > 1)
      EXPECT_EQ(strides[d] % multiple, 0) << name << " " << graph::to_string(shape) << ":" << graph::to_string(strides);
}

TEST(Layouts, GiveEveryElementItsOwnPlace) {
  for (const Planned& p : plans())
    for (std::size_t i = 0; i < p.plan.program.tensors.size(); ++i) {
      if (p.plan.program.views.count(static_cast<int>(i))) continue;  // the memory of another
      const auto& t = p.plan.program.tensors[i];
      ASSERT_EQ(t.strides.size(), t.shape.size()) << p.name << " " << t.name;
      if (graph::size(t.shape) <= 100'000) EXPECT_TRUE(distinct(t.shape, t.strides)) << p.name << " " << t.name;
    }
}

TEST(Layouts, AlignTheVectorsOfWhatIsOpen) {
  int open = 0;
  for (const Planned& p : plans())
    for (std::size_t t = 0; t < p.graph.tensors.size(); ++t) {
      if (!p.graph.tensors[t].strides.empty()) {
        EXPECT_EQ(p.graph.tensors[t].strides, p.plan.program.tensors[t].strides)
            << p.name << ": a given layout changed";
        continue;
      }
      // A view is the memory of another; what a reshape sees may have to be dense.
      const auto& views = p.plan.program.views;
      const int index = static_cast<int>(t);
      if (views.count(index) || std::ranges::any_of(views, [&](const auto& v) { return v.second.base == index; }))
        continue;
      // A concatenation that its readers read by parts has no memory.
      if (std::ranges::none_of(p.plan.program.kernels, [&](const tile::TileProgram& k) {
            return std::ranges::any_of(k.nodes, [&](const tile::Node& n) { return n.tensor == index; });
          }))
        continue;
      const auto& tensor = p.plan.program.tensors[t];
      expect_aligned(p.name + " " + tensor.name, tensor.shape, tensor.strides, graph::elements_in(16, tensor.dtype));
      ++open;
    }
  EXPECT_GE(open, 20);
}

TEST(Layouts, PaddedStridesOfEveryShape) {
  const graph::Shape extents = {1, 2, 3, 8, 19};
  for (auto a : extents)
    for (auto b : extents)
      for (auto c : extents)
        for (int inner = 0; inner < 3; ++inner)
          for (std::int64_t multiple : {4, 8}) {
            const graph::Shape shape{a, b, c};
            const graph::Strides strides = selection::padded_strides(shape, inner, multiple);
            EXPECT_EQ(strides[inner], 1);
            EXPECT_TRUE(distinct(shape, strides)) << graph::to_string(shape) << ":" << graph::to_string(strides);
            expect_aligned("padded_strides", shape, strides, multiple);
          }
}

TEST(Layouts, OperandsRunAlongOneOfTheLastTwoDimensions) {
  for_each_kernel([](const std::string& name, const kernel::Kernel& k, const Plan&) {
    for (const kernel::Work& w : kernel::works(k))
      if (w.kind == kernel::WorkKind::mma)
        for (int side = 0; side < 2; ++side) {
          const int in = k.program.nodes[w.node].in[static_cast<std::size_t>(side)];
          EXPECT_GE(k.program.nodes[in].inner + 2, static_cast<int>(k.program.nodes[in].shape.size()))
              << name << " %" << in;
        }
  });
}

// The planner pays for every element that must move alone: with all layouts given, tiles follow their tensors.
TEST(Layouts, TilesRunAsTheirTensorsDo) {
  for_each_kernel([](const std::string& name, const kernel::Kernel& k, const Plan& plan) {
    for (const tile::Node& n : k.program.nodes) {
      if (n.kind != tile::NodeKind::load || n.shape.size() != 2) continue;
      const auto& t = plan.program.tensors[n.tensor];
      if (t.shape[0] > 1 && t.shape[1] > 1)
        EXPECT_EQ(n.inner, selection::innermost(t.shape, t.strides)) << name << " " << n.name;
    }
  });
}

}  // namespace
}  // namespace zellige::plan
