// Faults injected into emitted kernels: numbers in the code of well- and ill-conditioned programs are changed
// one at a time. If the emulator does not name a fault and the numbers differ, the verdict is `wrong`; no
// fault may pass as explained by rounding.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <map>
#include <random>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "graph/builder.hpp"
#include "reference/inputs.hpp"
#include "reference/judge.hpp"
#include "run/emulated.hpp"
#include "run/run.hpp"
#include "system/process.hpp"

namespace zellige::run {
namespace {

using graph::Builder;
using graph::DType;
using graph::TensorHandle;
using graph::TileHandle;

graph::KernelGraph attention() {
  Builder b("attention");
  const TensorHandle Q = b.input("Q", {16, 64}), K = b.input("K", {64, 128}), V = b.input("V", {128, 64});
  b.output(b.custom({.grid = {1}, .block = {64}, .loop = 4},
                    [&](graph::BlockBuilder& t) {
                      const TileHandle s = matmul(t.load(Q), t.load(K, {.loop = 1}));
                      const auto [m, d] = reduction_max(s, 1);
                      const TileHandle p = exp(s - m), r = exp(d);
                      t.store(accum_rescale(matmul(p, t.load(V, {.loop = 0})), r) / accum_red_sum_rescale(p, r));
                    })
               .at(0),
           "O");
  return b.build();
}

// exp of large arguments; a sum that cancels; a division by what may be small: all in float32.
graph::KernelGraph ill_conditioned() {
  Builder b("ill");
  const TensorHandle X = b.input("X", {24, 96}, DType::f32), W = b.input("W", {96, 64}, DType::f32),
                     Z = b.input("Z", {24, 64}, DType::f32);
  b.output(b.custom({.grid = {2}, .block = {64}},
                    [&](graph::BlockBuilder& t) {
                      const TileHandle z = t.load(Z, {.x = 0}), y = matmul(t.load(X, {.x = 0}), t.load(W));
                      const TileHandle e = exp(clamp(y * 4.0, -80, 80)), q = (y + z * 1000.0) - y * 0.9990234375;
                      t.store(e / reduction(e, 1) + z / (q - z * 999.0), {.x = 0});
                    })
               .at(0),
           "Y");
  return b.build();
}

graph::KernelGraph half_precision_chain() {
  Builder b("chain");
  const TensorHandle X = b.input("X", {16, 64}, DType::bf16), W = b.input("W", {64, 64}, DType::bf16);
  const TensorHandle Y = exp(matmul(X, W) * 0.25);
  b.output(rms_norm(Y - X) - matmul(Y, W) * 0.125, "Y");
  return b.build();
}

/// The code with one number in the kernels' bodies changed: neighbours, double, half. "" if there is none at
/// that place.
std::string changed(const std::string& source, std::size_t which, unsigned how) {
  std::size_t seen = 0, line_start = 0;
  while (line_start < source.size()) {
    const std::size_t end = std::min(source.find('\n', line_start), source.size());
    const std::string line = source.substr(line_start, end - line_start);
    const bool body = line.starts_with("  ") && line.find("//") == line.npos && line.find("<<<") == line.npos;
    for (std::size_t i = 0; body && i < line.size(); ++i) {
      if (!std::isdigit(static_cast<unsigned char>(line[i])) || std::isalnum(static_cast<unsigned char>(line[i - 1])) ||
          line[i - 1] == '_' || line[i - 1] == '.')
        continue;
      std::size_t stop = i;
      while (stop < line.size() && std::isdigit(static_cast<unsigned char>(line[stop]))) ++stop;
      if (stop < line.size() && (line[stop] == '.' || std::isalpha(static_cast<unsigned char>(line[stop]))))
        continue;  // 1.5f
      if (seen++ == which) {
        const long n = std::stol(line.substr(i, stop - i)), next[] = {n + 1, n > 0 ? n - 1 : 1, 2 * n, n / 2};
        return source.substr(0, line_start + i) + std::to_string(next[how]) + source.substr(line_start + stop);
      }
      i = stop;
    }
    line_start = end + 1;
  }
  return "";
}

/// "named", "correct", "borderline: ..." or "wrong" for one source, with one seed after another while it is
/// borderline; and, after a tab, a hash of its results.
std::string verdict(const graph::KernelGraph& g, const emit::EmittedProgram& p, const toolchain::Cache& cache) {
  std::string all, bits;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const reference::RandomInputs inputs = reference::random_inputs(g, seed);
    std::vector<Bytes> storage;
    for (const manifest::TensorPlace& t : p.manifest.tensors)
      storage.push_back(t.role == manifest::Role::input
                            ? pack(t, inputs.arrays[static_cast<std::size_t>(t.position)].values)
                            : poisoned(t));
    const EmulatedRun r = run_emulated(p, storage, cache, 1);
    if (!r.findings.empty() || !r.complete) return "named\t";
    if (all.empty())
      for (const Bytes& b : storage) bits.append(reinterpret_cast<const char*>(b.data()), b.size());
    reference::Judge judge(g, inputs.arrays, inputs.reference);
    std::string worst = "correct";
    for (std::size_t i = 0; i < p.manifest.tensors.size(); ++i) {
      const manifest::TensorPlace& t = p.manifest.tensors[i];
      if (t.role != manifest::Role::output) continue;
      const reference::Comparison c =
          judge.compare(g.outputs[static_cast<std::size_t>(t.position)], {t.shape, unpack(t, storage[i])});
      if (!c.correct && !c.explained) return "wrong\t";
      if (c.explained) worst = "borderline: " + reference::to_string(c);
    }
    if (all.empty()) all = worst;
    if (worst == "correct") break;
  }
  return all + "\t" + std::to_string(std::hash<std::string>()(bits));
}

TEST(InjectedFaults, NoBugEndsAsBorderline) {
  struct Mutant {
    const graph::KernelGraph* graph;
    emit::EmittedProgram program;
  };
  const std::vector<graph::KernelGraph> graphs = {attention(), ill_conditioned(), half_precision_chain()};
  std::vector<Mutant> mutants;
  std::mt19937 random(7);
  const std::size_t each = test::all_cases() ? 40 : 12;  // mutants a graph
  for (const graph::KernelGraph& g : graphs) {
    const emit::EmittedProgram p = test::transpile(g, target::find("sm_80"));
    mutants.push_back({&g, p});  // whole, first of its graph
    std::size_t sites = 0;
    while (!changed(p.source, sites, 0).empty()) ++sites;
    for (std::size_t i = 0; i < each; ++i) {
      emit::EmittedProgram mutant = p;
      mutant.source = changed(p.source, random() % sites, random() % 4);
      mutants.push_back({&g, mutant});
    }
  }
  const toolchain::Cache cache = toolchain::Cache::temporary();
  std::map<std::string, int> count;
  std::vector<std::string> results(mutants.size());
  system::run_jobs(
      static_cast<int>(mutants.size()), 2,
      [&](int i) -> std::string {
        ::alarm(60);
        try {
          return verdict(*mutants[static_cast<std::size_t>(i)].graph, mutants[static_cast<std::size_t>(i)].program,
                         cache);
        } catch (const Error&) {
          return "does not compile\t";
        }
      },
      [&](int i, const system::JobEnd& end) {
        results[static_cast<std::size_t>(i)] = end.crash.empty() ? end.result : "crashed\t";
      });
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const std::string &result = results[i], &whole = results[i - i % (1 + each)];
    const std::string kind = result.substr(0, result.find_first_of(":\t"));
    if (i % (1 + each) == 0) {
      EXPECT_TRUE(kind == "correct" || kind == "borderline") << result << " with no bug: " << mutants[i].graph->name;
    } else if (result == whole) {
      ++count["without effect"];
    } else {
      ++count[kind];
      EXPECT_NE(kind, "borderline") << mutants[i].graph->name << ": " << result << "\n" << mutants[i].program.source;
    }
  }
  for (const auto& [kind, n] : count) std::printf("%s: %d\n", kind.c_str(), n);
  EXPECT_GE(count["wrong"], 3);
}

