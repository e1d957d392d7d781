// What the verifier's messages begin with: the kernel, and the work that is wrong.
//
//   reject(kernel, work, "says not over which layout");    // Rejected: "attention_k0: 'mma %5' says not over which layout"
#pragma once
#include "graph/error.hpp"
#include "verify/words.hpp"

namespace zellige::verify {

using zellige::reject;

/// Returns a work's name for messages: 'to operand %5'.
inline std::string describe(const Work& w) { return fmt::format("'{} %{}'", kernel::name(w.kind), w.node); }

/// Throws Rejected with the program's name before the formatted message.
template <class... T>
[[noreturn]] void reject(const TileProgram& p, fmt::format_string<T...> why, T&&... with) {
  reject("{}: {}", p.name, fmt::format(why, std::forward<T>(with)...));
}
template <class... T>
[[noreturn]] void reject(const Kernel& k, fmt::format_string<T...> why, T&&... with) {
  reject(k.program, why, std::forward<T>(with)...);
}
/// Throws Rejected with the kernel's name and the work's before the formatted message.
template <class... T>
[[noreturn]] void reject(const TileProgram& p, const Work& w, fmt::format_string<T...> why, T&&... with) {
  reject("{}: {} {}", p.name, describe(w), fmt::format(why, std::forward<T>(with)...));
}
template <class... T>
[[noreturn]] void reject(const Kernel& k, const Work& w, fmt::format_string<T...> why, T&&... with) {
  reject(k.program, w, why, std::forward<T>(with)...);
}

}  // namespace zellige::verify
