// Declares the emulator's calls for the instructions of Blackwell's tensor memory: tcgen05. The functions of
// <zellige/atom/tcgen05.hpp>, umma.hpp and tmem_copy.hpp call them when a kernel is compiled for the emulator.
//
// An address in tensor memory has its lane in the upper 16 bits and its column in the lower ones. The emulator reports columns
// that are not allocated, lanes of another warp, and accesses that no commit, wait or fence orders
// (docs/explanation/emulator.md).
#pragma once
#include "zellige/emulate/device.hpp"

namespace zellige::reference {
enum class UmmaKind : unsigned char;  // zellige/atom/umma_reference.hpp
}  // namespace zellige::reference

namespace zellige::emulate {

/// The operands of one tcgen05.mma, as its thread passes them.
struct UmmaCall {
  std::uint32_t d;                    // address of D in tensor memory
  std::uint64_t a, b;                 // descriptors of tiles in shared memory, or the address of A in tensor memory
  std::uint32_t instruction;          // the instruction's descriptor
  zellige::reference::UmmaKind kind;  // in the order of UMMA::Kind
  unsigned char ctas;                 // 1, or 2 for a pair of CTAs
  bool a_in_tmem, accumulate;         // accumulate: D += A B, not D = A B
  // addresses of the scales of A and B in tensor memory, and the number of elements along K that have one; 0: there are none
  std::uint32_t scales_a = 0, scales_b = 0;
  unsigned scale_block = 0;
};

/// What a tcgen05.ld or tcgen05.st moves. places[2 (r + registers t) + h] is where half h of register r of thread t of the warp
/// is: lane << 16 | column << 1 | half of the column's word, counted from the instruction's address.
struct TmemWords {
  const std::uint32_t* places;
  unsigned registers;
  bool load;
  bool of_half;  // each half of a register has a column of its own, of which it is the lower half
};

/// The operands of a tcgen05.ld or st, as a thread passes them: its registers, and the address.
struct TmemOperands {
  std::uint32_t* registers;
  std::uint32_t address;
};

/// Table of the engine's functions for tcgen05. Those that say "of a warp" are called once, in the compute function of a warp
/// collective; arrays have an element for each lane.
struct Tcgen05Engine {
  void (*alloc)(Thread&, Place to, unsigned columns, unsigned ctas);                 // of a warp
  void (*dealloc)(Thread&, std::uint32_t address, unsigned columns, unsigned ctas);  // of a warp
  void (*relinquish)(Thread&, unsigned ctas);                                        // of a warp
  void (*move)(Thread&, const TmemOperands*, const TmemWords&);                      // of a warp
  void (*wait)(Thread&, bool load);                                                  // of a warp
  void (*fence)(Thread&, bool after);
  void (*leave_fences)(Thread&);
  void (*mma)(Thread&, const UmmaCall&);
  void (*commit)(Thread&, Place barrier, unsigned mask, unsigned ctas);
  void (*copy)(Thread&, std::uint64_t descriptor, std::uint32_t address, const char* shape, unsigned ctas);
  void (*differs)(Thread&, const char* what, const char* operand);  // of a warp: its lanes pass different values
};

namespace detail {
/// Returns whether all lanes pass the same value of an operand of the warp collective `what`; reports it if they do not.
template <class In, class Get>
ZELLIGE_INLINE bool same_in_all(const In* in, Get get, const char* what, const char* operand) {
  for (int l = 1; l < 32; ++l)
    if (get(in[l]) != get(in[0])) {
      Thread& t = self();
      t.engine->async->tcgen05->differs(t, what, operand);
      return false;
    }
  return true;
}
struct Columns {
  Place to;  // alloc: where the address is written
  std::uint32_t address;
  unsigned columns;
};
}  // namespace detail

/// Allocates columns of tensor memory, and writes the address of the first to shared memory. Waits until they are free.
ZELLIGE_INLINE void tmem_alloc(Place to, unsigned columns, unsigned ctas) {
  meet<detail::Columns, char>(
      {to, 0, columns},
      [ctas](const detail::Columns* in, char*) {
        if (!detail::same_in_all(
                in, [](const detail::Columns& c) { return c.columns; }, "tcgen05.alloc", "number of columns"))
          return;
        Thread& t = self();
        t.engine->async->tcgen05->alloc(t, in[0].to, in[0].columns, ctas);
      },
      "tcgen05.alloc");
}
ZELLIGE_INLINE void tmem_dealloc(std::uint32_t address, unsigned columns, unsigned ctas) {
  meet<detail::Columns, char>(
      {{}, address, columns},
      [ctas](const detail::Columns* in, char*) {
        if (!detail::same_in_all(
                in, [](const detail::Columns& c) { return c.address + c.columns * (std::uint64_t(1) << 32); },
                "tcgen05.dealloc", "address or number of columns"))
          return;
        Thread& t = self();
        t.engine->async->tcgen05->dealloc(t, in[0].address, in[0].columns, ctas);
      },
      "tcgen05.dealloc");
}
/// Gives up the permit to allocate.
ZELLIGE_INLINE void tmem_relinquish(unsigned ctas) {
  meet<char, char>(
      0,
      [ctas](const char*, char*) {
        Thread& t = self();
        t.engine->async->tcgen05->relinquish(t, ctas);
      },
      "tcgen05.relinquish_alloc_permit");
}
/// Moves registers of a warp from or to tensor memory. The move is over after tmem_wait.
ZELLIGE_INLINE void tmem_move(std::uint32_t* registers, std::uint32_t address, const TmemWords& shape) {
  const char* const what = shape.load ? "tcgen05.ld" : "tcgen05.st";
  meet<TmemOperands, char>(
      {registers, address},
      [&](const TmemOperands* in, char*) {
        if (!detail::same_in_all(
                in, [](const TmemOperands& o) { return o.address; }, what, "address"))
          return;
        Thread& t = self();
        t.engine->async->tcgen05->move(t, in, shape);
      },
      what);
}
/// Waits for the warp's tcgen05.ld (load), or for its tcgen05.st.
ZELLIGE_INLINE void tmem_wait(bool load) {
  meet<char, char>(
      0,
      [load](const char*, char*) {
        Thread& t = self();
        t.engine->async->tcgen05->wait(t, load);
      },
      load ? "tcgen05.wait::ld" : "tcgen05.wait::st");
}
/// Orders tcgen05 instructions of other threads before those of this thread (after), or those of this thread before what
/// other threads do.
ZELLIGE_INLINE void tcgen05_fence(bool after) {
  Thread& t = self();
  t.engine->async->tcgen05->fence(t, after);
}
/// Says that the kernel executes no such fence around its tcgen05.ld and st, and relies on the compiler, as CUTLASS does.
ZELLIGE_INLINE void tcgen05_leave_fences() {
  Thread& t = self();
  t.engine->async->tcgen05->leave_fences(t);
}
ZELLIGE_INLINE void tcgen05_mma(const UmmaCall& call) {
  Thread& t = self();
  t.engine->async->tcgen05->mma(t, call);
}
/// Copies from shared to tensor memory. `shape`: as in PTX, ".32x128b.warpx4".
ZELLIGE_INLINE void tcgen05_copy(std::uint64_t descriptor, std::uint32_t address, const char* shape, unsigned ctas) {
  Thread& t = self();
  t.engine->async->tcgen05->copy(t, descriptor, address, shape, ctas);
}
/// Arrives at the mbarrier when the tcgen05.mma and tcgen05.cp that this thread has issued are complete. `mask`: 0, or `multicast` and the
/// blocks of the cluster at whose mbarriers it arrives.
ZELLIGE_INLINE void tcgen05_commit(Place barrier, unsigned mask, unsigned ctas) {
  Thread& t = self();
  t.engine->async->tcgen05->commit(t, barrier, mask, ctas);
}

}  // namespace zellige::emulate
