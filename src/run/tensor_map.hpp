// Converts a manifest's tensor maps to the arguments of make_tma_descriptor, for the GPU and for the emulator.
#pragma once
#include <string>
#include <zellige/atom/make_tma_descriptor.hpp>

#include "kernel/tensor_map.hpp"

namespace zellige::run {

/// Returns the tensor, box and swizzle of a manifest's tensor map, for make_tma_descriptor. Throws Error if
/// TMA does not support the element type. `name`: name of the tensor, for error messages; it must outlive the
/// result, which refers to it.
TmaTensor tma_tensor(const kernel::TensorMap&, const std::string& name);

}  // namespace zellige::run
