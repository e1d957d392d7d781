#include "api/forked.hpp"

#include <pthread.h>

#include <atomic>

#include "graph/error.hpp"

namespace zellige::api {
namespace {

std::atomic<int> calls = 0;                    // of all threads
std::atomic<bool> forked_during_call = false;  // this process is a child that was forked while `calls` was not 0

/// Runs in the child of a fork, whose only thread is the one that forked.
void in_child() {
  if (calls.exchange(0, std::memory_order_relaxed) > 0) forked_during_call = true;
}

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, in_child);

}  // namespace

InCall::InCall() {
  if (forked_during_call.load(std::memory_order_relaxed))
    fail(
        "this process was forked while a thread was in a call of Zellige, whose locks are never released here; start"
        " processes by spawn or forkserver, or fork before other threads call Zellige");
  calls.fetch_add(1, std::memory_order_relaxed);
}

InCall::~InCall() { calls.fetch_sub(1, std::memory_order_relaxed); }

}  // namespace zellige::api
