// Runs emitted text on the CPU: every block, every thread, one fiber each, every access checked.
//
//   Buffer x("X", 4096), y("Y", 4096);
//   fill(x.data()); x.mark_initialised();
//   Report report = run(entry, {.grid = {8}, .block = {128}, .arguments = {&x, &y}, .writes = {false,
//   true}}); for (const Finding& f : report.findings) puts(f.message.c_str());
//
// `entry` is the text's `emulate_NAME`, found by the caller in the library that it compiled and loaded.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "emulate/buffer.hpp"
#include "zellige/emulate/thread.hpp"

namespace zellige::emulate {

struct Finding {
  enum class Kind : std::uint8_t {
    out_of_bounds,
    misaligned,
    uninitialised_read,
    read_only,  // a write to a tensor that the launch only reads
    race,
    divergence,          // a warp's threads do not meet
    barrier_divergence,  // a block's threads do not reach the same barrier
    deadlock,
    instruction,  // an instruction's own rule, see fail_at
  };
  Kind kind{};
  std::string tensor;   // "" where no tensor is concerned
  std::string message;  // one sentence: who, where, at which line, against whom
};

std::string_view name(Finding::Kind);

struct LaunchConfig {
  dim3 grid, block;
  unsigned shared_bytes = 0;       // dynamic shared memory of a block
  std::vector<Buffer*> arguments;  // the kernel's parameters, in order
  std::vector<bool> writes;        // parallel to arguments
  std::string source_file;  // findings name lines of this file; "": the innermost outside Zellige's headers
  int workers = 0;          // 0: one a core
};

struct Report {
  Counters counters;
  std::vector<Finding> findings;  // at most 20, one a kind, tensor and line; in order of block
  bool complete = true;           // false: some block was given up at a divergence or deadlock
};

/// Runs one launch to its end. Findings are results; Error is thrown where the launch itself makes no sense.
Report run(void (*entry)(Launch&), const LaunchConfig&);

}  // namespace zellige::emulate
