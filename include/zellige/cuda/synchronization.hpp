// libcu++'s latches and semaphores, and its small functions.
#pragma once
#include "zellige/cuda/atomic_ref.hpp"

namespace cuda {

/// Lets threads go on once it was counted down to 0.
template <thread_scope Scope = thread_scope_system>
class latch {
 public:
  constexpr explicit latch(std::ptrdiff_t expected) : left_(expected) {}
  latch(const latch&) = delete;
  ZELLIGE_DEVICE void count_down(std::ptrdiff_t n = 1) { left_.fetch_sub(n, memory_order_release); }
  ZELLIGE_DEVICE bool try_wait() const { return left_.load(memory_order_acquire) == 0; }
  ZELLIGE_DEVICE void wait() const {
    while (!try_wait()) {
    }
  }
  ZELLIGE_DEVICE void arrive_and_wait(std::ptrdiff_t n = 1) {
    count_down(n);
    wait();
  }

 private:
  atomic<std::ptrdiff_t, Scope> left_;
};

/// A number of permits, which threads acquire and release.
template <thread_scope Scope = thread_scope_system, std::ptrdiff_t Most = 2147483647>
class counting_semaphore {
 public:
  constexpr explicit counting_semaphore(std::ptrdiff_t permits = 0) : permits_(permits) {}
  counting_semaphore(const counting_semaphore&) = delete;
  static constexpr std::ptrdiff_t max() { return Most; }
  ZELLIGE_DEVICE void release(std::ptrdiff_t n = 1) { permits_.fetch_add(n, memory_order_release); }
  ZELLIGE_DEVICE bool try_acquire() {
    std::ptrdiff_t now = permits_.load(memory_order_acquire);
    return now > 0 && permits_.compare_exchange_strong(now, now - 1, memory_order_acq_rel);
  }
  ZELLIGE_DEVICE void acquire() {
    while (!try_acquire()) {
    }
  }

 private:
  atomic<std::ptrdiff_t, Scope> permits_;
};
template <thread_scope Scope>
using binary_semaphore = counting_semaphore<Scope, 1>;

template <class T, class U>
constexpr auto ceil_div(T a, U b) {
  return (a + b - 1) / b;
}
/// Returns the function as it is: CUDA needs to be told what a lambda of the device returns.
template <class Result, class F>
F proclaim_return_type(F f) {
  return f;
}
template <class T = void>
struct maximum {
  template <class A, class B>
  ZELLIGE_DEVICE constexpr auto operator()(const A& a, const B& b) const {
    return a < b ? b : a;
  }
};
template <class T = void>
struct minimum {
  template <class A, class B>
  ZELLIGE_DEVICE constexpr auto operator()(const A& a, const B& b) const {
    return b < a ? b : a;
  }
};

}  // namespace cuda
