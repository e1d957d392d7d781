// A row's reference body on the emulator: the engine knows the rows, and runs their bodies, so that no kernel compiles them.
#pragma once

#include <zellige/atom/body.hpp>
#include <zellige/atom/config.hpp>
#include <zellige/emulate/device.hpp>

namespace zellige {

/// The row of that name; the engine looks it up once a kernel.
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
