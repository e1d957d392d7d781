// Defines the exceptions that all modules throw. An Error's message is one sentence: where the problem is,
// what is wrong with which values, and what would be right. The command line prints the message and exits
// with a non-zero status.
#pragma once
#include <fmt/format.h>

#include <optional>
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

/// Throws an exception with a formatted message: fail("{}: the tile is {}, not a divisor of {}", where, tile, extent).
template <class E>
struct Thrower {
  template <class... Args>
  [[noreturn]] void operator()(fmt::format_string<Args...> format, Args&&... args) const {
    throw E(fmt::format(format, std::forward<Args>(args)...));
  }
};
inline constexpr Thrower<Error> fail{};
inline constexpr Thrower<Fault> fault{};
inline constexpr Thrower<DoesNotFit> does_not_fit{};
/// Throws Rejected. A function, since verify/rejected.hpp has others of its name.
template <class... Args>
[[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) {
  Thrower<Rejected>{}(format, std::forward<Args>(args)...);
}

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
