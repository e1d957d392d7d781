// The links between the GPUs of a host, for targets where they are known: what decides between NCCL and kernels that
// read each other's memory.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace zellige::target {

/// Those of sm_90a were measured on two H200s with NV18 (18 NVLinks of each) by bench/ranks.py: in CUDA graphs, of the slowest rank.
/// The rates are those of 16 MB and more; of 256 KB to 4 MB, both ways take up to a third longer than they say.
struct Links {
  double bandwidth = 0;   // GB/s in one direction that kernels reach when they read another GPU's memory
  double symmetric = 0;   // us from the end of a launch to that of the next, in which ranks exchange little
  double round = 0;       // us for which ranks wait for each other once more in such a kernel; assumed
  double nccl = 0;        // us of an all_reduce of few bytes by NCCL
  double nccl_rate = 0;   // GB/s at which its time grows with the bytes
  bool measured = false;  // all were measured; otherwise some are assumed
};

/// Returns the links of a target; nullopt if they are not known.
std::optional<Links> links(std::string_view target);

/// Returns the expected us of an all_reduce of `bytes` bytes over `ranks` ranks, by NCCL and in one kernel: in one shot, each rank reads
/// what all others have; in two, a share of it, and takes the totals of the others.
double nccl_us(const Links&, std::int64_t bytes, int ranks);
double symmetric_us(const Links&, std::int64_t bytes, int ranks);
double two_shots_us(const Links&, std::int64_t bytes, int ranks);
/// Returns the expected us that the kernel which makes the operand takes longer if it adds the ranks' tiles at its end. `scatters`: each rank
/// takes its part of the sum alone.
double at_end_us(const Links&, std::int64_t bytes, int ranks, bool two_shots, bool scatters);

/// Returns the expected us of an all_gather by NCCL of `bytes` bytes on each rank.
double nccl_gather_us(const Links&, std::int64_t bytes, int ranks);
/// Returns the expected us that a kernel of `kernel` us takes longer if ranks store `bytes` bytes each in the memory of the others at its
/// start, and read those of the others after their own.
double at_start_us(const Links&, std::int64_t bytes, int ranks, double kernel);

}  // namespace zellige::target
