// Stores of accumulators by stmatrix: which layouts admit which row of the instruction table, and that the rows of memory
// that the plans' stores write are the whole buffer.
#include "selection/matrix_stores.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "../unfused.hpp"
#include "kernel/fragments.hpp"
#include "random_plans.hpp"
#include "target/instructions.hpp"
#include "target/target.hpp"

namespace zellige::plan {
namespace {

const target::Target& hopper() { return target::find("sm_90a"); }

/// What differs between the cases: a product of m x n on `warps` warps, and its buffer.
struct Case {
  std::int64_t m, n;
  int warps;
  graph::DType dtype = graph::DType::f16;
  int inner = 1;
  bool bounded = false;  // the buffer has one column less
  int warps_k = 1;
};

/// Returns a kernel whose only work stores the accumulators of a wgmma to a buffer.
kernel::Kernel storing(const Case& c, const Instruction& mma) {
  kernel::Kernel k;
  k.program.nodes.resize(2);
  k.program.nodes[0] = {.kind = tile::NodeKind::matmul, .shape = {c.m, c.n}};
  k.program.nodes[1] = {.kind = tile::NodeKind::store, .in = {0}, .shape = {c.m, c.n}, .dtype = c.dtype};
  k.rmem.push_back({kernel::accumulators({c.m, c.n}, {.m = c.warps, .k = c.warps_k}, mma), {0}});
  kernel::SmemTensor b;
  b.name = "C", b.node = 1, b.dtype = c.dtype, b.inner = c.inner;
  b.shape = b.padded = {c.m, c.bounded ? c.n - 1 : c.n};
  b.layout = kernel::strided(b.padded, c.inner == 1 ? graph::Strides{c.n, 1} : graph::Strides{1, c.m});
  k.tensors.push_back(b);
  return k;
}

/// Returns the name of the row with which the accumulators of `c` are stored; "" if there is none.
std::string selected(const Case& c, const Instruction& mma, const target::Target& target = hopper()) {
  const kernel::Kernel k = storing(c, mma);
  selection::Tasks tasks(1);
  tasks[0].kind = kernel::WorkKind::to_shared;
  tasks[0].node = 1, tasks[0].context = 0, tasks[0].tensor = 0;
  selection::choose_matrix_stores(k, tasks, target);
  return tasks[0].copy.row ? tasks[0].copy.row->name : "";
}

const Instruction& wgmma(std::int64_t n) { return *target::find_warpgroup_mma(hopper(), "f16", "f16", "f32", n); }

TEST(MatrixStores, TakeTheRowOfTheMostMatrices) {
  for (const std::int64_t n : {16, 48, 80, 128, 256}) {
    EXPECT_EQ(selected({64, n, 4}, wgmma(n)), "SM90_U32x4_STSM_N") << n;
    EXPECT_EQ(selected({64, n, 4, graph::DType::bf16, 0}, wgmma(n)), "SM90_U16x8_STSM_T") << n;
  }
  for (const std::int64_t n : {8, 24, 152}) {  // an odd number of tiles of 8 columns
    EXPECT_EQ(selected({64, n, 4}, wgmma(n)), "SM90_U32x2_STSM_N") << n;
    EXPECT_EQ(selected({64, n, 4, graph::DType::bf16, 0}, wgmma(n)), "SM90_U16x4_STSM_T") << n;
  }
  EXPECT_EQ(selected({256, 64, 8}, wgmma(64)), "SM90_U32x4_STSM_N") << "two tiles along M of each of two warpgroups";
}

// Four matrices of narrow products would lie in two products of the batch; one address of a lane is of one product.
TEST(MatrixStores, StayWithinAProductOfABatch) {
  for (const auto& [n, name] : {std::pair{8, "SM90_U32x2_STSM_N"}, {16, "SM90_U32x4_STSM_N"}}) {
    kernel::Kernel k = storing({64, n, 4}, wgmma(n));
    const graph::Shape batch{4, 64, n};
    for (tile::Node& node : k.program.nodes) node.shape = batch;
    k.rmem[0].layout = kernel::accumulators(batch, {.m = 4}, wgmma(n));
    kernel::SmemTensor& b = k.tensors[0];
    b.shape = b.padded = batch, b.inner = 2, b.layout = kernel::strided(batch, {64 * n, n, 1});
    selection::Tasks tasks(1);
    tasks[0].kind = kernel::WorkKind::to_shared, tasks[0].node = 1, tasks[0].context = 0, tasks[0].tensor = 0;
    selection::choose_matrix_stores(k, tasks, hopper());
    ASSERT_NE(tasks[0].copy.row, nullptr) << n;
    EXPECT_EQ(tasks[0].copy.row->name, std::string(name)) << n;
  }
}

TEST(MatrixStores, TakeNoneWhereTheLayoutsDiffer) {
  EXPECT_EQ(selected({64, 64, 4, graph::DType::f32}, wgmma(64)), "") << "elements of 32 bits";
  EXPECT_EQ(selected({64, 64, 4, graph::DType::e4m3}, wgmma(64)), "") << "elements of 8 bits";
  EXPECT_EQ(selected({64, 64, 4, graph::DType::f16, 1, true}, wgmma(64)), "") << "columns beyond the buffer";
  EXPECT_EQ(selected({64, 64, 4, graph::DType::f16, 1, false, 2}, wgmma(64)), "")
      << "partial results of two slices of K";
  EXPECT_EQ(selected({64, 64, 4}, wgmma(64), target::find("sm_80")), "") << "sm_80 has no stmatrix";
  kernel::Kernel k = storing({64, 64, 4}, wgmma(64));
  const Instruction& x4 = *target::matrix_stores(hopper()).front();
  kernel::Work t;
  t.kind = kernel::WorkKind::to_shared, t.node = 1, t.context = 0, t.tensor = 0;
  EXPECT_EQ(selection::no_matrix_store(k, t, x4), "");
  k.rmem[0].layout = kernel::blocked_layout({64, 64}, 1, 2, 128);
  EXPECT_EQ(selection::no_matrix_store(k, t, x4), "the work stores no accumulators");
  // Rows of accumulators that are dealt to the lanes otherwise.
  k = storing({64, 64, 4}, wgmma(64));
  std::vector<kernel::Mode> lanes = kernel::modes(values::View(k.rmem[0].layout.share)[0]);
  std::swap(lanes[0], lanes[1]);
  k.rmem[0].layout.share =
      bundle(ValueKind::layout, kernel::layout(lanes), Value(values::View(k.rmem[0].layout.share)[1]),
             Value(values::View(k.rmem[0].layout.share)[2]));
  EXPECT_EQ(selection::no_matrix_store(k, t, x4),
            "the 32 values of a thread are not the elements that SM90_U32x4_STSM_N stores, 8 at a time");
}

// The rows that the instructions of a work write, each 16 bytes at a multiple of 16, are its buffer.
TEST(MatrixStores, WriteEachElementOnce) {
  int stores = 0;
  const auto check = [&](const std::string& name, const kernel::Kernel& k) {
    for (const kernel::Work& w : kernel::works(k)) {
      if (!w.copy.by_matrices()) continue;
      ++stores;
      const kernel::SmemTensor& b = k.tensors[w.tensor];
      std::vector<int> written(static_cast<std::size_t>(graph::size(b.padded)));
      selection::for_each_matrix(k.layout_of(w), *w.copy.row, [&](int, const kernel::WarpAccess& rows) {
        for (graph::Shape at : rows) {
          const std::int64_t first = b.address(at);
          EXPECT_EQ(first % 16, 0) << name << " " << b.name << " " << graph::to_string(at);
          for (int i = 0; i < 8; ++i, ++at[b.inner]) {
            ASSERT_EQ(b.address(at), first + std::int64_t{2} * i)
                << name << " " << b.name << " " << graph::to_string(at);
            ++written[static_cast<std::size_t>(kernel::linear(at, b.padded))];
          }
        }
      });
      EXPECT_EQ(std::ranges::count(written, 1), std::ssize(written)) << name << " " << b.name;
    }
  };
  for_each_kernel([&](const std::string& name, const kernel::Kernel& k, const Plan&) { check(name, k); });
  for (const auto& [m, n, threads, swap] :
       {std::tuple{128, 256, 256, false}, {256, 128, 256, false}, {128, 80, 256, true}, {64, 24, 128, true}}) {
    graph::Builder b("product");
    b.output(matmul(b.input("A", {1024, 512}), b.input("B", {512, 1024}, graph::DType::f16, {1, 512})), "C");
    PlanOptions options;
    options.tiling = {{.op = 0, .product = retile::MatmulTile{m, n, 64, threads, swap}}};
    const Plan plan = test::make_plan(b.build(), hopper(), options);
    const int before = stores;
    check(fmt::format("{} x {}", m, n), plan.kernels.at(0));
    EXPECT_EQ(stores, before + 1) << m << " x " << n << (swap ? " swapped" : "");
  }
}

}  // namespace
}  // namespace zellige::plan
