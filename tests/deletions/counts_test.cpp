// Increments and decrements every count that a generated kernel gives a barrier: the emulator reports the
// expected and the actual count. Covers every family of kernels with rings: matmuls with a tile per block,
// with persistent blocks, with clusters that share tiles and clusters that split K; two matmuls on one ring;
// attention.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <regex>
#include <set>

#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "graph/builder.hpp"
#include "ir/ir.hpp"
#include "json/json.hpp"
#include "reference/inputs.hpp"
#include "run/compile.hpp"
#include "run/emulated.hpp"
#include "verify/proofs.hpp"

namespace zellige {
namespace {

using graph::BlockBuilder;
using graph::Builder;
using graph::KernelGraph;
using graph::TensorHandle;
using graph::TileHandle;

/// A place that states how many arrivals a barrier waits for.
struct Site {
  std::string text;  // "ring.init(8)"
  unsigned count = 0;
  bool named = false;  // a named barrier: of threads
};

/// The program with every count added to by $ZELLIGE_COUNT, a site's number and a difference.
struct Counts {
  emit::EmittedProgram program;
  std::vector<Site> sites;
  std::vector<run::Bytes> inputs;
};

constexpr const char* switched = R"(
#include <cstdlib>
inline unsigned zellige_count(long site, unsigned count) {
  const char* change = std::getenv("ZELLIGE_COUNT");
  char* by;
  return change && std::strtol(change, &by, 10) == site ? count + unsigned(std::strtol(by, nullptr, 10)) : count;
}
)";

Counts counts_of(emit::EmittedProgram program) {
  Counts c{std::move(program), {}, {}};
  const std::regex count(R"(((?:\w+\.init|named_barrier_\w+)\((?:\d+, )?)(\d+)\);)");
  std::string text, &source = c.program.source;
  auto from = source.cbegin();
  for (std::sregex_iterator at(source.cbegin(), source.cend(), count), end; at != end; ++at) {
    const std::smatch& m = *at;
    text.append(from, m[0].first);
    text += fmt::format("{}zellige_count({}, {}));", m[1].str(), c.sites.size(), m[2].str());
    c.sites.push_back({m[0].str(), unsigned(std::stoul(m[2].str())), m[1].str().starts_with("named")});
    from = m[0].second;
  }
  text.append(from, source.cend());
  const std::string line = "using namespace zellige;\n";
  text.insert(text.find(line) + line.size(), switched);
  source = std::move(text);
  return c;
}

std::string findings(const Counts& c, const toolchain::Cache& cache, int site, int by) {
  setenv("ZELLIGE_COUNT", fmt::format("{} {}", site, by).c_str(), 1);
  std::vector<run::Bytes> storage = c.inputs;
  const run::EmulatedRun r = run::run_emulated(c.program, storage, cache);
  unsetenv("ZELLIGE_COUNT");
  std::string all;
  for (const emulate::Finding& f : r.findings) all += f.message + "\n";
  return all;
}

/// True if a finding has both numbers, the expected and the actual arrivals; for a ring shared by a cluster,
/// those of all ranks.
bool named(const std::string& found, const Site& s, int by) {
  for (const unsigned ranks : {1u, 2u, 4u, 8u}) {
    const unsigned states = ranks * (s.count + by), comes = ranks * s.count;
    std::vector<std::string> texts{
        fmt::format("more arrivals than the {} that it was initialised for: {} in phase", states, states + 1),
        fmt::format("{} of {} arrivals are missing", states - comes, states),
        fmt::format("with {} of {} arrivals, the last", comes, states)};
    if (s.named)
      texts = {fmt::format("for {} threads, .* for {}\n", states, comes),
               fmt::format("for {} threads, .* for {}\n", comes, states),
               fmt::format("{} of {} threads have come", comes, states),
               fmt::format("than the {} that it is for: {} in round", states, comes)};
    if (s.named && by % 32 != 0) texts = {fmt::format("barrier 1 of {} threads .* of whole warps", states)};
    for (const std::string& text : texts)
      if (std::regex_search(found, std::regex(text))) return true;
  }
  return false;
}

/// The proof rejects every count of the plan that is one too many or too few.
void expect_proved(const kernel::Kernel& kernel, const std::string& where) {
  const target::Target& target = target::find("sm_90a");
  int rejected = 0;
  const auto expect_rejected = [&](const kernel::Kernel& s, int states) {
    try {
      verify::verify(s, target);
      ADD_FAILURE() << where << ": " << states << " is accepted";
    } catch (const Rejected& e) {
      EXPECT_TRUE(std::regex_search(e.what(), std::regex(fmt::format("for {} (arrivals|threads)", states))))
          << where << ": " << e.what();
      ++rejected;
    }
  };
  kernel::Kernel s = kernel;
  for (kernel::Step& step : s.setup)
    for (const int by : {-1, 1}) {
      auto* init = kernel::as<kernel::MbarrierInit>(step);
      if (!init) continue;
      init->arrivals += by;
      const bool all = s.channels[init->channel].by == kernel::Synchronisation::mbarrier_bytes;
      const int ranks = all ? kernel::cluster_of(s, init->channel) : 1;
      expect_rejected(s, ranks * init->arrivals);
      init->arrivals -= by;
    }
  for (kernel::Agent& agent : s.agents)
    kernel::walk(agent.steps, [&](kernel::Step& step, const kernel::StepPosition&) {
      for (const int by : {-32, 32}) {
        auto* barrier = kernel::as<kernel::Barrier>(step);
        if (!barrier || barrier->threads == 0) continue;
        barrier->threads += by;
        expect_rejected(s, barrier->threads);
        barrier->threads -= by;
      }
    });
  EXPECT_GT(rejected, 0) << where;
}

KernelGraph product(std::int64_t loop) {
  Builder b("product");
  const TensorHandle A = b.input("A", {256, 64 * loop}), B = b.input("B", {64 * loop, 256});
  b.output(b.custom({.grid = {2, 2}, .block = {256}, .loop = loop},
                    [&](BlockBuilder& t) {
                      t.store(accum(matmul(t.load(A, {.y = 0, .loop = 1}), t.load(B, {.x = 1, .loop = 0}))),
                              {.x = 1, .y = 0});
                    })[0],
           "C");
  return b.build();
}

KernelGraph gate_and_up(std::int64_t loop) {
  Builder b("gate_and_up");
  const TensorHandle X = b.input("X", {128, 64 * loop}), G = b.input("G", {64 * loop, 256}),
                     U = b.input("U", {64 * loop, 256});
  b.output(b.custom({.grid = {2}, .block = {256}, .loop = loop},
                    [&](BlockBuilder& t) {
                      const TileHandle x = t.load(X, {.loop = 1});
                      const TileHandle gate = accum(matmul(x, t.load(G, {.x = 1, .loop = 0})));
                      const TileHandle up = accum(matmul(x, t.load(U, {.x = 1, .loop = 0})));
                      t.store(silu(gate) * up, {.x = 1});
                    })[0],
           "Y");
  return b.build();
}

KernelGraph attention(std::int64_t loop) {
  Builder b("attention");
  const TensorHandle Q = b.input("Q", {2, 128, 64}),
                     K = b.input("K", {2, 64, 64 * loop}, graph::DType::f16, {4096 * loop, 1, 64}),
                     V = b.input("V", {2, 64 * loop, 64});
  b.output(b.custom({.grid = {2, 1}, .block = {256}, .loop = loop},
                    [&](BlockBuilder& t) {
                      const TileHandle q = t.load(Q, {.x = 0, .y = 1}), k = t.load(K, {.x = 0, .loop = 2}),
                                       v = t.load(V, {.x = 0, .loop = 1});
                      const TileHandle scores = matmul(q, k) * 0.125;
                      const auto [maximum, fell] = reduction_max(scores, 2);
                      const TileHandle p = exp(scores - maximum), factor = exp(fell);
                      const TileHandle sums = accum_rescale(matmul(p, v), factor);
                      t.store(sums / accum_red_sum_rescale(p, factor), {.x = 0, .y = 1});
                    })[0],
           "O");
  return b.build();
}

struct Family {
  std::string name;
  KernelGraph graph;
  std::vector<plan::BlockAssignment> blocks = plan::ways_of_blocks;
  int emulated = 1;  // counts of mbarriers at which anything arrives
};

using enum plan::Blocks;
const std::vector<Family>& families() {
  static const std::vector<Family> all{{"a_tile_per_block", product(16), {a_tile}},
                                       {"blocks_that_stay", product(16), {persistent}},
                                       {"blocks_in_pairs", product(16), {pairs}},
                                       {"blocks_that_split_k", product(64), {split_k}, 2},
                                       {"loop_within_the_ring", product(4), {a_tile}, 0},
                                       {"two_products", gate_and_up(16)},
                                       {"attention", attention(16), plan::ways_of_blocks, 2}};
  return all;
}

class BarrierCounts : public testing::TestWithParam<std::size_t> {};

TEST_P(BarrierCounts, OneMoreAndOneLessAreNamed) {
  const Family& family = families()[GetParam()];
  const toolchain::Cache cache = toolchain::Cache::standard();
  emit::EmittedProgram program = test::transpile(family.graph, target::find("sm_90a"), {.blocks = family.blocks});
  for (const kernel::Kernel& k : program.plan.kernels) expect_proved(k, family.name);
  const std::string source = program.source, notes = ir::print(program);
  Counts c = counts_of(std::move(program));
  const reference::RandomInputs inputs = reference::random_inputs(family.graph, 1);
  for (const manifest::TensorPlace& t : c.program.manifest.tensors)
    c.inputs.push_back(t.role == manifest::Role::input
                           ? run::pack(t, inputs.arrays[static_cast<std::size_t>(t.position)].values)
                           : run::poisoned(t));
  EXPECT_EQ(findings(c, cache, -1, 0), "");
  int emulated = 0;
  for (std::size_t i = 0; i < c.sites.size(); ++i) {
    const Site& s = c.sites[i];
    // A ring as deep as its loop is never released: only the verifier checks its count.
    const bool arrives = source.find(s.text.substr(0, s.text.find('.')) + ".release(") != source.npos;
    if (!s.named && !arrives) continue;
    emulated += !s.named;
    for (const int by : s.named ? std::vector{-32, -1, 1, 32} : std::vector{-1, 1}) {
      const std::string found = findings(c, cache, static_cast<int>(i), by);
      EXPECT_TRUE(named(found, s, by)) << s.text << " by " << by << ": " << found;
    }
  }
  EXPECT_EQ(emulated, family.emulated) << notes;
}

INSTANTIATE_TEST_SUITE_P(Families, BarrierCounts, testing::Range<std::size_t>(0, families().size()),
                         [](const auto& info) { return families()[info.param].name; });

/// The verifier's counts are those in the source code.
TEST(BarrierCounts, OfTheTextAreThePlans) {
  std::size_t counts = 0;
  for (const char* file : {"gemm", "attention", "lora", "layers/llama_prefill", "layers/plain_attention_causal"}) {
    const graph::KernelGraph g = json::load(fmt::format(ZELLIGE_SOURCE_DIR "/examples/{}.json", file)).front();
    const target::Target& target = target::find("sm_90a");
    const emit::EmittedProgram p = run::compile(g, target, {.fuse = true}).program;
    std::vector<int> planned;
    std::set<int> threads;
    for (const kernel::Kernel& k : p.plan.kernels) {
      for (const kernel::Step& step : k.setup)
        if (const auto* init = kernel::as<kernel::MbarrierInit>(step)) planned.push_back(init->arrivals);
      for (const kernel::Agent& a : k.agents)
        kernel::walk(a.steps, [&](const kernel::Step& step, const kernel::StepPosition&) {
          if (const auto* barrier = kernel::as<kernel::Barrier>(step); barrier && barrier->threads > 0)
            threads.insert(barrier->threads);
        });
    }
    std::vector<int> declared;
    std::set<int> declared_threads;
    for (const Site& site : counts_of(p).sites)
      if (site.named)
        declared_threads.insert(static_cast<int>(site.count));
      else
        declared.push_back(static_cast<int>(site.count));
    std::ranges::sort(planned), std::ranges::sort(declared);
    EXPECT_EQ(declared, planned) << file;
    EXPECT_EQ(declared_threads, threads) << file;
    counts += planned.size();
  }
  EXPECT_GT(counts, 2u);
}

}  // namespace
}  // namespace zellige
