// The stacks of a block's fibers: one aligned slot each, with an unmapped guard page at the bottom and its
// Fiber near the top.
#pragma once
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#include "emulate/fiber.hpp"

namespace zellige::emulate {

/// The argument of a context that is resumed.
using Transfer = boost::context::detail::transfer_t;

class Stacks {
 public:
  Stacks() = default;
  ~Stacks();
  Stacks(const Stacks&) = delete;

  /// Provides at least `threads` slots, each with a default Fiber. Existing fibers are discarded.
  void reserve(unsigned threads);

  Fiber& fiber(unsigned i) const { return static_cast<Fiber&>(thread_of_stack(low(i))); }
  /// A new context on slot i's stack that runs `start`.
  void* fresh_context(unsigned i, void (*start)(Transfer)) const;
  std::uintptr_t low(unsigned i) const { return base_ + i * stack_bytes; }
  std::uintptr_t high(unsigned i) const { return low(i) + stack_bytes; }

 private:
  void release();

  void* map_ = nullptr;
  std::size_t map_bytes_ = 0;
  std::uintptr_t base_ = 0;
  unsigned slots_ = 0;
};

/// Suspends the running context into `from` and resumes `to`.
inline void switch_context(void*& from, void* to) {
  Transfer t = boost::context::detail::jump_fcontext(to, &from);
  *static_cast<void**>(t.data) = t.fctx;
}

/// Must be called first in a new context: fills in `from` of the switch that started it.
inline void arrived(Transfer t) { *static_cast<void**>(t.data) = t.fctx; }

}  // namespace zellige::emulate
