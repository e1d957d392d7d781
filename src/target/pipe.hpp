// Which threads issue an instruction, which unit of a multiprocessor carries it out, by which path it accesses shared
// memory, and how its results are handed on: the instructions that close its asynchronous group, wait for it, and order it
// after accesses by the other path. They are rows of the same tables.
//
//   const Handover& by = handover(row->completion);    // of a cp.async: SM80_CP_ASYNC_COMMIT_GROUP, ..._WAIT_GROUP
//   fence(Proxy::generic, proxy(store))                // of a TMA store: SM90_FENCE_PROXY_ASYNC_SHARED
//
// Says which of the swizzles that an instruction admits its tiles in shared memory get, too: the column `swizzles` of an
// operand that a descriptor or TMA addresses.
//
//   widest_span(row.b)      // 128 of wgmma's B, which admits all four
#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <zellige/atom/instruction.hpp>
#include <zellige/atom/swizzle_mode.hpp>

#include "target/costs.hpp"

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
  fma,     // multiply-adds of a warp's threads (products.hpp)
  tensor,  // the tensor cores
};

/// Returns the pipe of a matrix instruction, which its PTX mnemonic names; Pipe::none for nullptr.
constexpr Pipe pipe(const Instruction* row) {
  return !row ? Pipe::none : std::string_view(row->ptx).starts_with("fma") ? Pipe::fma : Pipe::tensor;
}

/// Returns the cycles for which a matrix instruction occupies its pipe on a target.
constexpr double cycles(const Instruction& row, const Costs& costs) {
  return row.cycles * (pipe(&row) == Pipe::tensor && issuer(row) == Issuer::warp ? costs.matrix_cycles : 1);
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

/// The instructions that hand on what instructions of one kind of completion have made.
struct Handover {
  // Of one thread: closes the group of what it has started, or announces the bytes at an mbarrier. nullptr: the result is
  // complete at once.
  const Instruction* commit;
  const Instruction* wait;  // waits until the result is there; of results that are complete at once, for all threads
};
const Handover& handover(Instruction::Completion);

/// Returns the fence that a thread needs between its accesses to shared memory by the proxy `from` and an access by the
/// proxy `to`; nullptr if it needs none.
const Instruction* fence(Proxy from, Proxy to);

/// Returns the function that issues the instruction in a kernel: "tma_load_2d" of "tma_load_2d(tile, map, barrier, c...)",
/// "cp_async_wait" of "cp_async_wait<N>()".
std::string function(const Instruction&);

/// Returns the widest swizzle of a set (bit i: SwizzleMode i), which must not be empty: the wider, the fewer bank conflicts.
constexpr SwizzleMode widest(unsigned swizzles) { return static_cast<SwizzleMode>(std::bit_width(swizzles) - 1); }
/// Returns the swizzle whose lines have `bytes` bytes; none for 0.
constexpr SwizzleMode swizzle_of(std::int64_t bytes) {
  return static_cast<SwizzleMode>(std::bit_width(static_cast<unsigned>(bytes) / swizzle_span(SwizzleMode::none)) -
                                  (bytes > 0));
}
/// Returns the bytes of a line of the widest swizzle that the operand admits.
constexpr int widest_span(const Instruction::Operand& operand) {
  return static_cast<int>(swizzle_span(widest(operand.swizzles)));
}

}  // namespace zellige::target
