// Which threads issue an instruction, which unit of a multiprocessor carries it out, and by which path it accesses shared
// memory.
#pragma once
#include <cstdint>
#include <string_view>
#include <zellige/atom/instruction.hpp>

namespace zellige::target {

/// Returns the threads that issue an instruction together.
constexpr Issuer issuer(const Instruction& row) {
  using enum Issuer;
  for (const Issuer threads : {thread, quad_pair, warp})
    if (row.issuers == issuing_threads(threads).thread_count()) return threads;
  return warpgroup;
}

enum class Pipe : std::uint8_t {
  none,    // no instruction: each thread computes dot products
  fma,     // multiply-adds of a warp's threads (outer_products.hpp)
  tensor,  // the tensor cores
};

/// Returns the pipe of a matrix instruction, which its PTX mnemonic names; Pipe::none for nullptr.
constexpr Pipe pipe(const Instruction* row) {
  return !row ? Pipe::none : std::string_view(row->ptx).starts_with("fma") ? Pipe::fma : Pipe::tensor;
}

/// The path by which an instruction accesses shared memory. Where the writer's is generic and the reader's is not, the
/// writer needs a fence.
enum class Proxy : std::uint8_t {
  generic,  // that of the threads' loads and stores
  async,    // that of TMA and of wgmma's descriptors
};

/// Returns the proxy by which an instruction accesses shared memory: Proxy::async if a descriptor addresses its operand
/// B, or if it is a bulk copy between memories, as those of TMA are. Returns Proxy::generic for nullptr.
constexpr Proxy proxy(const Instruction* row) {
  if (!row) return Proxy::generic;
  using enum Instruction::Kind;
  const bool bulk = row->kind == tensor_copy || row->kind == bulk_copy;
  const bool of_registers = row->a.space == Instruction::Space::rmem;  // st.async
  return (bulk && !of_registers) || row->b.swizzles != 0 ? Proxy::async : Proxy::generic;
}

}  // namespace zellige::target
