#include "target/target.hpp"

#include "graph/error.hpp"
#include "strings/nearest.hpp"

namespace zellige::target {

const std::vector<Target>& all() {
  constexpr std::int64_t K = 1024;
  const auto costing = [](Target t, double clock, double dram, double l2, std::int64_t l2_bytes) {
    t.costs.clock = clock, t.costs.dram = dram, t.costs.l2 = l2, t.costs.l2_bytes = l2_bytes;
    return t;
  };
  const auto measured = [](Target t) {
    t.costs.measured = true;
    // `next` is of this target, too, and has most of what a launch more costs: a row of 26976 float32 took 2.5 us on an H200 in
    // two kernels, and 5.2 in one, which a larger one preferred.
    t.costs.search.each = 0.1;
    return t;
  };
  // Of Blackwell: numbers of data sheets; docs/reference/hardware.md names the sources, and what is assumed.
  const auto slower = [](Target t, double matrix_cycles) {
    t.costs.matrix_cycles = matrix_cycles;
    return t;
  };
  // With few units of float64, for correctness alone: two results a cycle.
  const auto few_float64 = [](Target t) {
    t.costs.float64 = 64;
    return t;
  };
  static const std::vector<Target> targets = {
      // name     cc  block    SM       sys  thr   thr/SM blk regs regs/SM SMs  grid (GPCs)
      costing(Target{"sm_80", 80, 163 * K, 164 * K, K, 1024, 2048, 32, 255, 65536, 108, 2147483647, 65535, 65535}, 1.41,
              1400, 4000, 40 * K * K),
      few_float64(
          costing(Target{"sm_86", 86, 99 * K, 100 * K, K, 1024, 1536, 16, 255, 65536, 84, 2147483647, 65535, 65535},
                  1.7, 700, 2500, 6 * K * K)),
      few_float64(
          costing(Target{"sm_87", 87, 163 * K, 164 * K, K, 1024, 1536, 16, 255, 65536, 16, 2147483647, 65535, 65535},
                  1.3, 204, 1300, 4 * K * K)),
      few_float64(
          costing(Target{"sm_89", 89, 99 * K, 100 * K, K, 1024, 1536, 24, 255, 65536, 142, 2147483647, 65535, 65535},
                  2.2, 850, 4500, 72 * K * K)),
      measured(
          Target{"sm_90a", 90, 227 * K, 228 * K, K, 1024, 2048, 32, 255, 65536, 132, 2147483647, 65535, 65535, 8, 6}),
      costing(Target{"sm_100a", 100, 227 * K, 228 * K, K, 1024, 2048, 32, 255, 65536, 148, 2147483647, 65535, 65535, 8},
              1.86, 7700, 7500, 126 * K * K),
      few_float64(costing(
          Target{"sm_103a", 103, 227 * K, 228 * K, K, 1024, 2048, 32, 255, 65536, 148, 2147483647, 65535, 65535, 8},
          1.86, 8000, 7500, 126 * K * K)),
      few_float64(slower(costing(Target{"sm_120a", 120, 99 * K, 100 * K, K, 1024, 1536, 24, 255, 65536, 170, 2147483647,
                                        65535, 65535, 11},
                                 2.41, 1792, 5900, 96 * K * K),
                         4)),
      few_float64(slower(costing(Target{"sm_121a", 121, 99 * K, 100 * K, K, 1024, 1536, 24, 255, 65536, 48, 2147483647,
                                        65535, 65535, 4},
                                 2.42, 273, 1700, 24 * K * K),
                         4)),
  };
  return targets;
}

std::int64_t Target::clusters(int blocks) const {
  const int pairs = (multiprocessors + smallest_lacks) / 2;
  std::int64_t all = 0;
  for (int gpc = 0; gpc < gpcs; ++gpc) {
    const int lacks = gpc == gpcs - 1 ? smallest_lacks : 0;
    all += (2 * (pairs / gpcs + (gpc < pairs % gpcs)) - lacks) / blocks;
  }
  return all;
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const Target& t : all()) result.emplace_back(t.name);
  return result;
}

const Target& find(std::string_view name) {
  for (const Target& t : all())
    if (t.name == name || (name == "sm_90" && t.name == "sm_90a")) return t;
  fail("target {}: unknown{}", name, known_names("targets", names(), name));
}

}  // namespace zellige::target
