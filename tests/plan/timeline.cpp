#include "timeline.hpp"

#include <algorithm>

namespace zellige::plan {
namespace {

class Run {
 public:
  explicit Run(const KernelPlan& plan) : plan_(plan) {
    for (const Buffer& b : plan.buffers) stages_ = std::max(stages_, b.stages);
  }

  Timeline run() {
    run(plan_.schedule.agents.at(0).steps, 0, 1);
    arrive(0);
    line_.barriers = stretch_;
    return std::move(line_);
  }

 private:
  void run(const std::vector<Step>& steps, std::int64_t iteration, std::int64_t trip_count) {
    for (const Step& step : steps) switch (step.kind) {
        case StepKind::barrier:
          ++stretch_;
          break;
        case StepKind::commit:
          groups_.push_back(std::move(open_)), open_.clear();
          break;
        case StepKind::wait_group:
          arrive(static_cast<std::size_t>(step.pending));
          break;
        case StepKind::start:
        case StepKind::copy:
        case StepKind::work:
          if (step.guard_lag == 0 || iteration + step.guard_lag < trip_count) moment(step, iteration);
          break;
        case StepKind::loop: {
          const std::int64_t count = shortened(step.trip_count, stages_);
          if (step.loop == Loop::slices)
            run(step.body, iteration, trip_count);
          else
            for (std::int64_t it = step.from; it < count; ++it) run(step.body, it, count);
          break;
        }
        default:
          break;
      }
  }

  void moment(const Step& step, std::int64_t iteration) {
    Moment m;
    m.task = step.task, m.start = step.kind == StepKind::start, m.iteration = iteration;
    m.stretch = m.arrives = stretch_;
    const Task& task = plan_.tasks[m.task];
    const int staged = task.buffer >= 0 ? plan_.buffers[task.buffer].stages : 1;
    const int lag = step.writes.empty() ? 0 : step.writes[0].lag;
    m.stage = static_cast<int>((iteration + lag) % staged);
    m.read_stage = static_cast<int>(iteration % stages_);
    line_.moments.push_back(m);
    if (step.kind == StepKind::copy) open_.push_back(line_.moments.size() - 1);
  }

  /// cp.async.wait_group: all but the last `pending` groups have arrived.
  void arrive(std::size_t pending) {
    for (; groups_.size() > pending; groups_.erase(groups_.begin()))
      for (std::size_t i : groups_.front())
        line_.moments[i].arrives = stretch_, line_.moments[i].arrives_before = line_.moments.size();
  }

  const KernelPlan& plan_;
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

Timeline timeline(const KernelPlan& plan) { return Run(plan).run(); }

}  // namespace zellige::plan
