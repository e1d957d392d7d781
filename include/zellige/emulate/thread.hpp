// Connects a kernel compiled for the emulator to the emulator's engine (src/emulate). Defines Thread, the state
// of an emulated CUDA thread, and Engine, the table of the engine's functions that kernels call. The kernel is
// in a shared library of its own. It finds its Thread from the address of its stack, and the Engine through a
// pointer in the Thread, so the library needs no symbol of the program that loads it.
#pragma once
#include <cstddef>
#include <cstdint>

#include "zellige/emulate/counters.hpp"

namespace zellige {
struct Instruction;   // zellige/atom/instruction.hpp
struct BodyOperands;  // zellige/atom/body.hpp
}  // namespace zellige

namespace zellige::emulate {

/// CUDA's dim3, for the host compiler.
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

enum class Space : unsigned char { global, shared };

/// The bytes of a tensor in global or shared memory: the range that a checked pointer may access.
struct Region {
  const char* name = "";
  unsigned char* begin = nullptr;
  std::size_t bytes = 0;
  Space space = Space::global;
  bool writable = true;    // false: the launch declares that it only reads the tensor
  std::uint16_t id = 0;    // shared memory: one id per name, from 1
  void* shadow = nullptr;  // the engine's state: of the tensor (global), or of its block (shared)
  // global memory: no earlier kernel on the stream writes it, so it may be read before griddep_wait
  bool constant = false;
  // shared memory: index of the layout of accesses through this region; 0: unknown
  std::uint16_t arrangement = 0;
  // shared memory: size of a stage or another part (arrangement.hpp); 0: undivided
  std::uint32_t part_bytes = 0;
  bool stages = false;  // the parts are the stages of a ring
};

/// A checked pointer without its element type, for calls into the engine.
struct Place {
  unsigned char* p = nullptr;
  const Region* region = nullptr;
};

struct Thread;
struct AsyncEngine;
struct Arrangement;  // arrangement.hpp
struct Parts;
enum class Use : unsigned char;  // registers.hpp
/// Type-erased compute function of a warp collective. `compute`: the caller's function object; in[i] and
/// out[i]: operands and results of lane i.
using LaneFunction = void (*)(void* compute, const void* const* in, void* const* out);

/// Table of the engine's functions, which kernels call through the inline functions of device.hpp and
/// pointer.hpp. A finding names the source line of the call, from its return address.
struct Engine {
  const void* (*read)(Thread&, Place, unsigned bytes);
  void* (*write)(Thread&, Place, unsigned bytes);
  const Region* (*shared)(Thread&, const char* name, unsigned offset, unsigned bytes);
  void (*meet)(Thread&, const void* in, void* out, LaneFunction, void* compute, const char* what);
  void (*read_rows)(Thread&, const Place* rows, unsigned matrices, const void** safe);
  const void* (*read_as)(Thread&, unsigned lane, Place, unsigned bytes);
  void* (*write_as)(Thread&, unsigned lane, Place, unsigned bytes);
  void (*sync_warp)(Thread&, unsigned mask);
  void (*bar_sync)(Thread&, unsigned id, unsigned threads);  // threads 0: the whole block
  void (*bar_arrive)(Thread&, unsigned id, unsigned threads);
  void (*cp_async)(Thread&, Place dst, Place src, unsigned bytes, unsigned valid_bytes);
  void (*cp_async_commit)(Thread&);
  void (*cp_async_wait)(Thread&, unsigned pending);
  void (*fail)(Thread&, const char* tensor, const char* message);
  void (*write_rows)(Thread&, const Place* rows, unsigned matrices, void** safe);
  void (*poisoned)(Thread&);  // reports the use of an accumulator that a wgmma still owns
  const AsyncEngine* async;   // async.hpp
  unsigned (*atomic_increment)(Thread&, Place counter, unsigned last);
  const Region* (*arranged)(Thread&, const Region*, const Arrangement&, const Parts*);
  void (*unwritten)(Thread&, Use, std::uintptr_t declared, unsigned value);
  const Instruction& (*instruction)(const char* name);
  void (*run_body)(const Instruction&, const BodyOperands&);
  unsigned (*multiply)(const Instruction&, unsigned m, unsigned n, const void* const* a, const void* const* b,
                       void* const* d);
  const Region* (*region_of)(Thread&, const void*);
  void (*relaxed)(Thread&, Place, unsigned bytes, bool writes);  // an access that other threads may race with
  void (*release)(Thread&);  // orders what the thread has observed before its next relaxed store
};

/// A CUDA thread on the emulator, as far as kernels see it.
struct Thread {
  const Engine* engine = nullptr;
  Counters* counters = nullptr;
  dim3 thread, block, block_size, grid;
  unsigned index = 0;  // linear index within its block, x fastest
  unsigned cluster_rank = 0;
  dim3 cluster_size;
  bool watch_poison = false;  // true once the thread has issued a wgmma: its values are checked for poison
};

/// The bits of registers that a wgmma still owns: a signalling NaN. Arithmetic sets its bit `quiet_bit`, so a register
/// that has been computed with differs from one that has not. A thread that stores either value has not waited for the
/// wgmma. Conversions to 16 bits keep the value distinguishable from other NaNs (half.hpp, bfloat16.hpp).
inline constexpr std::uint32_t poison_word = 0x7f80dead, quiet_bit = 0x00400000;
/// Returns true if `word` is poison, or what arithmetic makes of it.
constexpr bool is_poison(std::uint32_t word) { return (word & 0x7fffffff & ~quiet_bit) == poison_word; }
inline constexpr std::uint16_t poison_half = 0x7ead, poison_bfloat = 0x7fea;

// Size and alignment of a thread's stack. The Thread object is near the top, at an offset that varies from
// stack to stack, because equal offsets would all map to the same few cache sets.
inline constexpr std::uintptr_t stack_bytes = 128 * 1024;

/// Returns the emulated thread on whose stack `address` is.
inline __attribute__((always_inline)) Thread& thread_of_stack(std::uintptr_t address) {
  std::uintptr_t slot = address & ~(stack_bytes - 1);
  std::uintptr_t colour = (slot / stack_bytes) & 31;
  return *reinterpret_cast<Thread*>(slot + stack_bytes - 1024 - colour * 576);
}

/// Returns the emulated thread that runs this code.
inline __attribute__((always_inline)) Thread& self() {
  return thread_of_stack(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}

/// Returns the lane of the running thread in its warp, 0 to 31.
inline __attribute__((always_inline)) unsigned lane() { return self().index % 32; }
/// Returns the index of the running thread's warp in its block.
inline __attribute__((always_inline)) unsigned warp() { return self().index / 32; }

/// Adds `n` to a counter of the running launch, such as Counter::mma.
inline __attribute__((always_inline)) void count(Counter c, std::uint64_t n = 1) { (*self().counters)[c] += n; }

/// Reports an error of the kernel with the string `message`, at the source line of the call. Used by functions
/// that check their arguments themselves, such as load_once. `tensor`: name of the tensor involved, or "".
inline __attribute__((always_inline)) void fail_at(const char* tensor, const char* message) {
  Thread& t = self();
  t.engine->fail(t, tensor, message);
}

/// An argument of a kernel launch: a tensor (`region`), or `size` bytes of any other parameter.
struct Argument {
  const Region* region = nullptr;
  const void* bytes = nullptr;
  std::size_t size = 0;
};

/// A kernel launch, as the emulator's engine passes it to the entry function of a kernel's library.
struct Launch {
  const Argument* arguments = nullptr;
  unsigned argument_count = 0;
  /// Gives the emulator the function `body`, which each thread of the grid will execute, and the number and
  /// sizes of the kernel's parameters. sizes[i] is in bytes; 0: a pointer. Called by `call`.
  void (*run)(Launch&, void (*body)(const Launch&), const std::size_t* sizes, unsigned parameters) = nullptr;
  void (*kernel)() = nullptr;  // set by `call`: the __global__ function
};

}  // namespace zellige::emulate
