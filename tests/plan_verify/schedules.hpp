// Hand-written schedules, and the small functions to write them with. Their steps are one list
// (flat_steps.hpp), which verdict() nests.
#pragma once
#include "../plan/flat_steps.hpp"

namespace zellige::plan {

/// A tensor of `bytes` in all its stages, from byte `offset` on.
inline kernel::SmemTensor tensor(std::string name, std::int64_t offset, std::int64_t bytes, int stages = 1) {
  const graph::Shape elements{bytes / stages / 4};
  return {.name = std::move(name),
          .shape = elements,
          .padded = elements,
          .stages = stages,
          .layout = kernel::strided(elements, {1}),
          .part_step = bytes / stages,
          .stage_step = bytes / stages,
          .offset = offset};
}
inline kernel::Access same(int tensor, int lag = 0) { return {.tensor = tensor, .lag = lag, .same_thread = true}; }

inline kernel::Step work(std::string what, std::vector<kernel::Access> reads, std::vector<kernel::Access> writes,
                         int channel = -1) {
  return {.is = kernel::Compute{.channel = channel},
          .what = std::move(what),
          .reads = std::move(reads),
          .writes = std::move(writes)};
}
inline kernel::Step load(std::string what, kernel::Access to, int channel = -1, int guard_lag = 0) {
  return {.is = kernel::Copy{.channel = channel, .guard_lag = guard_lag}, .what = std::move(what), .writes = {to}};
}
inline kernel::Step store(std::string what, kernel::Access from, int channel = -1) {
  return {.is = kernel::Copy{.channel = channel}, .what = std::move(what), .reads = {from}};
}
inline kernel::Step wgmma(std::string what, std::vector<kernel::Access> reads, int channel = -1) {
  return {.is = kernel::Mma{.channel = channel}, .what = std::move(what), .reads = std::move(reads)};
}
inline kernel::Step commit(int channel = -1) { return {.is = kernel::Commit{channel}}; }
inline kernel::Step wait_group(int pending, int channel = -1) { return {.is = kernel::WaitGroup{pending, channel}}; }
inline kernel::Step barrier(int id = 0) { return {.is = kernel::Barrier{.id = id}}; }
inline kernel::Step arrive(int id) { return {.is = kernel::Barrier{.id = id, .waits = false}}; }
inline kernel::Step acquire(int channel) { return {.is = kernel::Acquire{channel}}; }
inline kernel::Step release(int channel) { return {.is = kernel::Release{.channel = channel}}; }
inline kernel::Step fence() { return {.is = kernel::FenceProxy{}}; }
inline kernel::Step loop(std::int64_t trip_count) { return {.is = kernel::Loop{.trip_count = trip_count}}; }

/// One agent of four warps; adjacent tensors of 1024 bytes with one stage.
kernel::Kernel one_agent(std::vector<std::string> tensors, std::vector<kernel::Step> steps);

/// SM80: cp.async into `stages` stages, with a prefetch distance of `stages` - 1; the warps' partial results
/// reuse the memory of sA.
kernel::Kernel sm80_matmul(int stages, std::int64_t trip_count);

/// SM90: a TMA producer fills a ring of four stages for a wgmma consumer, which stores by TMA.
kernel::Kernel hopper_matmul(std::int64_t trip_count);

/// hopper_matmul over a cluster: all blocks share B, each loads a part of it.
kernel::Kernel cluster_matmul(std::int64_t trip_count, int blocks = 2);

/// hopper_matmul with K split over a cluster: each block sends the others their parts of its accumulators, and
/// adds what it receives.
kernel::Kernel split_k_matmul(std::int64_t trip_count, int blocks = 2);

/// SM90: two wgmma consumers of one ring in ping-pong: while one multiplies, the other works on its results.
kernel::Kernel ping_pong(std::int64_t trip_count);

/// The kernel as printed (docs/reference/kernel-ir.md).
std::string text(const kernel::Kernel&, const char* target = "sm_90a");

/// "" where the verifier accepts, else what it says.
std::string verdict(const kernel::Kernel&, const char* target = "sm_90a");

}  // namespace zellige::plan