// A right kernel whose formula is ill-conditioned is borderline: not wrong, and shown with what rounding explains.
TEST(InjectedFaults, WithNoBugWhatIsIllConditionedIsBorderline) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const RunResult r = run(ill_conditioned(), {.on = Machine::emulator, .workers = 1}, cache);
  EXPECT_EQ(r.status, Status::borderline) << r.reason;
  EXPECT_NE(r.reason.find("rounding alone explains up to"), r.reason.npos) << r.reason;
  ASSERT_EQ(r.tensors.size(), 1u);
  EXPECT_GT(r.tensors[0].out_of_tolerance, 0);
  EXPECT_GT(r.tensors[0].of_error, 0);
  EXPECT_LE(r.tensors[0].of_error, 1);
  EXPECT_GT(r.tensors[0].worst, 1);
  const RunResult back = parse_result(to_json(r));
  EXPECT_EQ(back.status, Status::borderline);
  EXPECT_EQ(back.tensors[0].out_of_tolerance, r.tensors[0].out_of_tolerance);
  EXPECT_EQ(back.tensors[0].of_error, r.tensors[0].of_error);
  EXPECT_EQ(run(half_precision_chain(), {.on = Machine::emulator, .workers = 1}, cache).status, Status::correct);
}

}  // namespace
}  // namespace zellige::run
