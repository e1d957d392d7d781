// Independent branches: n of them cost n times one, for any n, with or without a shared input.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "../all_cases.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::TensorHandle;

constexpr std::int64_t rows = 64, columns = 512;

/// The operators of a branch, in order.
std::vector<int> random_branch(std::mt19937_64& random) {
  std::vector<int> steps(1 + random() % 4);
  for (int& s : steps) s = static_cast<int>(random() % 6);
  return steps;
}

TensorHandle appended(Builder& b, TensorHandle x, const std::vector<int>& steps, const std::string& weight) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    switch (steps[i]) {
      case 0:
        x = exp(x);
        break;
      case 1:
        x = mul_scalar(x, 0.5);
        break;
      case 2:
        x = x + silu(x);
        break;
      case 3:
        x = softmax(x, 1);
        break;
      case 4:
        x = matmul(x, b.input(weight + std::to_string(i), {columns, columns}));
        break;
      default:
        x = rms_norm(x, 1e-5);
        break;
    }
  }
  return x;
}

/// `known`: costs, which no count depends on.
Optimized planned(const std::vector<int>& steps, int branches, bool shared, candidate::CostCache& known) {
  Builder b("branches");
  TensorHandle all{};
  if (shared) all = b.input("x", {rows, columns});
  for (int i = 0; i < branches; ++i) {
    const std::string n = std::to_string(i);
    const TensorHandle x = shared ? all : b.input("x" + n, {rows, columns});
    b.output(appended(b, x, steps, "w" + n + "_"), "y" + n);
  }
  return optimize(b.build(), target::find("sm_90a"), known);
}

double estimate_cost(const Optimized& o) {
  double us = 0;
  for (const FusedKernel& k : o.kernels) us += k.estimated_us;
  return us;
}

class Branches : public testing::TestWithParam<int> {};

TEST_P(Branches, CostNTimesOne) {
  std::mt19937_64 random(static_cast<std::uint64_t>(GetParam()));
  const std::vector<int> steps = random_branch(random);
  candidate::CostCache known;
  for (const bool shared : {false, true}) {
    const Optimized one = planned(steps, 1, shared, known);
    std::map<int, SearchWork> of;
    constexpr int maximum = 64;
    for (int n = 2; n <= maximum; n *= 2) {
      const Optimized o = planned(steps, n, shared, known);
      of[n] = o.work;
      const std::string what = fmt::format("{} branches, {}", n, shared ? "one input" : "an input each");
      EXPECT_LE(estimate_cost(o), n * estimate_cost(one) * 1.001) << what;
      if (estimate_cost(o) > n * estimate_cost(one) * (1 - target::find("sm_90a").costs.search.tie))
        EXPECT_LE(o.kernels.size(), static_cast<std::size_t>(n) * one.kernels.size()) << what;
      fmt::print("{}: {} groups, {} kinds, {} plans, {} states, {} kernels, {:.1f} us\n", what, o.work.groups,
                 o.work.kinds, o.work.plans, o.work.states, o.kernels.size(), estimate_cost(o));
    }
    EXPECT_LE(of[maximum].plans, 24 * (steps.size() + 4));
    const SearchWork &few = of[maximum / 4], &twice = of[maximum / 2], &all = of[maximum];
    const auto expect_linear = [&](const char* what, std::size_t SearchWork::*count) {
      const std::size_t more = twice.*count - std::min(few.*count, twice.*count);
      const std::size_t steady = twice.*count + 2 * more;
      EXPECT_LE(all.*count, steady + steady / 10) << what << (shared ? ", one input" : "");
    };
    expect_linear("groups", &SearchWork::groups);
    expect_linear("states", &SearchWork::states);
    // A group may span branches of one input, one per operator: 16, or unions of such groups.
    EXPECT_LE(all.kinds, shared ? twice.kinds + twice.kinds / 10 + maximum / 16 : of[2].kinds);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Branches, testing::Range(1, test::all_cases() ? 41 : 7));

/// Readers of one result that nothing reads may swap places: what of them is in no union has no gaps.
TEST(Readers, OfOneResultTakeAStateEach) {
  candidate::CostCache known;
  const std::vector<int> scaled_exp{1, 0}, residual_silu{2};
  for (const std::vector<int>& steps : {scaled_exp, residual_silu})
    for (const int n : {8, 16, 32, 64, 128}) {
      const Optimized o = planned(steps, n, true, known);
      EXPECT_LE(o.work.states, static_cast<std::size_t>(n + 1)) << n << " readers";
    }
}

}  // namespace
}  // namespace zellige::fuse
