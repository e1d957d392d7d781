// Registers: every wrong way to pass a value in them is refused with a message, and no plan of the planner
// is.
#include "plan/registers.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "../unfused.hpp"
#include "chains.hpp"
#include "flat_steps.hpp"
#include "graphs.hpp"
#include "lower/lower.hpp"
#include "plan/agents.hpp"
#include "plan/group.hpp"
#include "plan/pipeline.hpp"
#include "plan/swizzle.hpp"
#include "run/run.hpp"
#include "selection/layouts.hpp"
#include "selection/select.hpp"
#include "steps_of.hpp"
#include "target/instructions.hpp"
#include "verify/proofs.hpp"

namespace zellige::plan {
namespace {

std::string verdict(const kernel::Kernel& plan) {
  try {
    verify::verify_registers(plan);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

// --- the planner -------------------------------------------------------------------------------------------

TEST(Chains, NoneIsRefused) {
  int planned = 0, chained = 0;
  const auto plan = [&](const graph::KernelGraph& g) {
    for (const char* target : {"sm_80", "sm_90a"}) {
      const Plan made = test::make_plan(g, target::find(target));  // verified; an error names the graph
      for (const kernel::Work& w : kernel::works(made.kernels.at(0)))
        chained += w.kind == kernel::WorkKind::mma && made.kernels[0].has_fragments(w.node);
    }
    ++planned;
  };
  for (const ChainShape& s : chains()) plan(chain(s));
  for (int products : {2, 5, 6})
    for (std::int64_t m : {16, 32, 64})
      for (int threads : {64, 128, 256}) plan(chain({m, 32, threads, products}));
  for (std::int64_t keys : {16, 32, 64}) plan(attention_projected(16, keys, 64, 64));
  plan(chain({16, 32, 128, 3}));
  EXPECT_EQ(planned, 480 + 27 + 3 + 1);
  EXPECT_GE(chained, 480);  // and not by giving chains up
}

/// The chain's plan with other warps, set by `choose`, through the passes after selection.
kernel::Kernel planned_with(const graph::KernelGraph& g, const std::function<void(selection::Selection&)>& choose) {
  const target::Target& target = target::find("sm_80");
  tile::TilePrograms program = lower::lower(g, target);
  std::vector<selection::Selection> selected{selection::select(program.kernels.at(0), target)};
  choose(selected[0]);
  selection::resolve_layouts(program, selected, target);
  kernel::Kernel k;
  const selection::Tasks tasks = group(k, selected[0], program, target);
  arrange_buffers(k, tasks, target);
  selection::PhasedTasks phases = pipeline(k, tasks, target, Copies::first);
  slice_fragments(k, tasks, phases);
  build_agents(k, tasks, phases, target);
  return k;
}

// A pair of matmuls was decided without the first one's relation to an earlier one. Every such pair of
// decisions: a middle matmul with A in registers is valid only if no warps split N and rows are split
// equally.
TEST(Chains, EveryWrongSplitIsRefused) {
  int wrong = 0, right = 0;
  for (std::int64_t m : {16, 32, 64})
    for (auto [inner, maximum] : {std::pair{32, 4}, {64, 4}, {128, 8}}) {  // most warps
      const graph::KernelGraph g = chain({m, inner, 32 * maximum, 3});
      for (int m0 = 1; m0 <= maximum && m0 <= m / 16; ++m0)
        for (int n0 = 1; m0 * n0 <= maximum && n0 <= inner / 16; ++n0)
          for (int m1 = 1; m1 <= maximum && m1 <= m / 16; ++m1)
            for (int n1 = 1; m1 * n1 <= maximum && n1 <= inner / 16; ++n1) {
              const kernel::Kernel k = planned_with(g, [&](selection::Selection& s) {
                std::vector<int> ids;
                for (const auto& [id, c] : s.matmuls) ids.push_back(id);
                s.matmuls[ids[0]].warps = {1, m0, n0, 1}, s.matmuls[ids[1]].warps = {1, m1, n1, 1};
                s.matmuls[ids[2]].warps = {1, m1, 1, n1};
                s.fragments_from = {{ids[1], ids[0]}, {ids[2], ids[1]}};
              });
              const bool is_right = n0 == 1 && n1 == 1 && m0 == m1;
              EXPECT_EQ(verdict(k).empty(), is_right) << m << " rows, inner " << inner << ", warps " << m0 << "x" << n0
                                                      << " then " << m1 << "x" << n1 << ": " << verdict(k);
              ++(is_right ? right : wrong);
            }
    }
  EXPECT_GE(wrong, 400);
  EXPECT_GE(right, 10);
}

TEST(Chains, TheOldPlanSaysWhatClashes) {
  const auto old = [](selection::Selection& s) {  // X(16,32) W W W in 128 threads, as it was planned
    int i = 0, before = -1;
    for (auto& [id, c] : s.matmuls) {
      c.warps = i == 2 ? kernel::WarpLayout{1, 1, 1, 2} : kernel::WarpLayout{1, 1, 2, 1};
      if (before >= 0) s.fragments_from[id] = before;
      before = id, ++i;
    }
  };
  EXPECT_EQ(verdict(planned_with(chain({16, 32, 128, 3}), old)),
            "chain_16x32_128threads_3products_k0: value 0 of thread 32 is (0, 16) of %3 after 'to operand "
            "%3', and 'mma %4' takes "
            "it for (0, 0)");
  const auto half =
      [](selection::Selection& s) {  // one warp after two: its own fragments are right, the other's are lost
        int i = 0, before = -1;
        for (auto& [id, c] : s.matmuls) {
          c.warps = {1, 1, i == 0 ? 2 : 1, 1};
          if (before >= 0) s.fragments_from[id] = before;
          before = id, ++i;
        }
      };
  EXPECT_EQ(verdict(planned_with(chain({16, 32, 128, 3}), half)),
            "chain_16x32_128threads_3products_k0: value 0 of thread 32 is (0, 16) of %3 after 'to operand "
            "%3', and 'mma %4' "
            "multiplies that element 0 times: its warps take K in 1 parts, 'to operand %3' leaves it in 2");
}

TEST(Chains, ARowThatWasNotSelectedIsRefused) {
  kernel::Kernel k = planned_with(chain({16, 32, 32, 3}), [](selection::Selection&) {});
  ASSERT_EQ(verdict(k), "");
  const Instruction* other = target::find_instruction(target::find("sm_80"), "SM80_16x8x8_F32F16F16F32_TN");
  for (auto& [c, nodes] : k.rmem)
    if (c.row) c = kernel::accumulators(c.domain, kernel::warps(c), *other);
  EXPECT_NE(verdict(k).find("leaves its accumulators as SM80_16x8x8_F32F16F16F32_TN does, "
                            "SM80_16x8x16_F32F16F16F32_TN was selected"),
            std::string::npos)
      << verdict(k);
}

// --- mutated plans -----------------------------------------------------------------------------------------

/// Changes how the kernel multiplies.
void change_products(kernel::Kernel& k, const std::function<void(kernel::MatmulChoice&)>& how) {
  for (const kernel::Work& work : kernel::works(k))
    if (work.kind == kernel::WorkKind::mma) change(k, work, [&](kernel::Step& s) { how(s.work.matmul); });
}

/// After the other steps between the same two barriers.
void move_last(kernel::Kernel& k, const kernel::Work& work) {
  std::vector<kernel::Step> steps = flat(k.agents.at(0).steps);
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].work == work && !kernel::as<kernel::Start>(steps[i]))
      for (; i + 1 < steps.size() && kernel::as<kernel::Compute>(steps[i + 1]); ++i) std::swap(steps[i], steps[i + 1]);
  k.agents[0].steps = nested(steps);
}

TEST(Mutated, PlansAreRefusedInWords) {
  const graph::KernelGraph g = chain({32, 32, 64, 3, true});
  const kernel::Kernel good = test::make_plan(g, target::find("sm_80")).kernels.at(0);
  ASSERT_EQ(verdict(good), "");
  const kernel::Work operand = work_of(good, kernel::WorkKind::to_operand),
                     first = work_of(good, kernel::WorkKind::mma), last = work_of(good, kernel::WorkKind::mma, 2);
  const auto mutated = [&](const std::function<void(kernel::Kernel&)>& change) {
    kernel::Kernel bad = good;
    change(bad);
    return verdict(bad);
  };
  const std::string name = "chain_32x32_64threads_3products_maps_k0: ";
  EXPECT_EQ(mutated([&](kernel::Kernel& k) { move_last(k, operand); }),
            name + "'mma %5' takes %4 as fragments, which no step before it in this section leaves in registers");
  EXPECT_EQ(mutated([&](kernel::Kernel& k) { move_last(k, first); }),
            name + "'to operand %4' reads %2 in registers, where no step before it in this section leaves it");
  EXPECT_EQ(mutated([&](kernel::Kernel& k) {
              kernel::Context other = k.layout_of(operand);
              other = kernel::accumulators(other.domain, {1, 1, 2, 1}, *other.row);
              k.rmem.push_back({other});
              change(k, operand, [&](kernel::Step& s) { s.work.context = static_cast<int>(k.rmem.size()) - 1; });
            }),
            name + "'to operand %4' reads %2, which lies neither in its registers nor in shared memory");
  EXPECT_EQ(mutated([&](kernel::Kernel& k) {
              change(k, last, [](kernel::Step& s) { s.work.matmul.warps = {1, 1, 1, 2}; });
            }),
            name + "'mma %8' runs under warps 1x2x1x1, 1x1x1x2 were selected (batch, M, N, K)");
  EXPECT_EQ(mutated([&](kernel::Kernel& k) {
              kernel::Context& c = k.rmem[first.context].layout;
              c = kernel::accumulators(c.domain, kernel::warps(c), *c.row, 2);
            }),
            name +
                "'to operand %4' leaves %4 in accumulators of (32, 32) under warps 1x2x1 (batch, M, N), 2 "
                "slices of N, which are no "
                "fragments of (32, 32)");
}

TEST(Mutated, LoopsAreRefusedInWords) {
  const kernel::Kernel good = test::make_plan(example("attention"), target::find("sm_80")).kernels.at(0);
  ASSERT_EQ(verdict(good), "");
  const std::string name = good.program.name + ": ";
  kernel::Kernel bad = good;  // the fragments of P after the loop
  const kernel::Work operand = work_of(good, kernel::WorkKind::to_operand);
  auto& steps = bad.agents.at(0).steps;
  steps = flat(steps);
  const auto at = std::find_if(steps.begin(), steps.end(), [&](const kernel::Step& s) { return s.work == operand; });
  std::rotate(at, at + 1, std::find_if(at, steps.end(), is_end) + 1);
  steps = nested(steps);
  EXPECT_EQ(verdict(bad),
            name + "'mma %13' takes %12 as fragments, which no step before it in this section leaves in registers");
  bad = good;  // the running maximum after its readers
  move_last(bad, work_of(good, kernel::WorkKind::accumulate));
  EXPECT_EQ(verdict(bad),
            name + "'to lines %11' reads %8 in registers, where no step before it in this section leaves it");
  bad = good;  // of what the loop leaves, in the loop
  const auto loop = std::ranges::find_if(bad.agents[0].steps, [](const kernel::Step& s) {
    const kernel::Loop* l = kernel::as<kernel::Loop>(s);
    return l && l->kind == kernel::Loop::iterations;
  });
  kernel::as<kernel::Loop>(*loop)->body.push_back(bad.agents[0].steps.back());
  EXPECT_EQ(verdict(bad), name + "'to global %18' belongs after the loop and runs inside");
}

// Row sums in registers are refused if read as another row's, if never written, or if warps share the rows.
TEST(Mutated, RowsAreRefusedInWords) {
  const auto attention = std::find_if(golden_graphs().begin(), golden_graphs().end(),
                                      [](const GoldenGraph& g) { return g.name == "hopper_attention"; });
  const kernel::Kernel good = test::make_plan(attention->graph(), target::find("sm_80")).kernels.at(0);
  ASSERT_EQ(verdict(good), "");
  const std::string name = good.program.name + ": ";
  const auto rows = std::ranges::find_if(good.rmem, [](const kernel::RmemTensor& r) { return r.layout.replicated(); });
  ASSERT_NE(rows, good.rmem.end());
  const kernel::Context& lanes = rows->layout;
  const auto at = static_cast<std::size_t>(rows - good.rmem.begin());
  const kernel::Work product = work_of(good, kernel::WorkKind::mma), sum = work_of(good, kernel::WorkKind::finish);
  ASSERT_LT(sum.tensor, 0);

  kernel::Kernel bad = good;  // added up after its readers
  move_last(bad, sum);
  EXPECT_EQ(verdict(bad),
            name + "'accumulate %7' reads %5 in registers, where no step before it in this section leaves it");
  bad = good;  // each lane for a row of its own
  bad.rmem[at].layout.share = kernel::blocked_layout(lanes.domain, {1, 0, 2}, 1, lanes.threads()).share;
  EXPECT_EQ(verdict(bad), name +
                              "value 1 of thread 0 is no element of %5 after 'finish %5', and 'finish %5' "
                              "takes it for (0, 8, 0)");
  bad = good;  // one warp's rows alone
  bad.rmem[at].layout =
      kernel::lines(kernel::accumulators({1, lanes.domain[1], 16}, {.m = 1}, *good.layout_of(product).row));
  EXPECT_EQ(verdict(bad), name +
                              "value 0 of thread 32 is no element of %5 after 'finish %5', and 'finish %5' "
                              "takes it for (0, 16, 0)");
  bad = good;  // rows that warps share
  for (auto& [c, nodes] : bad.rmem)
    if (c.row) c = kernel::accumulators(c.domain, {1, 1, 2, 1}, *c.row);
  change_products(bad, [](kernel::MatmulChoice& m) { m.warps = {1, 1, 2, 1}; });
  EXPECT_EQ(verdict(bad),
            name + "'finish %5' leaves %5 in registers, where each has a sum over one of 2 parts of a row");
}

// The other of a pair in another register, or in another thread: refused.
TEST(Mutated, PairsAreRefusedInWords) {
  const auto rotated = std::ranges::find(golden_graphs(), "hopper_turned", &GoldenGraph::name);
  const kernel::Kernel good = test::make_plan(rotated->graph(), target::find("sm_90a")).kernels.at(0);
  ASSERT_EQ(verdict(good), "");
  const std::string name = good.program.name + ": ";
  kernel::Kernel bad = good;  // batches run before columns
  for (auto& [c, nodes] : bad.rmem) {
    if (!c.row) continue;
    const values::View share = c.share;
    std::vector<kernel::Mode> of_value = kernel::modes(share[1]);
    std::swap(of_value.back(), of_value[of_value.size() - 3]);
    c.share = bundle(ValueKind::layout,
                     bundle(ValueKind::layout, kernel::layout(kernel::modes(share[0][0])),
                            kernel::layout(kernel::modes(share[0][1]))),
                     kernel::layout(of_value), kernel::layout(kernel::modes(share[2])));
  }
  EXPECT_EQ(verdict(bad), name +
                              "value 16 of thread 0 is (0, 0, 0, 16) of %2 after 'mma %2', and 'to shared %7' "
                              "takes it for (0, 1, 0, 0)");
  bad = good;  // a warp has one of them
  for (auto& [c, nodes] : bad.rmem)
    if (c.row) c = kernel::accumulators(c.domain, {.b = 2, .m = 4}, *c.row);
  change_products(bad, [](kernel::MatmulChoice& m) { m.warps = {.b = 2, .m = 4}; });
  EXPECT_EQ(verdict(bad), name +
                              "'mma %2' leaves its accumulators as SM80_16x8x16_F32F16F16F32_TN does, "
                              "SM90::GMMA::MMA_64x128x16_F32F16F16_SS was selected");
}

// A product that splits K leaves a part of each sum in each warp: nobody but the spill may read it there.
TEST(Mutated, PartialSumsAreNotRead) {
  kernel::Kernel bad = test::make_plan(example("lora"), target::find("sm_80")).kernels.at(0);
  for (const kernel::Work& t : kernel::works(bad))
    if (t.kind == kernel::WorkKind::to_shared && bad.program.nodes[t.node].kind == tile::NodeKind::round) {
      const int product = bad.program.nodes[t.node].in[0];
      for (const kernel::Work& m : kernel::works(bad))
        if (m.kind == kernel::WorkKind::mma && m.node == product)
          bad.rmem[m.context].nodes.push_back(product),
              change(bad, t, [&](kernel::Step& s) { s.work.context = m.context; });
    }
  EXPECT_EQ(verdict(bad),
            "lora_0_k0: 'to shared %6' reads %5 in registers, where 'mma %5' leaves partial results over one of 4 "
            "parts of K in each");
}

// Another warp layout for one product of any plan, whose readers keep the old one, is refused.
TEST(Mutated, AContextOfAnotherLayoutIsRefused) {
  int changed = 0;
  for (const GoldenGraph& g : golden_graphs())
    for (const kernel::Kernel& good : test::make_plan(g.graph(), target::find("sm_80")).kernels) {
      ASSERT_EQ(verdict(good), "") << g.name;
      for (const kernel::Work& work : kernel::works(good)) {
        if (work.kind != kernel::WorkKind::mma || work.matmul.warps.count() < 2) continue;
        kernel::Kernel bad = good;
        const kernel::Context& was = good.layout_of(work);
        kernel::WarpLayout w = kernel::warps(was);
        std::swap(w.n, w.m);
        if (w == kernel::warps(was)) std::swap(w.n, w.k);
        if (w == kernel::warps(was)) continue;
        const kernel::Context other = kernel::accumulators(was.domain, w, *was.row);
        bad.rmem.push_back({other});
        change(bad, work, [&](kernel::Step& s) {
          s.work.matmul.warps = w, s.work.context = static_cast<int>(bad.rmem.size()) - 1;
        });
        EXPECT_NE(verdict(bad), "") << g.name << ": " << good.program.name << " %" << work.node;
        ++changed;
      }
    }
  EXPECT_GE(changed, 10);
}

/// Copies of both operands into aligned rows, and the matmul.
graph::KernelGraph odd_lines() {
  graph::Builder b("odd_lines");
  const graph::TensorHandle A = b.input("A", {64, 768}, graph::DType::f16, {777, 1}),
                            B = b.input("B", {768, 512}, graph::DType::f16, {513, 1});
  const auto loop = [&](graph::BlockBuilder& t) {
    t.store(accum(matmul(t.load(A, {.loop = 1}), t.load(B, {.x = 1, .loop = 0}))), {.x = 1});
  };
  b.output(b.custom({.grid = {4}, .block = {128}, .loop = 12}, loop).at(0), "C");
  return b.build();
}

// Values stored as loaded stay with the threads that load them: no shared memory, no barrier, and all loads
// first.
TEST(Fetch, LoadsAllBeforeItStoresAny) {
  const kernel::Kernel k = test::make_plan(odd_lines(), target::find("sm_90a")).kernels.at(0);
  ASSERT_EQ(k.program.name, "odd_lines_k0_copy");
  EXPECT_EQ(k.shared_bytes, 0);
  std::string order;
  for (const kernel::Step& s : flat(k.agents.at(0).steps))
    order += s.work.node < 0 ? fmt::format("{}; ", kernel::name(s)) : fmt::format("{}; ", kernel::name(s.work.kind));
  EXPECT_EQ(order, "griddep_wait; fetch; fetch; to global; to global; ");
}

// At most eight chunks of a thread are in flight in its registers; the rest goes through shared memory.
TEST(Fetch, LeavesRoomInRegisters) {
  graph::Builder b("copies");
  std::vector<graph::TensorHandle> x;
  for (const char* name : {"A", "B", "C"}) x.push_back(b.input(name, {8, 1024}, graph::DType::f16, {1025, 1}));
  const auto out = b.custom({.grid = {}, .block = {256}, .loop = 1}, [&](graph::BlockBuilder& t) {
    for (const graph::TensorHandle& of : x) t.store(t.load(of));
  });
  for (std::size_t i = 0; i < out.size(); ++i) b.output(out[i], std::string(1, static_cast<char>('X' + i)), {1024, 1});
  const kernel::Kernel k = test::make_plan(b.build(), target::find("sm_90a")).kernels.at(0);
  std::int64_t chunks = 0;
  for (const kernel::Work& t : kernel::works(k))
    if (t.kind == kernel::WorkKind::fetch) chunks += k.layout_of(t).steps(0);
  EXPECT_EQ(chunks, 8);  // of A and B
}

TEST(Mutated, FetchedChunksAreTheirThreads) {
  const kernel::Kernel good = test::make_plan(odd_lines(), target::find("sm_90a")).kernels.at(0);
  ASSERT_EQ(verdict(good), "");
  const kernel::Work fetch = work_of(good, kernel::WorkKind::fetch);
  kernel::Kernel bad = good;
  const kernel::Context& was = good.layout_of(fetch);
  bad.rmem.push_back({kernel::blocked_layout(was.domain, 0, 1, 256)});
  change(bad, fetch, [&](kernel::Step& s) { s.work.context = static_cast<int>(bad.rmem.size()) - 1; });
  EXPECT_EQ(verdict(bad),
            "odd_lines_k0_copy: value 1 of thread 0 is (0, 32) of %0 after 'fetch %0', and 'to global %2' "
            "takes it for (0, 1)");
  bad = good;
  auto& steps = bad.agents.at(0).steps;
  std::erase_if(steps, [&](const kernel::Step& s) { return s.work == fetch; });
  EXPECT_EQ(verdict(bad),
            "odd_lines_k0_copy: 'to global %2' reads %0 in registers, where no step before it in this "
            "section leaves it");
}

// --- the emulator ------------------------------------------------------------------------------------------

void runs_right(const graph::KernelGraph& g) {
  static const toolchain::Cache cache = toolchain::Cache::standard();
  for (const char* target : {"sm_80", "sm_90a"}) {
    const run::RunResult r = run::run(g, {.on = run::Machine::emulator, .target = target}, cache);
    EXPECT_EQ(r.status, run::Status::correct) << g.name << " " << target << ": " << r.reason;
  }
}

/// ZELLIGE_CHAINS=all runs every chain, FIRST-LAST a range of them; without it every 120th.
TEST(Emulated, ChainsAreRight) {
  const std::vector<ChainShape> all = chains();
  std::size_t first = 0, last = all.size(), step = 120;
  if (const char* asked = std::getenv("ZELLIGE_CHAINS")) {
    step = 1;
    std::sscanf(asked, "%zu-%zu", &first, &last);
  }
  for (std::size_t i = first; i < std::min(last, all.size()); i += step) runs_right(chain(all[i]));
}

TEST(Emulated, LongChainsAndAttentionAreRight) {
  runs_right(chain({16, 32, 128, 3}));
  runs_right(chain({32, 32, 64, 6, true}));
  runs_right(attention_projected(16, 32, 64, 64));
}

TEST(Emulated, OddLinesAreRight) { runs_right(odd_lines()); }

// Reductions of values computed slice by slice start before the first slice and are reduced after the last.
TEST(Emulated, SumsOverSlicesAreRight) { runs_right(sums_of_slices()); }

TEST(Mutated, SumsThatBeginInASliceAreRefused) {
  int refused = 0;
  for (const kernel::Kernel& good : test::make_plan(sums_of_slices(), target::find("sm_80")).kernels) {
    ASSERT_EQ(verdict(good), "");
    kernel::Kernel bad = good;
    auto& steps = bad.agents.at(0).steps;
    for (std::size_t i = 0; i + 1 < steps.size(); ++i)
      if (const kernel::Loop* loop = kernel::as<kernel::Loop>(steps[i + 1]);
          kernel::as<kernel::Start>(steps[i]) && loop && loop->kind == kernel::Loop::slices) {
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_NE(verdict(bad).find("adds up partial results that no step before it in this section leaves"),
                  std::string::npos)
            << verdict(bad);
        ++refused;
        break;
      }
  }
  EXPECT_GE(refused, 1);
}

TEST(Emulated, OperandsReadRawAndThroughAMapDoNotRace) {
  for (std::int64_t k : {9, 20, 29}) runs_right(raw_and_mapped(16, k, 32, 64, k == 20, k == 29));
}

}  // namespace
}  // namespace zellige::plan
