// The emulator's device API, used by emitted CUDA code in place of a GPU. The same source code that nvcc
// compiles is compiled by a host compiler against this header into a small library; the engine (src/emulate)
// runs every thread of every block.
//
//   __global__ void twice(pointer<const float> x, pointer<float> y) {
//     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//     y[i] = 2 * x[i];
//   }
//   extern "C" void emulate_twice(Launch& launch) { call(launch, twice); }
//
// It provides threads, memory and warp-level synchronisation; the instructions in <zellige/atom/> are written
// in terms of it.
#pragma once
#include "zellige/emulate/async.hpp"
#include "zellige/emulate/keywords.hpp"
#include "zellige/emulate/pointer.hpp"

namespace zellige::emulate {

/// Warp collective: once all 32 lanes have arrived, compute(const In in[32], Out out[32]) runs once and each
/// lane continues with its own Out. It is a finding if lanes arrive with another `what`, wait elsewhere or
/// have returned. A collective orders no memory accesses: __syncwarp() and barriers do.
template <class In, class Out, class F>
ZELLIGE_INLINE Out meet(const In& mine, F compute, const char* what) {
  Out out;
  Compute all = [](void* f, const void* const* in, void* const* outs) {
    In ins[32];
    Out results[32];
    for (int l = 0; l < 32; ++l) __builtin_memcpy((void*)&ins[l], in[l], sizeof(In));
    (*static_cast<F*>(f))(static_cast<const In*>(ins), static_cast<Out*>(results));
    for (int l = 0; l < 32; ++l) __builtin_memcpy(outs[l], (const void*)&results[l], sizeof(Out));
  };
  Thread& t = self();
  t.engine->meet(t, &mine, &out, all, &compute, what);
  return out;
}

/// The instruction of that name, and the result of its reference body on all threads' operands; called inside
/// a collective's compute.
ZELLIGE_INLINE const Instruction& instruction(const char* name) { return self().engine->instruction(name); }
ZELLIGE_INLINE void run_body(const Instruction& row, const BodyOperands& operands) {
  self().engine->run_body(row, operands);
}

/// For ldmatrix, inside a collective's compute: the rows of `matrices` (1, 2 or 4) 8x8 matrices of 16-bit
/// elements, where lane i holds the address of row i. Checks each as a read of 16 bytes by lane i, counts
/// wavefronts matrix by matrix, and sets safe[i] to the address to read row i from.
ZELLIGE_INLINE void read_rows(const Place* rows, unsigned matrices, const void** safe) {
  Thread& t = self();
  t.engine->read_rows(t, rows, matrices, safe);
}

/// For stmatrix: the address to which lane i may write its row of 16 bytes; checked and counted like
/// read_rows.
ZELLIGE_INLINE void write_rows(const Place* rows, unsigned matrices, void** safe) {
  Thread& t = self();
  t.engine->write_rows(t, rows, matrices, safe);
}

/// cp.async: the source is read now, the destination is written at this thread's covering wait. Until then no
/// thread may access it; afterwards this thread may, and others after a barrier. Bytes from valid_bytes on
/// become zero.
ZELLIGE_INLINE void cp_async(Place dst, Place src, unsigned bytes, unsigned valid_bytes) {
  Thread& t = self();
  t.engine->cp_async(t, dst, src, bytes, valid_bytes);
}
ZELLIGE_INLINE void cp_async_commit() {
  Thread& t = self();
  t.engine->cp_async_commit(t);
}
/// Waits until at most the `pending` newest committed groups are in flight.
ZELLIGE_INLINE void cp_async_wait(unsigned pending) {
  Thread& t = self();
  t.engine->cp_async_wait(t, pending);
}
/// cp.async.wait_all: includes copies that are not committed.
ZELLIGE_INLINE void cp_async_wait_all() {
  Thread& t = self();
  t.engine->cp_async_commit(t);
  t.engine->cp_async_wait(t, 0);
}

/// atom.inc: increments, wraps from `last` to 0, and returns the previous value. Accesses of a block before
/// its increment happen before the accesses of later blocks after theirs.
ZELLIGE_INLINE unsigned atomic_increment(Place counter, unsigned last) {
  Thread& t = self();
  return t.engine->atomic_increment(t, counter, last);
}

ZELLIGE_INLINE void bar_sync(unsigned id, unsigned threads) {
  Thread& t = self();
  t.engine->bar_sync(t, id, threads);
}
ZELLIGE_INLINE void bar_arrive(unsigned id, unsigned threads) {
  Thread& t = self();
  t.engine->bar_arrive(t, id, threads);
}

// The arguments are evaluated in a braced list, whose order the language defines.
struct Invoke {
  template <class... P>
  ZELLIGE_INLINE Invoke(void (*kernel)(P...), const P&... arguments) {
    kernel(arguments...);
  }
};

// Converts the launch's argument to a kernel parameter: a checked pointer is made from the tensor, anything
// else is a copy of the bytes.
template <class P>
struct parameter {
  static constexpr std::size_t bytes = sizeof(P);
  ZELLIGE_INLINE static P of(const Argument& a) {
    static_assert(__is_trivially_copyable(P), "a kernel's parameter is a gmem pointer or trivially copyable");
    P value;
    __builtin_memcpy((void*)&value, a.bytes, sizeof(P));
    return value;
  }
};
template <class T>
struct parameter<pointer<T>> {
  static constexpr std::size_t bytes = 0;
  ZELLIGE_INLINE static pointer<T> of(const Argument& a) {
    return {reinterpret_cast<T*>(a.region->begin), a.region};
  }
};
template <class P>
struct parameter<const P> : parameter<P> {};

template <class P>
ZELLIGE_INLINE P argument(const Argument*& next) {
  return parameter<P>::of(*next++);
}

/// Runs `kernel` over the launch's grid.
template <class... P>
void call(Launch& launch, void (*kernel)(P...)) {
  static constexpr std::size_t sizes[] = {parameter<P>::bytes..., 0};
  launch.kernel = reinterpret_cast<void (*)()>(kernel);
  launch.run(
      launch,
      [](const Launch& l) {
        [[maybe_unused]] const Argument* next = l.arguments;
        Invoke{reinterpret_cast<void (*)(P...)>(l.kernel), argument<P>(next)...};
      },
      sizes, sizeof...(P));
}

}  // namespace zellige::emulate

ZELLIGE_INLINE void __syncthreads() {
  zellige::emulate::Thread& t = zellige::emulate::self();
  t.engine->bar_sync(t, 0, 0);
}
ZELLIGE_INLINE void __syncwarp(unsigned mask = ~0u) {
  zellige::emulate::Thread& t = zellige::emulate::self();
  t.engine->sync_warp(t, mask);
}
