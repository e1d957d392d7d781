// The reference body of an instruction: its result as a pure function of the operands of all its threads.
//
//   const Instruction* row = find_instruction("SM80_16x8x16_F32F16F16F32_TN");
//   row->body(*row, {a, b, c, d});             // a[t], b[t], c[t], d[t]: thread t's registers
// The emulator runs it, the tests check it and the hardware is compared with it. The bodies use the
// instruction's layouts, types and spaces.
// types and spaces.
#pragma once

namespace zellige {

struct Instruction;

/// Per thread its registers, or the memory that it addresses; nullptr if it addresses none. An operand that
/// is in shared memory as a whole is [0], row by row.
struct BodyOperands {
  const void* const* a;
  const void* const* b;
  const void* const* c;  // nullptr: zeros
  void* const* d;
  int sign = 1;  // of the products
};

using Body = void (*)(const Instruction&, const BodyOperands&);

namespace reference {

/// One thread's operands and results of a matrix instruction.
template <class Op>
struct MmaOperands {
  typename Op::ARegisters a;
  typename Op::BRegisters b;
  typename Op::DRegisters c;
};
template <class Op>
struct MmaResult {
  typename Op::DRegisters d;
};

/// A warp's, thread by thread.
struct WarpRegisters {
  const void *a[32], *b[32], *c[32];
  void* d[32];
  template <class In, class Out>
  WarpRegisters(const In* in, Out* out) {
    for (int t = 0; t < 32; ++t) a[t] = in[t].a, b[t] = in[t].b, c[t] = in[t].c, d[t] = out[t].d;
  }
  operator BodyOperands() const { return {a, b, c, d}; }
};

}  // namespace reference
}  // namespace zellige
