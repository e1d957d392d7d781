// Programs with sizes are planned and proved for all values; what breaks a proof for one value alone is rejected.
#include "plan/plan.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "cases.hpp"
#include "fuse/fuse.hpp"
#include "fuse/separate.hpp"
#include "graph/error.hpp"

namespace zellige::plan {
namespace {

using test::SizedCase;

Plan planned(const SizedCase& c, const char* target_name, bool fused) {
  const target::Target& target = target::find(target_name);
  const graph::KernelGraph given = c.graph(test::largest(c.sizes));
  const graph::KernelGraph g = fused ? fuse::optimize(given, target).graph : fuse::separate(given, target);
  return make_plan(g, target, {.sizes = test::of_graph(c, g)});
}

TEST(Sizes, AreProvedForAllValues) {
  std::string refused;
  for (const SizedCase& c : test::sized_cases())
    for (const char* target : {"sm_80", "sm_90a"})
      for (const bool fused : {true, false}) {
        try {
          planned(c, target, fused);
        } catch (const std::exception& e) {
          refused += fmt::format("{} on {}{}: {}\n", c.name, target, fused ? ", fused" : "", e.what());
        }
      }
  EXPECT_EQ(refused, "");
}

/// Returns the sentence with which the proofs reject a plan after a change of it; "" if they do not.
std::string rejected(Plan plan, const char* target, const std::function<void(Plan&)>& change) {
  change(plan);
  try {
    proved(std::move(plan), target::find(target), false);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

SizedCase named(std::string_view name) {
  for (SizedCase& c : test::sized_cases())
    if (c.name == name) return std::move(c);
  fail("no case is called {}", name);
}

/// Calls visit for the loops of all warp roles.
void each_loop(Plan& plan, const std::function<void(kernel::Loop&)>& visit) {
  for (kernel::Kernel& k : plan.kernels)
    for (kernel::Agent& agent : k.agents)
      kernel::walk(agent.steps, [&](kernel::Step& step, const kernel::StepPosition&) {
        if (kernel::Loop* loop = kernel::as<kernel::Loop>(step)) visit(*loop);
      });
}

void each_cut(Plan& plan, const std::function<void(tile::Node&, tile::Cut&)>& visit) {
  for (kernel::Kernel& k : plan.kernels)
    for (tile::Node& n : k.program.nodes)
      for (tile::Cut& cut : n.view.cuts) visit(n, cut);
}

TEST(Sizes, ABrokenLoopIsRejected) {
  const Plan good = planned(named("long K of a product"), "sm_80", true);
  EXPECT_EQ(rejected(good, "sm_80", [](Plan&) {}), "");
  const auto unbounded = [](kernel::Loop::Kind kind) {
    return [kind](Plan& p) { each_loop(p, [&](kernel::Loop& l) { l.bounded = l.bounded && l.kind != kind; }); };
  };
  EXPECT_EQ(rejected(good, "sm_80", unbounded(kernel::Loop::iterations)),
            "sized_k0: block has a loop from 0 to 4 whose bounds do not depend on a size; the number of iterations is "
            "known at "
            "launch");
  EXPECT_EQ(rejected(good, "sm_80", [](Plan& p) { p.kernels[0].program.loop = 3; }).substr(0, 10), "sized_k0: ");
}

TEST(Sizes, WhatHoldsForTheLargestAloneIsRejected) {
  const Plan product = planned(named("long K of a product"), "sm_80", true);
  EXPECT_EQ(rejected(product, "sm_80",
                     [](Plan& p) {
                       each_cut(p, [](tile::Node&, tile::Cut& cut) { cut.overhang = cut.overhang && cut.size < 0; });
                     }),
            "sized_k0: the tiles of load A reach element 256*ceil(K/256) of dimension 1, which has K, and nothing "
            "guards them");
  const Plan softmax = planned(named("softmax of named rows"), "sm_80", true);
  EXPECT_EQ(rejected(softmax, "sm_80",
                     [](Plan& p) {
                       for (kernel::Kernel& k : p.kernels)
                         for (tile::Node& n : k.program.nodes) n.length_size = -1;
                     })
                .substr(0, 11),
            "sized_k0: %");
  const Plan norm = planned(named("norm of named rows"), "sm_80", true);
  EXPECT_EQ(
      rejected(norm, "sm_80",
               [](Plan& p) { each_cut(p, [](tile::Node&, tile::Cut& cut) { cut.multiple = cut.size < 0 ? 1 : 8; }); }),
      "sized_k0: dimension 1 of x is N, a multiple of 1, and its tiles take 8 for granted");
}

TEST(Sizes, WhatStaysAConstantIsRefusedInOneSentence) {
  using graph::TensorHandle;
  const auto message = [](tile::SizeList sizes,
                          const std::function<TensorHandle(graph::Builder&)>& body) -> std::string {
    graph::Builder b("g");
    b.output(body(b), "out");
    const SizedCase c{"g", std::move(sizes), [g = b.build()](const tile::ValuesBySize&) { return g; }};
    try {
      planned(c, "sm_80", false);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const auto rows = [](std::int64_t high, std::vector<std::pair<int, int>> of) {
    return tile::SizeList{{.name = "T", .high = high, .of = std::move(of)}};
  };
  EXPECT_EQ(message(rows(64, {{0, 0}}),
                    [](graph::Builder& b) {
                      return slice(b.input("x", {64, 32}), 0, 8, 64);
                    }),
            "g_k0: T-8 may be 0, and blocks run one iteration at least");
  EXPECT_EQ(message(rows(20000, {{0, 1}}),
                    [](graph::Builder& b) {
                      return layer_norm(b.input("x", {3, 20000}), 1e-5);
                    }),
            "g: s3 divides sums along T by 2000, the elements of a block's part, which the last block has not");
  EXPECT_EQ(message(rows(64, {{0, 0}}),
                    [](graph::Builder& b) {
                      const std::vector<TensorHandle> of{b.input("x", {64, 32}), b.input("y", {64, 32})};
                      return of[0] + of[1];
                    }),
            "g: y is seen as y_flat: dimension 0 of y is T, too");
}

}  // namespace
}  // namespace zellige::plan
