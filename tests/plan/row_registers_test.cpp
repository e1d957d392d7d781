// Rows in registers: which thread has which elements, which kernels have them, and that the proof of registers notices
// every value that is missing.
#include "selection/row_registers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "../unfused.hpp"
#include "graph/builder.hpp"
#include "graph/error.hpp"
#include "ir/ir.hpp"
#include "kernel/evaluated_layout.hpp"
#include "plan/plan.hpp"
#include "steps_of.hpp"
#include "target/target.hpp"
#include "verify/proofs.hpp"

namespace zellige::plan {
namespace {

TEST(RowSummation, OfRandomTilesTakesEachElementOnceInTheWarpsOfItsRow) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int taken = 0, several = 0;  // layouts; those with several warps per row
  for (int i = 0; i < 400; ++i) {
    const int vector = 1 << below(4), threads = 32 << below(4);
    const graph::Shape domain{1 + below(3), 1 + below(12), 2 + below(1100)};
    const std::optional<kernel::Summation> s = selection::row_summation(domain, vector, 2, 1 + below(2), threads);
    if (!s) continue;
    ++taken;
    const kernel::Context c = kernel::summands(*s);
    const std::string where =
        fmt::format("{} by {} in {} threads: {}", graph::to_string(domain), vector, threads, kernel::print(c));
    EXPECT_LE(c.values(), 32) << where;
    EXPECT_EQ(c.parts(), s->splits) << where;
    EXPECT_EQ(kernel::whole_lines(c), s->splits == 1) << where;
    EXPECT_EQ(kernel::lines_of(kernel::lines(c), c), s->splits == 1) << where;
    std::vector<int> times(static_cast<std::size_t>(graph::size(domain)), 0);
    std::vector<int> warp(static_cast<std::size_t>(domain[0] * domain[1]), -1);
    kernel::for_each(kernel::EvaluatedLayout(c), [&](int thread, int, const graph::Shape& at) {
      if (at.empty() || !kernel::inside(at, domain)) return;
      ++times.at(static_cast<std::size_t>(kernel::linear(at, domain)));
      int& of = warp.at(static_cast<std::size_t>(at[0] * domain[1] + at[1]));
      EXPECT_TRUE(of < 0 || of == thread / 32 / s->splits) << where;
      of = thread / 32 / s->splits;
    });
    EXPECT_TRUE(std::ranges::all_of(times, [](int n) { return n == 1; })) << where;
    several += s->splits > 1;
    if (s->splits > 1) continue;
    // Every lane of a row has its result.
    const kernel::Context results = kernel::lines(c);
    EXPECT_EQ(results.holders(), c.lanes()) << where;
    const kernel::EvaluatedLayout rows(results), all(c);
    kernel::for_each(all, [&](int thread, int value, const graph::Shape& at) {
      if (at.empty()) return;
      graph::Shape row = at;
      row.back() = 0;
      EXPECT_EQ(rows.at(thread, kernel::line_of(c, value)), row) << where;
    });
  }
  EXPECT_GE(taken, 60);
  EXPECT_GE(several, 20);
}

TEST(RowSummation, TakesWideAccessesAndFewShuffles) {
  const auto of = [](const graph::Shape& domain, int vector, int bytes, int threads) {
    const std::optional<kernel::Summation> s = selection::row_summation(domain, vector, bytes, 2, threads);
    return s ? fmt::format("{}{} lanes by {}", s->splits > 1 ? fmt::format("{} x ", s->splits) : "", s->lanes,
                           s->vector)
             : "none";
  };
  EXPECT_EQ(of({4, 1024}, 8, 2, 128), "32 lanes by 8");
  EXPECT_EQ(of({4, 141}, 1, 2, 128), "32 lanes by 1");
  EXPECT_EQ(of({4, 390}, 4, 4, 128), "32 lanes by 2");       // 4 do not divide the row
  EXPECT_EQ(of({128, 3}, 1, 4, 128), "4 lanes by 1");        // adjacent rows are adjacent in memory
  EXPECT_EQ(of({4, 1025}, 1, 4, 128), "none");               // more than 32 elements per thread
  EXPECT_EQ(of({1, 1024}, 8, 2, 128), "4 x 32 lanes by 8");  // in one warp the others would be idle
  EXPECT_EQ(of({2, 4096}, 4, 4, 256), "4 x 32 lanes by 4");
  EXPECT_EQ(of({1, 29119}, 1, 4, 1024), "32 x 32 lanes by 1");
}

/// A softmax, a norm or a sum of `rows` rows of `length` elements.
graph::KernelGraph rows_of(const char* what, std::int64_t rows, std::int64_t length,
                           graph::DType dtype = graph::DType::f16) {
  graph::Builder b(what);
  const auto x = b.input("X", {rows, length}, dtype);
  const std::string name = what;
  b.output(name == "softmax"    ? softmax(x, 1)
           : name == "rms_norm" ? rms_norm(x, b.input("W", {length}, dtype), 1e-5)
                                : mean(x, 1, true),
           "Y");
  return b.build();
}

TEST(RowRegisters, NeedNoSharedMemoryAndNoBarrier) {
  for (const char* target : {"sm_80", "sm_90a"})
    for (const char* what : {"softmax", "rms_norm", "mean"})
      for (std::int64_t length : {100, 141, 256}) {
        const Plan plan = test::make_plan(rows_of(what, 96, length), target::find(target));
        ASSERT_EQ(plan.kernels.size(), 1u);
        const kernel::Kernel& k = plan.kernels[0];
        const std::string where = fmt::format("{} of {} on {}\n{}", what, length, target, ir::print(plan));
        EXPECT_TRUE(k.tensors.empty()) << where;
        EXPECT_EQ(k.shared_bytes, 0) << where;
        for (const kernel::Step& s : k.agents.at(0).steps) EXPECT_FALSE(kernel::as<kernel::Barrier>(s)) << where;
        // Softmax keeps its operand and the exponentials, a norm its operand; the sum reads its operand once.
        const auto in_registers =
            std::ranges::count(kernel::works(k), kernel::WorkKind::to_registers, &kernel::Work::kind);
        EXPECT_EQ(in_registers, std::string(what) == "softmax" ? 2 : std::string(what) == "rms_norm" ? 1 : 0) << where;
      }
}

/// Returns whether a kernel keeps rows in registers, and nothing but results of reductions in shared memory.
bool in_registers(const kernel::Kernel& k) {
  const auto sums = [&](const kernel::SmemTensor& t) {
    return k.program.nodes[static_cast<std::size_t>(t.node)].kind == tile::NodeKind::reduce;
  };
  return std::ranges::count(kernel::works(k), kernel::WorkKind::to_registers, &kernel::Work::kind) > 0 &&
         std::ranges::all_of(k.tensors, sums);
}

TEST(RowRegisters, OfSeveralWarpsExchangeTheResultsOfReductions) {
  for (const char* what : {"softmax", "rms_norm"}) {
    const Plan plan = test::make_plan(rows_of(what, 1, 2000), target::find("sm_90a"));
    const kernel::Kernel& k = plan.kernels.at(0);
    EXPECT_TRUE(in_registers(k)) << ir::print(plan);
    const bool softmax = std::string(what) == "softmax";
    EXPECT_EQ(k.tensors.size(), softmax ? 2u : 1u) << ir::print(plan);
    // One barrier per reduction: before its result is read.
    EXPECT_EQ(std::ranges::count_if(k.agents.at(0).steps,
                                    [](const kernel::Step& s) { return kernel::as<kernel::Barrier>(s); }),
              softmax ? 2 : 1)
        << ir::print(plan);
    // A norm holds its weights, too, if a block has one row.
    EXPECT_EQ(std::ranges::count(kernel::works(k), kernel::WorkKind::to_registers, &kernel::Work::kind), 2)
        << ir::print(plan);
  }
}

TEST(RowRegisters, OfSeveralWarpsAreNotUsedForManyAlignedRows) {
  const auto used = [](std::int64_t rows, std::int64_t length) {
    return in_registers(test::make_plan(rows_of("softmax", rows, length), target::find("sm_90a")).kernels.at(0));
  };
  EXPECT_TRUE(used(64, 2048));
  EXPECT_FALSE(used(8192, 2048));  // copied by 16 bytes; other blocks hide the latency of the copies
  EXPECT_TRUE(used(8192, 2046));   // aligned to 4 bytes
}

std::string verdict(const kernel::Kernel& k) {
  try {
    verify::verify_registers(k);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(RowRegisters, AreRefusedWithoutTheStepThatFillsThem) {
  const Plan plan = test::make_plan(rows_of("softmax", 96, 141), target::find("sm_90a"));
  const kernel::Kernel& k = plan.kernels.at(0);
  EXPECT_EQ(verdict(k), "");
  int removed = 0;
  for (std::size_t i = 0; i < k.agents[0].steps.size(); ++i) {
    const kernel::Step& step = k.agents[0].steps[i];
    if (step.work.node < 0 || step.work.kind == kernel::WorkKind::to_global) continue;
    kernel::Kernel without = k;
    without.agents[0].steps.erase(without.agents[0].steps.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(verdict(without), "") << kernel::describe(step, static_cast<int>(i));
    ++removed;
  }
  EXPECT_EQ(removed, 6);  // two values, two reductions of two steps each
}

TEST(RowRegisters, AreRefusedInAnotherLayoutThanTheReaders) {
  const Plan plan = test::make_plan(rows_of("softmax", 96, 141), target::find("sm_90a"));
  kernel::Kernel k = plan.kernels.at(0);
  const kernel::Work hold = work_of(k, kernel::WorkKind::to_registers);
  ASSERT_GE(hold.node, 0);
  k.rmem.push_back({kernel::blocked_layout(k.layout_of(hold).domain, 1, 1, k.program.threads())});
  change(k, hold, [&](kernel::Step& s) { s.work.context = static_cast<int>(k.rmem.size()) - 1; });
  EXPECT_NE(verdict(k).find("takes it for"), std::string::npos) << verdict(k);
}

}  // namespace
}  // namespace zellige::plan
