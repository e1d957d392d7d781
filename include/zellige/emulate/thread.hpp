// The running thread, and the table of calls that connects emitted code to the emulator's engine. The code is
// compiled into a separate library; it finds its thread by the address of its stack, and the engine in the
// thread, so the library needs no symbol of the program that loads it.
#pragma once
#include <cstddef>
#include <cstdint>

#include "zellige/emulate/counters.hpp"

namespace zellige {
struct Instruction;   // zellige/atom/instruction.hpp
struct BodyOperands;  // zellige/atom/body.hpp
}  // namespace zellige

namespace zellige::emulate {

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

enum class Space : unsigned char { global, shared };

/// A tensor's bytes: the range that a checked pointer may access.
struct Region {
  const char* name = "";
  unsigned char* begin = nullptr;
  std::size_t bytes = 0;
  Space space = Space::global;
  bool writable = true;
  std::uint16_t id = 0;           // shared: one id per name
  void* shadow = nullptr;         // the engine's
  bool constant = false;          // global: no kernel of the stream writes it
  std::uint16_t arrangement = 0;  // shared: the layout of its accesses, 0: unknown
  std::uint32_t part_bytes = 0;   // shared: size of its stages or other parts (arrangement.hpp), 0: undivided
  bool stages = false;
};

/// pointer<void> without the type, for calls into the engine.
struct Place {
  unsigned char* p = nullptr;
  const Region* region = nullptr;
};

struct Thread;
struct AsyncEngine;
struct Arrangement;  // arrangement.hpp
struct Parts;
enum class Use : unsigned char;  // registers.hpp
using Compute = void (*)(void* compute, const void* const* in, void* const* out);

/// The engine's interface for emitted code. Each call's return address is the access's source position in a
/// finding.
struct Engine {
  const void* (*read)(Thread&, Place, unsigned bytes);
  void* (*write)(Thread&, Place, unsigned bytes);
  const Region* (*shared)(Thread&, const char* name, unsigned offset, unsigned bytes);
  void (*meet)(Thread&, const void* in, void* out, Compute, void* compute, const char* what);
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
  void (*poisoned)(Thread&);
  const AsyncEngine* async;  // async.hpp
  unsigned (*atomic_increment)(Thread&, Place counter, unsigned last);
  const Region* (*arranged)(Thread&, const Region*, const Arrangement&, const Parts*);
  void (*unwritten)(Thread&, Use, std::uintptr_t declared, unsigned value);
  const Instruction& (*instruction)(const char* name);  // by name
  void (*run_body)(const Instruction&, const BodyOperands&);
  const Region* (*region_of)(Thread&, const void*);
};

struct Thread {
  const Engine* engine = nullptr;
  Counters* counters = nullptr;
  dim3 thread, block, block_size, grid;
  unsigned index = 0;  // within its block: x fastest
  unsigned cluster_rank = 0;
  dim3 cluster_size;
  bool watch_poison = false;  // this thread has had accumulators in flight
};

/// The content of registers still owned by a wgmma: a thread that stores it has not waited. Conversions to 16
/// bits keep it distinguishable from other NaNs (half.hpp, bfloat16.hpp).
inline constexpr std::uint32_t poison_word = 0x7fc0dead;
inline constexpr std::uint16_t poison_half = 0x7ead, poison_bfloat = 0x7fea;

// Each stack is an aligned slot with its Thread near the top; the offset of the Thread varies from slot to
// slot, because equal offsets would all map to the same few cache sets.
inline constexpr std::uintptr_t stack_bytes = 128 * 1024;

inline __attribute__((always_inline)) Thread& thread_of_stack(std::uintptr_t address) {
  std::uintptr_t slot = address & ~(stack_bytes - 1);
  std::uintptr_t colour = (slot / stack_bytes) & 31;
  return *reinterpret_cast<Thread*>(slot + stack_bytes - 1024 - colour * 576);
}

/// The thread that runs this code.
inline __attribute__((always_inline)) Thread& self() {
  return thread_of_stack(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}

inline __attribute__((always_inline)) unsigned lane() { return self().index % 32; }
inline __attribute__((always_inline)) unsigned warp() { return self().index / 32; }

inline __attribute__((always_inline)) void count(Counter c, std::uint64_t n = 1) {
  (*self().counters)[c] += n;
}

/// A finding that only the instruction itself can detect, with its message; `tensor` may be "".
inline __attribute__((always_inline)) void fail_at(const char* tensor, const char* message) {
  Thread& t = self();
  t.engine->fail(t, tensor, message);
}

/// A tensor (region), or the bytes of anything else.
struct Argument {
  const Region* region = nullptr;
  const void* bytes = nullptr;
  std::size_t size = 0;
};

/// One launch, as the entry point in the emitted code receives it.
struct Launch {
  const Argument* arguments = nullptr;
  unsigned argument_count = 0;
  void (*run)(Launch&, void (*body)(const Launch&), const std::size_t* sizes, unsigned parameters) = nullptr;
  void (*kernel)() = nullptr;  // set by `call`
};

}  // namespace zellige::emulate
