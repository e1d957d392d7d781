// A timeline keeps the order that the plan's barriers and channels enforce.
#include "explain/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "compiled.hpp"

namespace zellige::explain {
namespace {

const char* const looped[] = {"layers/llama_decode.json", "layers/llama_prefill.json",
                              "layers/plain_attention_causal.json", "gemm.json"};

TEST(Timelines, ARoleDoesOneThingAtATime) {
  for (const char* file : looped)
    for (const LaunchAccount& l : explained(file).account.launches)
      for (const KernelAccount& k : l.kernels) {
        std::map<int, int> until;  // by role
        for (const Span& s : k.timeline.spans) {
          ASSERT_LT(s.begin, s.end) << k.name;
          if (s.kind == Span::Kind::flight) continue;
          EXPECT_GE(s.begin, until[s.agent]) << k.name << ": " << s.what;
          until[s.agent] = s.end;
        }
      }
}

TEST(Timelines, EveryRoleComesToItsEnd) {
  for (const char* file : looped) {
    const Explained& e = explained(file);
    std::size_t k = 0;
    for (const LaunchAccount& l : e.account.launches)
      for (const KernelAccount& a : l.kernels) {
        // The last work of each role is the last that its plan has.
        const kernel::Kernel& plan = e.compiled.program.plan.kernels[k++];
        for (std::size_t agent = 0; agent < plan.agents.size(); ++agent) {
          std::string last, shown;
          kernel::walk(plan.agents[agent].steps, [&](const kernel::Step& step, const kernel::StepPosition&) {
            if (kernel::as<kernel::Compute>(step) || kernel::as<kernel::Copy>(step) || kernel::as<kernel::Mma>(step))
              last = step.what;
          });
          for (const Span& s : a.timeline.spans)
            if (s.agent == static_cast<int>(agent) && s.kind == Span::Kind::work && s.what != "barrier") shown = s.what;
          EXPECT_EQ(shown, last) << a.name << ", " << plan.agents[agent].name;
        }
      }
  }
}

TEST(Timelines, NothingIsReadBeforeItArrives) {
  // A copy and a product through one ring: the product starts when what the producer has copied for it has arrived.
  int pairs = 0;
  for (const char* file : looped) {
    const Explained& e = explained(file);
    std::size_t number = 0;
    for (const LaunchAccount& l : e.account.launches)
      for (const KernelAccount& a : l.kernels) {
        const kernel::Kernel& plan = e.compiled.program.plan.kernels[number++];
        if (!plan.warp_specialized()) continue;
        std::vector<int> arrivals, products;
        for (const Span& s : a.timeline.spans) {
          if (s.kind == Span::Kind::flight && s.what.starts_with("copy in")) arrivals.push_back(s.end);
          if (s.kind == Span::Kind::work && s.what.starts_with("mma")) products.push_back(s.begin);
        }
        if (arrivals.empty() || products.empty()) continue;
        EXPECT_GE(*std::ranges::min_element(products), *std::ranges::min_element(arrivals)) << a.name;
        ++pairs;
      }
  }
  EXPECT_GT(pairs, 1);
}

}  // namespace
}  // namespace zellige::explain
