// Interprets a program: computes on the CPU, in float64, what the tile programs of its kernels say, for every block and every
// iteration. The steps of the kernels are not looked at: the verifier proves that they compute the tile programs.
//
//   const Memory after = interpret(program, inputs);   // program.kernels in launch order
//   after.values(program.outputs[0])
//
// Each operator means what the reference means by it (reference/evaluate.hpp).
#pragma once
#include "interpret/memory.hpp"

namespace zellige::interpret {

/// Whether values are rounded where the tile programs round them: in `round`, casts, stores and operands in tf32. Integers
/// always are. Sums and functions are float64 in any case.
enum class Rounding : std::uint8_t { of_kernels, none };

/// Returns the tensors of the program after its kernels ran. `inputs`: one array per input, with the shape that its users see.
/// Throws Error if a tile program accesses what does not exist.
Memory interpret(const tile::TilePrograms&, const std::vector<reference::Array>& inputs, Rounding);

}  // namespace zellige::interpret
