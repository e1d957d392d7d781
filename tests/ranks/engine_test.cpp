// Ranks as processes, with NCCL's functions: on libraries in place of CUDA and NCCL, and kernels on the emulator.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <thread>

#include "../all_cases.hpp"
#include "../run/folder.hpp"
#include "ranks.hpp"
#include "ranks/nccl.hpp"
#include "ranks/over_ranks.hpp"
#include "ranks/rank_engine.hpp"
#include "ranks/rendezvous.hpp"
#include "system/files.hpp"

namespace zellige::ranks {
namespace {

using namespace run;
using graph::Builder, graph::DType, graph::KernelGraph;

/// Returns a port of this host that no program has.
int free_port() {
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof at;
  EXPECT_EQ(bind(s, reinterpret_cast<sockaddr*>(&at), size), 0);
  getsockname(s, reinterpret_cast<sockaddr*>(&at), &size);
  close(s);
  return ntohs(at.sin_port);
}

void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

/// A binder whose kernels run on the emulator, in memory of the fake driver, which is the host's.
KernelBinder kernels_on_emulator(const toolchain::Cache& cache) {
  return [&cache](const emit::EmittedProgram& p, const std::function<std::uint64_t(std::size_t)>& address) {
    std::vector<std::byte*> at;
    for (std::size_t t = 0; t < p.manifest.tensors.size(); ++t) at.push_back(reinterpret_cast<std::byte*>(address(t)));
    return [&cache, &p, at](void*) {
      std::vector<Bytes> storage;
      for (std::size_t t = 0; t < at.size(); ++t) {
        const manifest::TensorPlace& place = p.manifest.tensors[t];
        storage.push_back(place.role == manifest::Role::input ? Bytes(at[t], at[t] + place.bytes) : poisoned(place));
      }
      const EmulatedRun e = run_emulated(p, storage, cache, 1);
      for (const auto& f : e.findings) ADD_FAILURE() << f.message;
      for (std::size_t t = 0; t < at.size(); ++t)
        if (p.manifest.tensors[t].role == manifest::Role::output)
          std::memcpy(at[t], storage[t].data(), storage[t].size());
    };
  };
}

class Engine : public testing::Test {
 protected:
  Engine() {
    set("ZELLIGE_NCCL", FAKE_NCCL);
    set("FAKE_NCCL_FILE", (folder_ / "shared").string());
    set("ZELLIGE_RANKS_TIMEOUT", "60");
    for (const char* name :
         {"FAKE_STREAM_STUCK", "FAKE_NCCL_ERROR", "FAKE_NCCL_REFUSALS", "WORLD_SIZE", "RANK", "MASTER_PORT"})
      unsetenv(name);
  }

  /// Runs `of_rank` in `ranks` processes. Returns what each returned, or the message of the Error that it threw.
  std::vector<std::string> in_processes(int ranks, const std::function<std::string(RankedProcess)>& of_rank,
                                        int* port_of_job = nullptr) {
    std::filesystem::remove(folder_ / "shared");
    const int port = free_port() - 1;
    if (port_of_job) *port_of_job = port;
    std::vector<pid_t> children;
    for (int r = 0; r < ranks; ++r) {
      std::filesystem::remove(folder_ / std::to_string(r));
      const pid_t child = fork();
      if (child == 0) {
        std::string text;
        try {
          text = of_rank({.rank = r, .ranks = ranks, .local_rank = r, .port = port});
        } catch (const Error& e) {
          text = e.what();
        }
        system::write_whole((folder_ / std::to_string(r)).string(), text);
        _exit(testing::Test::HasFailure() ? 1 : 0);
      }
      children.push_back(child);
    }
    std::vector<std::string> all;
    for (int r = 0; r < ranks; ++r) {
      int status = 0;
      waitpid(children[static_cast<std::size_t>(r)], &status, 0);
      EXPECT_EQ(status, 0) << "rank " << r;
      const auto file = folder_ / std::to_string(r);
      all.push_back(std::filesystem::exists(file) ? system::read_whole(file.string()) : "nothing");
    }
    return all;
  }

