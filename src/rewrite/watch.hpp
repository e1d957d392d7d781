// Reports the progress of fusion to a callback, which may end rewriting and the search for groups.
//
//   optimize(graph, target, known, [&](const Progress& p) {      // known: the cache of expected times
//     print("{}: {} of {}", p.phase, p.done, p.of);
//     return seconds() < 30;                                     // false ends the search
//   });
//
// The callback is called between steps, by the thread that called optimize. After it returns false no further
// rule is applied, and no group examined or planned: the cheapest of the planned groups are taken, every other operator stays
// unfused, and a note says so. The result is planned and verified as usual.
#pragma once
#include <cstddef>
#include <functional>
#include <string_view>

namespace zellige::rewrite {

/// How far the search has come: `done` of `of` items of a phase.
struct Progress {
  std::string_view phase;  // "rules applied", "operators estimated", "groups grown", "kernels planned"
  std::size_t done = 0, of = 0;
};

/// Callback that receives the progress of the search, and returns false to end the search.
using Watch = std::function<bool(const Progress&)>;

/// Returns a callback that calls `watch` until it returns false, and after that returns false without calling it. `watch` must
/// outlive it.
inline Watch until_ended(const Watch& watch) {
  return [&watch, ended = false](const Progress& p) mutable { return !(ended = ended || (watch && !watch(p))); };
}

}  // namespace zellige::rewrite
