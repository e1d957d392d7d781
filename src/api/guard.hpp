// Converts C++ exceptions to a status and a message for zellige_last_error at the C boundary.
#pragma once
#include <utility>

#include "zellige/api.h"

namespace zellige::api {

/// Returns the status of the exception being handled and stores its message. Call inside a catch block.
zellige_status caught() noexcept;

/// Runs `work`; an exception becomes a status.
template <class Work>
zellige_status guarded(Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
    return ZELLIGE_OK;
  } catch (...) {
    return caught();
  }
}

/// Returns the result of `work`, or `otherwise` if it throws.
template <class T, class Work>
T guarded_or(T otherwise, Work&& work) noexcept {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    caught();
    return otherwise;
  }
}

}  // namespace zellige::api
