// Describes the synchronisation instructions of SM70 and SM80 as Instruction descriptors: __syncthreads, and the
// commit and wait of cp.async groups. Host code only.
//
//   for (const Instruction& row : sm80_sync_instructions) fmt::print("{}: {}\n", row.name, row.call);
//
// target::instructions_of(target) returns these instructions together with those of instructions()
// (instruction_table.hpp). sm90.hpp has the barriers, fences and group instructions of SM90.
#pragma once

#include <zellige/atom/instruction.hpp>

namespace zellige {
namespace sm80 {

/// Returns the descriptor of a synchronisation instruction without operands. `issuers` is the number of threads that
/// execute it together: 1 or 32. `call` shows how a kernel calls it.
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
