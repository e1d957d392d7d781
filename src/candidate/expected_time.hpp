// The expected times of kernels: those of their plans, and the roofline bound of a group.
#pragma once
#include <optional>

#include "candidate/cost_cache.hpp"
#include "candidate/kernel.hpp"
#include "predict/cost_estimate.hpp"

namespace zellige::candidate {

/// Returns the expected time, in microseconds, of a graph that consists of one kernel, if it is launched right after another
/// kernel. `cost` is that of its plan or sketch.
double us_after_another(const predict::CostEstimate& cost, const target::Target&);

/// Plans a kernel, and returns its expected time in microseconds, assuming that it is launched right after
/// another kernel. Returns nullopt and sets the NoPlan if it cannot be planned.
std::optional<double> planned_us(const graph::KernelGraph&, const GroupKernel&, const target::Target&, CostCache& known,
                                 NoPlan&);
/// Plans operator `op` of the graph unfused, and returns its expected time in microseconds, assuming that it
/// is launched right after another kernel. Returns nullopt and sets the NoPlan if it cannot be planned.
std::optional<double> planned_us(const graph::KernelGraph&, int op, const target::Target&, CostCache& known, NoPlan&);

/// Returns the roofline bound of a group in microseconds: the larger of the time to move its bytes at the
/// memory bandwidth, and the time of its matmuls at the tensor cores' peak.
double floor_us(const graph::KernelGraph&, const std::vector<int>& ops, const target::Target&);

}  // namespace zellige::candidate
