// Simulates the plan: every access of every thread to every byte of shared memory, in order, with the
// barriers between. Reads must see the intended writes, and no byte is accessed by two threads between two
// barriers if one of them writes it. This tests grouping (same threads), layouts, stages, phases and
// addresses together.
#include "timeline.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <map>

#include "flat_steps.hpp"
#include "random_plans.hpp"
#include "touches.hpp"

namespace zellige::plan {
namespace {

struct Cell {  // two bytes
  int buffer = -1, stage = 0, partial = 0;
  std::int64_t element = -1;
  int writer = everyone, reader = everyone;
  int written = -1, read = -1;  // the stretch of the last write (of its arrival) and read
  std::size_t from = 0;         // the first moment at which its own writer may read it
};

class Simulation {
 public:
  Simulation(const std::string& name, const kernel::Kernel& plan)
      : name_(name), plan_(plan), cells_(static_cast<std::size_t>(plan.shared_bytes + 1)) {}

  void run() {
    const Timeline line = timeline(plan_);
    for (std::size_t i = 0; i < line.moments.size() && findings_ == 0; ++i) {
      const Moment& m = line.moments[i];
      const kernel::Work& work = m.step->work;
      what_ = fmt::format("{} of %{}, iteration {}", name_of(work), work.node, m.iteration);
      if (!m.start) for_each_read(plan_, work, [&](const Touch& r) { read(r, m, i); });
      for_each_write(plan_, work, [&](const Touch& w) { write(w, m, i); });
    }
  }

 private:
  static std::string name_of(const kernel::Work& t) { return std::string(zellige::kernel::name(t.kind)); }

  template <class F>
  void cells(const Touch& t, int stage, F visit) {
    const kernel::SmemTensor& b = plan_.tensors[t.buffer];
    const std::int64_t at = place(b, b.stages > 1 ? stage : 0, t.partial, t.at);
    if (at < b.offset || at + graph::whole_bytes(b.dtype) > b.offset + b.bytes())
      return find(t, fmt::format("byte {} lies outside [{}, {})", at, b.offset, b.offset + b.bytes()));
    for (int k = 0; k < graph::whole_bytes(b.dtype); ++k) visit(cells_[static_cast<std::size_t>(at + k)]);
  }

  std::int64_t element(const Touch& t) const {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < t.at.size(); ++d) index = index * (plan_.tensors[t.buffer].padded[d] + 16) + t.at[d];
    return index;
  }

  void read(const Touch& t, const Moment& m, std::size_t now) {
    const bool staged = plan_.tensors[t.buffer].stages > 1;
    cells(t, m.read_stage, [&](Cell& c) {
      if (c.buffer != t.buffer || c.element != element(t) || c.partial != t.partial ||
          (staged && c.stage != m.read_stage))
        return find(t, c.buffer < 0 ? "reads what nobody wrote"
                                    : fmt::format("finds element {} of {}", c.element, plan_.tensors[c.buffer].name));
      if (t.thread == everyone || t.thread != c.writer ? m.stretch <= c.written : now < c.from)
        return find(t, fmt::format("reads what thread {} wrote without a barrier or wait between", c.writer));
      c.reader = c.read < m.stretch ? t.thread : c.reader == t.thread ? t.thread : everyone;
      c.read = m.stretch;
    });
  }

  void write(const Touch& t, const Moment& m, std::size_t now) {
    cells(t, m.stage, [&](Cell& c) {
      if (c.written >= m.stretch && c.writer != t.thread && now > 0)
        return find(t, fmt::format("overwrites what thread {} wrote since the last barrier", c.writer));
      if (c.read == m.stretch && (c.reader == everyone || c.reader != t.thread))
        return find(t, fmt::format("overwrites what thread {} reads since the last barrier", c.reader));
      c = {t.buffer, m.stage, t.partial, element(t), t.thread, everyone, m.arrives, -1, m.arrives_before};
    });
  }

  void find(const Touch& t, const std::string& finding) {
    if (findings_++ > 0) return;  // one is enough
    ADD_FAILURE() << name_ << ": " << what_ << ": thread " << t.thread << " at " << graph::to_string(t.at) << " of "
                  << plan_.tensors[t.buffer].name << " " << finding;
  }

  const std::string& name_;
  const kernel::Kernel& plan_;
  std::vector<Cell> cells_;
  std::string what_ = "start";
  int findings_ = 0;
};

TEST(Timeline, EveryReadFindsItsValueAndNobodyRaces) {
  for_each_kernel([](const std::string& name, const kernel::Kernel& k, const Plan&) { Simulation(name, k).run(); });
}

// Every work is done once an iteration, and no dependency is met in the same stretch but in the same threads.
TEST(Timeline, EveryDependencyCrossesABarrier) {
  for_each_kernel([](const std::string& name, const kernel::Kernel& k, const Plan&) {
    const Timeline line = timeline(k);
    std::map<kernel::Work, int> runs;
    std::map<std::pair<kernel::Work, int>, int> done;  // by work and stage: the stretch in which its results are there
    for (const Moment& m : line.moments) {
      if (m.start) continue;
      const kernel::Work& t = m.step->work;
      for (const kernel::Access& a : m.step->reads) {
        if (a.tensor == t.tensor && t.kind == kernel::WorkKind::accumulate) continue;  // its own state
        int written = 1 << 30;
        for (const kernel::Work& w : kernel::works(k))
          if (w.tensor == a.tensor && w.kind != kernel::WorkKind::to_global)
            if (const auto at = done.find({w, k.tensors[a.tensor].stages > 1 ? m.read_stage : 0}); at != done.end())
              written = at->second;
        EXPECT_LT(written, m.stretch + a.same_thread)
            << name << ": " << kernel::name(t.kind) << " %" << t.node << " reads " << k.tensors[a.tensor].name;
      }
      ++runs[t], done[{t, m.stage}] = m.arrives;
    }
    int stages = 1;
    for (const kernel::SmemTensor& b : k.tensors) stages = std::max(stages, b.stages);
    const std::int64_t trip_count = k.program.loop > 1 ? shortened(k.program.loop, stages) : 1;
    const tile::Sections sections(k.program);
    for (const kernel::Work& t : kernel::works(k))
      EXPECT_EQ(runs[t], kernel::section_of(t, sections) == tile::Section::inside ? trip_count : 1)
          << name << ": " << kernel::name(t.kind) << " %" << t.node;
  });
}

// Barriers are required: a plan without one of those inside its sections races. So the simulation above can
// fail.
TEST(Timeline, FindsAMissingBarrier) {
  int lost = 0;
  for_each_kernel([&](const std::string& name, const kernel::Kernel& k, const Plan&) {
    kernel::Kernel without = k;
    auto& steps = without.agents.at(0).steps;
    steps = flat(steps);
    const auto loop = std::find_if(steps.rbegin(), steps.rend(), is_end);
    const auto barrier = [](const kernel::Step& s) { return kernel::as<kernel::Barrier>(s) != nullptr; };
    const auto after = loop == steps.rend() ? steps.begin() : loop.base() + (barrier(*loop.base()) ? 1 : 0);
    const auto lost_one = std::find_if(after, steps.end(), barrier);
    if (lost_one == steps.end() || lost >= 12) return;
    steps.erase(lost_one);
    steps = nested(steps);
    testing::TestPartResultArray found;
    {
      testing::ScopedFakeTestPartResultReporter intercept(
          testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
      Simulation(name, without).run();
    }
    EXPECT_GT(found.size(), 0) << name << ": the first barrier after the loop is not required";
    ++lost;
  });
  EXPECT_GE(lost, 8);
}

}  // namespace
}  // namespace zellige::plan
