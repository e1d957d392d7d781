#include "timeline.hpp"

#include <algorithm>

namespace zellige::plan {
namespace {

class Run {
 public:
  explicit Run(const kernel::Kernel& plan) : plan_(plan) {
    for (const kernel::SmemTensor& b : plan.tensors) stages_ = std::max(stages_, b.stages);
  }

  Timeline run() {
    run(plan_.agents.at(0).steps, 0, 1);
    arrive(0);
    line_.barriers = stretch_;
    return std::move(line_);
  }

 private:
  void run(const std::vector<kernel::Step>& steps, std::int64_t iteration, std::int64_t trip_count) {
    for (const kernel::Step& step : steps)
      kernel::match(
          step, [&](const kernel::Barrier& barrier) { stretch_ += barrier.waits; },
          [&](const kernel::Commit&) { groups_.push_back(std::move(open_)), open_.clear(); },
          [&](const kernel::WaitGroup& wait) { arrive(static_cast<std::size_t>(wait.pending)); },
          [&](const kernel::Start&) { moment(step, iteration); },
          [&](const kernel::OneOf<kernel::Copy, kernel::Compute> auto& of) {
            if (of.guard_lag == 0 || iteration + of.guard_lag < trip_count) moment(step, iteration);
          },
          [&](const kernel::Loop& loop) {
            const std::int64_t count = shortened(loop.trip_count, stages_);
            if (loop.kind == kernel::Loop::slices)
              run(loop.body, iteration, trip_count);
            else
              for (std::int64_t it = loop.from; it < count; ++it) run(loop.body, it, count);
          },
          [](const kernel::OneOf<kernel::Mma, kernel::Acquire, kernel::Release, kernel::Drain, kernel::MbarrierInit,
                                 kernel::FenceInit, kernel::FenceProxy, kernel::GriddepWait,
                                 kernel::GriddepLaunchDependents, kernel::WarpBarrier, kernel::ClusterBarrier> auto&) {
          });
  }

  void moment(const kernel::Step& step, std::int64_t iteration) {
    Moment m;
    m.step = &step, m.start = kernel::as<kernel::Start>(step), m.iteration = iteration;
    m.stretch = m.arrives = stretch_;
    const int buffer = step.work.tensor, staged = buffer >= 0 ? plan_.tensors[buffer].stages : 1;
    const int lag = step.writes.empty() ? 0 : step.writes[0].lag;
    m.stage = static_cast<int>((iteration + lag) % staged);
    m.read_stage = static_cast<int>(iteration % stages_);
    line_.moments.push_back(m);
    if (kernel::as<kernel::Copy>(step)) open_.push_back(line_.moments.size() - 1);
  }

  /// cp.async.wait_group: all but the last `pending` groups have arrived.
  void arrive(std::size_t pending) {
    for (; groups_.size() > pending; groups_.erase(groups_.begin()))
      for (std::size_t i : groups_.front())
        line_.moments[i].arrives = stretch_, line_.moments[i].arrives_before = line_.moments.size();
  }

  const kernel::Kernel& plan_;
  int stages_ = 1;  // of the loop's rings
  Timeline line_;
  int stretch_ = 0;
  std::vector<std::size_t> open_;
  std::vector<std::vector<std::size_t>> groups_;
};

}  // namespace

std::int64_t shortened(std::int64_t trip_count, int stages) {
  return std::min<std::int64_t>(trip_count, 2 * stages + 2);
}

Timeline timeline(const kernel::Kernel& plan) { return Run(plan).run(); }

}  // namespace zellige::plan
