// Ranks and their programs in the C++ API, on the emulator: threads of one process, and a function of the caller's.
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>
#include <zellige/ranks.hpp>

#include "refused.hpp"

namespace {

using zellige::Graph, zellige::ProgramOptions, zellige::ProgramOverRanks, zellige::Ranks;

/// y = all_reduce(x) + x, z = all_gather(x) along dimension 1.
std::string graph(int ranks, int m, int n) {
  return R"({"zellige_graph": 1, "name": "g", "ranks": )" + std::to_string(ranks) +
         R"(, "inputs": [{"name": "x", "dtype": "f32", "shape": [)" + std::to_string(m) + ", " + std::to_string(n) +
         R"(]}], "operators": [{"op": "all_reduce", "inputs": ["x"], "outputs": ["s"]},
    {"op": "add", "inputs": ["s", "x"], "outputs": ["y"]},
    {"op": "all_gather", "inputs": ["x"], "dim": 1, "outputs": ["z"]}], "outputs": ["y", "z"]})";
}

float value(int rank, int i) { return static_cast<float>((i * 7 + rank * 13) % 32) - 16; }

/// Runs one rank. Returns whether both results are right.
bool run(const Ranks& ranks, int m, int n, const ProgramOptions& options) {
  ProgramOverRanks program(Graph::from_json(graph(ranks.count(), m, n)), ranks, options);
  const int r = ranks.rank(), count = ranks.count();
  std::vector<float> x, y(static_cast<std::size_t>(m * n)), z(static_cast<std::size_t>(m * n * count));
  for (int i = 0; i < m * n; ++i) x.push_back(value(r, i));
  bool right = true;
  for (int launch = 0; launch < 2; ++launch) {
    program.launch({x.data()}, {y.data(), z.data()});
    for (int i = 0; i < m * n; ++i) {
      float sum = value(r, i);
      for (int q = 0; q < count; ++q) {
        sum += value(q, i);
        right = right && z[static_cast<std::size_t>(i / n * n * count + q * n + i % n)] == value(q, i);
      }
      right = right && y[static_cast<std::size_t>(i)] == sum;
    }
  }
  return right;
}

/// Calls `of_rank` in a thread per rank. Returns the messages of what they threw, by rank; "" of none.
template <class F>
std::vector<std::string> in_threads(std::vector<Ranks> all, const F& of_rank) {
  std::vector<std::string> messages(all.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < all.size(); ++r)
    threads.emplace_back([&, r] {
      try {
        of_rank(all[r]);
      } catch (const zellige::ProgramError& e) {
        messages[r] = e.what();
      }
    });
  for (std::thread& t : threads) t.join();
  return messages;
}

ProgramOptions one_worker() {
  ProgramOptions o;
  o.workers = 1;
  return o;
}

TEST(RanksApi, ThreadsAndFunctionsOfTheCallerHaveTheSumsOfAllRanks) {
  std::mt19937 rng(3);
  for (const int count : {2, 3, 5}) {
    const int m = 1 + static_cast<int>(rng() % 9), n = 1 + static_cast<int>(rng() % 33);
    for (const int collectives : {1, 2, 3, 4, 5}) {
      ProgramOptions options = one_worker();
      options.collectives = collectives;
      std::vector<char> right(static_cast<std::size_t>(count));
      const auto messages = in_threads(Ranks::of_threads(count, ZELLIGE_ON_EMULATOR), [&](const Ranks& ranks) {
        EXPECT_EQ(ranks.device(), -1);
        right[static_cast<std::size_t>(ranks.rank())] = run(ranks, m, n, options);
      });
      EXPECT_EQ(messages, std::vector<std::string>(messages.size())) << m << " " << n;
      EXPECT_EQ(right, std::vector<char>(right.size(), 1)) << m << " " << n;
    }
  }
  // One rank, whose bytes are those of all.
  const auto same = [](void*, const void* mine, void* all, std::size_t bytes) {
    std::memcpy(all, mine, bytes);
    return 0;
  };
  EXPECT_TRUE(run(Ranks::of_gather(0, 1, same, nullptr, ZELLIGE_ON_EMULATOR), 3, 8, one_worker()));
}

TEST(RanksApi, WhatDiffersIsNamedOnEveryRank) {
  auto messages = in_threads(Ranks::of_threads(3, ZELLIGE_ON_EMULATOR), [](const Ranks& ranks) {
    ProgramOverRanks(Graph::from_json(graph(3, 4, ranks.rank() == 1 ? 8 : 4)), ranks);
  });
  for (std::size_t r = 0; r < 3; ++r)
    EXPECT_EQ(messages[r], "rank " + std::to_string(r) +
                               " of 3: the graph of rank 1 is not that of rank 0; all ranks must run the same");
  messages = in_threads(Ranks::of_threads(2, ZELLIGE_ON_EMULATOR), [](const Ranks& ranks) {
    ProgramOptions o;
    o.collectives = ranks.rank() + 1;
    ProgramOverRanks(Graph::from_json(graph(2, 4, 8)), ranks, o);
  });
  EXPECT_EQ(messages[1],
            "rank 1 of 2: the choice of collectives of rank 1 is not that of rank 0; all ranks must run the same");
}