  Folder folder_;
};

/// Random programs: each process has, bit for bit, what the emulator's run of all ranks has.
TEST_F(Engine, ProcessesHaveWhatAllRanksHaveOnTheEmulator) {
  test::Rng rng(9);
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (int i = 0; i < (test::all_cases() ? 12 : 4); ++i) {
    const int ranks = std::vector{2, 3, 4, 8}[static_cast<std::size_t>(i % 4)];
    const KernelGraph g = test::random_over_ranks(rng, ranks, DType::f32, 3), over = over_ranks(g);
    const RankProgram p = compile_over_ranks(g, target::find("sm_80"), {.fuse = true}, cache);
    const reference::RandomInputs inputs = reference::random_inputs(over, 1);
    const RanksRun all = run_ranks_emulated(p, over, inputs, cache, 1);
    const int y = p.graph.outputs[0];
    const std::vector<std::string> found = in_processes(ranks, [&](const RankedProcess& job) {
      Communicator communicator(rendezvous(job));
      communicator.require_same({{"graph", g.name}});
      RankEngine engine(p, communicator, kernels_on_emulator(cache));
      for (std::size_t t = 0; t < g.inputs.size(); ++t) {
        const graph::KernelTensor& tensor = g.tensors[static_cast<std::size_t>(g.inputs[t])];
        const std::size_t at = static_cast<std::size_t>(job.rank) * g.inputs.size() + t;
        engine.upload(g.inputs[t], pack(place_of_rank(tensor, manifest::Role::input, 0), inputs.arrays[at].values));
      }
      const Stream stream;
      engine.run(stream.handle());
      communicator.wait(stream.handle(), g.name);
      const Bytes bytes = engine.download(y);
      return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
    for (std::size_t t = 0; t < all.manifest.tensors.size(); ++t) {
      const manifest::TensorPlace& place = all.manifest.tensors[t];
      if (place.role != manifest::Role::output) continue;
      const std::string& mine = found[static_cast<std::size_t>(place.position)];
      ASSERT_EQ(mine.size(), all.storage[t].size());
      EXPECT_EQ(std::memcmp(mine.data(), all.storage[t].data(), mine.size()), 0) << place.name << " of draw " << i;
    }
  }
}

TEST_F(Engine, CommunicatorOfTheCallerIsUsedAndLeftToIt) {
  const auto found = in_processes(3, [](const RankedProcess& job) {
    void* comm = nullptr;
    EXPECT_EQ(nccl().init(&comm, job.ranks, {}, job.rank), 0);
    for (int i = 0; i < 2; ++i) {
      Communicator ranks(comm);
      ranks.require_same({{"graph", "one"}});
      EXPECT_EQ(ranks.rank(), job.rank);
      EXPECT_EQ(ranks.ranks(), 3);
    }
    return std::string("twice");
  });
  EXPECT_EQ(found, std::vector<std::string>(3, "twice"));
}

TEST_F(Engine, TimesAreOfAllEvaluationsOfALaunch) {
  Builder b("g", 2);
  b.output(all_reduce(b.input("x", {4, 8}, DType::f32)), "y");
  const RankProgram p = compile_over_ranks(b.build(), target::find("sm_80"), {});
  const auto found = in_processes(2, [&](const RankedProcess& job) {
    Communicator ranks(rendezvous(job));
    const RankEngine engine(p, ranks, {});
    Stream stream;
    const std::vector<double> us = time_ranks(engine, ranks, stream, "g");
    return fmt::format("{} of {}", us.size(), us.at(0));
  });
  EXPECT_EQ(found, (std::vector<std::string>{"30 of 100", "30 of 100"}));
}

TEST_F(Engine, RanksThatDifferAreNamedOnEveryRank) {
  const auto found = in_processes(3, [](const RankedProcess& job) {
    Communicator ranks(rendezvous(job));
    ranks.require_same({{"target", "sm_90a"}, {"graph", job.rank == 2 ? "other" : "one"}});
    return std::string("the same");
  });
  for (int r = 0; r < 3; ++r)
    EXPECT_EQ(found[static_cast<std::size_t>(r)],
              fmt::format("rank {} of 3: the graph of rank 2 is not that of rank 0; all ranks must run the same", r));
}

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

/// Patience of rank 0, in which the others come however much else the machine does: the last one, if no other.
constexpr std::array patiences = {"0.2", "5", "60"};

TEST_F(Engine, RanksThatDoNotComeEndTheOthersByNumber) {
  std::vector<std::string> found, expected(4, "elsewhere");
  for (const std::string patience : patiences) {
    int port = 0;
    found = in_processes(
        4,
        [&](const RankedProcess& job) {
          if (job.rank == 2) return std::string("elsewhere");
          if (job.rank == 0) set("ZELLIGE_RANKS_TIMEOUT", patience);
          return rendezvous(job)->gather("a");
        },
        &port);
    for (const int r : {0, 1, 3})
      expected[static_cast<std::size_t>(r)] = fmt::format(
          "rank {} of 4: rank 2 did not come to 127.0.0.1:{} within {} s; ZELLIGE_RANKS_TIMEOUT sets the seconds", r,
          port + 1, patience);
    if (found == expected) break;
  }
  EXPECT_EQ(found, expected);
  set("ZELLIGE_RANKS_TIMEOUT", "0.1");
  found = in_processes(2, [&](const RankedProcess& job) {
    if (job.rank == 0) return std::string("elsewhere");
    return rendezvous(job)->gather("a");
  });
  EXPECT_TRUE(found[1].starts_with("rank 1 of 2: rank 0 did not come to 127.0.0.1:")) << found[1];
}

TEST_F(Engine, RanksOfTwoJobsAtOnePortAreToldSo) {
  const std::string expected = "rank 1 of 3: rank 0 is of a job of 2 ranks";
  std::string found;
  for (const std::string patience : patiences) {
    found = in_processes(2, [&](RankedProcess job) {
      if (job.rank == 0) set("ZELLIGE_RANKS_TIMEOUT", patience);
      if (job.rank == 1) job.ranks = 3;
      return rendezvous(job)->gather("a");
    })[1];
    if (found == expected) break;
  }
  EXPECT_EQ(found, expected);
}

TEST_F(Engine, PortThatAnotherProgramHasIsNamed) {
  set("ZELLIGE_RANKS_TIMEOUT", "0.1");
  const int s = socket(AF_INET, SOCK_STREAM, 0), port = free_port();
  sockaddr_in at{
      .sin_family = AF_INET, .sin_port = htons(static_cast<std::uint16_t>(port)), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  ASSERT_EQ(bind(s, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(listen(s, 1), 0);
  EXPECT_EQ(
      message([&] { rendezvous({.ranks = 2, .port = port - 1}); }),
      fmt::format("rank 0 of 2: the port {} of 127.0.0.1, where ranks connect: Address already in use; MASTER_PORT "
                  "sets another",
                  port));
  close(s);
}

TEST_F(Engine, NcclThatFailsOnceIsTriedAgain) {
  for (const int refusals : {1, 2}) {
    set("FAKE_NCCL_REFUSALS", std::to_string(refusals));
    const auto found = in_processes(2, [](const RankedProcess& job) {
      Communicator ranks(rendezvous(job));
      ranks.require_same({{"graph", "one"}});
      return std::string("met");
    });
    for (const std::string& of_rank : found)
      EXPECT_EQ(of_rank, refusals == 1 ? "met" : "rank 0 of 2: NCCL: meeting the other ranks: an error of the fake");
  }
}

TEST_F(Engine, WorkThatDoesNotEndIsGivenUp) {
  for (const bool told : {false, true}) {
    const auto found = in_processes(2, [&](const RankedProcess& job) {
      Communicator ranks(rendezvous(job));
      if (job.rank == 0) {
        ranks.exchange("", 1);  // until rank 1 has ended
        return std::string("done");
      }
      set("FAKE_STREAM_STUCK", "1"), set("ZELLIGE_RANKS_TIMEOUT", "0.1");
      if (told) set("FAKE_NCCL_ERROR", "6");
      ranks.wait(Stream().handle(), "mlp");
      return std::string("done");
    });
    EXPECT_EQ(
        found[1],
        told ? "mlp: rank 1 of 2: NCCL: remote process exited; another rank may have ended"
             : "mlp: rank 1 of 2: no end within 0.1 s: another rank may have ended; ZELLIGE_RANKS_TIMEOUT sets the "
               "seconds");
  }
}

/// Rank 0 gives up waiting for rank 1, whose own work does not end: no rank receives the sentence for the others, that it did not come.
TEST_F(Engine, LateRanksAreToldThatTheOthersWaited) {
  const auto found = in_processes(3, [&](const RankedProcess& job) {
    Communicator ranks(rendezvous(job));
    ranks.exchange("", 1);
    set("ZELLIGE_RANKS_TIMEOUT", job.rank == 0 ? "0.1" : "10"), set("FAKE_STREAM_STUCK", "1");
    if (job.rank == 0) ranks.exchange("", 1);
    ranks.wait(Stream().handle(), "mlp");
    return std::string("done");
  });
  const std::string how_long = "did not come within 0.1 s; ZELLIGE_RANKS_TIMEOUT sets the seconds",
                    told = "3: its work does not end: the others waited for this rank, which " + how_long;
  EXPECT_EQ(found, (std::vector{"rank 0 of 3: ranks 1 and 2 " + how_long, "mlp: rank 1 of " + told,
                                "mlp: rank 2 of " + told}));
}

TEST_F(Engine, RankThatDiesIsNamedToAllOthers) {
  const auto found = in_processes(3, [&](const RankedProcess& job) {
    Communicator ranks(rendezvous(job));
    ranks.exchange("", 1);
    if (job.rank == 1) _exit(0);
    set("FAKE_STREAM_STUCK", "1"), set("ZELLIGE_RANKS_TIMEOUT", "20");
    ranks.wait(Stream().handle(), "mlp");
    return std::string("done");
  });
  for (const int r : {0, 2})
    EXPECT_EQ(found[static_cast<std::size_t>(r)],
              fmt::format("mlp: rank {} of 3: its work does not end: rank 1 has ended", r));
}

TEST(Rendezvous, ThreadsOfAProcessGatherTheirBytes) {
  const auto all = rendezvous_of_threads(3);
  std::vector<std::string> found(3);
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < 3; ++r)
    threads.emplace_back([&, r] {
      for (int i = 0; i < 100; ++i) found[r] = all[r]->gather(fmt::format("{}{:02}", r, i));
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(found, std::vector<std::string>(3, "099199299"));
}

TEST(Rendezvous, ThreadThatDoesNotComeIsNamed) {
  set("ZELLIGE_RANKS_TIMEOUT", "0.1");
  auto all = rendezvous_of_threads(3);
  EXPECT_EQ(message([&] { all[1]->gather("a"); }),
            "rank 1 of 3: ranks 0 and 2 did not come within 0.1 s; ZELLIGE_RANKS_TIMEOUT sets the seconds");
  all[2].reset();
  EXPECT_EQ(message([&] { all[0]->gather("a"); }), "rank 0 of 3: rank 2 has ended");
}

TEST_F(Engine, JobIsThatOfTheEnvironment) {
  EXPECT_FALSE(job_of_environment());
  EXPECT_EQ(message([] { require_job("mlp", 2); }),
            "mlp: its graph is over 2 ranks: expected 2 processes, as torchrun and mpirun start them, found no "
            "WORLD_SIZE; give "
            "--on emulator to run all ranks in this one");
  set("WORLD_SIZE", "4");
  EXPECT_EQ(message([] { job_of_environment(); }), "RANK: expected 0 to 3, of 4 processes (WORLD_SIZE), found none");
  set("RANK", "4");
  EXPECT_EQ(message([] { job_of_environment(); }), "RANK: expected 0 to 3, of 4 processes (WORLD_SIZE), found 4");
  set("RANK", "one");
  EXPECT_EQ(message([] { job_of_environment(); }), "RANK: expected a number of at least 0, found one");
  set("RANK", "3"), set("MASTER_PORT", "1234");
  EXPECT_EQ(message([] { require_job("mlp", 2); }),
            "mlp: its graph is over 2 ranks, and the job has 4 processes; give --ranks 4 or start 2");
  const RankedProcess job = require_job("mlp", 4);
  EXPECT_EQ(job.rank, 3);
  EXPECT_EQ(job.port, 1234);
}

TEST_F(Engine, MissingNcclIsOneSentence) {
  set("ZELLIGE_NCCL", "no-such-library.so");
  const std::string why = message([] { nccl_library(); });
  EXPECT_TRUE(why.starts_with("ZELLIGE_NCCL names no-such-library.so, which cannot be loaded: ")) << why;
}

}  // namespace
}  // namespace zellige::ranks
