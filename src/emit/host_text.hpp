// Emits the host code: the entry that launches the kernels, and the emulator's entries.
#pragma once
#include "emit/manifest.hpp"
#include "emit/source_lines.hpp"

namespace zellige::emit {

void host_entry(const Manifest&, Text&);

}  // namespace zellige::emit
