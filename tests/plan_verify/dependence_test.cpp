// Kernels that start before the previous one has ended (PDL): what they may do before they wait, each refusal
// with its message.
#include "plan/dependence.hpp"

#include <gtest/gtest.h>

#include "graph/error.hpp"
#include "schedules.hpp"

namespace zellige::plan {
namespace {

Step wait() { return {.is = GriddepWait{}}; }
Step next() { return {.is = GriddepLaunchDependents{}}; }
Step touching(Step step, Global global) {
  step.global = global;
  return step;
}
Step weights() { return touching(load("copy weights", {0}), Global::constants); }
Step inputs() { return touching(load("copy inputs", {0}), Global::anything); }
Step results() { return touching(work("store", {}, {}), Global::anything); }

std::string verdict(std::vector<std::vector<Step>> agents, bool programmatic = true) {
  Kernel s;
  s.programmatic = programmatic;
  for (std::size_t a = 0; a < agents.size(); ++a)
    s.agents.push_back({.name = a == 0 ? "block" : "producer", .steps = std::move(agents[a])});
  try {
    verify_dependence(nested(s));
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Dependence, OnlyConstantsComeBeforeTheWait) {
  EXPECT_EQ(verdict({{weights(), wait(), next(), inputs(), results()}}), "");
  EXPECT_EQ(verdict({{weights(), inputs(), wait(), next(), results()}}),
            "kernel: block touches global memory that the kernel before may still write or read in step "
            "'copy inputs', before its "
            "griddep_wait; only constants may be read there: wait before this step");
  EXPECT_EQ(verdict({{results(), wait(), next()}}),
            "kernel: block touches global memory that the kernel before may still write or read in step "
            "'store', before its "
            "griddep_wait; only constants may be read there: wait before this step");
}

TEST(Dependence, EachAgentWaitsForItself) {
  EXPECT_EQ(verdict({{wait(), next(), results()}, {wait(), loop(4), inputs(), end()}}), "");
  EXPECT_EQ(verdict({{wait(), next(), results()}, {loop(4), weights(), end()}}), "");
  EXPECT_EQ(verdict({{wait(), next(), results()}, {loop(4), inputs(), end()}}),
            "kernel: producer touches global memory that the kernel before may still write or read in step "
            "'copy inputs', before "
            "its griddep_wait; only constants may be read there: wait before this step");
}

// A full stage implies that its producer has waited.
TEST(Dependence, AFullStageTellsOfItsProducersWait) {
  const auto verdict_of = [](std::vector<Step> consumer, std::vector<Step> producer) {
    Kernel s;
    s.programmatic = true;
    s.channels.push_back({"ring", 0, 2, 1, {0}, Synchronisation::mbarrier_bytes});
    for (Step& step : producer)
      if (Copy* copy = as<Copy>(step)) copy->channel = 0;
    s.agents.push_back({.name = "consumer", .steps = std::move(consumer)});
    s.agents.push_back({.name = "producer", .steps = std::move(producer)});
    try {
      verify_dependence(nested(s));
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const Step full{.is = Acquire{0}};
  const std::string refused =
      "kernel: consumer touches global memory that the kernel before may still write or read in step "
      "'store', "
      "before its griddep_wait; only constants may be read there: wait before this step";
  EXPECT_EQ(verdict_of({full, results()}, {wait(), inputs()}), "");
  EXPECT_EQ(verdict_of({results(), full}, {wait(), inputs()}), refused);
  EXPECT_EQ(verdict_of({full, results()}, {weights(), wait(), inputs()}), refused);
  EXPECT_EQ(verdict_of({full, results()}, {weights()}), refused);
}

TEST(Dependence, TheNextKernelStartsAfterTheWait) {
  EXPECT_EQ(verdict({{next(), wait(), results()}}),
            "kernel: block lets the next kernel start in step 0 (griddep_launch_dependents) before its "
            "griddep_wait: that kernel "
            "could then not rely on the end of those before this one; wait first");
  EXPECT_EQ(verdict({{wait(), results()}}), "");  // it starts when this one has ended
}

TEST(Dependence, AKernelThatStartsEarlyWaits) {
  EXPECT_EQ(verdict({{weights()}}),
            "kernel: is launched early and no agent of it waits: the kernel after it could start while "
            "those before it still "
            "run; one griddep_wait is needed");
}

TEST(Dependence, TheStepsStandOnceAndWhereTheyMeanSomething) {
  EXPECT_EQ(verdict({{loop(2), wait(), results(), end()}}),
            "kernel: block, step 1 (griddep_wait), is in a loop; once, before it, is enough");
  EXPECT_EQ(verdict({{wait(), results()}}, false),
            "kernel: block, step 0 (griddep_wait), is in a kernel that starts when the one before has "
            "ended; only one that is "
            "launched early waits or lets the next start");
  EXPECT_EQ(verdict({{inputs(), results()}}, false), "");
}

}  // namespace
}  // namespace zellige::plan
