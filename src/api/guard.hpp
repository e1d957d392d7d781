// Converts C++ exceptions to a status code and a message at the boundary of the C API. The caller reads the
// message with zellige_last_error.
#pragma once
#include <utility>

#include "zellige/api.h"

namespace zellige::api {

/// Counts a call of the library, from its construction to its destruction. The constructor throws Error in a process that
/// was forked while a thread was in a call: locks that this thread held are never released in the child, so that a call
/// could wait for ever.
class InCall {
 public:
  InCall();
  ~InCall();
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;
};

/// Returns the status of the exception that is being handled, and stores its message for this thread. Must be
/// called inside a catch block.
zellige_status caught() noexcept;

/// Runs `work`. Returns ZELLIGE_OK, or the status of an exception that `work` throws.
template <class Work>
zellige_status guarded(Work&& work) noexcept {
  try {
    const InCall call;
    std::forward<Work>(work)();
    return ZELLIGE_OK;
  } catch (...) {
    return caught();
  }
}

/// Returns the result of `work`. If `work` throws, stores the exception's message and returns `otherwise`.
template <class T, class Work>
T guarded_or(T otherwise, Work&& work) noexcept {
  try {
    const InCall call;
    return std::forward<Work>(work)();
  } catch (...) {
    caught();
    return otherwise;
  }
}

}  // namespace zellige::api
