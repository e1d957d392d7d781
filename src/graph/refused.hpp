// Calls functions that may refuse what they are given.
#pragma once
#include <optional>

#include "graph/error.hpp"

namespace zellige {

/// Calls `work`. If it throws Error, returns that error: the reason why it refuses what it is given. Otherwise returns
/// nullopt. A Fault passes.
template <class Work>
std::optional<Error> refused(const Work& work) {
  try {
    work();
  } catch (const Fault&) {
    throw;
  } catch (const Error& e) {
    return e;
  }
  return std::nullopt;
}

}  // namespace zellige
