// The steps of a plan's schedule as one block runs them, with the barriers between them; long loops are
// shortened to a few iterations, enough to use every stage twice.
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::plan {

struct Moment {
  const kernel::Step* step = nullptr;
  bool start = false;  // of the state, before the loop
  std::int64_t iteration = 0;
  int stage = 0;       // of what it writes
  int read_stage = 0;  // of the pipelined buffers that it reads
  int stretch = 0;     // how many barriers lie before it
  int arrives = 0;     // asynchronous copies: the stretch in which the copying threads have waited for the data
  std::size_t arrives_before = 0;  // and the first moment after that wait
};

struct Timeline {
  std::vector<Moment> moments;
  int barriers = 0;
};

/// The shortened trip count of a long loop with `stages` stages.
std::int64_t shortened(std::int64_t trip_count, int stages);

Timeline timeline(const kernel::Kernel&);

}  // namespace zellige::plan
