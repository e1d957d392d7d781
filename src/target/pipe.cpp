#include "target/pipe.hpp"

#include <array>
#include <zellige/atom/instruction_table.hpp>
#include <zellige/atom/sm80_sync.hpp>

namespace zellige::target {
namespace {

/// Returns the row with this name, which some architecture has.
const Instruction* named(std::string_view name) {
  for (const Instruction& row : sm80_sync_instructions)
    if (row.name == name) return &row;
  return zellige::find_instruction(name);
}

}  // namespace

const Handover& handover(Instruction::Completion by) {
  static const std::array rows = {// by Completion
                                  Handover{nullptr, named("SM70_SYNCTHREADS")},
                                  Handover{named("SM80_CP_ASYNC_COMMIT_GROUP"), named("SM80_CP_ASYNC_WAIT_GROUP")},
                                  Handover{named("SM90_MBARRIER_ARRIVE_EXPECT_TX"), named("SM90_MBARRIER_TRY_WAIT")},
                                  Handover{named("SM90_BULK_COMMIT_GROUP"), named("SM90_BULK_WAIT_GROUP_READ")},
                                  Handover{named("SM90_WGMMA_COMMIT_GROUP"), named("SM90_WGMMA_WAIT_GROUP")}};
  return rows.at(static_cast<std::size_t>(by));
}

const Instruction* fence(Proxy from, Proxy to) {
  static const Instruction* const between = named("SM90_FENCE_PROXY_ASYNC_SHARED");
  return from == Proxy::generic && to == Proxy::async ? between : nullptr;
}

std::string function(const Instruction& row) {
  const std::string_view call = row.call;
  return std::string(call.substr(0, call.find_first_of("(<")));
}

}  // namespace zellige::target
