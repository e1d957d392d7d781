// The words of a kernel and its tile program that the proofs use without `kernel::`, `tile::` and `graph::`.
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::verify {

using graph::DType, graph::KernelTensor, graph::Shape, graph::Strides, graph::to_string;
using kernel::Access, kernel::Agent, kernel::Channel, kernel::Completion, kernel::Context, kernel::Global,
    kernel::Kernel, kernel::Mode, kernel::OneOf, kernel::SmemTensor, kernel::Step, kernel::StepPosition,
    kernel::Synchronisation, kernel::Work, kernel::WorkKind;
using kernel::Acquire, kernel::Barrier, kernel::ClusterBarrier, kernel::Commit, kernel::Compute, kernel::Copy,
    kernel::Drain, kernel::FenceInit, kernel::FenceProxy, kernel::GriddepLaunchDependents, kernel::GriddepWait,
    kernel::Loop, kernel::MbarrierInit, kernel::Mma, kernel::Release, kernel::Start, kernel::Sync, kernel::WaitGroup,
    kernel::WarpBarrier;
using kernel::as, kernel::find_step, kernel::walk;
using tile::Interval, tile::Node, tile::NodeKind, tile::Section, tile::TileProgram, tile::TilePrograms;

}  // namespace zellige::verify
