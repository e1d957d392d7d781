// Instruction selection: the warps of a matmul cover its output once for each warp along K, and none is idle.
#include <gtest/gtest.h>

#include <set>

#include "random_plans.hpp"
#include "touches.hpp"

namespace zellige::plan {
namespace {

TEST(Select, WarpsCoverEveryElementOnce) {
  for_each_kernel([](const std::string& name, const kernel::Kernel& k, const Plan&) {
    for (const kernel::Work& w : kernel::works(k)) {
      if (w.kind != kernel::WorkKind::mma) continue;
      const int node = w.node;
      const kernel::MatmulChoice& m = w.matmul;
      const graph::Shape shape = k.program.nodes[node].shape;
      const kernel::Context c = kernel::accumulators(shape, m.warps, *m.row);
      // Per thread: owned once for each warp along K, by different threads.
      std::vector<std::set<int>> threads(static_cast<std::size_t>(graph::size(shape)));
      std::size_t owned = 0;
      for_each_owned(c, shape, [&](int thread, const graph::Shape& at) {
        std::size_t index = 0;
        for (std::size_t d = 0; d < at.size(); ++d) index = index * shape[d] + at[d];
        threads[index].insert(thread), ++owned;
        EXPECT_LT(thread, k.program.threads()) << name << " %" << node;
      });
      EXPECT_EQ(owned, threads.size() * m.warps.k) << name << " %" << node;
      std::set<int> warps;
      for (const auto& t : threads) {
        ASSERT_EQ(t.size(), static_cast<std::size_t>(m.warps.k)) << name << " %" << node;
        for (int thread : t) warps.insert(thread / 32);
      }
      EXPECT_EQ(static_cast<int>(warps.size()), m.warps.count())
          << name << " %" << node << ": a warp of the layout is idle";
      EXPECT_LE(m.warps.k, (m.k + m.row->k - 1) / m.row->k) << name << " %" << node << ": a warp has no slice of K";
    }
  });
}

TEST(Select, TensorCoresMultiplyWhatIsNeitherFloatNorIntegerOrIsTf32AndThreadsFloats) {
  for_each_kernel([](const std::string& name, const kernel::Kernel& k, const Plan&) {
    for (std::size_t i = 0; i < k.program.nodes.size(); ++i) {
      if (k.program.nodes[i].kind != tile::NodeKind::matmul) continue;
      const kernel::Work* product = k.product_of(static_cast<int>(i));
      if (!product) continue;  // a dead matmul
      const kernel::MatmulChoice& m = product->matmul;
      const graph::DType dtype = k.program.nodes[k.program.nodes[i].in[0]].dtype;
      const bool by_threads = dtype == graph::DType::f32 || dtype == graph::DType::f64;
      const bool tensor = k.program.nodes[i].tf32 || (!by_threads && dtype != graph::DType::int8);
      EXPECT_EQ(m.pipe() == target::Pipe::tensor, tensor) << name;
      EXPECT_TRUE(by_threads || m.pipe() != target::Pipe::fma) << name;
      EXPECT_TRUE(!m.row || m.batch * m.m * m.n == graph::size(k.program.nodes[i].shape)) << name;
    }
  });
}

// Values that stay in registers between two matmuls have the second one's layout: the warps along N become
// those along K.
TEST(Select, ChainsAgree) {
  int chains = 0;
  for_each_kernel([&](const std::string& name, const kernel::Kernel& k, const Plan&) {
    for (const kernel::Work& w : kernel::works(k)) {
      const kernel::MatmulChoice& m = w.matmul;
      if (w.kind != kernel::WorkKind::mma || !k.has_fragments(w.node)) continue;
      const std::vector<int>& left = k.rmem[k.rmem_of(k.program.nodes[w.node].in[0])].nodes;
      const auto product =
          std::ranges::find(left, tile::NodeKind::matmul, [&](int node) { return k.program.nodes[node].kind; });
      ASSERT_NE(product, left.end()) << name;
      const kernel::MatmulChoice& from = k.product_of(*product)->matmul;
      EXPECT_EQ(from.warps.b, m.warps.b) << name;
      EXPECT_EQ(from.warps.m, m.warps.m) << name;
      EXPECT_EQ(from.warps.n, m.warps.k) << name;
      EXPECT_EQ(m.warps.n, 1) << name;
      EXPECT_EQ(from.warps.k, 1) << name;
      EXPECT_EQ(from.n, m.k) << name;
      EXPECT_EQ(from.n % 16, 0) << name;
      ++chains;
    }
  });
  EXPECT_GE(chains, 1);
}

}  // namespace
}  // namespace zellige::plan
