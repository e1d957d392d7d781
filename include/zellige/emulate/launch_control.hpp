// Declares the emulator's calls for launch control: clusterlaunchcontrol.
#pragma once
#include "zellige/emulate/device.hpp"

namespace zellige::emulate {

/// The answer to a request, as the emulator writes it to shared memory: the index of the first block of the cluster that will
/// not start, and whether there is one.
struct alignas(16) LaunchAnswer {
  std::uint32_t x, y, z, canceled;
};

/// Requests that a cluster of the grid that has not started be canceled. The answer, 16 bytes, completes on the mbarrier. With
/// `to_all`, it is written in all blocks of the cluster, and completes on the mbarrier of each.
ZELLIGE_INLINE void try_cancel(Place answer, Place barrier, bool to_all) {
  Thread& t = self();
  t.engine->async->try_cancel(t, answer, barrier, to_all);
}
/// Reads the answer, and checks the read as an ordinary one.
ZELLIGE_INLINE LaunchAnswer launch_answer(Place answer) { return read<LaunchAnswer>(answer); }

}  // namespace zellige::emulate
