// Progress callback of fusing; it can also end the search for groups.
//
//   optimize(graph, target, known, [&](const Progress& p) {
//     print("{}: {} of {}", p.phase, p.done, p.of);
//     return seconds() < 30;
//   });
//
// Called between steps by the fusing thread. After it returns false no further group is examined or planned:
// the cheapest planned groups are taken, every other operator stays unfused, and a note reports it. The
// result is planned and verified as usual.
#pragma once
#include <cstddef>
#include <functional>
#include <string_view>

namespace zellige::fuse {

struct Progress {
  std::string_view phase;  // "operators estimated", "groups grown", "kernels planned"
  std::size_t done = 0, of = 0;
};

/// Returns whether to continue.
using Watch = std::function<bool(const Progress&)>;

}  // namespace zellige::fuse
