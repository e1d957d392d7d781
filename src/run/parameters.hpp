// Converts the arguments of a manifest's kernel launch to arguments for the emulator.
#pragma once
#include "emit/manifest.hpp"
#include "emulate/buffer.hpp"
#include "emulate/engine.hpp"

namespace zellige::run {

/// Returns the emulator's argument for the launch's argument with index `argument`: the tensor in `buffer`, or a TMA
/// descriptor of the tensor if the kernel uses one. Throws Error if the tensor's type or box is not valid for TMA.
emulate::Parameter parameter(const emit::Manifest&, const emit::KernelLaunch&, std::size_t argument,
                             emulate::Buffer& buffer);

}  // namespace zellige::run
