// The numbers of an account are those of the plan, its expected time, its manifest and its predicted counters.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiled.hpp"
#include "explain/alternatives.hpp"
#include "explain/bound.hpp"
#include "explain/page.hpp"
#include "explain/sass.hpp"
#include "kernel/evaluated_layout.hpp"
#include "predict/predict.hpp"
#include "retile/tiling.hpp"
#include "zellige/emulate/counter_names.hpp"

namespace zellige::explain {
namespace {

const char* const files[] = {"layers/llama_decode.json", "layers/plain_attention.json", "layers/residual_rms_norm.json",
                             "gemm.json"};

TEST(Accounts, NumbersAreThoseOfThePlan) {
  for (const char* file : files) {
    const Explained& e = explained(file);
    const emit::EmittedProgram& p = e.compiled.program;
    ASSERT_EQ(e.account.launches.size(), p.manifest.kernels.size()) << file;
    EXPECT_EQ(e.account.us, p.cost.us);
    std::size_t kernel = 0;
    for (std::size_t l = 0; l < e.account.launches.size(); ++l) {
      const LaunchAccount& a = e.account.launches[l];
      const cost::KernelCost& c = p.cost.kernels[l];
      const manifest::KernelLaunch& m = p.manifest.kernels[l];
      EXPECT_EQ(a.us, c.us);
      EXPECT_EQ(a.dram_bytes, c.dram_bytes);
      EXPECT_EQ(a.shared_bytes, m.shared_bytes);
      const double times[] = {c.launch, c.first, c.dram, c.l2, c.shared, c.tensor, c.issue, c.latency};
      ASSERT_EQ(a.resources.size(), std::size(times));
      for (std::size_t r = 0; r < std::size(times); ++r) EXPECT_EQ(a.resources[r].us, times[r]) << a.resources[r].name;
      for (const KernelAccount& k : a.kernels) {
        std::vector<std::pair<std::string, std::uint64_t>> counters;
        for (const auto& [counter, n] : predict::predict(p.plan.kernels[kernel]))
          if (n > 0) counters.emplace_back(std::string(emulate::name(counter)), n);
        EXPECT_EQ(k.counters, counters);
        ASSERT_EQ(k.shared.size(), p.plan.kernels[kernel].tensors.size());
        for (std::size_t t = 0; t < k.shared.size(); ++t) {
          EXPECT_EQ(k.shared[t].offset, p.plan.kernels[kernel].tensors[t].offset);
          EXPECT_EQ(k.shared[t].bytes, p.plan.kernels[kernel].tensors[t].bytes());
        }
        ++kernel;
      }
    }
    EXPECT_EQ(kernel, p.plan.kernels.size());
  }
}

TEST(Accounts, LimitsAreBelowExpectedTimes) {
  for (const char* file : files) {
    const Account a = explained(file).account;
    EXPECT_GT(a.limit_us, 0) << file;
    EXPECT_LT(a.limit_us, a.us) << file;
  }
}

TEST(Accounts, FlopsOfMatmuls) {
  const auto flops = [](const char* file) {
    double all = 0;
    for (const OperatorAccount& op : explained(file).account.given.operators) all += op.flops;
    return all;
  };
  EXPECT_EQ(flops("gemm.json"), 2.0 * 384 * 512 * 512);  // a custom operator: 12 blocks, 8 iterations
  // One row of Llama 3 8B: q, k and v; scores and values of 4096 keys; the output; gate, up and down.
  EXPECT_EQ(flops("layers/llama_decode.json"),
            2.0 * (4096.0 * 6144 + 2.0 * 32 * 128 * 4096 + 4096.0 * 4096 + 3.0 * 4096 * 14336));
}

TEST(Accounts, WhatBoundsALaunch) {
  const target::Target& t = target::find("sm_90a");
  cost::KernelCost k{.name = "k", .launched = 132};
  k.dram_bytes = 41e6;
  k = cost::time_of(k, t);
  EXPECT_EQ(of_launch(k, t).bound, fmt::format("DRAM takes 10.0 us of {:.1f}: 41.0 MB at 4100 GB/s", k.us));
  k.slots = 1e6;
  k = cost::time_of(k, t);
  EXPECT_EQ(of_launch(k, t).bound,
            fmt::format("Issue slots take {:.1f} us of {:.1f}: 1000000 warp instructions a block", k.issue, k.us));
}

TEST(Accounts, OtherTilingsAreThoseOfTheirPlans) {
  const Explained& e = explained("gemm.json", "sm_90a", 3);
  ASSERT_FALSE(e.account.alternatives.empty());
  for (const Alternative& o : e.account.alternatives) {
    plan::PlanOptions with{.tiles = plan::TilingPolicy::fixed,
                           .tiling = retile::parse_tiling(o.tiling, "an alternative")};
    const emit::EmittedProgram p = run::transpile(e.compiled.program.graph, target::find("sm_90a"), with);
    EXPECT_NEAR(p.cost.us, o.us, 1e-9) << o.tiling;
    EXPECT_NE(o.tiling, e.account.own_tiling);
  }
}

TEST(Accounts, TimesAddUp) {
  for (const char* file : files)
    for (const LaunchAccount& l : explained(file).account.launches) {
      double slowest = 0;  // of what overlaps: the launch and the first load do not
      for (std::size_t r = 2; r < l.resources.size(); ++r) slowest = std::max(slowest, l.resources[r].us);
      EXPECT_NEAR(l.resources[0].us + l.resources[1].us + slowest + l.exposed_us, l.us, 1e-9) << l.name;
      EXPECT_GE(l.exposed_us, 0) << l.name;
      EXPECT_TRUE(l.time.starts_with(fmt::format("Of {:.1f} us the launch takes {:.1f}, the first load {:.1f} and ",
                                                 l.us, l.resources[0].us, l.resources[1].us)))
          << l.time;
      EXPECT_NE(l.time.find(fmt::format(" {:.1f}; {:.1f} is what", slowest, l.exposed_us)), std::string::npos)
          << l.time;
    }
}

TEST(Accounts, WaitsAreTheLinesOfThePlanThatHaveReasons) {
  for (const char* file : files)
    for (const LaunchAccount& l : explained(file).account.launches)
      for (const KernelAccount& k : l.kernels) {
        std::size_t next = 0;
        for (std::size_t i = 0; i < k.plan.size(); ++i) {
          if (k.plan[i].reason.empty()) continue;
          ASSERT_LT(next, k.waits.size()) << k.name;
          const WaitAccount& w = k.waits[next++];
          EXPECT_EQ(w.line, static_cast<int>(i) + 1);
          EXPECT_EQ(w.reason, k.plan[i].reason);
          EXPECT_EQ(w.step, k.plan[i].text.substr(k.plan[i].text.find_first_not_of(' ')));
          const bool inside = k.plan[i].text.starts_with("      ");
          EXPECT_EQ(w.where != "before the loop" && w.where != "after the loop", inside) << w.step;
        }
        EXPECT_EQ(next, k.waits.size()) << k.name;
      }
}

TEST(Accounts, WhatALayoutSavesIsOfThePredictedCounters) {
  for (const char* file : files)
    for (const LaunchAccount& l : explained(file).account.launches)
      for (const KernelAccount& k : l.kernels) {
        std::uint64_t all = 0;
        for (const auto& [name, n] : k.counters)
          if (name.ends_with("_wavefronts")) all += n;
        for (const SharedAccount& s : k.shared) {
          ASSERT_FALSE(s.why.empty()) << s.id;
          if (s.wavefronts == 0) continue;
          EXPECT_EQ(s.wavefronts, all) << s.id;
          EXPECT_GE(s.dense, s.wavefronts) << s.id;
          if (s.dense > s.wavefronts)
            EXPECT_NE(s.why.find(fmt::format("take {} wavefronts", all)), std::string::npos) << s.why;
        }
      }
  // The weights of Llama's output product: ldmatrix reads 8 columns of 16 bytes, which without the swizzle lie in the same banks:
  // 8 wavefronts in place of 1, for each of the 256 x 16 / (8 x 8) matrices of a tile, of 256 blocks and 16 iterations.
  const KernelAccount& k = explained("layers/llama_decode.json").account.launches[3].kernels[0];
  const auto weights = std::ranges::find(k.shared, "t20", &SharedAccount::name);
  ASSERT_NE(weights, k.shared.end());
  EXPECT_EQ(weights->dense - weights->wavefronts, 7u * (256 * 16 / 64) * 256 * 16);
}

TEST(Accounts, AsItWasGivenAndRules) {
  const Account& a = explained("layers/llama_decode.json", "sm_90a", 1).account;
  const emit::EmittedProgram separate =
      run::compile(explained("layers/llama_decode.json").graph, target::find("sm_90a"),
                   {.plan = run::tiling_options("", target::find("sm_90a"))})
          .program;
  EXPECT_EQ(a.separate_us, separate.cost.us);
  EXPECT_EQ(a.separate_launches, separate.cost.kernels.size());
  EXPECT_GT(a.separate_us, a.us);
  EXPECT_EQ(a.rules, (std::vector<std::string>{"copied view", "pairs apart"}));
}

TEST(Alternatives, WhatDiffersAndWhy) {
  const auto tiling = [](const char* json) { return retile::parse_tiling(json, "a tiling"); };
  const retile::Tiling own = tiling(R"([{"operator":0,"grid":[96,1,1],"block":[128,1,1],"loop":16}])");
  EXPECT_EQ(difference(own, tiling(R"([{"operator":0,"grid":[96,1,1],"block":[256,1,1],"loop":32}])")),
            "operator 0: loop 32 for 16, 256 threads for 128");
  EXPECT_EQ(difference(own, tiling(R"([{"operator":0,"grid":[48,2,1],"block":[128,1,1],"loop":16}])")),
            "operator 0: grid 48x2x1 for 96x1x1");
  const target::Costs::Search& search = target::find("sm_90a").costs.search;
  EXPECT_EQ(why_not(10, 11.5, false, search), "1.50 us more");
  EXPECT_EQ(why_not(10, 9.5, false, search),
            "0.50 us less, 5.0%: the tiling from the search for kernels is only replaced by one that saves more than "
            "12% and 1 us, "
            "since estimates are not exact");
  EXPECT_EQ(why_not(10, 8, true, search),
            "2.00 us less, 20.0%: the tiling from the search for kernels is only replaced by one with longer loops "
            "that saves more "
            "than 30% and 1 us, since estimates are not exact");
  EXPECT_EQ(why_not(10, 8, false, search), "2.00 us less, 20.0%: it leaves more warps idle");
}

TEST(Sections, OfALoop) {
  EXPECT_EQ(explained("gemm.json").account.launches[0].kernels[0].computes,
            "In each of 8 iterations: matmul (s2). After the loop: add, gelu");
}

TEST(Accounts, AsJson) {
  const Account a = explained("layers/plain_attention.json").account;
  const nlohmann::json j = nlohmann::json::parse(to_json(a));
  EXPECT_EQ(j["us"], a.us);
  EXPECT_EQ(j["launches"].size(), a.launches.size());
  EXPECT_EQ(j["launches"][0]["resources"]["DRAM"], a.launches[0].resources[2].us);
  EXPECT_FALSE(j.contains("measured_us"));
}

TEST(Accounts, RegistersHaveTheElementsOfThePlansLayouts) {
  for (const char* file : files) {
    const Explained& e = explained(file);
    std::size_t kernel = 0, tiles = 0;
    for (const LaunchAccount& l : e.account.launches)
      for (const KernelAccount& k : l.kernels) {
        const kernel::Kernel& planned = e.compiled.program.plan.kernels[kernel++];
        ASSERT_EQ(k.registers.size(), planned.rmem.size());
        for (std::size_t i = 0; i < k.registers.size(); ++i, ++tiles) {
          const RegisterAccount& r = k.registers[i];
          const kernel::EvaluatedLayout layout(planned.rmem[i].layout);
          const int rank = planned.rmem[i].layout.rank();
          ASSERT_EQ(r.thread.size(), std::size_t(r.rows) * std::size_t(r.columns));
          for (int place = 0; place < r.rows * r.columns; ++place) {
            if (r.thread[place] < 0) continue;
            const kernel::Shape at =
                layout.at(r.thread[place], r.value[place] % layout.values(), r.value[place] / layout.values());
            ASSERT_EQ(at[rank - 1], place % r.columns) << r.id;
            if (rank > 1) ASSERT_EQ(at[rank - 2], place / r.columns) << r.id;
          }
        }
      }
    EXPECT_GT(tiles, 0u) << file;
  }
}

TEST(Sass, IsWhatNvdisasmPrintsOfAKernel) {
  const std::string printed =
      "\t.headerflags\t@\"EF_CUDA_SM90\"\n//--------------------- .text.gemm_k0 ---\n"
      "\t.section\t.text.gemm_k0,\"ax\",@progbits\n\t.align\t128\n.text.gemm_k0:\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n.L_x_0:\n        /*0010*/                   BRA "
      "`(.L_x_0) ;\n"
      "\t.section\t.nv.info,\"\"\n        /*0000*/ nothing\n";
  const auto found = instructions_by_kernel(printed);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at("gemm_k0"),
            "/*0000*/                   LDC R1, c[0x0][0x28] ;\n.L_x_0:\n/*0010*/                   BRA `(.L_x_0) ;\n");
  Account a = explained("gemm.json").account;
  add_sass(a, found);
  EXPECT_EQ(a.launches[0].kernels[0].sass, found.at("gemm_k0"));
  EXPECT_NE(page(a).find("aria-label=\"SASS\""), std::string::npos);
  std::string line = "/*0000*/ NOP ;\n", many;
  for (int i = 0; i < 100'000; ++i) many += line;
  add_sass(a, {{"gemm_k0", many}});
  EXPECT_TRUE(a.launches[0].kernels[0].sass.ends_with(" NOP ;\n...\n"));
  EXPECT_LT(page(a).size(), 2u << 20);
  EXPECT_EQ(page(explained("gemm.json").account).find("aria-label=\"SASS\""), std::string::npos);
}

}  // namespace
}  // namespace zellige::explain
