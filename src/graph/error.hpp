// Defines the exceptions that all modules throw. An Error's message is one sentence: where the problem is,
// what is wrong with which values, and what would be right. The command line prints the message and exits
// with a non-zero status.
#pragma once
#include <fmt/format.h>

#include <stdexcept>

namespace zellige {

/// The input, an option or the machine is at fault.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Zellige itself is at fault, for example if generated source code does not compile.
struct Fault : Error {
  using Error::Error;
};

/// The verifier rejects a plan: either the planner or the verifier is wrong. A search that has other plans
/// continues without this one and reports it (kernel/rejections.hpp).
struct Rejected : Fault {
  using Fault::Fault;
};

/// A valid plan exceeds the target's shared memory, registers, threads or instructions. A search drops such a
/// plan silently.
struct DoesNotFit : Error {
  using Error::Error;
};

/// Throws Error with a formatted message: fail("{}: the tile is {}, not a divisor of {}", where, tile, extent).
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws Fault, the exception for bugs of Zellige itself, with a formatted message.
template <class... Args>
[[noreturn]] void fault(fmt::format_string<Args...> format, Args&&... args) {
  throw Fault(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws Rejected, the exception for plans that the verifier finds wrong, with a formatted message.
template <class... Args>
[[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) {
  throw Rejected(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws DoesNotFit, the exception for plans that exceed the target's limits (shared memory, registers,
/// threads or instructions), with a formatted message.
template <class... Args>
[[noreturn]] void does_not_fit(fmt::format_string<Args...> format, Args&&... args) {
  throw DoesNotFit(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace zellige
