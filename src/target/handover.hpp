// How the results of an instruction are handed on: the instructions that close its asynchronous group, wait for it, and
// order it after accesses by the other path to shared memory. They are rows of the same tables.
//
//   const Handover& by = handover(row->completion);    // of a cp.async: SM80_CP_ASYNC_COMMIT_GROUP, ..._WAIT_GROUP
//   fence(Proxy::generic, proxy(store))                // of a TMA store: SM90_FENCE_PROXY_ASYNC_SHARED
#pragma once
#include <string>

#include "target/pipe.hpp"

namespace zellige::target {

/// The instructions that hand on what instructions of one kind of completion have made.
struct Handover {
  // Of one thread: closes the group of what it has started, or announces the bytes at an mbarrier. nullptr: the result is
  // complete at once.
  const Instruction* commit;
  const Instruction* wait;  // waits until the result is there; of results that are complete at once, for all threads
};
const Handover& handover(Instruction::Completion);

/// Returns the fence that a thread needs between its accesses to shared memory by the proxy `from` and an access by the
/// proxy `to`; nullptr if it needs none.
const Instruction* fence(Proxy from, Proxy to);

/// Returns the function that issues the instruction in a kernel: "tma_load_2d" of "tma_load_2d(tile, map, barrier, c...)",
/// "cp_async_wait" of "cp_async_wait<N>()".
std::string function(const Instruction&);

}  // namespace zellige::target
