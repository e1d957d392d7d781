// Kernels in which ranks exchange tiles, on one GPU: as processes that pass memory to each other, and as streams of one process.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "../random/rng.hpp"
#include "../run/folder.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"
#include "ranks/rank_engine.hpp"
#include "ranks/symmetric_memory.hpp"
#include "ranks/symmetric_steps.hpp"
#include "run/run.hpp"
#include "system/files.hpp"

namespace zellige::ranks {
namespace {

using namespace run;
using graph::Builder, graph::DType;

RankProgram all_reduce_of(int ranks, const graph::Shape& shape, const toolchain::Cache& cache,
                          Collectives how = Collectives::one_shot) {
  Builder b("g", ranks);
  b.output(all_reduce(b.input("x", shape, DType::bf16)), "y");
  return compile_over_ranks(b.build(), target::find("sm_90a"), {}, cache, how);
}

/// Returns the input of a rank in a launch.
Bytes input_of(const RankProgram& p, int rank, int launch) {
  const graph::KernelTensor& x = p.graph.tensors[p.graph.inputs[0]];
  random_graphs::Rng rng(static_cast<std::uint64_t>(1 + rank + 64 * launch));
  std::vector<double> values(static_cast<std::size_t>(graph::size(x.shape)));
  for (double& v : values) v = graph::round_to(DType::bf16, static_cast<double>(rng.between(-1000, 1000)) / 64);
  return pack(place_of_rank(x, manifest::Role::input, 0), values);
}

/// Returns the sum of a launch.
Bytes sum_of(const RankProgram& p, int launch) {
  std::vector<std::vector<Bytes>> memory(static_cast<std::size_t>(p.graph.ranks),
                                         std::vector<Bytes>(p.graph.tensors.size()));
  for (int r = 0; r < p.graph.ranks; ++r) memory[r][p.graph.inputs[0]] = input_of(p, r, launch);
  collective_on_host(p.graph, p.graph.ops[0], memory);
  return memory[0][p.graph.outputs[0]];
}

/// One rank's step: its memory on the GPU besides the windows, and its launcher.
struct OneRank {
  OneRank(const RankStep& step, int rank, const toolchain::Cache& cache, const std::function<std::uint64_t(int)>& part,
          std::int64_t bytes)
      : x(bytes), y(bytes), state(symmetric_bytes(step).state) {
    const std::int32_t number = rank;
    state.fill(0), state.upload(&number, sizeof number);
    const manifest::Manifest& m = step.program->manifest;
    launch = kernels_on_gpu(cache)(*step.program, [&](std::size_t t) -> std::uint64_t {
      const manifest::TensorPlace& place = m.tensors[t];
      const SymmetricPlace is = symmetric_place(step, place);
      if (is.kind == SymmetricPlace::tensor) return place.role == manifest::Role::output ? y.address() : x.address();
      if (is.kind == SymmetricPlace::state) return state.address();
      return part(is.rank < 0 ? rank : is.rank) + static_cast<std::uint64_t>(symmetric_bytes(step).begin(is.kind));
    });
  }
  DeviceBytes x, y, state;
  KernelLauncher launch;
};

/// Processes on one GPU: their kernels take turns, and each result has the bits of the host.
TEST(SymmetricOnGpu, ProcessesPassMemoryToEachOther) {
  if (const GpuFound found = find_gpu(); found.target.empty()) GTEST_SKIP() << found.why_not;
  const Folder folder;
  const toolchain::Cache cache = toolchain::Cache::temporary();
  constexpr int ranks = 2, launches = 40;
  const RankProgram p = all_reduce_of(ranks, {16, 1024}, cache);
  ASSERT_TRUE(p.steps.at(0).by_symmetric);
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child) {
      children.push_back(child);
      continue;
    }
    int round = 0;
    const auto exchange = [&](std::string_view mine, std::size_t) {
      ++round;
      const auto file = [&](int r) { return (folder / fmt::format("{}_{}", round, r)).string(); };
      system::write_whole(file(rank) + "_", std::string(mine));
      std::filesystem::rename(file(rank) + "_", file(rank));
      std::vector<std::string> all;
      for (int r = 0; r < ranks; ++r) {
        while (!std::filesystem::exists(file(r))) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        all.push_back(system::read_whole(file(r)));
      }
      return all;
    };
    int wrong = 0;
    try {
      SymmetricMemory symmetric({rank, ranks, exchange}, symmetric_bytes(p.steps[0]).in_common());
      const Bytes first = input_of(p, rank, 0);
      OneRank mine(
          p.steps[0], rank, cache, [&](int r) { return symmetric.address(r); },
          static_cast<std::int64_t>(first.size()));
      Stream stream;
      exchange("", 1);
      for (int launch = 0; launch < launches; ++launch) {
        const Bytes x = input_of(p, rank, launch), expected = sum_of(p, launch);
        mine.x.upload(x.data(), static_cast<std::int64_t>(x.size()));
        mine.launch(stream.handle()), stream.wait();
        Bytes y(expected.size());
        mine.y.download(y.data(), static_cast<std::int64_t>(y.size()));
        wrong += y != expected;
      }
      exchange("", 1);
    } catch (const std::exception& e) {
      fmt::print(stderr, "rank {}: {}\n", rank, e.what());
      wrong = 100;
    }
    _exit(wrong);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

/// Streams of one process: the kernels of both ranks run at the same time. Prints how long a launch takes.
TEST(SymmetricOnGpu, StreamsOfOneProcessExchangeTiles) {
  if (const GpuFound found = find_gpu(); found.target.empty()) GTEST_SKIP() << found.why_not;
  const toolchain::Cache cache = toolchain::Cache::temporary();
  constexpr int ranks = 2;
  for (const std::int64_t rows : {1, 8, 32, 128, 512}) {
    const RankProgram p = all_reduce_of(ranks, {rows, 1024}, cache);
    const RankStep& step = p.steps.at(0);
    ASSERT_TRUE(step.by_symmetric);
    std::vector<DeviceBytes> parts;
    std::vector<OneRank> all;
    const auto bytes = static_cast<std::int64_t>(input_of(p, 0, 0).size());
    for (int r = 0; r < ranks; ++r) parts.emplace_back(symmetric_bytes(step).in_common()).fill(0);
    all.reserve(ranks);
    for (int r = 0; r < ranks; ++r)
      all.emplace_back(
          step, r, cache, [&](int of) { return parts[static_cast<std::size_t>(of)].address(); }, bytes);
    Stream streams[ranks];
    const auto launch_all = [&](int times) {
      for (int i = 0; i < times; ++i)
        for (int r = 0; r < ranks; ++r) all[static_cast<std::size_t>(r)].launch(streams[r].handle());
      for (Stream& s : streams) s.wait();
    };
    for (int launch = 0; launch < 20; ++launch) {
      for (int r = 0; r < ranks; ++r) {
        const Bytes x = input_of(p, r, launch);
        all[static_cast<std::size_t>(r)].x.upload(x.data(), bytes);
      }
      launch_all(1 + launch % 3);
      const Bytes expected = sum_of(p, launch);
      for (const OneRank& of : all) {
        Bytes y(expected.size());
        of.y.download(y.data(), bytes);
        EXPECT_TRUE(y == expected) << rows << " rows, launch " << launch;
      }
    }
    std::vector<std::unique_ptr<CapturedGraph>> graphs;
    for (int r = 0; r < ranks; ++r)
      graphs.push_back(std::make_unique<CapturedGraph>(streams[r], [&] {
        for (int i = 0; i < 100; ++i) all[static_cast<std::size_t>(r)].launch(streams[r].handle());
      }));
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const auto start = std::chrono::steady_clock::now();
      for (int r = 0; r < ranks; ++r) graphs[static_cast<std::size_t>(r)]->launch(streams[r]);
      for (Stream& s : streams) s.wait();
      best = std::min(
          best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / 100);
    }
    fmt::print("{} bytes: {:.2f} us a launch, {} blocks\n", bytes, best,
               step.program->manifest.kernels[0].grid.count());
  }
}

}  // namespace
}  // namespace zellige::ranks
