// The errors that every module throws when its input is at fault: one sentence with what is wrong, where, the
// conflicting values and what would be right. The command line prints it and exits non-zero; nothing else is
// thrown on purpose.
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace zellige {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A fault of Zellige itself, not of its input, for example generated source code that does not compile.
struct Fault : Error {
  using Error::Error;
};

/// A plan that the verifier rejects: either the planner or the verifier is wrong. A search that has other
/// plans continues without it and reports it (plan/rejections.hpp).
struct Rejected : Fault {
  using Fault::Fault;
};

/// A valid plan that exceeds the target's shared memory, registers, threads or instructions. A search drops
/// it silently.
struct DoesNotFit : Error {
  using Error::Error;
};

/// Throws Error with a formatted message: fail("{}: the tile is {}, not a divisor of {}", where, tile,
/// extent).
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws Fault with a formatted message.
template <class... Args>
[[noreturn]] void fault(fmt::format_string<Args...> format, Args&&... args) {
  throw Fault(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws Rejected with a formatted message.
template <class... Args>
[[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) {
  throw Rejected(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws DoesNotFit with a formatted message.
template <class... Args>
[[noreturn]] void does_not_fit(fmt::format_string<Args...> format, Args&&... args) {
  throw DoesNotFit(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace zellige
