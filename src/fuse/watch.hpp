// Whoever has a graph fused may see how far that is, and end the search for groups.
//
//   optimize(graph, target, known, [&](const Progress& p) {
//     print("{}: {} of {}", p.phase, p.done, p.of);
//     return seconds() < 30;
//   });
//
// Called between steps, by the thread that fuses. Once it returns false no group is looked at or planned any more: of those that are
// planned by then the cheapest are taken, every other operator stays as it is, and a note says so. What comes out is planned and
// proved as ever.
#pragma once
#include <cstddef>
#include <functional>
#include <string_view>

namespace zellige::fuse {

struct Progress {
  std::string_view phase;  // "operators priced", "groups grown", "kernels planned"
  std::size_t done = 0, of = 0;
};

/// Whether to go on.
using Watch = std::function<bool(const Progress&)>;

}  // namespace zellige::fuse
