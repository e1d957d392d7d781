#include "kernel/kernel_plan.hpp"

namespace zellige::plan {

std::string_view name(TaskKind kind) {
  static constexpr std::string_view names[] = {
      "copy in",  "fetch",        "mma",     "to shared", "to operand", "to global",      "accumulate",
      "to lines", "to registers", "rescale", "reduce",    "finish",     "to other ranks", "from other ranks"};
  static_assert(std::size(names) == std::size_t(TaskKind::from_cluster) + 1);
  return kind <= TaskKind::from_cluster ? names[std::size_t(kind)] : "?";
}

}  // namespace zellige::plan
