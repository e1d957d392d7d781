// A launch's parameters on the emulator, as its manifest has them: tensors, and tensor maps of tensors.
#pragma once
#include "emit/manifest.hpp"
#include "emulate/buffer.hpp"
#include "emulate/engine.hpp"

namespace zellige::run {

/// Of the kernel's `argument`, whose tensor lies in `buffer`.
emulate::Parameter parameter(const emit::Manifest&, const emit::KernelLaunch&, std::size_t argument,
                             emulate::Buffer& buffer);

}  // namespace zellige::run
