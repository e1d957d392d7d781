// Converts a manifest's tensor maps to TMA descriptors, for the GPU and for the emulator.
#pragma once
#include <string>
#include <zellige/atom/make_tma_descriptor.hpp>

#include "plan/tensor_map.hpp"

namespace zellige::run {

/// `name` is for errors, and must outlive the result.
TmaTensor tma_tensor(const plan::TensorMap&, const std::string& name);

}  // namespace zellige::run
