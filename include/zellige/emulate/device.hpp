// Declares the device API that CUDA source code uses on the emulator: threads, memory and warp-level
// synchronisation. nvcc compiles the source code for the GPU; with this header, a host compiler compiles it
// to a shared library, and the engine (src/emulate) runs every thread of every block.
//
//   __global__ void twice(pointer<const float> x, pointer<float> y) {
//     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//     y[i] = 2 * x[i];
//   }
//   extern "C" void emulate_twice(Launch& launch) { call(launch, twice); }
//
// The instructions in <zellige/atom/> are written with these functions.
#pragma once
#include "zellige/emulate/async.hpp"
#include "zellige/emulate/keywords.hpp"
#include "zellige/emulate/pointer.hpp"

namespace zellige::emulate {

/// Executes a warp collective: once all 32 lanes have called it, runs compute(const In in[32], Out out[32])
/// once, and returns each lane's own Out. `mine`: this lane's operand; `what`: name of the collective.
/// Reports an error of the kernel if some lanes call another collective, wait elsewhere or have returned. A
/// collective does not order memory accesses: __syncwarp() and barriers do.
template <class In, class Out, class F>
ZELLIGE_INLINE Out meet(const In& mine, F compute, const char* what) {
  Out out;
  LaneFunction all = [](void* f, const void* const* in, void* const* outs) {
    __attribute__((uninitialized)) In ins[32];
    __attribute__((uninitialized)) Out results[32];
    for (int l = 0; l < 32; ++l) __builtin_memcpy((void*)&ins[l], in[l], sizeof(In));
    (*static_cast<F*>(f))(static_cast<const In*>(ins), static_cast<Out*>(results));
    for (int l = 0; l < 32; ++l) __builtin_memcpy(outs[l], (const void*)&results[l], sizeof(Out));
  };
  Thread& t = self();
  t.engine->meet(t, &mine, &out, all, &compute, what);
  return out;
}

/// Returns the descriptor (shape, types and layouts) of the instruction `name`. To be called in the compute
/// function of a warp collective (meet). Aborts the process if the engine does not know the name.
ZELLIGE_INLINE const Instruction& instruction(const char* name) { return self().engine->instruction(name); }
/// Runs the reference implementation of the instruction `row` on the operands of all its threads. To be
/// called in the compute function of a warp collective (meet).
ZELLIGE_INLINE void run_body(const Instruction& row, const BodyOperands& operands) {
  self().engine->run_body(row, operands);
}

/// Executes a matrix instruction of a warp for each of m fragments of A with each of n fragments of B: d += a b. a[i * 32 + l],
/// b[j * 32 + l] and d[(i * n + j) * 32 + l] are the registers of lane l; a product whose d[...] is null is skipped. Returns the
/// number of products. To be called in the compute function of a warp collective (meet).
ZELLIGE_INLINE unsigned multiply(const Instruction& row, unsigned m, unsigned n, const void* const* a,
                                 const void* const* b, void* const* d) {
  return self().engine->multiply(row, m, n, a, b, d);
}

/// Checks the reads of an ldmatrix of `matrices` (1, 2 or 4) 8x8 matrices of 16-bit elements: a read of 16
/// bytes by lane i at rows[i], the address of row i. Counts wavefronts per matrix, and sets safe[i] to the
/// address from which row i can be read. To be called in the compute function of a warp collective (meet).
ZELLIGE_INLINE void read_rows(const Place* rows, unsigned matrices, const void** safe) {
  Thread& t = self();
  t.engine->read_rows(t, rows, matrices, safe);
}

/// Checks the writes of an stmatrix of `matrices` (1, 2 or 4) 8x8 matrices of 16-bit elements: a write of 16
/// bytes by lane i at rows[i], the address of row i. Counts wavefronts per matrix, and sets safe[i] to the
/// address to which row i can be written. To be called in the compute function of a warp collective (meet).
ZELLIGE_INLINE void write_rows(const Place* rows, unsigned matrices, void** safe) {
  Thread& t = self();
  t.engine->write_rows(t, rows, matrices, safe);
}

/// Starts a cp.async of `bytes` bytes. The source is read at once; the destination is written when this
/// thread waits for the copy's group. Until then, any access to the destination is a race. After the wait,
/// this thread may access the destination, and other threads after a further barrier. The first valid_bytes
/// bytes are copied, the others become zero.
ZELLIGE_INLINE void cp_async(Place dst, Place src, unsigned bytes, unsigned valid_bytes) {
  Thread& t = self();
  t.engine->cp_async(t, dst, src, bytes, valid_bytes);
}
/// Commits this thread's cp.async copies since the last commit as a group.
ZELLIGE_INLINE void cp_async_commit() {
  Thread& t = self();
  t.engine->cp_async_commit(t);
}
/// Waits until all but the newest `pending` committed groups of this thread's cp.async copies are complete.
ZELLIGE_INLINE void cp_async_wait(unsigned pending) {
  Thread& t = self();
  t.engine->cp_async_wait(t, pending);
}
/// Waits for all of this thread's cp.async copies, including those not committed (cp.async.wait_all).
ZELLIGE_INLINE void cp_async_wait_all() {
  Thread& t = self();
  t.engine->cp_async_commit(t);
  t.engine->cp_async_wait(t, 0);
}

/// Increments the counter atomically, wraps from `last` to 0, and returns the previous value (PTX atom.inc).
/// If block B increments the counter after block A, everything that A did before its increment happens before
/// everything that B does after its own.
ZELLIGE_INLINE unsigned atomic_increment(Place counter, unsigned last) {
  Thread& t = self();
  return t.engine->atomic_increment(t, counter, last);
}

/// Waits at barrier `id` (0 to 15) until `threads` threads have arrived (PTX bar.sync). `threads` 0: all
/// threads of the block.
ZELLIGE_INLINE void bar_sync(unsigned id, unsigned threads) {
  Thread& t = self();
  t.engine->bar_sync(t, id, threads);
}
/// Arrives at barrier `id` (0 to 15) without waiting (PTX bar.arrive). `threads`: the number of threads that
/// the barrier expects; 0: all threads of the block.
ZELLIGE_INLINE void bar_arrive(unsigned id, unsigned threads) {
  Thread& t = self();
  t.engine->bar_arrive(t, id, threads);
}

// Calls a kernel. The arguments come from a braced list, because C++ defines the order in which its elements
// are evaluated.
struct Invoke {
  template <class... P>
  ZELLIGE_INLINE Invoke(void (*kernel)(P...), const P&... arguments) {
    kernel(arguments...);
  }
};

// Converts an argument of the launch to a kernel parameter of type P: a tensor becomes a checked pointer,
// everything else is copied byte by byte. The member `bytes` is the parameter's size, 0 for a pointer.
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
  ZELLIGE_INLINE static pointer<T> of(const Argument& a) { return {reinterpret_cast<T*>(a.region->begin), a.region}; }
};
template <class P>
struct parameter<const P> : parameter<P> {};

/// Returns the launch's argument to which `next` points, converted to the kernel's parameter type P, and
/// advances `next`.
template <class P>
ZELLIGE_INLINE P argument(const Argument*& next) {
  return parameter<P>::of(*next++);
}

/// Passes `kernel` and the sizes of its parameters to the emulator, which runs the kernel over the launch's
/// grid. To be called in the entry function (extern "C") of the shared library that contains the kernel.
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
