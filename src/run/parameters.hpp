// Converts the parameters of a manifest's launch for the emulator: tensors, and tensor maps of tensors.
#pragma once
#include "emit/manifest.hpp"
#include "emulate/buffer.hpp"
#include "emulate/engine.hpp"

namespace zellige::run {

/// The parameter for the kernel's `argument`, whose tensor is in `buffer`.
emulate::Parameter parameter(const emit::Manifest&, const emit::KernelLaunch&, std::size_t argument,
                             emulate::Buffer& buffer);

}  // namespace zellige::run
