// Layout resolution: each element of a tensor has its own address, vectors are aligned, operands suit
// ldmatrix.
#include "selection/layouts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "random_plans.hpp"
#include "target/instructions.hpp"

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

/// A program of open tensors, and a kernel for each product of two of them.
struct Products {
  tile::TilePrograms program;
  std::vector<selection::Selection> kernels;

  /// Adds a kernel that multiplies tiles of the tensors `a` and `b`.
  void multiply(int a, int b, std::int64_t blocks, graph::DType dtype) {
    const target::Target& target = target::find("sm_89");
    kernel::MatmulChoice choice{.row = target::find_mma(target, graph::name(dtype), graph::name(dtype), "f32"),
                                .load = target::find_matrix_load(target)};
    selection::Selection& kernel = kernels.emplace_back();
    kernel.program.name = fmt::format("k{}", kernels.size() - 1);
    kernel.program.grid = {blocks, 1, 1};
    std::vector<int> loads;
    for (const int t : {a, b})
      if (t != a || loads.empty())
        loads.push_back(
            kernel.program.add({.kind = tile::NodeKind::load, .shape = {16, 16}, .dtype = dtype, .tensor = t}));
    kernel.matmuls[kernel.program.add(
        {.kind = tile::NodeKind::matmul, .in = {loads.front(), loads.back()}, .shape = {16, 16}})] = choice;
  }
  /// Returns the cost of the tiles' contiguous dimensions, and of those of tensors, `inner`: an access for each element of
  /// a tile that lies otherwise than its tensor, a sixteenth of it where the dimension is not the last one.
  double cost(const std::vector<int>& inner) const {
    double all = static_cast<double>(std::ranges::count(inner, 0));
    for (const selection::Selection& k : kernels)
      for (const auto& [product, m] : k.matmuls)
        for (int side = 0; side < 2; ++side) {
          const tile::Node& n = k.program.nodes[k.program.nodes[product].in[side]];
          const double elements = 256.0 * static_cast<double>(k.program.grid.count());
          if (!m.may_lie(n.inner == 1 - side)) return std::numeric_limits<double>::infinity();
          if (side > 0 && &n == &k.program.nodes[k.program.nodes[product].in[0]]) continue;  // one tile
          all += (n.inner == inner[n.tensor] ? 0 : elements) + (n.inner == 1 ? 0 : elements / 16);
        }
    return all;
  }
};

// Each of 16-bit operands may lie along either dimension, of 8-bit ones along K alone.
TEST(Layouts, NoOthersCostLess) {
  std::mt19937 random(1);
  int along_rows = 0;
  for (int i = 0; i < 300; ++i) {
    Products of;
    for (int t = 0; t < 3; ++t) of.program.tensors.emplace_back().shape = {48, 64};
    for (int k = 0; k < 3; ++k) {
      const int a = static_cast<int>(random() % 3), b = (a + 1 + static_cast<int>(random() % 2)) % 3;
      of.multiply(a, b, 1 + random() % 40, random() % 2 ? graph::DType::e4m3 : graph::DType::f16);
    }
    Products any = of;
    selection::resolve_layouts(of.program, of.kernels, target::find("sm_89"));
    std::vector<int> found;
    for (const graph::KernelTensor& t : of.program.tensors) found.push_back(selection::innermost(t.shape, t.strides));
    double best = std::numeric_limits<double>::infinity();
    for (unsigned all = 0; all < 1u << 9; ++all) {  // a bit for each of three tensors and six tiles
      int bit = 3;
      for (selection::Selection& k : any.kernels)
        for (tile::Node& n : k.program.nodes)
          if (n.kind == tile::NodeKind::load) n.inner = static_cast<int>(all >> bit++ & 1);
      best = std::min(
          best, any.cost({static_cast<int>(all & 1), static_cast<int>(all >> 1 & 1), static_cast<int>(all >> 2 & 1)}));
    }
    EXPECT_EQ(of.cost(found), best) << "instance " << i;
    along_rows += static_cast<int>(std::ranges::count(found, 0));
  }
  EXPECT_GT(along_rows, 100);
}

TEST(Layouts, AnOperandThatNoDimensionSuitsIsRefused) {
  Products of;
  of.program.tensors.emplace_back().shape = {48, 64};
  of.multiply(0, 0, 1, graph::DType::f16);
  EXPECT_NO_THROW(selection::resolve_layouts(of.program, of.kernels, target::find("sm_89")));
  of.multiply(0, 0, 1, graph::DType::e4m3);  // along K as A, and as B
  try {
    selection::resolve_layouts(of.program, of.kernels, target::find("sm_89"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "k1: no contiguous dimension of %0 suits all matmuls that read it");
  }
}

}  // namespace
}  // namespace zellige::plan
