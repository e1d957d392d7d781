// Which unit of a multiprocessor carries out a matrix instruction.
#pragma once
#include <cstdint>
#include <string_view>
#include <zellige/atom/instruction.hpp>

namespace zellige::target {

enum class Pipe : std::uint8_t {
  none,    // no instruction: each thread computes dot products
  fma,     // multiply-adds of a warp's threads (outer_products.hpp)
  tensor,  // the tensor cores
};

/// Returns the pipe of a matrix instruction, which its PTX mnemonic tells; Pipe::none for nullptr.
constexpr Pipe pipe(const Instruction* row) {
  return !row ? Pipe::none : std::string_view(row->ptx).starts_with("fma") ? Pipe::fma : Pipe::tensor;
}

}  // namespace zellige::target
