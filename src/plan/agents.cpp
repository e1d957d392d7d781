#include "plan/agents.hpp"

#include <algorithm>

namespace zellige::plan {
namespace {

class Builder {
 public:
  Builder(const KernelPlan& plan, const Order& order) : plan_(plan), order_(order) {}

  Schedule run() {
    schedule_.threads = plan_.program.threads();
    for (const Buffer& b : plan_.buffers) schedule_.tensors.push_back({b.name, b.offset, b.bytes, b.stages});
    agent_.name = "block";
    agent_.warps = (plan_.program.threads() + 31) / 32;
    for (int t : order_.loop_copies)
      schedule_.channels.push_back({plan_.buffers[plan_.tasks[t].buffer].name,
                                    plan_.tasks[t].buffer,
                                    order_.stages,
                                    0,
                                    {0},
                                    Synchronisation::cp_async_group});
    if (plan_.program.loop > 1) {
      start_states();
      loop();
      if (order_.after_barrier) barrier();
    }
    straight();
    schedule_.agents.push_back(std::move(agent_));
    return std::move(schedule_);
  }

 private:
  Step& step(StepKind kind, std::string what = "") {
    agent_.steps.push_back({});
    agent_.steps.back().kind = kind;
    agent_.steps.back().what = std::move(what);
    return agent_.steps.back();
  }
  void barrier() { step(StepKind::barrier); }
  void arrive(int pending = 0) { step(StepKind::wait_group).pending = pending; }
  void commit() { step(StepKind::commit); }
  void open(Loop loop, std::int64_t trips) {
    Step& begin = step(StepKind::loop_begin);
    begin.loop = loop, begin.trips = trips;
  }
  void close() { step(StepKind::loop_end); }

  bool copies(int t) const { return plan_.tasks[t].kind == TaskKind::copy_in; }
  bool travels(int t) const { return copies(t) && plan_.copies.at(plan_.tasks[t].node).async(); }

  std::string said(const Task& task) const {
    const std::string& of =
        task.buffer >= 0 ? plan_.buffers[task.buffer].name : plan_.program.nodes[task.node].name;
    return fmt::format("{} {}", name(task.kind), of.empty() ? fmt::format("%{}", task.node) : of);
  }

  Step& run(int t, int lag = 0) {
    const Task& task = plan_.tasks[t];
    Step& s = step(travels(t) ? StepKind::copy : StepKind::work, said(task));
    s.task = t;
    for (int b : task.reads) {
      bool same = false;
      for (int w : task.after_same) same = same || plan_.tasks[w].buffer == b;
      s.reads.push_back({b, 0, same});
    }
    // A context gives each element to the same thread in every iteration.
    const bool writes = task.buffer >= 0 && task.kind != TaskKind::to_global;
    if (writes && task.kind == TaskKind::accumulate) s.reads.push_back({task.buffer, 0, true});
    if (writes) s.writes.push_back({task.buffer, lag, true});
    return s;
  }

  Step& start(int t) {
    Step& s = step(StepKind::start, fmt::format("%{}", plan_.tasks[t].node));
    s.task = t;
    return s;
  }

  void start_states() {
    for (int t = 0; t < static_cast<int>(plan_.tasks.size()); ++t) {
      const Task& task = plan_.tasks[t];
      const bool carried = plan_.program.nodes[task.node].carried &&
                           (task.kind == TaskKind::mma || task.kind == TaskKind::reduce);
      if (!carried && task.kind != TaskKind::accumulate) continue;
      Step& s = start(t);
      if (task.kind == TaskKind::accumulate && task.buffer >= 0) s.writes.push_back({task.buffer, 0, true});
    }
  }

  /// Copies of the stages that the first iterations read: of a ring of two, of iteration 0 alone.
  void prologue(int lag) {
    if (lag == 0) return;
    if (lag > 1) open(Loop::prologue, lag);
    for (int t : order_.loop_copies) run(t);
    commit();
    if (lag > 1) close();
  }

  void loop() {
    const int lag = order_.stages - 1;
    const bool once = !order_.before.empty(), streams = !order_.loop_copies.empty();
    for (int t : order_.before) run(t);
    if (once && !streams) commit(), arrive();
    if (once && streams && lag == 0) commit();
    if (!streams && order_.before_barrier) barrier();
    prologue(lag);
    open(Loop::iterations, plan_.program.loop);
    if (streams && lag > 0) arrive(lag - 1);
    if (order_.top_barrier) barrier();
    for (int t : order_.loop_copies) run(t, lag).guard_lag = lag;
    if (streams) commit();
    if (streams && lag == 0) {
      arrive();
      if (order_.top_barrier) barrier();
    }
    for (std::size_t i = 0; i < order_.inside.size(); ++i) {
      if (i > 0) barrier();
      work(order_.inside[i]);
    }
    close();
  }

  /// A product in slices and what takes each slice on run in a loop of their own.
  void work(const std::vector<int>& tasks) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const Task& task = plan_.tasks[tasks[i]];
      const int slices = task.kind == TaskKind::mma ? plan_.contexts[task.context].turns() : 1;
      if (slices == 1) {
        run(tasks[i]);
        continue;
      }
      std::size_t last = i;
      while (last + 1 < tasks.size() && takes_on(task, plan_.tasks[tasks[last + 1]])) ++last;
      for (std::size_t k = i; k <= last; ++k) {
        const Task& sum = plan_.tasks[tasks[k]];  // over all slices: it starts before the first
        if (sum.kind == TaskKind::reduce && !plan_.program.nodes[sum.node].carried) start(tasks[k]);
      }
      open(Loop::slices, slices);
      for (; i < last; ++i) run(tasks[i]);
      run(tasks[i]);
      close();
    }
  }
  static bool takes_on(const Task& product, const Task& next) {
    return next.context == product.context && next.kind != TaskKind::finish && next.kind != TaskKind::mma;
  }

  /// Copies are waited for in front of a barrier, and of a phase that reads them in the threads that copied.
  void straight() {
    bool pending = false;
    const auto settle = [&] {
      if (pending) commit(), arrive();
      pending = false;
    };
    for (std::size_t i = 0; i < order_.after.size(); ++i) {
      if (i > 0) settle(), barrier();
      std::vector<int> rest;
      bool reads = false;
      for (int t : order_.after[i]) {
        if (copies(t)) {
          run(t);
          pending = pending || travels(t);
          continue;
        }
        rest.push_back(t);
        for (int w : plan_.tasks[t].after_same) reads = reads || copies(w);
      }
      if (reads) settle();
      work(rest);
    }
  }

  const KernelPlan& plan_;
  const Order& order_;
  Schedule schedule_;
  Agent agent_;
};

}  // namespace

Schedule build_schedule(const KernelPlan& plan, const Order& order) { return Builder(plan, order).run(); }

}  // namespace zellige::plan
