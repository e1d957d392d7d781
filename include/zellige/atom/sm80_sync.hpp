// Synchronisation of a block's threads and cp.async copies, as rows: __syncthreads, and the groups of
// cp.async.
//
//   for (const Instruction& row : sm80_sync_instructions) fmt::print("{}: {}\n", row.name, row.call);
//
// target::instructions_of(target) lists them with the rows of instructions(). SM90's barriers, fences and
// groups are rows of sm90.hpp.
#pragma once

#include <zellige/atom/instruction.hpp>

namespace zellige {
namespace sm80 {

constexpr Instruction ordering(const char* name, const char* ptx, int compute_capability, int issuers,
                               const char* call) {
  Instruction i{};
  i.name = name, i.ptx = ptx, i.call = call;
  i.compute_capability = compute_capability;
  i.kind = Instruction::Kind::control;
  i.issuers = issuers;
  return i;
}

}  // namespace sm80

inline constexpr Instruction sm80_sync_instructions[] = {
    sm80::ordering("SM70_SYNCTHREADS", "bar.sync", 70, 32, "__syncthreads()"),
    sm80::ordering("SM80_CP_ASYNC_COMMIT_GROUP", "cp.async.commit_group", 80, 1, "cp_async_commit()"),
    sm80::ordering("SM80_CP_ASYNC_WAIT_GROUP", "cp.async.wait_group", 80, 1, "cp_async_wait<N>()"),
};

}  // namespace zellige
