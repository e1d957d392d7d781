#include "plan/barriers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <set>

#include "failure.hpp"

using namespace zellige::plan;

namespace {

// Document 3's notation: tasks count from 1, a space is a barrier.
std::string printed(const TaskPhases& p) {
  std::string s;
  for (const auto& phase : p.phases) {
    if (!s.empty()) s += ' ';
    for (int t : phase) s += std::to_string(t + 1);
  }
  return s;
}

std::vector<std::vector<int>> parsed(const std::string& s) {
  std::vector<std::vector<int>> phases(1);
  for (char c : s)
    if (c == ' ')
      phases.emplace_back();
    else
      phases.back().push_back(c - '1');
  return phases;
}

// The document shows its figure only as a picture. In `12 534 6 7` task 5 comes after 1 and 2 and one
// barrier, 6 after 3 and 4 and one, 7 after 6; in `1234 56 7` 5 and 6 share a phase, so neither reads the
// other. The graph with just these edges, each result one unit, has the document's numbers.
std::vector<TaskToOrder> figure() {
  std::vector<TaskToOrder> t(7);
  for (TaskToOrder& task : t) task.produces = 1;
  t[4].after = {0, 1};
  t[5].after = {2, 3};
  t[6].after = {4, 5};
  return t;
}

struct Optimum {
  int barriers;
  std::int64_t peak;
};

// Every sequence with every choice of barriers; the peak by definition, written down without phases or masks.
Optimum brute_force(const std::vector<TaskToOrder>& tasks) {
  const int n = static_cast<int>(tasks.size());
  std::vector<int> sequence(n);
  std::iota(sequence.begin(), sequence.end(), 0);
  Optimum best{n + 1, 0};
  do {
    for (int mask = 0; mask < 1 << (n - 1); ++mask) {  // bit i: a barrier after step i
      std::vector<int> step(n), phase(n);
      for (int i = 0, k = 0; i < n; ++i) {
        step[sequence[i]] = i, phase[sequence[i]] = k;
        k += mask >> i & 1;
      }
      bool valid = true;
      std::vector<int> last = phase;
      for (int t = 0; t < n; ++t) {
        for (int s : tasks[t].after) valid &= phase[s] < phase[t], last[s] = std::max(last[s], phase[t]);
        for (int s : tasks[t].after_same) valid &= step[s] < step[t], last[s] = std::max(last[s], phase[t]);
      }
      if (!valid) continue;
      std::int64_t peak = 0;
      for (int i = 0; i < n; ++i) {
        std::int64_t alive = 0;
        for (int t = 0; t < n; ++t)
          if (phase[t] <= phase[sequence[i]] && phase[sequence[i]] <= last[t]) alive += tasks[t].produces;
        peak = std::max(peak, alive);
      }
      const int barriers = std::popcount(static_cast<unsigned>(mask));
      if (std::pair(barriers, peak) < std::pair(best.barriers, best.peak)) best = {barriers, peak};
    }
  } while (std::next_permutation(sequence.begin(), sequence.end()));
  return best;
}

std::vector<TaskToOrder> random_tasks(std::mt19937& rng, int n) {
  std::vector<int> name(n);
  std::iota(name.begin(), name.end(), 0);
  std::shuffle(name.begin(), name.end(), rng);  // so that numbers say nothing about order
  std::vector<TaskToOrder> tasks(n);
  for (int i = 0; i < n; ++i) {
    tasks[name[i]].produces = rng() % 6;
    for (int j = 0; j < i; ++j) {
      if (rng() % 3 == 0)
        tasks[name[i]].after.push_back(name[j]);
      else if (rng() % 6 == 0)
        tasks[name[i]].after_same.push_back(name[j]);
    }
  }
  return tasks;
}

void expect_consistent(const std::vector<TaskToOrder>& tasks, const TaskPhases& p) {
  EXPECT_EQ(peak_memory(tasks, p.phases), p.peak);
  EXPECT_EQ(p.barriers + 1, static_cast<int>(p.phases.size()));
  for (const auto& phase : p.phases) EXPECT_FALSE(phase.empty());
}

}  // namespace

TEST(Barriers, WorkedExampleOfTheHeader) {
  const TaskPhases p = order_tasks({{.produces = 1}, {.produces = 1}, {.after = {0, 1}, .produces = 1}});
  EXPECT_EQ(p.phases, (std::vector<std::vector<int>>{{0, 1}, {2}}));
  EXPECT_EQ(p.barriers, 1);
  EXPECT_EQ(p.peak, 3);
  EXPECT_TRUE(p.optimal);
}

