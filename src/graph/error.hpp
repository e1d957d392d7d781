// What every room throws when its input is at fault: one sentence that says what was wrong, where, the values that
// clash and what would be right. The command line prints it and exits non-zero; nothing else is ever thrown on purpose.
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace zellige {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What is Zellige's own fault and not its input's: a text of its own that does not compile, for one.
struct Fault : Error {
  using Error::Error;
};

/// A plan that the proof rejects: the planner is wrong, or the proof is. A search that has other plans goes on without it and tells
/// (plan/rejections.hpp).
struct Rejected : Fault {
  using Fault::Fault;
};

/// What is right and more than the target has: shared memory, registers, threads, an instruction. A search drops it and says nothing.
struct DoesNotFit : Error {
  using Error::Error;
};

/// Throws Error with a formatted message: fail("{}: the tile is {}, not a divisor of {}", where, tile, extent).
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

/// The same for what is Zellige's own fault.
template <class... Args>
[[noreturn]] void fault(fmt::format_string<Args...> format, Args&&... args) {
  throw Fault(fmt::format(format, std::forward<Args>(args)...));
}

/// The same for a plan that the proof rejects.
template <class... Args>
[[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) {
  throw Rejected(fmt::format(format, std::forward<Args>(args)...));
}

/// The same for what the target cannot hold.
template <class... Args>
[[noreturn]] void does_not_fit(fmt::format_string<Args...> format, Args&&... args) {
  throw DoesNotFit(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace zellige
