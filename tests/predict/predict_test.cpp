// Predicted counters are exact: predict() of every kernel against the emulator's counters.
//
// The examples, some of the planner's golden graphs and the first saved graph of each file, by default for one of the targets in
// rotation. ZELLIGE_ALL=1 takes each, ZELLIGE_PREDICT=all every graph, ZELLIGE_PREDICT=FILE (rmsnorm_bs1) every saved one of that file.
#include "predict/predict.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <tuple>

#include "../all_cases.hpp"
#include "../loaded.hpp"
#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "generate.hpp"
#include "graph/builder.hpp"
#include "graph/error.hpp"
#include "graph/mugraphs.hpp"
#include "json/json.hpp"
#include "kernel/launches.hpp"
#include "plan/flat_steps.hpp"
#include "plan/graphs.hpp"
#include "plan/plan.hpp"
#include "run/emulated.hpp"
#include "system/process.hpp"
#include "target/target.hpp"
#include "zellige/emulate/counter_names.hpp"

namespace zellige::plan {
namespace {

using emulate::Counter;

constexpr const char* targets[] = {"sm_80", "sm_90a", "sm_100a", "sm_120a"};

/// The targets for which a graph is compared.
enum class For : std::uint8_t { each, one_in_rotation };

/// Counters do not depend on values: every input is 0.5 everywhere.
std::vector<run::EmulatedKernel> counted(const emit::EmittedProgram& program, const toolchain::Cache& cache) {
  std::vector<run::Bytes> storage;
  for (const manifest::TensorPlace& t : program.manifest.tensors)
    storage.push_back(t.role == manifest::Role::input
                          ? run::pack(t, std::vector<double>(static_cast<std::size_t>(graph::size(t.shape)), 0.5))
                          : run::poisoned(t));
  return run::run_emulated(program, storage, cache, 1).kernels;
}

/// For all programs of a launch; a counter that one of them omits is omitted.
predict::Counts predicted_of(const Plan& plan, const kernel::LaunchGroup& l) {
  predict::Counts sum = predict::predict(plan.kernels[l.first]);
  for (std::size_t k = l.first + 1; k < l.last; ++k) {
    const predict::Counts more = predict::predict(plan.kernels[k]);
    std::erase_if(sum, [&](const auto& count) { return !more.contains(count.first); });
    for (auto& [counter, n] : sum) n += more.at(counter);
  }
  return sum;
}

/// One line for each counter that differs, then "kernels K, counters C, skipped L".
std::string compare(const graph::KernelGraph& g, const std::vector<const char*>& names, const toolchain::Cache& cache,
                    const PlanOptions& options = {}) {
  std::string report, text;
  std::vector<run::EmulatedKernel> kernels;
  int all = 0, checked = 0, skipped = 0;
  for (const char* name : names) {
    const Plan plan = test::make_plan(g, target::find(name), options);
    const emit::EmittedProgram program = test::transpile(g, target::find(name), options);
    // The first line names the target; the emulator runs equal code of two targets once.
    const std::string body = program.source.substr(program.source.find('\n'));
    if (body != text) kernels = counted(program, cache), text = body;
    const std::vector<kernel::LaunchGroup> launches = kernel::launches(plan.kernels);
    if (kernels.size() != launches.size())
      fail("{} on {}: {} of {} kernels ran", g.name, name, kernels.size(), launches.size());
    for (std::size_t k = 0; k < kernels.size(); ++k, ++all) {
      const predict::Counts predicted = predicted_of(plan, launches[k]);
      for (const auto& [counter, n] : predicted)
        if (n != kernels[k].counters[counter])
          report += fmt::format("{} on {}, kernel {}: {} {} predicted, {} counted\n", g.name, name, kernels[k].name, n,
                                emulate::name(counter), kernels[k].counters[counter]);
      checked += static_cast<int>(predicted.size());
      skipped += !predicted.count(Counter::cp_async_wavefronts) || !predicted.count(Counter::shared_load_wavefronts);
    }
  }
  return report + fmt::format("kernels {}, counters {}, skipped {}", all, checked, skipped);
}

void expect_counted(const std::vector<json::Loaded>& graphs, For which) {
  const bool each = which == For::each || test::all_cases() || std::getenv("ZELLIGE_PREDICT") ||
                    std::getenv("ZELLIGE_PREDICT_RANDOM");
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const toolchain::Cache cache = toolchain::Cache::standard();
  system::run_jobs(
      static_cast<int>(graphs.size()), cores,
      [&](int i) {
        try {
          const std::vector<const char*> all(std::begin(targets), std::end(targets));
          return compare(graphs[i].graph, each ? all : std::vector{all[i % all.size()]}, cache);
        } catch (const Error& e) {
          return fmt::format("{}\n", e.what());
        }
      },
      [&](int i, const system::JobEnd& end) {
        if (!end.crash.empty()) ADD_FAILURE() << graphs[i].name << ": its process was " << end.crash;
        const std::size_t lines = end.result.rfind('\n');
        if (lines != std::string::npos) ADD_FAILURE() << end.result.substr(0, lines);
        fmt::print("{}: {}\n", graphs[i].name, end.result.substr(lines == std::string::npos ? 0 : lines + 1));
      });
}

std::vector<json::Loaded> first_of(const std::filesystem::path& folder, const std::string& wanted) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<json::Loaded> graphs;
  for (const auto& file : files) {
    if (!wanted.empty() && wanted != "all" && wanted != file.stem()) continue;
    for (json::Loaded& l : json::load_each(file.string())) {
      EXPECT_EQ(l.error, "") << l.name;
      if (l.error.empty()) graphs.push_back(std::move(l));
      if (wanted.empty()) break;
    }
  }
  return graphs;
}

TEST(Predict, WhatIsPlannedOfExamplesIsWhatIsCounted) {
  const std::vector<json::Loaded> graphs = first_of(ZELLIGE_SOURCE_DIR "/examples", "");
  ASSERT_FALSE(graphs.empty());
  expect_counted(graphs, For::one_in_rotation);
}

TEST(Predict, WhatIsPlannedOfSavedGraphsIsWhatIsCounted) {
  const std::string one = graph::test::mugraph_file("lora.json");
  if (one.empty()) GTEST_SKIP() << "the saved graphs are not here: ZELLIGE_MUGRAPHS names their folder";
  const char* wanted = std::getenv("ZELLIGE_PREDICT");
  const std::vector<json::Loaded> graphs = first_of(std::filesystem::path(one).parent_path(), wanted ? wanted : "");
  ASSERT_FALSE(graphs.empty()) << "ZELLIGE_PREDICT names no file of the saved graphs";
  expect_counted(graphs, For::one_in_rotation);
}

/// A product as tf32 whose operands are contiguous along K, or else along the other dimension.
graph::KernelGraph as_tf32(std::int64_t m, std::int64_t k, std::int64_t n, bool a_along_k, bool b_along_k) {
  graph::Builder b(fmt::format("tf32_{}x{}x{}_{}{}", m, k, n, a_along_k ? 't' : 'n', b_along_k ? 'n' : 't'));
  const auto A = b.input("A", {m, k}, graph::DType::f32, a_along_k ? graph::Strides{k, 1} : graph::Strides{1, m});
  const auto B = b.input("B", {k, n}, graph::DType::f32, b_along_k ? graph::Strides{1, k} : graph::Strides{n, 1});
  b.output(matmul(A, B, true), "C");
  return b.build();
}

// ldmatrix loads operands that are contiguous along K, ordinary loads the others; the last step over K may be half of one.
TEST(Predict, WhatIsPlannedOfProductsAsTf32IsWhatIsCounted) {
  std::vector<json::Loaded> graphs;
  for (const bool a_along_k : {true, false})
    for (const bool b_along_k : {true, false})
      for (const auto& [m, k, n] : {std::tuple{128, 256, 128}, {32, 68, 40}, {8, 512, 256}})
        graphs.push_back({.name = "tf32", .graph = as_tf32(m, k, n, a_along_k, b_along_k), .error = ""});
  for (json::Loaded& l : graphs) l.name = l.graph.name;
  expect_counted(graphs, For::one_in_rotation);
}

/// A product of e4m3 whose operands are contiguous along K.
graph::KernelGraph as_float8(std::int64_t m, std::int64_t k, std::int64_t n) {
  graph::Builder b(fmt::format("float8_{}x{}x{}", m, k, n));
  const std::int64_t line = (k + 15) / 16 * 16;
  const auto A = b.input("A", {m, k}, graph::DType::e4m3, graph::Strides{line, 1});
  const auto B = b.input("B", {k, n}, graph::DType::e4m3, graph::Strides{1, line});
  b.output(matmul(A, B), "C");
  return b.build();
}

// The last step over K is a whole one.
TEST(Predict, WhatIsPlannedOfProductsOfFloat8IsWhatIsCounted) {
  std::vector<json::Loaded> graphs;
  for (const auto& [m, k, n] : {std::tuple{128, 256, 128}, {32, 68, 40}, {8, 512, 256}})
    graphs.push_back({.name = "float8", .graph = as_float8(m, k, n), .error = ""});
  for (json::Loaded& l : graphs) l.name = l.graph.name;
  expect_counted(graphs, For::each);
}

/// Attention of two tiles of queries, in which two heads share keys.
graph::KernelGraph attention(std::int64_t dim, graph::DType dtype) {
  graph::Builder b(fmt::format("attention_{}", dim));
  const auto Q = b.input("Q", {4, 128, dim}, dtype);
  const auto narrow_k = b.input("K", {2, 128, dim}, dtype), narrow_v = b.input("V", {2, 128, dim}, dtype);
  const auto repeated = [&](graph::TensorHandle x) {
    const graph::Shape s = x.shape();
    return reshape(expand(reshape(x, {2, 1, s[1], s[2]}), {2, 2, s[1], s[2]}), {4, s[1], s[2]});
  };
  const auto K = repeated(permute(narrow_k, {0, 2, 1})), V = repeated(narrow_v);
  b.output(b.custom({.grid = {4, 2}, .block = {128}, .loop = 2},
                    [&](graph::BlockBuilder& t) {
                      const auto q = t.load(Q, {.x = 0, .y = 1}), k = t.load(K, {.x = 0, .loop = 2}),
                                 v = t.load(V, {.x = 0, .loop = 1});
                      const auto scores = matmul(q, k);
                      const auto [maximum, fell] = reduction_max(scores, 2);
                      const auto p = exp(scores - maximum), factor = exp(fell);
                      const auto o = accum_rescale(matmul(p, v), factor);
                      t.store(o / accum_red_sum_rescale(p, factor), {.x = 0, .y = 1});
                    })[0],
           "O");
  return b.build();
}

/// A product whose warpgroups issue several wgmma, one below the other, for their rows.
graph::KernelGraph tall(std::int64_t rows, std::int64_t columns, std::int64_t threads) {
  graph::Builder b(fmt::format("tall_{}x{}_{}", rows, columns, threads));
  const auto A = b.input("A", {2 * rows, 192}, graph::DType::bf16);
  const auto B = b.input("B", {192, columns}, graph::DType::bf16, {1, 192});
  b.output(b.custom({.grid = {1, 2}, .block = {threads}, .loop = 3},
                    [&](graph::BlockBuilder& t) {
                      t.store(accum(matmul(t.load(A, {.y = 0, .loop = 1}), t.load(B, {.loop = 0}))), {.y = 0});
                    })[0],
           "C");
  return b.build();
}

TEST(Predict, WhatIsPlannedOfTallTilesIsWhatIsCounted) {
  std::vector<json::Loaded> graphs;
  for (const graph::KernelGraph& g : {tall(128, 72, 128), tall(256, 152, 256), tall(192, 128, 128)})
    graphs.push_back({.name = g.name, .graph = g, .error = ""});
  expect_counted(graphs, For::each);
}

// The last rank runs beyond the loop's 17 iterations; the boxes that it loads there are counted, too.
TEST(Predict, WhatIsPlannedOfRanksThatDivideKIsWhatIsCounted) {
  graph::Builder b("divided");
  b.output(
      matmul(b.input("A", {128, 17 * 64 - 8}), b.input("B", {17 * 64 - 8, 128}, graph::DType::f16, {1, 17 * 64 - 8})),
      "C");
  std::size_t place = 0;
  for (const int ranks : {2, 4, 8})
    for (const bool swap : {false, true}) {
      if (!test::one_a_row(place++, 2)) continue;
      PlanOptions options{.blocks = {{Blocks::split_k, ranks}}};
      options.tiling = {{.op = 0, .product = retile::MatmulTile{64, 64, 64, 128, swap}}};
      EXPECT_TRUE(compare(b.build(), {"sm_90a"}, toolchain::Cache::standard(), options).starts_with("kernels 1,"))
          << compare(b.build(), {"sm_90a"}, toolchain::Cache::standard(), options);
    }
}

// Lines that TMA fills up with zeros are counted whole.
TEST(Predict, WhatIsPlannedOfAttentionsIsWhatIsCounted) {
  std::vector<json::Loaded> graphs;
  for (std::int64_t dim : {32, 56, 72, 80, 96, 168}) {
    const graph::KernelGraph g = attention(dim, dim % 16 == 0 ? graph::DType::bf16 : graph::DType::f16);
    graphs.push_back({.name = g.name, .graph = g, .error = ""});
  }
  expect_counted(graphs, For::each);
}

// Odd sizes, tiles that overhang, chains, slices, many stages: the graphs of the planner's goldens.
TEST(Predict, WhatIsPlannedOfGoldenGraphsIsWhatIsCounted) {
  const bool all = std::getenv("ZELLIGE_PREDICT");
  std::vector<json::Loaded> graphs;
  for (const GoldenGraph& g : golden_graphs())
    if (all || g.name == "ragged_matmul" || g.name == "batched_matmul" || g.name == "padded_operand" ||
        g.name == "outer_products" || g.name == "float_attention" || g.name.starts_with("hopper_"))
      graphs.push_back({g.name, g.graph(), ""});
  expect_counted(graphs, For::each);
}

// Short rows of odd lengths, most of them in registers, and in partial tiles.
TEST(Predict, WhatIsPlannedOfShortRowsIsWhatIsCounted) {
  std::vector<json::Loaded> graphs;
  for (const auto& [rows, length] : {std::pair{37, 141}, {61, 390}, {96, 17}, {16, 1024}, {5, 3}}) {
    graph::Builder b(fmt::format("softmax_{}x{}", rows, length));
    const auto x = b.input("X", {rows, length}, graph::DType::f16);
    b.output(softmax(rms_norm(x, 1e-5), 1), "Y");
    graphs.push_back({.name = b.build().name, .graph = b.build(), .error = ""});
  }
  expect_counted(graphs, For::one_in_rotation);
}

/// True if every target accepts it; a graph may exceed a target.
bool planned(const graph::KernelGraph& g) {
  try {
    for (const char* name : targets) test::make_plan(g, target::find(name));
  } catch (const Fault&) {
    throw;
  } catch (const Error&) {
    return false;
  }
  return true;
}

// ZELLIGE_PREDICT_RANDOM=200 takes that many instead of six.
TEST(Predict, WhatIsPlannedOfRandomGraphsIsWhatIsCounted) {
  const char* asked = std::getenv("ZELLIGE_PREDICT_RANDOM");
  const int count = asked ? std::atoi(asked) : test::all_cases() ? 10 : 6;
  std::vector<json::Loaded> graphs;
  for (int seed = 1; seed <= count; ++seed) {
    graph::KernelGraph g = random_graphs::random_graph(seed);
    if (planned(g)) graphs.push_back({fmt::format("random graph {}", seed), std::move(g), ""});
  }
  ASSERT_GE(static_cast<int>(graphs.size()), count - count / 50) << "of " << count << "; the others were refused";
  expect_counted(graphs, For::one_in_rotation);
}

Plan lora() {
  return test::make_plan(json::load(ZELLIGE_SOURCE_DIR "/examples/lora.json").front(), target::find("sm_80"));
}

// 64 blocks; 16x64x256, 16x16x256 and 16x64x16 in steps of 16x8x16.
TEST(Predict, CountsTheProductsOfLora) {
  const Plan plan = lora();
  const predict::Counts counts = predict::predict(plan.kernels.at(0));
  EXPECT_EQ(counts.at(Counter::mma), 64u * (8 * 16 + 2 * 16 + 8));
  EXPECT_EQ(counts.at(Counter::cp_async_16), 64u * (16 * 256 + 256 * 64 + 256 * 16 + 16 * 64) / 8);
  EXPECT_EQ(counts.at(Counter::cp_async_source_bytes), 16 * counts.at(Counter::cp_async_16));
}

TEST(Predict, WalksTheScheduleAndNothingElse) {
  Plan plan = lora();
  kernel::Kernel& kernel = plan.kernels.at(0);
  const auto is_copy = [](const kernel::Step& s) { return kernel::as<kernel::Copy>(s) != nullptr; };
  const kernel::Step* first = kernel::find_step(kernel.agents.at(0).steps, is_copy);  // X0: 512 copies a block
  ASSERT_NE(first, nullptr);
  const kernel::Work copy = first->work;
  const kernel::Step barrier{.is = kernel::Barrier{}}, prefetch{.is = kernel::Copy{.guard_lag = 2}, .work = copy};
  const kernel::Loop loop{.trip_count = 10, .body = {barrier, prefetch}};
  kernel.agents[0].steps = {{.is = kernel::Copy{}, .work = copy}, {.is = loop}, barrier};
  const predict::Counts counts = predict::predict(kernel);
  EXPECT_EQ(counts.at(Counter::barrier), 64u * 11);
  EXPECT_EQ(counts.at(Counter::cp_async_16), 64u * 512 * (1 + 8)) << "two iterations have nothing left to copy";
  EXPECT_EQ(counts.at(Counter::mma), 0u);
}

// Of 512 copies by 100 threads the last ones are made by 12 lanes: the others have one execution more.
TEST(Predict, LeavesOutWhatTheEmulatorWouldMixUp) {
  Plan plan = lora();
  kernel::Kernel& kernel = plan.kernels.at(0);
  std::vector<kernel::Step>& steps = kernel.agents.at(0).steps;
  steps = flat(steps);
  const auto copy = std::ranges::find_if(steps, [](const kernel::Step& s) { return kernel::as<kernel::Copy>(s); });
  ASSERT_NE(copy, steps.end());
  const kernel::Step first = *copy;
  kernel.program.block = {100, 1, 1};
  steps = {first, {.is = kernel::Barrier{}}, first};
  EXPECT_TRUE(predict::predict(kernel).count(Counter::cp_async_wavefronts));
  steps = {first, first};
  EXPECT_FALSE(predict::predict(kernel).count(Counter::cp_async_wavefronts));
  EXPECT_TRUE(predict::predict(kernel).count(Counter::cp_async_16));
}

}  // namespace
}  // namespace zellige::plan
