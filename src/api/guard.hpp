// What lies between C++ and C: exceptions become a status and a sentence for zellige_last_error.
#pragma once
#include <utility>

#include "zellige/api.h"

namespace zellige::api {

/// The status of the exception in flight, whose sentence is kept. To be called where it is caught.
zellige_status caught() noexcept;

/// Runs it; what it throws becomes a status.
template <class Work>
zellige_status guarded(Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
    return ZELLIGE_OK;
  } catch (...) {
    return caught();
  }
}

/// What it returns, or `otherwise` where it throws.
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
