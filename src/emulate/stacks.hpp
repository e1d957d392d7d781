// Allocates the stacks of a block's fibers. Each stack is an aligned slot of stack_bytes bytes, with an
// unmapped guard page at the bottom and its Fiber object near the top.
#pragma once
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#include "emulate/fiber.hpp"

namespace zellige::emulate {

/// The argument that a suspended context receives when it is resumed.
using Transfer = boost::context::detail::transfer_t;

/// Stacks for the threads of one block, numbered from 0.
class Stacks {
 public:
  Stacks() = default;
  ~Stacks();
  Stacks(const Stacks&) = delete;

  /// Provides at least `threads` slots, each with a Fiber. If there are fewer slots, allocates all of them
  /// again and discards the existing fibers. Throws Error if there is no memory.
  void reserve(unsigned threads);

  Fiber& fiber(unsigned i) const { return static_cast<Fiber&>(thread_of_stack(low(i))); }
  /// Returns a new context on the stack of slot i that starts with a call of `start`.
  void* fresh_context(unsigned i, void (*start)(Transfer)) const;
  /// Returns the lowest address of the stack slot i.
  std::uintptr_t low(unsigned i) const { return base_ + i * stack_bytes; }
  /// Returns the address after the last byte of the stack slot i.
  std::uintptr_t high(unsigned i) const { return low(i) + stack_bytes; }

 private:
  void release();

  void* map_ = nullptr;
  std::size_t map_bytes_ = 0;
  std::uintptr_t base_ = 0;
  unsigned slots_ = 0;
};

/// Suspends the running context and stores it in `from`; resumes `to`.
inline void switch_context(void*& from, void* to) {
  Transfer t = boost::context::detail::jump_fcontext(to, &from);
  *static_cast<void**>(t.data) = t.fctx;
}

/// Completes a switch to a fresh context: stores the context that called switch_context in `from` of that call, so that
/// it can be resumed. The function `start` of a fresh context must call this first, with its argument.
inline void arrived(Transfer t) { *static_cast<void**>(t.data) = t.fctx; }

}  // namespace zellige::emulate
