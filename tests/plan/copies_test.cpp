// Copies: every chunk of every block's tile is aligned to its width, and contiguous.
#include <gtest/gtest.h>

#include <algorithm>

#include "../unfused.hpp"
#include "graph/builder.hpp"
#include "plan/plan.hpp"
#include "random_plans.hpp"
#include "selection/layouts.hpp"
#include "tiles.hpp"

namespace zellige::plan {
namespace {

/// The first element, in its tensor, of each chunk of a few blocks' tiles; at the edge `left` elements are there.
template <class F>
void for_each_chunk(const tile::TileProgram& p, const tile::Node& n, const graph::KernelTensor& tensor, int inner,
                    int vector, F visit) {
  graph::Shape chunks = n.shape;
  chunks[inner] = (chunks[inner] + vector - 1) / vector;
  const std::int64_t step = p.grid.count() / 50 * 2 + 1;  // odd: of every axis several
  std::int64_t index = 0;
  for_each_block(p, [&](const graph::Shape& block) {
    if (index++ % step != 0 && index != p.grid.count()) return;
    for (std::int64_t iteration : {std::int64_t{0}, std::min<std::int64_t>(1, p.loop - 1), p.loop - 1})
      for (std::int64_t i = 0; i < graph::size(chunks); ++i) {
        std::int64_t rest = i, place = 0, left = 0;
        for (std::size_t d = chunks.size(); d-- > 0;) {
          const std::int64_t in_tile = rest % chunks[d] * (static_cast<int>(d) == inner ? vector : 1);
          const std::int64_t at = start(n.view.cuts[d], block, p.loop, iteration) + in_tile;
          if (static_cast<int>(d) == inner) left = std::min(n.shape[d] - in_tile, n.view.cuts[d].extent - at);
          place += (at + n.view.cuts[d].offset) * tensor.strides[d], rest /= chunks[d];
        }
        visit(place, left);
      }
  });
}

/// Returns how each load and store accesses global memory, by node.
std::map<int, kernel::CopyChoice> copies_of(const kernel::Kernel& k) {
  std::map<int, kernel::CopyChoice> all;
  for (int i = 0; i < static_cast<int>(k.program.nodes.size()); ++i)
    if (const kernel::CopyChoice* copy = k.copy_of(i))
      all[i] = *copy;
    else if (k.in_place(i))
      all[i] = {k.vector_of(i), k.vector_of(i) * graph::whole_bytes(k.program.nodes[i].dtype)};
  return all;
}

TEST(Copies, StartWhereTheirWidthDemands) {
  int wide = 0;
  for_each_kernel([&](const std::string& name, const kernel::Kernel& k, const Plan& plan) {
    for (const auto& [node, copy] : copies_of(k)) {
      const tile::Node& n = k.program.nodes[node];
      const auto& tensor = plan.program.tensors[n.tensor];
      const int inner = selection::innermost(tensor.shape, tensor.strides);
      EXPECT_EQ(copy.bytes, copy.vector * graph::whole_bytes(tensor.dtype)) << name << " " << n.name;
      EXPECT_LE(copy.bytes, 16) << name << " " << n.name;
      if (copy.row) EXPECT_EQ(copy.row->c.bits, copy.bytes * 8) << name << " " << n.name << ": " << copy.row->name;
      if (copy.vector == 1) continue;
      ++wide;
      EXPECT_EQ(tensor.strides[inner], 1) << name << " " << n.name;
      int wrong = 0, partial = 0;
      for_each_chunk(k.program, n, tensor, inner, copy.vector,
                     [&, &copy = copy](std::int64_t place, std::int64_t left) {
                       wrong += !copy.anywhere && place % copy.vector != 0;
                       partial += left > 0 && left < copy.vector;
                     });
      EXPECT_EQ(wrong, 0) << name << " " << n.name << ": chunks of " << copy.vector << " that start elsewhere";
      if (n.kind == tile::NodeKind::store && n.view.room(inner) == 0)
        EXPECT_EQ(partial, 0) << name << " " << n.name << ": a store writes whole chunks";
    }
  });
  EXPECT_GE(wide, 40);
}

/// Elements gathered by index: one at a time, and rows that may be unaligned.
bool by_number(const tile::TileProgram& p, int node) {
  const auto numbers = [&](const tile::Node& n) { return tile::number_of(n) == node; };
  return tile::number_of(p.nodes[node]) >= 0 || std::any_of(p.nodes.begin(), p.nodes.end(), numbers);
}

// Twice as wide would start elsewhere, or there is a reason: no power of two is given away.
TEST(Copies, AreAsWideAsTheyMayBe) {
  for_each_kernel([&](const std::string& name, const kernel::Kernel& k, const Plan& plan) {
    for (const auto& [node, copy] : copies_of(k)) {
      const tile::Node& n = k.program.nodes[node];
      const auto& tensor = plan.program.tensors[n.tensor];
      const int inner = selection::innermost(tensor.shape, tensor.strides), twice = copy.vector * 2;
      const bool follows = n.inner == inner;
      if (n.kind != tile::NodeKind::load || by_number(k.program, node) || copy.bytes == 16 || !follows ||
          tensor.strides[inner] != 1 || n.shape[inner] < twice)
        continue;
      int wrong = 0;
      for_each_chunk(k.program, n, tensor, inner, twice,
                     [&](std::int64_t place, std::int64_t) { wrong += place % twice != 0; });
      EXPECT_GT(wrong, 0) << name << " " << n.name << ": chunks of " << twice << " would do";
    }
  });
}

// cp.async omits out-of-bounds bytes and moves at least 4 bytes; an ordinary load reads its whole chunk.
TEST(Copies, OfThreeBytesGoOneByOne) {
  graph::Builder b("three");
  const graph::TensorHandle x = b.input("X", {1, 3}, graph::DType::e5m2), y = b.input("Y", {3, 64}, graph::DType::e5m2);
  b.output(matmul(x, y), "Z");
  const Plan plan = test::make_plan(b.build(), target::find("sm_90a"));
  int loads = 0;
  for (const kernel::Kernel& k : plan.kernels)
    for (const auto& [node, copy] : copies_of(k)) {
      const tile::Node& n = k.program.nodes[node];
      if (n.kind != tile::NodeKind::load || n.shape.back() != 3) continue;
      ++loads;
      EXPECT_EQ(copy.vector, 1) << n.name;
    }
  EXPECT_EQ(loads, 1);
}

}  // namespace
}  // namespace zellige::plan
