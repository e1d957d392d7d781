// The type of an instruction's reference body: the function that computes its result from the operands of all
// threads that issue it. The emulator executes it, and the tests compare the hardware with it.
//
//   const Instruction* row = find_instruction("SM80_16x8x16_F32F16F16F32_TN");
//   row->body(*row, {a, b, c, d});             // a[t], b[t], c[t], d[t]: thread t's registers
//
// A body reads the layouts, number types and memory spaces of the operands from the Instruction passed to it.
#pragma once

namespace zellige {

struct Instruction;

/// The operands of one instruction, for all threads that issue it. a[t] points to the registers of thread t, or
/// to the memory that it addresses, and is nullptr if it addresses none; b, c and d likewise. If an operand is
/// a whole tile in shared memory (wgmma), only element 0 is used: it points to the tile's elements, packed row
/// by row. A copy reads `a` and writes `d`.
struct BodyOperands {
  const void* const* a;
  const void* const* b;
  const void* const* c;  // the accumulators; nullptr: they are zero
  void* const* d;
  int sign = 1;  // -1: computes d = c - a b
};

/// The type of a reference body: a function that computes an instruction's results for all its threads and
/// writes them to the registers to which the operands' `d` points.
using Body = void (*)(const Instruction&, const BodyOperands&);

namespace reference {

/// The registers of A, B and C that one thread passes to the matrix instruction Op.
template <class Op>
struct MmaOperands {
  typename Op::ARegisters a;
  typename Op::BRegisters b;
  typename Op::DRegisters c;
};
/// The registers of D that one thread receives from the matrix instruction Op.
template <class Op>
struct MmaResult {
  typename Op::DRegisters d;
};

/// The operands of a warp's matrix instruction as BodyOperands: pointers to the registers of the 32 threads,
/// whose MmaOperands are in[0..31] and whose MmaResults are out[0..31]. The two arrays must outlive this
/// object.
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
