#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <stdexcept>

#include "system/process.hpp"

namespace zellige::system {
namespace {

std::map<int, JobEnd> run_all(int count, int width, const std::function<std::string(int)>& work) {
  std::map<int, JobEnd> ends;
  run_jobs(count, width, work, [&](int i, const JobEnd& end) { EXPECT_TRUE(ends.emplace(i, end).second); });
  return ends;
}

TEST(Pool, EveryJobEndsOnceWithItsResult) {
  for (const int width : {1, 2, 5}) {
    const auto ends = run_all(12, width, [](int i) { return std::string(i * 20000, 'a' + i); });
    ASSERT_EQ(ends.size(), 12u);
    for (const auto& [i, end] : ends) {
      EXPECT_EQ(end.crash, "");
      EXPECT_EQ(end.result, std::string(i * 20000, 'a' + i));
    }
  }
  EXPECT_TRUE(run_all(0, 2, [](int) { return ""; }).empty());
}

TEST(Pool, ACrashIsItsOwnJobsAlone) {
  const auto ends = run_all(4, 2, [](int i) -> std::string {
    if (i == 1) raise(SIGKILL);
    if (i == 2) _exit(0);
    if (i == 3) throw std::runtime_error("expected by the test");
    return "fine";
  });
  EXPECT_EQ(ends.at(0).result, "fine");
  EXPECT_EQ(ends.at(1).crash, "killed by signal 9 (Killed)");
  EXPECT_EQ(ends.at(1).signal, SIGKILL);
  EXPECT_EQ(ends.at(3).signal, 0);
  EXPECT_EQ(ends.at(2).crash, "ended with status 0 and no result");
  EXPECT_EQ(ends.at(3).crash, "ended with status 3 and no result");
}

// A job is requested only when one may start: an endless source is never prefetched.
TEST(Pool, JobsAreAskedForOneByOne) {
  int asked = 0, ended = 0;
  run_jobs(
      [&](int i) -> PooledWork {
        EXPECT_EQ(i, asked++);
        EXPECT_LE(asked - ended, 2);
        return i < 9 ? PooledWork([i](const auto&) { return std::to_string(i); }) : PooledWork();
      },
      2,
      [&](int i, const JobEnd& end) {
        EXPECT_EQ(end.result, std::to_string(i));
        ++ended;
      });
  EXPECT_EQ(asked, 10);
  EXPECT_EQ(ended, 9);
}

TEST(Pool, JobsOverlap) {
  // Each of two jobs waits for a byte of the other: one at a time, neither would end.
  int a[2], b[2];
  ASSERT_EQ(pipe(a), 0);
  ASSERT_EQ(pipe(b), 0);
  const auto ends = run_all(2, 2, [&](int i) {
    char byte = 'x';
    EXPECT_EQ(write(i ? a[1] : b[1], &byte, 1), 1);
    EXPECT_EQ(read(i ? b[0] : a[0], &byte, 1), 1);
    return std::string(1, byte);
  });
  EXPECT_EQ(ends.at(0).result, "x");
  EXPECT_EQ(ends.at(1).result, "x");
}

TEST(Pool, JobsTellTheParentWhatTheyDo) {
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  const auto work = [&](const auto& say) {
    char byte = 0;
    for (const std::string& phase : {std::string("compiling"), std::string(500, 'x'), std::string()}) {
      say(phase);
      EXPECT_EQ(read(go[0], &byte, 1), 1);  // until the parent has seen it
    }
    return std::string("done");
  };
  const std::vector<std::string> phases{"compiling", std::string(123, 'x'), ""};  // the second one is cut
  std::size_t seen = 0;
  std::string result;
  int last = 0;
  run_jobs([&](int i) { return i == 0 ? PooledWork(work) : PooledWork(); }, 1,
           [&](int, const JobEnd& end) { result = end.result; },
           [&](int job, const std::string& phase) {
             last = job;
             if (job < 0 || seen == phases.size() || phase != phases[seen]) return;
             ++seen;
             EXPECT_EQ(write(go[1], "x", 1), 1);
           });
  EXPECT_EQ(seen, phases.size());
  EXPECT_EQ(result, "done") << "what was said is not part of the result";
  EXPECT_EQ(last, -1) << "no job runs at the end";
}

// The parent that asks for the next job may wait for it, as for a graph on stdin, and reads no phase meanwhile.
TEST(Pool, AJobDoesNotWaitUntilItsPhasesAreRead) {
  int message[2];
  ASSERT_EQ(pipe(message), 0);
  std::string result;
  run_jobs(
      [&](int i) -> PooledWork {
        char byte = 0;
        if (i == 1) EXPECT_EQ(read(message[0], &byte, 1), 1);
        if (i == 1) return {};
        return [&](const auto& say) {
          for (int n = 0; n < 10000; ++n) say(std::string(100, 'x'));
          EXPECT_EQ(write(message[1], "x", 1), 1);
          return std::string("done");
        };
      },
      2, [&](int, const JobEnd& end) { result = end.result; });
  EXPECT_EQ(result, "done");
}

}  // namespace
}  // namespace zellige::system
