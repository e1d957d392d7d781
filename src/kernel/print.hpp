// Prints a kernel: its tensors, channels and warp roles, one step a line.
#pragma once
#include <functional>

#include "kernel/kernel.hpp"

namespace zellige::plan {

/// Returns all steps of a kernel as a string, with its tensors and channels.
std::string print(const Kernel&);
/// Returns one step as a string: "copy 'load A' writes sA[i+2]", "wait_group 1". Stages are shown relative to the
/// iteration i if `in_loop`, otherwise as numbers.
std::string print(const Kernel&, const Step&, bool in_loop);
/// Returns a channel (a synchronised buffer, like a CUTLASS pipeline) as a string: "channel ring: sA, 4 stages,
/// producer -> consumer, mbarrier_bytes".
std::string print(const Kernel&, const Channel&);
/// Returns a warp role without its steps as a string: "agent consumer: 8 warps, 232 registers a thread".
std::string heading(const Agent&);
/// Returns a warp role's steps as a string, one per line, loops indented. line(step, in_loop) must return the
/// string of a step.
std::string print(const Agent&, const std::function<std::string(const Step&, bool in_loop)>& line);

}  // namespace zellige::plan
