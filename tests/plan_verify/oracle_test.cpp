#include "oracle.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "schedules.hpp"

namespace zellige::plan {
namespace {

using Random = std::mt19937;
int below(Random& random, int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

/// Tensors X (two stages), Y, and Z over the second half of Y and beyond.
kernel::Kernel blank() {
  kernel::Kernel s{.threads = 64};
  s.tensors = {tensor("X", 0, 512, 2), tensor("Y", 512, 256), tensor("Z", 640, 256)};
  return s;
}

kernel::Access any_access(Random& random) {
  return {.tensor = below(random, 3), .lag = below(random, 2), .same_thread = below(random, 4) == 0};
}

kernel::Step any_work(Random& random) {
  kernel::Step step = work("w", {}, {});
  if (below(random, 3) != 0) step.reads.push_back(any_access(random));
  if (step.reads.empty() || below(random, 3) == 0) step.writes.push_back(any_access(random));
  return step;
}

/// Writes of everything first, so that reads are seldom of nothing; then barriers about as often as work.
kernel::Kernel random_block(Random& random) {
  kernel::Kernel s = blank();
  std::vector<kernel::Step> steps;
  if (below(random, 8) != 0)
    steps.push_back(work("all", {}, {{.tensor = 0}, {.tensor = 0, .lag = 1}, {.tensor = below(random, 2) + 1}}));
  const int length = 2 + below(random, 7);
  for (int k = 0; k < length; ++k) switch (below(random, 10)) {
      case 0:
      case 1:
      case 2:
        steps.push_back(any_work(random));
        break;
      case 3:
        steps.push_back(load("l", any_access(random)));
        break;
      case 4:
        steps.push_back(commit());
        break;
      case 5:
        steps.push_back(wait_group(below(random, 2)));
        break;
      default:
        steps.push_back(barrier());
        break;
    }
  if (below(random, 2) == 0) steps.push_back(commit()), steps.push_back(wait_group(0)), steps.push_back(barrier());
  s.agents = {{.name = "block", .warps = 2, .steps = std::move(steps)}};
  return s;
}

kernel::Kernel random_pair(Random& random) {
  kernel::Kernel s = blank();
  for (const char* name : {"left", "right"}) {
    kernel::Agent a{.name = name, .warps = 1};
    const int length = 2 + below(random, 4);
    for (int k = 0; k < length; ++k) {
      if (k % 2 == below(random, 12) / 11)
        a.steps.push_back(any_work(random));
      else
        a.steps.push_back(barrier(1 + (below(random, 9) == 0)));
    }
    if (name[0] == 'l')
      a.steps.insert(a.steps.begin(), work("all", {}, {{.tensor = 0}, {.tensor = 0, .lag = 1}, {.tensor = 1}}));
    else
      a.steps.insert(a.steps.begin(), barrier(1));
    s.agents.push_back(std::move(a));
  }
  s.agents[0].steps.insert(s.agents[0].steps.begin() + 1, barrier(1));
  return s;
}

/// A ring of X filled by TMA, whose consumer forgets, doubles or misplaces things now and then.
kernel::Kernel random_ring(Random& random) {
  kernel::Kernel s = blank();
  s.channels = {{.name = "ring",
                 .tensor = 0,
                 .stages = 2,
                 .producer = 0,
                 .consumers = {1},
                 .by = kernel::Synchronisation::mbarrier_bytes}};
  kernel::Agent producer{.name = "producer", .warps = 1}, consumer{.name = "consumer", .warps = 1};
  const int fills = 1 + below(random, 3);
  for (int k = 0; k < fills; ++k) {
    producer.steps.push_back(acquire(0));
    producer.steps.push_back(load("l", {.tensor = 0, .lag = k}, 0));
    const bool early = below(random, 8) == 0;
    if (below(random, 10) != 0) consumer.steps.push_back(acquire(0));
    if (early) consumer.steps.push_back(release(0));
    consumer.steps.push_back(work("r", {{.tensor = 0, .lag = k + (below(random, 8) == 0)}}, {}));
    if (below(random, 6) == 0) consumer.steps.push_back(barrier(1));
    if (below(random, 6) == 0) consumer.steps.push_back(work("w", {}, {{.tensor = 1}}));
    if (!early && below(random, 10) != 0) consumer.steps.push_back(release(0));
  }
  s.agents = {producer, consumer};
  return s;
}

template <class Make>
void agree(const char* what, Make make, int cases, unsigned seed) {
  Random random(seed);
  std::map<std::string, int> outcomes;
  for (int k = 0; k < cases; ++k) {
    const kernel::Kernel s = make(random);
    const std::string expected = explore(s);
    const std::string message = verdict(s);
    ++outcomes[expected.empty() ? "right" : expected];
    ASSERT_EQ(message.empty(), expected.empty()) << what << " " << k << " of seed " << seed << ": brute force says '"
                                                 << expected << "', the verifier '" << message << "'\n"
                                                 << text(s);
  }
  std::string text;
  for (const auto& [outcome, n] : outcomes) text += outcome + " " + std::to_string(n) + ", ";
  std::cout << what << ", seed " << seed << ": " << text << "\n";
  EXPECT_GT(outcomes["right"], cases / 20);
  EXPECT_GT(outcomes["race"], cases / 20);
}

TEST(Oracle, OneAgentWithCpAsync) { agree("block", random_block, 20'000, 1); }
TEST(Oracle, TwoAgentsWithBarriers) { agree("pair", random_pair, 2'000, 2); }
TEST(Oracle, RingFilledByTma) { agree("ring", random_ring, 1'000, 3); }

/// A long loop, run shortened, is judged as the same steps written out without a loop.
TEST(Oracle, ShortenedLoopsAreJudgedAsWhole) {
  Random random(4);
  int right = 0, wrong = 0;
  for (int k = 0; k < 3'000; ++k) {
    kernel::Kernel s = blank();
    s.tensors[0] = tensor("X", 0, 512, 1 << below(random, 3));
    s.tensors[1].offset = 1024, s.tensors[2].offset = 2048;
    const int stages = s.tensors[0].stages, distance = below(random, stages + 1);
    std::vector<kernel::Step> steps;
    for (int p = 0; p < std::max(distance, 1); ++p)
      steps.push_back(load("l", {.tensor = 0, .lag = p})), steps.push_back(commit());
    steps.push_back(work("w", {}, {{.tensor = 1}, {.tensor = 2}}));
    const std::int64_t trip_count = 17 + below(random, 60);
    steps.push_back(loop(trip_count));
    if (below(random, 4) != 0) steps.push_back(wait_group(std::max(0, distance - 1 - below(random, 2))));
    steps.push_back(barrier());
    if (below(random, 4) != 0) steps.push_back(load("a", {.tensor = 0, .lag = distance}, -1, distance));
    steps.push_back(commit());
    if (below(random, 8) == 0) steps.push_back(barrier());
    steps.push_back(work("r", {{.tensor = 0, .lag = below(random, 8) == 0}}, {}));
    if (below(random, 4) == 0) steps.push_back(work("s", {{.tensor = 1 + below(random, 2)}}, {}));
    steps.push_back(end());
    if (below(random, 2) == 0) steps.push_back(wait_group(0));
    steps.push_back(barrier());
    // After a loop of this many iterations, the stage of the last iteration.
    steps.push_back(
        work("t", {{.tensor = 0, .lag = static_cast<int>((trip_count - 1 + (below(random, 6) == 0)) % stages)}}, {}));
    s.agents = {{.name = "block", .warps = 2, .steps = steps}};
    const std::string shortened = verdict(s), whole = verdict(written_out(s));
    ASSERT_EQ(shortened.empty(), whole.empty()) << "shortened: " << shortened << "\nwhole: " << whole << "\n"
                                                << text(s);
    ++(whole.empty() ? right : wrong);
  }
  std::cout << "loops, seed 4: right " << right << ", wrong " << wrong << "\n";
  EXPECT_GT(right, 150);
  EXPECT_GT(wrong, 150);
}

}  // namespace
}  // namespace zellige::plan
