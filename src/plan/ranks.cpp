#include "plan/ranks.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

namespace zellige::plan {
namespace {

constexpr std::int64_t apart = std::int64_t{1} << 40;  // ranks' shared memories have no byte in common
constexpr int barriers_apart = 1000;

class Ranks {
 public:
  explicit Ranks(const Schedule& s) : s_(s), n_(s.ranks) {
    for (const Agent& agent : s.agents)
      for (const Step& step : agent.steps)
        if (step.multicast) {
          shared_.insert(step.channel);
          for (const Access& a : step.writes) parted_.insert(a.tensor);
        }
  }

  Schedule run() {
    all_.threads = s_.threads;
    for (int r = 0; r < n_; ++r) {
      for (int t = 0; t < static_cast<int>(s_.tensors.size()); ++t) tensor(t, r);
      for (int c = 0; c < static_cast<int>(s_.channels.size()); ++c) channel(c, r);
    }
    for (int r = 0; r < n_; ++r)
      for (const Agent& a : s_.agents) agent(a, r);
    return std::move(all_);
  }

 private:
  std::string said(const std::string& name, int rank) const {
    return fmt::format("{} of rank {}", name, rank);
  }
  int agent_of(int agent, int rank) const { return rank * static_cast<int>(s_.agents.size()) + agent; }
  int channel_of(int channel, int rank) const {
    return rank * static_cast<int>(s_.channels.size()) + channel;
  }

  /// A tensor that multicast fills comes in as many parts as there are ranks.
  void tensor(int t, int rank) {
    first_[{t, rank}] = static_cast<int>(all_.tensors.size());
    const int parts = parted_.count(t) ? n_ : 1;
    const std::int64_t stage = s_.tensors[t].bytes / s_.tensors[t].stages;
    for (int part = 0; part < parts; ++part) {
      SharedTensor x = s_.tensors[t];
      x.name = said(parts > 1 ? fmt::format("part {} of {}", part, x.name) : x.name, rank);
      x.bytes = stage / parts * x.stages;
      // Parts of a stage are apart from the other stages here, as nothing looks at them across stages.
      x.offset += rank * apart + part * x.bytes;
      all_.tensors.push_back(std::move(x));
    }
  }

  void channel(int index, int rank) {
    Channel c = s_.channels[index];
    const bool everywhere = shared_.count(index);
    std::vector<int> consumers;
    for (int r = 0; r < n_; ++r)
      for (int consumer : c.consumers)
        if (r == rank || everywhere) consumers.push_back(agent_of(consumer, r));
    c.name = said(c.name, rank);
    c.producer = agent_of(c.producer, rank);
    c.consumers = std::move(consumers);
    if (c.tensor >= 0) c.tensor = first_.at({c.tensor, rank});
    all_.channels.push_back(std::move(c));
  }

  std::vector<Access> accesses(const std::vector<Access>& list, int rank, int part) const {
    std::vector<Access> result;
    for (const Access& a : list)
      for (int p = 0; p < (parted_.count(a.tensor) ? n_ : 1); ++p) {
        if (part >= 0 && parted_.count(a.tensor) && p != part) continue;
        Access x = a;
        x.tensor = first_.at({a.tensor, rank}) + p;
        result.push_back(x);
      }
    return result;
  }

  void agent(const Agent& a, int rank) {
    Agent x = a;
    x.name = said(a.name, rank);
    x.steps.clear();
    for (const Step& step : a.steps) {
      const bool everywhere =
          step.multicast || (step.kind == StepKind::release && shared_.count(step.channel));
      for (int to = 0; to < n_; ++to) {
        if (!everywhere && to != rank) continue;
        Step y = step;
        if (step.channel >= 0) {
          y.channel = channel_of(step.channel, to);
          if (to != rank) y.held = channel_of(step.channel, rank);
        }
        y.reads = accesses(step.reads, rank, -1);
        y.writes = accesses(step.writes, to, step.multicast ? rank : -1);
        if (meets(step.kind)) y.id += barriers_apart * rank;
        y.multicast = false;
        x.steps.push_back(std::move(y));
      }
    }
    all_.agents.push_back(std::move(x));
  }

  const Schedule& s_;
  int n_;
  std::set<int> shared_, parted_;  // channels that multicast fills, and their tensors
  std::map<std::pair<int, int>, int> first_;
  Schedule all_;
};

}  // namespace

Schedule all_ranks(const Schedule& s) { return s.ranks == 1 ? s : Ranks(s).run(); }

}  // namespace zellige::plan
