// Implements zellige_ranks_* and zellige_rank_program_* of the C API: ranks of a job, and their programs.
#include <cstdlib>

#include "api/caller_memory.hpp"
#include "api/guard.hpp"
#include "api/handles.hpp"
#include "api/ranked.hpp"
#include "graph/collective.hpp"
#include "graph/error.hpp"
#include "toolchain/nvrtc.hpp"

using namespace zellige;
using namespace zellige::api;

namespace {

std::shared_ptr<JoinedRanks> ranks_of(const zellige_ranks* handle) { return object_of<JoinedRanks>(handle, "ranks"); }
std::shared_ptr<RankedProgram> program_of(const zellige_rank_program* handle) {
  return object_of<RankedProgram>(handle, "program");
}
zellige_ranks* handle_of(std::shared_ptr<JoinedRanks> ranks) { return add_handle<zellige_ranks>(std::move(ranks)); }
zellige_ranks* handle_of(std::shared_ptr<ranks::Rendezvous> rendezvous, int device) {
  return handle_of(std::make_shared<JoinedRanks>(std::move(rendezvous), device));
}

On machine(int32_t on) {
  if (on < ZELLIGE_ON_AUTO || on > ZELLIGE_ON_EMULATOR) fail("on: expected 0 to 2, found {}", on);
  return static_cast<On>(on);
}

void require_count(int32_t count) {
  if (count < 1 || count > graph::max_ranks) fail("count: expected 1 to {} ranks, found {}", graph::max_ranks, count);
}

}  // namespace

zellige_status zellige_ranks_of_environment(int32_t on, zellige_ranks** made) {
  return guarded([&] {
    zellige_ranks*& to = place_for(made, "ranks");
    const std::optional<ranks::RankedProcess> job = ranks::job_of_environment();
    if (!job)
      fail(
          "expected a process of a job, as torchrun and mpirun start them, found no WORLD_SIZE; "
          "zellige_ranks_of_threads makes "
          "ranks of one process");
    int device = device_for(machine(on));
    if (device != no_gpu && !std::getenv("ZELLIGE_DEVICE")) device = run::device_info(job->local_rank).index;
    to = handle_of(ranks::rendezvous(*job), device);
  });
}
zellige_status zellige_ranks_of_threads(int32_t on, int32_t count, zellige_ranks** made) {
  return guarded([&] {
    require_count(count);
    for (int r = 0; r < count; ++r) place_for(made + r, "ranks");
    const bool on_gpu = device_for(machine(on)) != no_gpu;
    if (on_gpu) run::device_info(count - 1);  // throws if one is missing
    const auto all = ranks::rendezvous_of_threads(count);
    for (int r = 0; r < count; ++r) made[r] = handle_of(all[static_cast<std::size_t>(r)], on_gpu ? r : no_gpu);
  });
}
zellige_status zellige_ranks_of_nccl(void* comm, zellige_ranks** made) {
  return guarded([&] {
    zellige_ranks*& to = place_for(made, "ranks");
    if (!comm) fail("comm: expected an ncclComm_t, found NULL");
    to = handle_of(joined(comm));
  });
}
zellige_status zellige_ranks_of_gather(int32_t on, int32_t rank, int32_t count, zellige_gather gather, void* with,
                                       zellige_ranks** made) {
  return guarded([&] {
    zellige_ranks*& to = place_for(made, "ranks");
    require_count(count);
    if (rank < 0 || rank >= count) fail("rank: expected 0 to {}, found {}", count - 1, rank);
    if (!gather) fail("gather: expected a function, found NULL");
    const auto pass = [gather, with](std::string_view mine, char* all) {
      return gather(with, mine.data(), all, mine.size()) == 0;
    };
    to = handle_of(ranks::rendezvous_by(rank, count, pass), device_for(machine(on)));
  });
}
void zellige_ranks_free(zellige_ranks* ranks) {
  guarded([&] { remove_handle(ranks, "ranks"); });
}
int zellige_ranks_rank(const zellige_ranks* ranks) {
  return guarded_or(-1, [&] { return ranks_of(ranks)->rank(); });
}
int zellige_ranks_count(const zellige_ranks* ranks) {
  return guarded_or(-1, [&] { return ranks_of(ranks)->count(); });
}
int zellige_ranks_device(const zellige_ranks* ranks) {
  return guarded_or(-1, [&] { return ranks_of(ranks)->device; });
}

zellige_status zellige_rank_program_new(const zellige_graph* g, zellige_ranks* ranks, const zellige_options* given,
                                        zellige_rank_program** made) {
  return guarded([&] {
    zellige_rank_program*& to = place_for(made, "program");
    const auto graph = object_of<const graph::KernelGraph>(g, "graph");
    const auto mine = ranks_of(ranks);
    connect(*mine);
    to = add_handle<zellige_rank_program>(
        std::make_shared<RankedProgram>(*graph, mine, call_options(given, graph->inputs.size())));
  });
}
void zellige_rank_program_free(zellige_rank_program* p) {
  guarded([&] { remove_handle(p, "program"); });
}
zellige_status zellige_rank_program_launch(zellige_rank_program* p, void* const* inputs, void* const* outputs,
                                           void* stream) {
  return guarded([&] {
    const auto program = program_of(p);
    ReadablePages known;
    program->launch(array_at(known, inputs, program->inputs(), "inputs").data(),
                    array_at(known, outputs, program->outputs(), "outputs").data(), stream);
  });
}
zellige_status zellige_rank_program_wait(zellige_rank_program* p, void* stream) {
  return guarded([&] { program_of(p)->wait(stream); });
}
zellige_status zellige_rank_program_text(const zellige_rank_program* p, zellige_text which, char** text) {
  return give_text(text, "text", [&] { return program_of(p)->text(which); });
}