TEST(Barriers, TheDocumentsConflictFigure) {
  // Task 3 cannot reuse the memory of 1 in the phase in which 5 still reads it.
  EXPECT_EQ(peak_memory(figure(), parsed("12 534 6 7")), 5);
  EXPECT_EQ(peak_memory(figure(), parsed("1234 56 7")), 6);
  EXPECT_EQ(peak_memory(figure(), parsed("12 5 34 6 7")), 4);
  const TaskPhases fewest = order_tasks(figure());
  EXPECT_EQ(printed(fewest), "1234 56 7");
  EXPECT_EQ(fewest.barriers, 2);
  EXPECT_EQ(fewest.peak, 6);
  EXPECT_TRUE(fewest.optimal);
}

TEST(Barriers, EqualsTryingEverySequence) {
  std::mt19937 rng(11);
  for (int i = 0; i < 400; ++i) {
    const auto tasks = random_tasks(rng, 1 + rng() % 6);
    const Optimum expected = brute_force(tasks);
    const TaskPhases got = order_tasks(tasks);
    EXPECT_EQ(got.barriers, expected.barriers) << "case " << i;
    EXPECT_EQ(got.peak, expected.peak) << "case " << i;
    EXPECT_TRUE(got.optimal);
    expect_consistent(tasks, got);
  }
}

TEST(Barriers, BarriersAreTheLongestChainAlsoBeyondTheExactSearch) {
  std::mt19937 rng(12);
  for (int n : {20, 40, 90}) {
    std::vector<TaskToOrder> tasks(n);
    std::vector<int> depth(n, 0);
    for (int t = 0; t < n; ++t) {
      tasks[t].produces = 1 + rng() % 9;
      for (int k = 0; t > 0 && k < 2; ++k) {
        const int s = t - 1 - rng() % std::min(t, 8);
        const bool same = rng() % 3 == 0;
        (same ? tasks[t].after_same : tasks[t].after).push_back(s);
        depth[t] = std::max(depth[t], depth[s] + !same);
      }
    }
    const TaskPhases p = order_tasks(tasks, 100'000);
    EXPECT_EQ(p.barriers, *std::max_element(depth.begin(), depth.end()));
    expect_consistent(tasks, p);
    // Better than doing everything as early as it can be done.
    std::vector<std::vector<int>> early(p.phases.size());
    for (int t = 0; t < n; ++t) early[depth[t]].push_back(t);
    EXPECT_LE(p.peak, peak_memory(tasks, early));
  }
}

TEST(Barriers, OrdersBeyondTheExactSearchAreProvedByTheBound) {
  std::vector<TaskToOrder> chain(90);
  for (int t = 0; t < 90; ++t) {
    chain[t].produces = t % 7;
    if (t > 0) chain[t].after.push_back(t - 1);
  }
  const TaskPhases p = order_tasks(chain);
  EXPECT_EQ(p.peak, 11);  // 5 and 6
  EXPECT_TRUE(p.optimal) << "what must be alive in some phase reaches the peak";
  // A task that may be in any phase is in none of the bound's.
  chain.push_back({.produces = 20});
  EXPECT_EQ(order_tasks(chain).peak, 20);
}

TEST(Barriers, WithoutEffortOptimalIsOnlyClaimedWhenTheBoundIsMet) {
  std::mt19937 rng(13);
  int unproven = 0;
  for (int i = 0; i < 400; ++i) {
    const auto tasks = random_tasks(rng, 6);
    const TaskPhases quick = order_tasks(tasks, 0);
    const TaskPhases exact = order_tasks(tasks);
    EXPECT_TRUE(!quick.optimal || quick.peak == exact.peak);
    unproven += !quick.optimal;
  }
  EXPECT_GT(unproven, 10);
}

TEST(Barriers, BadInputSaysWhatIsWrong) {
  EXPECT_EQ(failure([] { order_tasks({{.after = {1}}}); }),
            "barriers: task 0 depends on task 1; another of the 1 tasks is needed");
  EXPECT_EQ(failure([] {
              order_tasks({{}, {.after = {2}}, {.after_same = {1}}});
            }),
            "barriers: only 1 of 3 tasks can be ordered; the others depend on each other in a cycle");
  EXPECT_EQ(failure([] { order_tasks({{.produces = -4}}); }),
            "barriers: task 0 produces -4 bytes; at least 0 is needed");
  EXPECT_EQ(failure([] {
              peak_memory({{}, {.after = {0}}}, {{0, 1}});
            }),
            "barriers: task 1 in phase 0 reads task 0 of phase 0; a barrier must lie between");
  EXPECT_EQ(failure([] {
              peak_memory({{}, {.after_same = {0}}}, {{1, 0}});
            }),
            "barriers: task 1 at step 0 needs task 0 of step 1; it must come later");
  EXPECT_EQ(failure([] {
              peak_memory({{}, {}}, {{0, 0}});
            }),
            "barriers: phase 0 lists task 0, which is not one of 2 tasks or is listed before");
  EXPECT_EQ(failure([] { peak_memory({{}, {}}, {{0}}); }), "barriers: the phases list 1 of 2 tasks; all are needed");
}
