// Hand-written schedules, and the small functions to write them with. Their steps are one list
// (flat_steps.hpp), which verdict() nests.
#pragma once
#include "../plan/flat_steps.hpp"

namespace zellige::plan {

/// A tensor of `bytes` in all its stages, from byte `offset` on.
inline SmemTensor tensor(std::string name, std::int64_t offset, std::int64_t bytes, int stages = 1) {
  const Shape elements{bytes / stages / 4};
  return {.name = std::move(name),
          .shape = elements,
          .padded = elements,
          .stages = stages,
          .layout = strided(elements, {1}),
          .part_step = bytes / stages,
          .stage_step = bytes / stages,
          .offset = offset};
}
inline Access same(int tensor, int lag = 0) { return {.tensor = tensor, .lag = lag, .same_thread = true}; }

inline Step work(std::string what, std::vector<Access> reads, std::vector<Access> writes, int channel = -1) {
  return {.is = Compute{.channel = channel},
          .what = std::move(what),
          .reads = std::move(reads),
          .writes = std::move(writes)};
}
inline Step load(std::string what, Access to, int channel = -1, int guard_lag = 0) {
  return {.is = Copy{.channel = channel, .guard_lag = guard_lag}, .what = std::move(what), .writes = {to}};
}
inline Step store(std::string what, Access from, int channel = -1) {
  return {.is = Copy{.channel = channel}, .what = std::move(what), .reads = {from}};
}
inline Step wgmma(std::string what, std::vector<Access> reads, int channel = -1) {
  return {.is = Mma{.channel = channel}, .what = std::move(what), .reads = std::move(reads)};
}
inline Step commit(int channel = -1) { return {.is = Commit{channel}}; }
inline Step wait_group(int pending, int channel = -1) { return {.is = WaitGroup{pending, channel}}; }
inline Step barrier(int id = 0) { return {.is = Barrier{.id = id}}; }
inline Step arrive(int id) { return {.is = Barrier{.id = id, .waits = false}}; }
inline Step acquire(int channel) { return {.is = Acquire{channel}}; }
inline Step release(int channel) { return {.is = Release{.channel = channel}}; }
inline Step fence() { return {.is = FenceProxy{}}; }
inline Step loop(std::int64_t trip_count) { return {.is = Loop{.trip_count = trip_count}}; }

/// One agent of four warps; adjacent tensors of 1024 bytes with one stage.
Kernel one_agent(std::vector<std::string> tensors, std::vector<Step> steps);

/// SM80: cp.async into `stages` stages, with a prefetch distance of `stages` - 1; the warps' partial results
/// reuse the memory of sA.
Kernel sm80_matmul(int stages, std::int64_t trip_count);

/// SM90: a TMA producer fills a ring of four stages for a wgmma consumer, which stores by TMA.
Kernel hopper_matmul(std::int64_t trip_count);

/// hopper_matmul over a cluster: all ranks share B, each loads a part of it.
Kernel cluster_matmul(std::int64_t trip_count, int ranks = 2);

/// hopper_matmul with K split over a cluster: each rank sends the others their parts of its accumulators, and
/// adds what it receives.
Kernel split_k_matmul(std::int64_t trip_count, int ranks = 2);

/// SM90: two wgmma consumers of one ring in ping-pong: while one multiplies, the other works on its results.
Kernel ping_pong(std::int64_t trip_count);

/// The kernel as printed (docs/reference/kernel-ir.md).
std::string text(const Kernel&, const char* target = "sm_90a");

/// "" where the verifier accepts, else what it says.
std::string verdict(const Kernel&, const char* target = "sm_90a");

}  // namespace zellige::plan
