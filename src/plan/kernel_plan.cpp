#include "plan/kernel_plan.hpp"

namespace zellige::plan {

std::string_view name(TaskKind kind) {
  switch (kind) {
    case TaskKind::copy_in:
      return "copy in";
    case TaskKind::fetch:
      return "fetch";
    case TaskKind::mma:
      return "mma";
    case TaskKind::to_shared:
      return "to shared";
    case TaskKind::to_operand:
      return "to operand";
    case TaskKind::to_global:
      return "to global";
    case TaskKind::accumulate:
      return "accumulate";
    case TaskKind::to_lines:
      return "to lines";
    case TaskKind::to_registers:
      return "to registers";
    case TaskKind::rescale:
      return "rescale";
    case TaskKind::reduce:
      return "reduce";
    case TaskKind::finish:
      return "finish";
    case TaskKind::to_cluster:
      return "to other ranks";
    case TaskKind::from_cluster:
      return "from other ranks";
  }
  return "?";
}

}  // namespace zellige::plan
