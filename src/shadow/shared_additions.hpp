// Records the atomics on a block's shared memory since the last ordered write, by word. They are unordered among
// themselves; an ordinary access conflicts with each of another thread that is not ordered before it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "shadow/clock.hpp"

namespace zellige::shadow {

/// The atomics on one block's shared memory. `at` is a byte offset.
class SharedAdditions {
 public:
  bool empty() const { return words_.empty(); }
  void clear() { words_.clear(); }

  /// Records an atomic. Earlier ones that it is ordered after are forgotten: what comes after it comes after them.
  void add(std::size_t at, unsigned bytes, const Actor& a) {
    for (std::size_t word = at / 4; word * 4 < at + bytes; ++word) {
      std::vector<Addition>& all = words_[word];
      std::erase_if(all, [&](const Addition& x) { return a.after(x.epoch, x.thread); });
      all.push_back({a.epoch, a.site, a.thread});
    }
  }
  /// Returns the conflict of an ordinary read or write with an earlier atomic, if any.
  Clash access(std::size_t at, unsigned bytes, const Actor& a) const {
    for (std::size_t word = at / 4; word * 4 < at + bytes; ++word) {
      const auto found = words_.find(word);
      if (found == words_.end()) continue;
      for (const Addition& x : found->second)
        if (!a.after(x.epoch, x.thread)) return {Clash::What::added, x.thread, 0, x.site};
    }
    return {};
  }

 private:
  struct Addition {
    std::uint32_t epoch, site;
    std::uint16_t thread;
  };
  std::unordered_map<std::size_t, std::vector<Addition>> words_;  // by offset / 4
};

}  // namespace zellige::shadow
