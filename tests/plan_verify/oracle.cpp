#include "oracle.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace zellige::plan {
namespace {

using State = std::vector<int>;  // next step by thread; threads 2a and 2a + 1 are agent a's

struct Touched {
  int tensor;
  std::int64_t begin, end;
  bool same, writes;
};

class Explorer {
 public:
  explicit Explorer(const kernel::Kernel& schedule)
      : s(schedule), threads(2 * static_cast<int>(schedule.agents.size())) {}

  std::string run() {
    std::set<State> seen{State(threads)};
    std::vector<State> todo{State(threads)};
    while (!todo.empty()) {
      const State now = todo.back();
      todo.pop_back();
      if (races(now)) return "race";
      const std::vector<State> next = successors(now);
      if (next.empty() && !ended(now)) return "deadlock";
      if (next.empty() && in_flight(now)) return "in flight";
      for (const State& n : next)
        if (seen.insert(n).second) todo.push_back(n);
    }
    return contents();
  }

 private:
  const kernel::Kernel& s;
  int threads;

  const kernel::Step& step(int agent, int k) const { return s.agents[agent].steps[k]; }
  int length(int p) const { return static_cast<int>(s.agents[p / 2].steps.size()); }
  bool tma(const kernel::Step& x) const {
    const int channel = kernel::channel_of(x);
    return kernel::as<kernel::Copy>(x) && channel >= 0 &&
           s.channels[channel].by == kernel::Synchronisation::mbarrier_bytes;
  }
  bool ended(const State& now) const {
    for (int p = 0; p < threads; ++p)
      if (now[p] < length(p)) return false;
    return true;
  }

  /// The number of steps of this kind and channel that the agent has before step k.
  template <class Kind>
  int count(int agent, int channel, int k) const {
    int n = 0;
    for (int j = 0; j < k; ++j)
      n += kernel::as<Kind>(step(agent, j)) && (channel < 0 || kernel::channel_of(step(agent, j)) == channel);
    return n;
  }

  std::vector<Touched> touched(const kernel::Step& x) const {
    std::vector<Touched> result;
    for (const bool writes : {false, true})
      for (const kernel::Access& a : writes ? x.writes : x.reads) {
        const kernel::SmemTensor& t = s.tensors[a.tensor];
        const std::int64_t bytes = t.bytes() / t.stages, stage = ((a.lag % t.stages) + t.stages) % t.stages;
        result.push_back({a.tensor, t.offset + stage * bytes, t.offset + (stage + 1) * bytes, a.same_thread, writes});
      }
    return result;
  }

  bool conflict(int p, int i, int q, int j, bool own_pending) const {
    for (const Touched& x : touched(step(p / 2, i)))
      for (const Touched& y : touched(step(q / 2, j))) {
        if (x.begin >= y.end || y.begin >= x.end || (!x.writes && !y.writes)) continue;
        if (p / 2 == q / 2 && i == j && x.writes && y.writes && x.tensor == y.tensor) continue;  // each its own part
        const Touched& first = i < j || (i == j && !x.writes) ? x : y;
        const Touched& second = &first == &x ? y : x;
        if (p / 2 == q / 2 && !own_pending && x.tensor == y.tensor && second.same && (first.writes || first.same))
          continue;
        return true;
      }
    return false;
  }

  bool pending(const State& now, int q, int k) const {
    const kernel::Step& x = step(q / 2, k);
    if (!kernel::as<kernel::Copy>(x) || now[q] <= k) return false;
    if (tma(x)) {
      if (q % 2 != 0) return false;
      const int channel = kernel::channel_of(x);
      const kernel::Channel& c = s.channels[channel];
      const int phase = count<kernel::Acquire>(q / 2, channel, k);  // counted from 1
      for (int consumer : c.consumers)
        for (int t : {0, 1})
          if (count<kernel::Acquire>(consumer, channel, now[2 * consumer + t]) >= phase) return false;
      return true;
    }
    const int group = count<kernel::Commit>(q / 2, -1, k) + 1;
    for (int j = 0; j < now[q]; ++j)
      if (const kernel::WaitGroup* wait = kernel::as<kernel::WaitGroup>(step(q / 2, j));
          wait && count<kernel::Commit>(q / 2, -1, j) - wait->pending >= group)
        return false;
    return true;
  }

  bool in_flight(const State& now) const {
    for (int q = 0; q < threads; ++q)
      for (int k = 0; k < length(q); ++k)
        if (pending(now, q, k)) return true;
    return false;
  }

  bool makes_access(const State& now, int p) const {
    if (now[p] >= length(p)) return false;
    const kernel::Step& x = step(p / 2, now[p]);
    return kernel::as<kernel::Compute>(x) || (kernel::as<kernel::Copy>(x) && !(tma(x) && p % 2 == 1));
  }

  bool races(const State& now) const {
    for (int p = 0; p < threads; ++p) {
      if (!makes_access(now, p)) continue;
      for (int q = 0; q < threads; ++q) {
        if (q != p && makes_access(now, q) && conflict(p, now[p], q, now[q], false)) return true;
        for (int k = 0; k < length(q); ++k)
          if (pending(now, q, k) && conflict(p, now[p], q, k, p == q)) return true;
      }
    }
    return false;
  }

