// Checks a kernel launch against the limits of SM90 and explains a violation in words. Without the check, the
// hardware reports only "invalid argument", "too many resources" or an illegal instruction.
//
//   CheckedLaunch s{.name = "gemm", .threads = 384, .shared_bytes = 231000, .registers = 168, .cluster = 2,
//                 .moved = {{128, 40}, {256, 232}},         // per role: threads, registers by setmaxnreg
//                 .tiles = {{"A", 0, 65536, tma_alignment(SwizzleMode::b128)}, ...}};
//   if (std::string error = launch_error(s); !error.empty()) throw std::runtime_error(error);
//
// A tile is {name, byte offset in shared memory, bytes, alignment}. Host code only.
#pragma once

#include <string>
#include <vector>
#include <zellige/atom/swizzle_mode.hpp>

namespace zellige {

/// Returns the alignment in bytes that a TMA tile or a wgmma operand in shared memory needs: 8 times the
/// swizzle's row of 32, 64 or 128 bytes, after which the swizzle repeats; 128 without a swizzle. (mbarriers
/// need 8; cp.async, bulk copies and ldmatrix need 16.)
constexpr int tma_alignment(SwizzleMode mode) {
  return mode == SwizzleMode::none ? 128 : 8 * static_cast<int>(swizzle_span(mode));
}

/// The properties of a launch that launch_error checks: grid, block, registers, cluster, and the layout of
/// shared memory.
struct CheckedLaunch {
  struct Tile {
    const char* name = "tile";
    long long offset = 0, bytes = 0;  // from the start of the block's shared memory
    int alignment = 16;
  };
  /// A warp role: whole warpgroups that set their register count by setmaxnreg.
  struct Role {
    int threads = 0, registers = 0;  // registers per thread
  };
  const char* name = "kernel";
  long long grid[3] = {1, 1, 1};
  int threads = 1;             // per block
  long long shared_bytes = 0;  // dynamic and static in total
  int registers = 0;           // per thread, as compiled; 0: unknown
  int cluster = 1;             // blocks per cluster
  bool non_portable = false;   // the launch allows clusters of up to 16 blocks
  std::vector<Role> moved;     // all threads of the block, by role; empty: the kernel has no setmaxnreg
  std::vector<Tile> tiles{};   // the tiles in the block's shared memory
};

/// Returns one sentence on the first limit of SM90 that the launch exceeds, or "" if it exceeds none. Tiles
/// must be aligned, disjoint, and within shared memory. If warpgroups change their register counts by
/// setmaxnreg, all of them together must not have more registers than the block.
inline std::string launch_error(const CheckedLaunch& l) {
  const std::string who = std::string("launch of ") + l.name + ": ";
  const auto s = [](long long x) { return std::to_string(x); };
  constexpr long long limits[3] = {2147483647, 65535, 65535};
  for (int d = 0; d < 3; ++d)
    if (l.grid[d] < 1 || l.grid[d] > limits[d])
      return who + "grid[" + s(d) + "] is " + s(l.grid[d]) + "; it must be 1 to " + s(limits[d]);
  if (l.threads < 1 || l.threads > 1024) return who + "threads is " + s(l.threads) + "; it must be 1 to 1024";
  if (l.shared_bytes < 0 || l.shared_bytes > 232448)
    return who + "shared_bytes is " + s(l.shared_bytes) + "; a block may have 232448";
  const int blocks = l.non_portable ? 16 : 8;
  if (l.cluster < 1 || l.cluster > blocks)
    return who + "cluster is " + s(l.cluster) + " blocks; it must be 1 to " + s(blocks) +
           (l.non_portable ? "" : ", or 16 where the launch allows what is not portable");
  if (l.grid[0] * l.grid[1] * l.grid[2] % l.cluster)
    return who + "the grid has " + s(l.grid[0] * l.grid[1] * l.grid[2]) + " blocks; it must be whole clusters of " +
           s(l.cluster);
  if (l.registers < 0 || l.registers > 255) return who + "registers is " + s(l.registers) + "; it must be up to 255";
  const int warps = (l.threads + 31) / 32, granted = (l.registers + 7) / 8 * 8;
  if (warps * 32 * granted > 65536)
    return who + "registers is " + s(l.registers) + " for " + s(l.threads) + " threads, " + s(warps * 32 * granted) +
           " together; a block may have 65536";
  for (const CheckedLaunch::Tile& t : l.tiles) {
    const std::string tile = who + "tile " + t.name;
    if (t.alignment < 1 || t.offset < 0 || t.offset % t.alignment)
      return tile + " is at byte " + s(t.offset) + "; it must be at a multiple of " + s(t.alignment);
    if (t.bytes < 0 || t.offset + t.bytes > l.shared_bytes)
      return tile + " has bytes " + s(t.offset) + ".." + s(t.offset + t.bytes) + "; the block's shared memory has " +
             s(l.shared_bytes);
    for (const CheckedLaunch::Tile& other : l.tiles) {
      if (&other == &t) break;
      if (t.bytes > 0 && other.bytes > 0 && t.offset < other.offset + other.bytes && other.offset < t.offset + t.bytes)
        return tile + " has bytes " + s(t.offset) + ".." + s(t.offset + t.bytes) + ", tile " + other.name + " bytes " +
               s(other.offset) + ".." + s(other.offset + other.bytes) + "; they must not overlap";
    }
  }
  if (l.moved.empty()) return "";
  int together = 0, threads = 0;
  for (const CheckedLaunch::Role& role : l.moved) {
    if (role.threads < 1 || role.threads % 128)
      return who + "a role of setmaxnreg has " + s(role.threads) + " threads; it must be whole warpgroups of 128";
    if (role.registers < 24 || role.registers > 256 || role.registers % 8)
      return who + "a role of setmaxnreg has " + s(role.registers) +
             " registers; it must be 24 to 256, a multiple of 8";
    together += role.threads * role.registers;
    threads += role.threads;
  }
  if (threads != l.threads)
    return who + "the roles of setmaxnreg have " + s(threads) + " threads; the block has " + s(l.threads);
  const int pool = granted ? warps * 32 * granted : 65536;
  if (together > pool)
    return who + "the roles of setmaxnreg ask for " + s(together) + " registers; the block has " + s(pool);
  return "";
}

}  // namespace zellige
