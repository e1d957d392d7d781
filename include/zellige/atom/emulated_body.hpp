// Calls an instruction's reference body on the emulator. The engine contains the bodies, so kernels do not
// compile them.
#pragma once

#include <zellige/atom/body.hpp>
#include <zellige/atom/config.hpp>
#include <zellige/emulate/device.hpp>

namespace zellige {

/// The instruction of that name; the engine looks it up once per kernel.
template <const char* Name>
[[gnu::noinline]] const Instruction& emulated_row() {
  static const Instruction& row = emulate::instruction(Name);
  return row;
}
template <const char* Name>
ZELLIGE_CALL void run_body(const BodyOperands& operands) {
  emulate::run_body(emulated_row<Name>(), operands);
}

}  // namespace zellige
