// Runs emitted source code on the CPU: every block and every thread, one fiber per thread, with every access
// checked.
//
//   Buffer x("X", 4096), y("Y", 4096);
//   fill(x.data()); x.mark_initialised();
//   Report report =
//       run(entry, {.grid = {8}, .block = {128}, .arguments = {&x, &y}, .writes = {false, true}});
//   for (const Finding& f : report.findings) puts(f.message.c_str());
//
// `entry` is `emulate_NAME` of the source code, which the caller looks up in the library that it compiled and
// loaded.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
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
    divergence,          // a warp's threads do not converge
    barrier_divergence,  // a block's threads do not reach the same barrier
    deadlock,
    instruction,  // an instruction's own rule, see fail_at
    fence,        // the asynchronous proxy reads ordinary writes without a fence
    accumulator,  // registers that a wgmma still owns are used
    departed,     // shared memory of a block that may have exited
    dependency,   // global memory before griddep_wait
    crash,        // the kernel's own code divided by zero, or accessed invalid memory
    endless,      // exceeds the launch's time limit
    stale,        // a stage is read after a later one
    unread,       // a stage, or a partial sum, that is never read
    layout,       // bytes are read through another layout than they were written through
  };
  Kind kind{};
  std::string tensor;   // "" if no tensor is involved
  std::string message;  // one sentence: the access, its line, and the conflicting access
};

std::string_view name(Finding::Kind);

/// A kernel's parameter: a tensor, a TMA map of a tensor, or the bytes of anything else.
struct Parameter {
  Buffer* buffer = nullptr;
  bool writes = false;
  std::vector<unsigned char> bytes;
  bool constant = false;  // not written by any kernel of the stream: may be read before griddep_wait
  bool address = false;   // the kernel takes it as a raw pointer

  Parameter(Buffer& tensor, bool written) : buffer(&tensor), writes(written) {}
  /// For a kernel that takes a raw pointer.
  static Parameter address_of(Buffer& tensor, bool written) {
    Parameter p(tensor.data(), tensor, written);
    p.address = true;
    return p;
  }
  /// `map` is a TmaDescriptor made for the emulator (atom/make_tma_descriptor.hpp).
  template <class T>
  Parameter(const T& map, Buffer& tensor, bool written) : buffer(&tensor), writes(written), bytes(sizeof(T)) {
    std::memcpy(bytes.data(), &map, sizeof(T));
  }
  template <class T>
  requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>) Parameter(const T& value)
      : bytes(sizeof(T)) {
    std::memcpy(bytes.data(), &value, sizeof(T));
  }
};

struct LaunchConfig {
  dim3 grid, block;
  unsigned shared_bytes = 0;       // dynamic shared memory per block
  std::vector<Buffer*> arguments;  // the kernel's parameters, in order, if all are tensors
  std::vector<bool> writes;        // parallel to arguments
  // findings name lines of this file; "": the innermost line outside Zellige's headers
  std::string source_file;
  int workers = 0;                      // 0: one per core
  dim3 cluster{1, 1, 1};                // blocks
  std::vector<Parameter> parameters{};  // replaces arguments and writes
  /// Programmatic dependent launch: starts while the previous kernel still runs. Before griddep_wait nothing
  /// may be written, and only `constant` parameters may be read. If false, a kernel that calls griddep_wait
  /// may read earlier.
  bool programmatic = false;
  /// Seed of a random thread schedule; 0: lane by lane, warp by warp. Deterministic for a given seed.
  unsigned schedule = 0;
  double seconds = 0;      // CPU time limit for a cluster, which is then aborted; 0: none
  unsigned registers = 0;  // per thread at the start, for setmaxnreg; 0: 65536 divided by the threads
  /// Returns the block's dynamic shared memory, called on the thread that runs the block, for kernels that
  /// declare it (extern __shared__); a multiple of 1024. Null: the emulator's own.
  unsigned char* (*shared_memory)() = nullptr;
};

struct Report {
  Counters counters;
  std::vector<Finding> findings;  // at most 20, one per kind, tensor and line; in order of block
  bool complete = true;           // false: some block was aborted at a divergence or deadlock
};

/// Runs one launch to its end. Findings are part of the result; Error is thrown if the launch itself is
/// invalid.
Report run(void (*entry)(Launch&), const LaunchConfig&);

}  // namespace zellige::emulate
