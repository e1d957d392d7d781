// The shadow memories against happens-before: random programs of accesses, barriers and warp synchronisation
// are checked by clocks kept for every thread and every access. The shadow must report the first race, at the
// access that completes it, and nothing before.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "shadow/global_shadow.hpp"
#include "shadow/shared_shadow.hpp"

namespace zellige::emulate {
namespace {

constexpr unsigned warps = 3, threads = warps * 32;

// Every thread's own clock: seen[t][u] is how much of thread u's history thread t knows of.
struct Oracle {
  struct Access {
    unsigned thread, time;
    std::size_t from, to;
    bool writes;
  };
  std::vector<std::vector<unsigned>> seen = std::vector<std::vector<unsigned>>(threads, std::vector<unsigned>(threads));
  std::vector<unsigned> now = std::vector<unsigned>(threads, 1);
  std::vector<Access> history;

  bool races(unsigned t, std::size_t from, std::size_t to, bool writes) {
    bool race = false;
    for (const Access& a : history)
      race |= a.thread != t && (a.writes || writes) && a.from < to && from < a.to && a.time > seen[t][a.thread];
    history.push_back({t, now[t], from, to, writes});
    return race;
  }
  void join(const std::vector<unsigned>& group) {
    std::vector<unsigned> all(threads);
    for (unsigned t : group) {
      seen[t][t] = now[t]++;
      for (unsigned u = 0; u < threads; ++u) all[u] = std::max(all[u], seen[t][u]);
    }
    for (unsigned t : group) seen[t] = all;
  }
};

// The engine's clocks of the same program.
struct Clocks {
  shadow::Clock clock[warps] = {};
  std::uint32_t time = 1;
  Clocks() {
    for (shadow::Clock& c : clock) std::fill(std::begin(c.time), std::end(c.time), 1u);
  }
  shadow::Actor actor(unsigned t, std::uint32_t site) const {
    const shadow::Clock& c = clock[t / 32];
    return {&c, c.minimum(warps), c.time[t / 32], std::uint16_t(t), std::uint16_t(t / 32), site};
  }
  void join(const std::vector<unsigned>& which) {
    ++time;
    shadow::Clock all{};
    for (unsigned w : which) {
      clock[w].time[w] = time;
      all.join(clock[w], warps);
    }
    for (unsigned w : which) clock[w] = all;
  }
};

template <class Access>
void compare(unsigned seed, std::size_t bytes, Access access) {
  std::mt19937 random(seed);
  Oracle oracle;
  Clocks clocks;
  const unsigned quiet = 1 + random() % 30;   // accesses between synchronisations
  const bool mostly_own = random() % 4 != 0;  // long race-free programs reach deep states
  for (unsigned step = 0; step < 600; ++step) {
    if (random() % quiet == 0) {
      std::vector<unsigned> which;
      switch (random() % 3) {
        case 0:
          which = {0, 1, 2};
          break;
        case 1:
          which = {unsigned(random() % warps)};
          break;
        case 2:
          which = {0, 1 + unsigned(random() % 2)};
          break;
      }
      clocks.join(which);
      std::vector<unsigned> group;
      for (unsigned w : which)
        for (unsigned l = 0; l < 32; ++l) group.push_back(w * 32 + l);
      oracle.join(group);
      continue;
    }
    const unsigned t = random() % 2 ? random() % threads : random() % warps * 32 + random() % 2;
    const unsigned width = 2u << random() % 4;
    const bool writes = random() % (mostly_own ? 12 : 3) == 0;
    std::size_t at = random() % bytes / width * width;
    if (mostly_own && writes) at = t % (bytes / 16) * 16 + random() % 16 / width * width;
    const bool expected = oracle.races(t, at, at + width, writes);
    const shadow::Clash found = access(at, width, clocks.actor(t, step + 1), writes);
    ASSERT_EQ(bool(found), expected) << "seed " << seed << " step " << step << " thread " << t << " at " << at << " of "
                                     << width << (writes ? " writes" : " reads");
    if (expected) {
      EXPECT_NE(found.thread, t);
      return;
    }
  }
}

TEST(Shadow, SharedMemoryFindsTheFirstRaceAndNoOther) {
  shadow::SharedShadow shadow;
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    const std::size_t bytes = seed % 3 ? 64 : 512;
    shadow.reset(bytes);
    Clocks before;
    // All written before the program, by a thread that happens before all others: no read is uninitialised.
    for (std::size_t at = 0; at < bytes; at += 16) {
      shadow::Actor a = before.actor(0, 0);
      a.epoch = 0;
      shadow.write(at, 16, a, 1);
    }
    compare(seed, bytes, [&](std::size_t at, unsigned width, const shadow::Actor& a, bool writes) {
      return writes ? shadow.write(at, width, a, 1) : shadow.read(at, width, a, 1);
    });
    if (HasFatalFailure()) return;
  }
}

// The global shadow keeps one reader by name, so in-tile programs there are those of block barriers.
TEST(Shadow, GlobalMemoryFindsTheFirstConflictOfBlocks) {
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    shadow::GlobalShadow shadow(64);
    Clocks clocks;
    struct Access {
      unsigned block;
      std::size_t from, to;
      bool writes;
    };
    std::vector<Access> history;
    for (unsigned step = 0; step < 60; ++step) {
      const unsigned block = random() % 3, width = 2u << random() % 4;
      const bool writes = random() % 6 == 0;
      const std::size_t at = random() % 64 / width * width;
      bool expected = false;
      for (const Access& a : history)
        expected |= a.block != block && (a.writes || writes) && a.from < at + width && at < a.to;
      history.push_back({block, at, at + width, writes});
      const shadow::Actor actor = clocks.actor(0, step + 1);  // one thread a block: only blocks can conflict
      const shadow::Clash found = writes ? shadow.write(at, width, actor, block) : shadow.read(at, width, actor, block);
      ASSERT_EQ(bool(found), expected) << "seed " << seed << " step " << step;
      if (expected) {
        EXPECT_NE(found.block, block);
        break;
      }
    }
  }
}