  bool enabled(const State& now, int p) const {
    const kernel::Acquire* x = kernel::as<kernel::Acquire>(step(p / 2, now[p]));
    if (!x) return true;
    const kernel::Channel& c = s.channels[x->channel];
    const int nth = count<kernel::Acquire>(p / 2, x->channel, now[p]);  // counted from 0
    if (c.producer == p / 2) {
      for (int consumer : c.consumers)
        for (int t : {0, 1})
          if (count<kernel::Release>(consumer, x->channel, now[2 * consumer + t]) < nth - c.stages + 1) return false;
      return true;
    }
    int copies = 0;
    for (int k = 0; k < length(2 * c.producer); ++k)
      if (tma(step(c.producer, k)) && kernel::channel_of(step(c.producer, k)) == x->channel &&
          count<kernel::Acquire>(c.producer, x->channel, k) == nth + 1) {
        ++copies;
        if (now[2 * c.producer] <= k) return false;
      }
    return copies > 0;
  }

  std::vector<State> successors(const State& now) const {
    std::vector<State> result;
    std::map<int, State> met;  // by barrier
    for (int p = 0; p < threads; ++p) {
      if (now[p] >= length(p)) continue;
      const kernel::Barrier* x = kernel::as<kernel::Barrier>(step(p / 2, now[p]));
      State next = now;
      if (!x || !x->waits) {
        if (!enabled(now, p)) continue;
        ++next[p];
        result.push_back(next);
        continue;
      }
      if (met.contains(x->id)) continue;
      bool all = true;
      for (int q = 0; q < threads; ++q) {
        const auto& steps = s.agents[q / 2].steps;
        const auto same = [&](const kernel::Step& y) {
          const kernel::Barrier* barrier = kernel::as<kernel::Barrier>(y);
          return barrier && barrier->waits && barrier->id == x->id;
        };
        if (std::none_of(steps.begin(), steps.end(), same)) continue;
        if (now[q] >= length(q) || !same(steps[now[q]]))
          all = false;
        else
          ++next[q];
      }
      met[x->id] = next;
      if (all) result.push_back(next);
    }
    return result;
  }

  /// One interleaving of a race-free schedule, threads abreast: is what is read what was written?
  std::string contents() const {
    std::map<std::pair<int, std::int64_t>, Touched> holds;  // by tensor and first byte
    State now(threads);
    while (!ended(now)) {
      const std::vector<State> next = successors(now);
      const State after = *std::min_element(
          next.begin(), next.end(), [&](const State& a, const State& b) { return slowest(now, a) < slowest(now, b); });
      for (int p = 0; p < threads; ++p) {
        if (after[p] == now[p] || !makes_access(now, p)) continue;
        const std::vector<Touched> list = touched(step(p / 2, now[p]));
        for (const Touched& x : list)
          if (!x.writes && !holds.contains({x.tensor, x.begin})) return "unwritten";
        for (const Touched& x : list) {
          if (!x.writes) continue;
          std::erase_if(holds, [&](const auto& e) {
            return e.first.first != x.tensor && e.second.begin < x.end && x.begin < e.second.end;
          });
          holds.insert_or_assign({x.tensor, x.begin}, x);
        }
      }
      now = after;
    }
    return "";
  }

  /// The position from which a thread moves: the thread that is furthest back moves first.
  int slowest(const State& now, const State& next) const {
    for (int p = 0; p < threads; ++p)
      if (now[p] != next[p]) return 2 * now[p] + p % 2;
    return 0;
  }
};

}  // namespace

kernel::Kernel written_out(const kernel::Kernel& s) {
  kernel::Kernel result = s;
  for (kernel::Agent& agent : result.agents) {
    std::vector<kernel::Step> flat;
    for (std::size_t k = 0; k < agent.steps.size(); ++k) {
      std::int64_t trip_count = 0;
      std::size_t begin = k, end = k + 1;
      if (const kernel::Loop* loop = begins_loop(agent.steps[k])) {
        trip_count = loop->trip_count, begin = k + 1, end = begin;
        while (!is_end(agent.steps[end])) ++end;
      }
      for (std::int64_t i = 0; i < std::max<std::int64_t>(trip_count, 1); ++i)
        for (std::size_t j = begin; j < end; ++j) {
          kernel::Step step = agent.steps[j];
          if (const int lag = kernel::guard_lag_of(step); trip_count > 0 && lag > 0 && i + lag >= trip_count) continue;
          kernel::match(
              step, [](kernel::OneOf<kernel::Copy, kernel::Compute> auto& of) { of.guard_lag = 0; },
              [](const kernel::OneOf<kernel::Mma, kernel::Start, kernel::Sync, kernel::Loop> auto&) {});
          for (auto* list : {&step.reads, &step.writes})
            for (kernel::Access& a : *list) a.lag += static_cast<int>(i);
          flat.push_back(step);
        }
      k = trip_count > 0 ? end : k;
    }
    agent.steps = std::move(flat);
  }
  return result;
}

std::string explore(const kernel::Kernel& s) { return Explorer(s).run(); }

}  // namespace zellige::plan
