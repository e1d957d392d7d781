// The places of emitted code that synchronise its threads or keep them in bounds, and source code in which
// each of them can be disabled.
//
//   const Switched s = with_switches(program.source);
//   s.sites[3]                  // {"lora_0_k0", 73, Kind::barrier, "__syncthreads();"}
//   s.text                      // the same lines; with zellige_deleted == 3, that barrier is disabled
//
// One source for all of them, so that a program is compiled once, not once per deletion. Line numbers are
// preserved.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::deletions {

enum class Kind : std::uint8_t {
  barrier,    // __syncthreads, __syncwarp, named_barrier_sync: not called
  wait,       // cp_async_wait, wgmma_wait, tma_store_wait_read, a ring's wait: not called
  commit,     // cp_async_commit, wgmma_commit, tma_store_commit: not called
  release,    // a ring's release: its stage is not given back
  fence,      // fence_proxy_async_shared, fence_mbarrier_init: not called
  predicate,  // a condition of an `if`, each part of an && alone: true
  zero_fill,  // the condition of `condition ? x : 0`: true
  clamp,      // the last index that at_most allows, or what edge says is left: no end
};
std::string_view name(Kind);

struct Site {
  std::string kernel;
  int line = 0;  // from 1
  Kind kind{};
  std::string text;  // what is deleted
};

struct Switched {
  std::string text;
  std::vector<Site> sites;
};

/// The code reads `extern "C" int zellige_deleted`, the index of the disabled site; -1: none.
Switched with_switches(std::string_view source);

}  // namespace zellige::deletions
