#include "api/guard.hpp"

#include <pthread.h>

#include <atomic>
#include <exception>
#include <new>
#include <system_error>

#include "kernel/rejections.hpp"
#include "strings/shown.hpp"
#include "view/expression.hpp"

namespace zellige::api {
namespace {

std::atomic<int> calls = 0;                    // of all threads
std::atomic<bool> forked_during_call = false;  // this process is a child that was forked while `calls` was not 0

/// Runs in the child of a fork, whose only thread is the one that forked.
void in_child() {
  if (calls.exchange(0, std::memory_order_relaxed) > 0) forked_during_call = true;
}

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, in_child);

thread_local std::string last_error;

/// Stores `why` as the message that zellige_last_error returns to this thread, and returns `status`.
zellige_status kept(zellige_status status, std::string_view why) noexcept {
  try {
    last_error = strings::shown_lines(why);
  } catch (...) {
    last_error.clear();
  }
  return status;
}

/// Stores a message that reports a bug of Zellige, and returns ZELLIGE_FAILED. `what`: the message of the
/// exception, which only a bug can cause.
zellige_status ours(const char* what) noexcept {
  try {
    return kept(ZELLIGE_FAILED, fmt::format("Zellige's own fault: {}", what));
  } catch (...) {
    return kept(ZELLIGE_FAILED, "");
  }
}

}  // namespace

InCall::InCall() {
  if (forked_during_call.load(std::memory_order_relaxed))
    fail(
        "this process was forked while a thread was in a call of Zellige, whose locks are never released here; start"
        " processes by spawn or forkserver, or fork before other threads call Zellige");
  calls.fetch_add(1, std::memory_order_relaxed);
}

InCall::~InCall() { calls.fetch_sub(1, std::memory_order_relaxed); }

zellige_status caught() noexcept {
  constexpr const char* no_memory = "this takes more memory than the machine has left";
  try {
    throw;
  } catch (const Rejected& e) {
    return kept(ZELLIGE_FAILED, kernel::told(e));
  } catch (const Fault& e) {
    return kept(ZELLIGE_FAILED, e.what());
  } catch (const view::ExpressionError& e) {
    return kept(ZELLIGE_REFUSED, e.sentence);
  } catch (const Error& e) {
    return kept(ZELLIGE_REFUSED, e.what());
  } catch (const std::bad_alloc&) {
    return kept(ZELLIGE_EXHAUSTED, no_memory);
  } catch (const std::length_error&) {  // a container larger than any memory
    return kept(ZELLIGE_EXHAUSTED, no_memory);
  } catch (const std::system_error& e) {  // files and threads: the machine is at fault
    return kept(ZELLIGE_EXHAUSTED, e.what());
  } catch (const std::exception& e) {
    return ours(e.what());
  } catch (...) {
    return ours("an exception of no known kind");
  }
}

}  // namespace zellige::api

using namespace zellige::api;

int zellige_api_version(void) { return ZELLIGE_API_VERSION; }
const char* zellige_version(void) { return ZELLIGE_VERSION; }
const char* zellige_last_error(void) { return last_error.c_str(); }