TEST(Shadow, GlobalMemoryWithinABlock) {
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    shadow::GlobalShadow shadow(64);
    Oracle oracle;
    Clocks clocks;
    for (unsigned step = 0; step < 200; ++step) {
      if (random() % 12 == 0) {
        clocks.join({0, 1, 2});
        std::vector<unsigned> all;
        for (unsigned t = 0; t < threads; ++t) all.push_back(t);
        oracle.join(all);
        continue;
      }
      const unsigned t = random() % threads, width = 2u << random() % 4;
      const bool writes = random() % 8 == 0;
      const std::size_t at = random() % 64 / width * width;
      const bool expected = oracle.races(t, at, at + width, writes);
      const shadow::Actor a = clocks.actor(t, step + 1);
      const shadow::Clash found = writes ? shadow.write(at, width, a, 5) : shadow.read(at, width, a, 5);
      ASSERT_EQ(bool(found), expected) << "seed " << seed << " step " << step;
      if (expected) break;
    }
  }
}

TEST(Shadow, CopiesInFlightBelongToNobody) {
  shadow::SharedShadow shadow;
  shadow.reset(64);
  Clocks clocks;
  EXPECT_FALSE(shadow.write(16, 16, clocks.actor(3, 1), 1, shadow::SharedShadow::By::cp_async));
  EXPECT_EQ(shadow.read(18, 2, clocks.actor(3, 2), 1).what, shadow::Clash::What::in_flight);
  EXPECT_EQ(shadow.write(20, 4, clocks.actor(3, 3), 1).what, shadow::Clash::What::in_flight);
  shadow.land(16, 16, clocks.actor(3, 1), 1);
  EXPECT_FALSE(shadow.read(16, 8, clocks.actor(3, 4), 1));
  EXPECT_EQ(shadow.read(16, 8, clocks.actor(4, 5), 1).what, shadow::Clash::What::written);
  clocks.join({0});
  EXPECT_FALSE(shadow.read(16, 16, clocks.actor(4, 6), 1));
  EXPECT_EQ(shadow.read(16, 16, clocks.actor(4, 6), 2).what, shadow::Clash::What::other_tensor);
  EXPECT_EQ(shadow.read(32, 1, clocks.actor(4, 6), 2).what, shadow::Clash::What::unwritten);
}

}  // namespace
}  // namespace zellige::emulate