TEST(RanksApi, EveryArgumentIsChecked) {
  std::vector<Ranks> one = Ranks::of_threads(1, ZELLIGE_ON_EMULATOR);
  zellige_ranks* made = nullptr;
  const auto message = [](zellige_status status) { return status ? zellige_last_error() : "accepted"; };
  const auto gather = [](void*, const void*, void*, std::size_t) { return 1; };
  EXPECT_STREQ(message(zellige_ranks_of_environment(ZELLIGE_ON_AUTO, nullptr)),
               "ranks: expected an address, found NULL");
  EXPECT_STREQ(message(zellige_ranks_of_threads(7, 1, &made)), "on: expected 0 to 2, found 7");
  EXPECT_STREQ(message(zellige_ranks_of_threads(0, 0, &made)), "count: expected 1 to 1024 ranks, found 0");
  EXPECT_STREQ(message(zellige_ranks_of_threads(0, 1, nullptr)), "ranks: expected an address, found NULL");
  EXPECT_STREQ(message(zellige_ranks_of_nccl(nullptr, &made)), "comm: expected an ncclComm_t, found NULL");
  EXPECT_STREQ(message(zellige_ranks_of_gather(2, 2, 2, gather, nullptr, &made)), "rank: expected 0 to 1, found 2");
  EXPECT_STREQ(message(zellige_ranks_of_gather(2, 0, 2, nullptr, nullptr, &made)),
               "gather: expected a function, found NULL");
  EXPECT_EQ(zellige_ranks_rank(nullptr), -1);
  EXPECT_STREQ(zellige_last_error(), "ranks: expected a zellige_ranks, found NULL");
  zellige_rank_program* program = nullptr;
  EXPECT_STREQ(message(zellige_rank_program_launch(program, nullptr, nullptr, nullptr)),
               "program: expected a zellige_rank_program, found NULL");
  EXPECT_STREQ(message(zellige_rank_program_new(Graph::from_json(graph(1, 2, 2)).handle(),
                                                reinterpret_cast<zellige_ranks*>(one.data()), nullptr, &program)),
               ("ranks: expected a zellige_ranks, found " + in_hex(one.data()) + ", which is no handle").c_str());
  EXPECT_EQ(why([&] { ProgramOverRanks(Graph::from_json(graph(2, 2, 2)), one[0]); }),
            "g: its graph is over 2 ranks, and the job has 1");
  ProgramOptions o;
  o.collectives = 6;
  EXPECT_EQ(why([&] { ProgramOverRanks(Graph::from_json(graph(1, 2, 2)), one[0], o); }),
            "collectives: expected 0 to 5, found 6");
  EXPECT_EQ(why([&] {
              ProgramOverRanks(Graph::from_json(graph(2, 2, 2)),
                               Ranks::of_gather(1, 2, gather, nullptr, ZELLIGE_ON_EMULATOR));
            }),
            "rank 1 of 2: the caller's function did not pass 32 bytes to the other ranks");
  ProgramOverRanks p(Graph::from_json(graph(1, 2, 2)), one[0], one_worker());
  float x[4] = {}, y[4] = {}, z[4] = {};
  EXPECT_EQ(why([&] { p.launch({x}, {y}); }), "launch: expected 1 inputs and 2 outputs, found 1 and 1");
  EXPECT_EQ(why([&] { p.launch({x}, {y, nullptr}); }), "program g, output z: expected an address, found NULL");
  EXPECT_EQ(why([&] {
              p.launch({x}, {y, z}, x);
            }).find("program g: expected no stream, since it runs on the emulator"),
            0u);
  const auto* nowhere = reinterpret_cast<void*>(std::uintptr_t{4096});
  EXPECT_EQ(why([&] {
              p.launch({const_cast<void*>(nowhere)}, {y, z});
            }),
            "program g, input x: expected 16 bytes that can be read, found none at 0x1000");
  EXPECT_NE(p.text(ZELLIGE_MANIFEST).find("\"zellige_ranks\": 1"), std::string::npos);
  EXPECT_EQ(why([&] { p.text(ZELLIGE_PLAN); }),
            "zellige_rank_program_text: expected the manifest, source, target or notes, found 3");
}

}  // namespace
