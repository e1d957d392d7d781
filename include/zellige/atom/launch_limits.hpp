// What a launch may ask of an SM90, and what is wrong with one that asks for more: the hardware answers with
// "invalid argument", "too many resources" or an illegal instruction.
//
//   LaunchShape s{.name = "gemm", .threads = 384, .shared_bytes = 231000, .registers = 168, .cluster = 2,
//                 .moved = {{128, 40}, {256, 232}}};                       // what setmaxnreg gives each role
//   if (std::string error = launch_error(s); !error.empty()) throw std::runtime_error(error);
//
// Host code only.
#pragma once

#include <string>
#include <vector>

namespace zellige {

struct LaunchShape {
  struct Role {
    int threads = 0, registers = 0;  // a thread's
  };
  const char* name = "kernel";
  long long grid[3] = {1, 1, 1};
  int threads = 1;             // of a block
  long long shared_bytes = 0;  // dynamic and static together
  int registers = 0;           // a thread's, as compiled; 0: not known
  int cluster = 1;             // blocks
  bool non_portable = false;   // the launch allows clusters of 16
  std::vector<Role> moved;     // after setmaxnreg; empty: it is not used
};

inline std::string launch_error(const LaunchShape& l) {
  const std::string who = std::string("launch of ") + l.name + ": ";
  const auto s = [](long long x) { return std::to_string(x); };
  constexpr long long most[3] = {2147483647, 65535, 65535};
  for (int d = 0; d < 3; ++d)
    if (l.grid[d] < 1 || l.grid[d] > most[d])
      return who + "grid[" + s(d) + "] is " + s(l.grid[d]) + "; it must be 1 to " + s(most[d]);
  if (l.threads < 1 || l.threads > 1024) return who + "threads is " + s(l.threads) + "; it must be 1 to 1024";
  if (l.shared_bytes < 0 || l.shared_bytes > 232448)
    return who + "shared_bytes is " + s(l.shared_bytes) + "; a block may have 232448";
  const int blocks = l.non_portable ? 16 : 8;
  if (l.cluster < 1 || l.cluster > blocks)
    return who + "cluster is " + s(l.cluster) + " blocks; it must be 1 to " + s(blocks) +
           (l.non_portable ? "" : ", or 16 where the launch allows what is not portable");
  if (l.grid[0] * l.grid[1] * l.grid[2] % l.cluster)
    return who + "the grid has " + s(l.grid[0] * l.grid[1] * l.grid[2]) +
           " blocks; it must be whole clusters of " + s(l.cluster);
  if (l.registers < 0 || l.registers > 255)
    return who + "registers is " + s(l.registers) + "; it must be up to 255";
  const int warps = (l.threads + 31) / 32, granted = (l.registers + 7) / 8 * 8;
  if (warps * 32 * granted > 65536)
    return who + "registers is " + s(l.registers) + " for " + s(l.threads) + " threads, " +
           s(warps * 32 * granted) + " together; a block may have 65536";
  if (l.moved.empty()) return "";
  int together = 0, threads = 0;
  for (const LaunchShape::Role& role : l.moved) {
    if (role.threads < 1 || role.threads % 128)
      return who + "a role of setmaxnreg has " + s(role.threads) +
             " threads; it must be whole warpgroups of 128";
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
