// Runs CUDA source code, compiled for the emulator, on the CPU: every thread of every block is a fiber, and
// every memory access is checked.
//
//   Buffer x("X", 4096), y("Y", 4096);
//   fill(x.data()); x.mark_initialised();
//   Report report =
//       run(entry, {.grid = {8}, .block = {128}, .arguments = {&x, &y}, .writes = {false, true}});
//   for (const Finding& f : report.findings) puts(f.message.c_str());
//
// `entry` is the function `emulate_NAME` of the compiled source; the caller compiles the library, loads it
// and looks the function up.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "emulate/buffer.hpp"
#include "zellige/emulate/thread.hpp"

namespace zellige::emulate {

/// A fault in a kernel that the emulator has found.
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
    instruction,  // a rule of a single instruction is violated; see fail_at
    fence,        // the asynchronous proxy accesses bytes that ordinary code wrote, without a fence between
    accumulator,  // registers that a wgmma still owns are used or overwritten
    departed,     // another block or a copy may access shared memory of a block that has exited
    dependency,   // global memory is accessed before griddep_wait
    crash,        // the kernel's own code divided by zero, or accessed invalid memory
    endless,      // the cluster exceeds the launch's time limit
    stale,        // a stage of a ring is read after a later one
    unread,       // a stage or a partial result is never read
    layout,       // bytes are read through a layout incompatible with the one they were written through
  };
  /// What the kernel lacks, if that is known: what would order two accesses, or lets threads wait for each other.
  enum class Missing : std::uint8_t {
    nothing,        // that can be named
    warp_barrier,   // __syncwarp or a barrier between two accesses of one warp
    block_barrier,  // a barrier of the block between two accesses
    copy_wait,      // a wait for a cp.async before the access
    block_order,    // an order of two blocks
    atomicity,      // of the accesses of two blocks one is atomic, and the other one is not
    all_threads,    // some thread of the block does not reach its barrier
    mask_lanes,     // the lanes of a mask are not those that execute the collective
    bounds_check,   // a comparison of an index into global memory with the number of elements
  };
  Kind kind{};
  std::string tensor;   // "" if no tensor is involved
  std::string message;  // one sentence: the access, its source line, and the conflicting access
  // the source lines that the message names, such as "lora.cu:57": the access, then the conflicting access
  std::vector<std::string> lines{};
  Missing missing = Missing::nothing;
};

/// Returns the kind of a finding (an error in the kernel) in words, with which its message starts: "out of bounds".
std::string_view name(Finding::Kind);

/// An argument of a launch: a tensor, a TMA descriptor of a tensor, or the bytes of any other value.
struct LaunchParameter {
  Buffer* buffer = nullptr;
  bool writes = false;
  std::vector<unsigned char> bytes;
  bool constant = false;  // no earlier kernel on the stream writes it: it may be read before griddep_wait
  bool address = false;   // the kernel has a raw pointer as its parameter

  LaunchParameter(Buffer& tensor, bool written) : buffer(&tensor), writes(written) {}
  /// Returns the argument for a kernel parameter that is a raw pointer to the tensor. `written`: true if the
  /// kernel writes the tensor.
  static LaunchParameter address_of(Buffer& tensor, bool written) {
    LaunchParameter p(tensor.data(), tensor, written);
    p.address = true;
    return p;
  }
  /// Makes the argument for a kernel parameter that is a TMA descriptor. `map`: a TmaDescriptor of the tensor, made for
  /// the emulator (atom/make_tma_descriptor.hpp). `written`: true if the kernel writes the tensor.
  template <class T>
  LaunchParameter(const T& map, Buffer& tensor, bool written) : buffer(&tensor), writes(written), bytes(sizeof(T)) {
    std::memcpy(bytes.data(), &map, sizeof(T));
  }
  template <class T>
  requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>) LaunchParameter(const T& value)
      : bytes(sizeof(T)) {
    std::memcpy(bytes.data(), &value, sizeof(T));
  }
};

/// Configuration of an emulated kernel launch. Set either `parameters`, or `arguments` and `writes`.
struct LaunchConfig {
  dim3 grid, block;
  unsigned shared_bytes = 0;       // dynamic shared memory per block
  std::vector<Buffer*> arguments;  // for kernels whose parameters are all tensors
  std::vector<bool> writes;        // per argument, true if the kernel writes it
  // findings name lines of this file; "": the innermost line outside include/zellige
  std::string source_file;
  int workers = 0;                            // worker threads; 0: one per core
  dim3 cluster{1, 1, 1};                      // blocks per cluster
  std::vector<LaunchParameter> parameters{};  // the kernel's arguments, in order
  /// Programmatic dependent launch: the kernel starts while the previous kernel still runs. Before
  /// griddep_wait a thread must not write global memory, and may read only `constant` arguments. If false,
  /// and the kernel calls griddep_wait, early reads are allowed.
  bool programmatic = false;
  /// Seed of a random order of threads; 0: lane by lane, warp by warp. Equal seeds give equal runs.
  unsigned schedule = 0;
  double seconds = 0;  // limit on the CPU time of a cluster, which is then ended with a finding; 0: no limit
  // registers per thread at the start, for setmaxnreg; 0: 65536 divided by the threads of a block
  unsigned registers = 0;
  /// For kernels that declare their dynamic shared memory (extern __shared__): returns it, at a multiple of
  /// 1024, when called on the worker thread that runs the block. Null: the engine allocates it.
  unsigned char* (*shared_memory)() = nullptr;
  bool count_by_line = false;  // fill EmulationReport::costs
  /// Called by the calling thread after each of its blocks: how many blocks of how many have begun. Null: nobody asks.
  void (*progress)(std::uint64_t begun, std::uint64_t blocks) = nullptr;
  /// Of a launch that several ranks make together: `parameters` of each of them, of equal kinds. Blocks with the same
  /// number on all ranks run together, each with its rank's parameters. Empty: one rank, with `parameters`.
  std::vector<std::vector<LaunchParameter>> ranks{};
};

/// What the accesses of one instruction of a kernel cost: passes (wavefronts) of shared memory, or sectors of global
/// memory, and the fewest that the bytes need.
struct LineCost {
  std::string line;  // "lora.cu:57"
  bool shared = false, writes = false;
  unsigned width = 0;                                 // bytes per thread
  std::uint64_t executions = 0, cost = 0, ideal = 0;  // executions: by a warp
};

/// Result of an emulated kernel launch.
struct EmulationReport {
  Counters counters;
  std::vector<Finding> findings;  // at most 20, one per kind, tensor and line, in order of block
  bool complete = true;           // false: a cluster was ended by a finding, such as a deadlock
  std::vector<LineCost> costs{};  // by source line, if the launch asks for them
};

/// Runs one launch to its end. Errors in the kernel do not throw: they are the report's findings. Throws
/// Error if the launch itself is invalid, for example if the arguments do not match the kernel's parameters.
EmulationReport run(void (*entry)(Launch&), const LaunchConfig&);

/// Ends the running launch soon, and all later ones at once, without further findings; may be called by a signal handler.
void interrupt();
bool is_interrupted();

}  // namespace zellige::emulate
