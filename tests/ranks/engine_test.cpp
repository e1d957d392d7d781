// Ranks as processes, with NCCL's functions: on libraries in place of CUDA and NCCL, and kernels on the emulator.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "../run/folder.hpp"
#include "ranks.hpp"
#include "ranks/nccl.hpp"
#include "ranks/over_ranks.hpp"
#include "ranks/rank_engine.hpp"
#include "system/files.hpp"

namespace zellige::ranks {
namespace {

using namespace run;
using graph::Builder, graph::DType, graph::KernelGraph;

void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

/// A binder whose kernels run on the emulator, in memory of the fake driver, which is the host's.
KernelBinder kernels_on_emulator(const toolchain::Cache& cache) {
  return [&cache](const emit::EmittedProgram& p, const std::function<std::uint64_t(std::size_t)>& address) {
    std::vector<std::byte*> at;
    for (std::size_t t = 0; t < p.manifest.tensors.size(); ++t) at.push_back(reinterpret_cast<std::byte*>(address(t)));
    return [&cache, &p, at](void*) {
      std::vector<Bytes> storage;
      for (std::size_t t = 0; t < at.size(); ++t) {
        const emit::TensorPlace& place = p.manifest.tensors[t];
        storage.push_back(place.role == emit::Role::input ? Bytes(at[t], at[t] + place.bytes) : poisoned(place));
      }
      const EmulatedRun e = run_emulated(p, storage, cache, 1);
      for (const auto& f : e.findings) ADD_FAILURE() << f.message;
      for (std::size_t t = 0; t < at.size(); ++t)
        if (p.manifest.tensors[t].role == emit::Role::output) std::memcpy(at[t], storage[t].data(), storage[t].size());
    };
  };
}

class Engine : public testing::Test {
 protected:
  Engine() {
    set("ZELLIGE_NCCL", FAKE_NCCL);
    set("FAKE_NCCL_FILE", (folder_ / "shared").string());
    set("ZELLIGE_RANKS_TIMEOUT", "60");
    for (const char* name : {"FAKE_STREAM_STUCK", "FAKE_NCCL_ERROR", "WORLD_SIZE", "RANK", "MASTER_PORT"})
      unsetenv(name);
  }

  /// Runs `of_rank` in `ranks` processes. Returns what each returned, or the message of the Error that it threw.
  std::vector<std::string> in_processes(int ranks, const std::function<std::string(RankedProcess)>& of_rank) {
    std::filesystem::remove(folder_ / "shared");
    std::vector<pid_t> children;
    for (int r = 0; r < ranks; ++r) {
      const pid_t child = fork();
      if (child == 0) {
        std::string text;
        try {
          text = of_rank({.rank = r, .ranks = ranks, .local_rank = r});
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
      all.push_back(system::read_whole((folder_ / std::to_string(r)).string()));
    }
    return all;
  }

  Folder folder_;
};

/// Random programs: each process has, bit for bit, what the emulator's run of all ranks has.
TEST_F(Engine, ProcessesHaveWhatAllRanksHaveOnTheEmulator) {
  test::Rng rng(9);
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (int i = 0; i < 12; ++i) {
    const int ranks = std::vector{2, 3, 4, 8}[static_cast<std::size_t>(i % 4)];
    const KernelGraph g = test::random_over_ranks(rng, ranks, DType::f32, 3), over = over_ranks(g);
    const RankProgram p = compile_over_ranks(g, target::find("sm_80"), {.fuse = true}, cache);
    const reference::RandomInputs inputs = reference::random_inputs(over, 1);
    const RanksRun all = run_ranks_emulated(p, over, inputs, cache, 1);
    const int y = p.graph.outputs[0];
    const std::vector<std::string> found = in_processes(ranks, [&](const RankedProcess& job) {
      Communicator communicator(job);
      communicator.require_same({{"graph", g.name}});
      RankEngine engine(p, communicator, kernels_on_emulator(cache));
      for (std::size_t t = 0; t < g.inputs.size(); ++t) {
        const graph::KernelTensor& tensor = g.tensors[static_cast<std::size_t>(g.inputs[t])];
        const std::size_t at = static_cast<std::size_t>(job.rank) * g.inputs.size() + t;
        engine.upload(g.inputs[t], pack(place_of_rank(tensor, emit::Role::input, 0), inputs.arrays[at].values));
      }
      const Stream stream;
      engine.run(stream.handle());
      communicator.wait(stream, g.name);
      const Bytes bytes = engine.download(y);
      return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
    for (std::size_t t = 0; t < all.manifest.tensors.size(); ++t) {
      const emit::TensorPlace& place = all.manifest.tensors[t];
      if (place.role != emit::Role::output) continue;
      const std::string& mine = found[static_cast<std::size_t>(place.position)];
      ASSERT_EQ(mine.size(), all.storage[t].size());
      EXPECT_EQ(std::memcmp(mine.data(), all.storage[t].data(), mine.size()), 0) << place.name << " of draw " << i;
    }
  }
}

TEST_F(Engine, CommunicatorOfTheCallerIsUsedAndLeftToIt) {
  set("NCCL_COMM_ID", "127.0.0.1:29501");
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
    Communicator ranks(job);
    const RankEngine engine(p, ranks, {});
    Stream stream;
    const std::vector<double> us = time_ranks(engine, ranks, stream, "g");
    return fmt::format("{} of {}", us.size(), us.at(0));
  });
  EXPECT_EQ(found, (std::vector<std::string>{"30 of 100", "30 of 100"}));
}

TEST_F(Engine, RanksThatDifferAreNamedOnEveryRank) {
  const auto found = in_processes(3, [](const RankedProcess& job) {
    Communicator ranks(job);
    ranks.require_same({{"target", "sm_90a"}, {"graph", job.rank == 2 ? "other" : "one"}});
    return std::string("the same");
  });
  for (int r = 0; r < 3; ++r)
    EXPECT_EQ(found[static_cast<std::size_t>(r)],
              fmt::format("rank {} of 3: the graph of rank 2 is not that of rank 0; all ranks must run the same", r));
}

TEST_F(Engine, RankThatDoesNotComeEndsTheOthers) {
  set("ZELLIGE_RANKS_TIMEOUT", "1");
  const auto found = in_processes(2, [](const RankedProcess& job) {
    if (job.rank == 1) return std::string("elsewhere");
    Communicator ranks(job);
    return std::string("met");
  });
  EXPECT_EQ(found[0],
            "rank 0 of 2: not all ranks came to 127.0.0.1:29501 within 1 s; ZELLIGE_RANKS_TIMEOUT sets the seconds");
}

TEST_F(Engine, RankThatEndsEndsTheOthers) {
  set("ZELLIGE_RANKS_TIMEOUT", "1");
  for (const bool told : {false, true}) {
    const auto found = in_processes(2, [&](const RankedProcess& job) {
      Communicator ranks(job);
      set("FAKE_STREAM_STUCK", "1");
      if (told) set("FAKE_NCCL_ERROR", "6");
      ranks.wait(Stream(), "mlp");
      return std::string("done");
    });
    EXPECT_EQ(found[1],
              told ? "mlp: rank 1 of 2: NCCL: remote process exited; another rank may have ended"
                   : "mlp: rank 1 of 2: no end within 1 s: another rank may have ended; ZELLIGE_RANKS_TIMEOUT sets the "
                     "seconds");
  }
}

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
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
