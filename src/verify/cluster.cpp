#include "verify/cluster.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

namespace zellige::verify {
namespace {

// Between the offsets of different blocks, so that their shared memories are disjoint.
constexpr std::int64_t block_distance = std::int64_t{1} << 40;

/// Builds the flat kernel: tensors and channels of all blocks first, then their warp roles and setup steps.
class FlatCluster {
 public:
  explicit FlatCluster(const Kernel& s) : s_(s), n_(s.cluster) {
    for (const Agent& agent : s.agents)
      walk(agent.steps, [&](const Step& step, const StepPosition&) {
        const Copy* copy = as<Copy>(step);
        if (!copy || !copy->multicast) return;
        shared_.insert(copy->channel);
        for (const Access& a : step.writes) split_.insert(a.tensor);
      });
  }

  Kernel run() {
    all_.program.name = s_.name(), all_.threads = s_.threads;
    for (int r = 0; r < n_; ++r) {
      for (int t = 0; t < static_cast<int>(s_.tensors.size()); ++t) tensor(t, r);
      for (int c = 0; c < static_cast<int>(s_.channels.size()); ++c) channel(c, r);
    }
    for (int c = 0; c < static_cast<int>(s_.channels.size()); ++c)
      if (is_exchange(c)) exchange_channels(c);
    for (int r = 0; r < n_; ++r)
      for (Agent a : s_.agents) {
        a.name = describe(a.name, r);
        a.steps = steps_of(a.steps, r);
        all_.agents.push_back(std::move(a));
      }
    for (int r = 0; r < n_; ++r)
      for (Step step : s_.setup) {
        MbarrierInit* init = as<MbarrierInit>(step);
        if (!init || is_exchange(init->channel)) continue;
        if (shared_.count(init->channel)) init->arrivals *= n_;
        init->channel = channel_of(init->channel, r);
        all_.setup.push_back(std::move(step));
      }
    return std::move(all_);
  }

 private:
  std::string describe(const std::string& name, int block) const { return fmt::format("{} of block {}", name, block); }
  int agent_of(int agent, int block) const { return block * static_cast<int>(s_.agents.size()) + agent; }
  int channel_of(int channel, int block) const { return block * static_cast<int>(s_.channels.size()) + channel; }

  bool is_exchange(int channel) const { return channel >= 0 && kernel::is_exchange(s_.channels[channel]); }
  /// Returns into how many parts the flat kernel divides a tensor of one block: one per block if multicast fills the
  /// tensor, one per other block if the blocks exchange partial results through it, otherwise 1.
  int parts_of(int tensor) const {
    return split_.count(tensor) ? n_ : kernel::exchange_of(s_, tensor) >= 0 ? n_ - 1 : 1;
  }
  /// Returns the part that block `from` writes in the tensor of block `to` in an exchange of partial results.
  static int part_from(int from, int to) { return from < to ? from : from - 1; }

  /// Adds tensor t of a block, split into the parts that different blocks write.
  void tensor(int t, int block) {
    first_[{t, block}] = static_cast<int>(all_.tensors.size());
    const int parts = parts_of(t);
    const SmemTensor& whole = s_.tensors[t];
    const std::int64_t stage = whole.bytes() / whole.stages / parts;
    // Parts of a stage are separate tensors here, since no step accesses the same part of several stages.
    for (int part = 0; part < parts; ++part)
      all_.tensors.push_back(
          {.name = describe(parts > 1 ? fmt::format("part {} of {}", part, whole.name) : whole.name, block),
           .stages = whole.stages,
           .part_step = stage,
           .stage_step = stage,
           .offset = whole.offset + block * block_distance + part * stage * whole.stages});
  }

  /// Adds channel `index` of a block. If multicast fills it, the consumers of all blocks release its stages.
  void channel(int index, int block) {
    Channel c = s_.channels[index];
    const bool everywhere = shared_.count(index);
    std::vector<int> consumers;
    for (int r = 0; r < n_; ++r)
      for (int consumer : c.consumers)
        if (r == block || everywhere) consumers.push_back(agent_of(consumer, r));
    c.name = describe(c.name, block);
    c.producer = agent_of(c.producer, block);
    c.consumers = std::move(consumers);
    if (c.tensor >= 0) c.tensor = first_.at({c.tensor, block});
    all_.channels.push_back(std::move(c));
  }

  /// Adds the channels of a split-K exchange, by which blocks send partial results to each other: one for each ordered
  /// pair of blocks. The first channel to a block replaces the one that channel() added; the others are appended.
  void exchange_channels(int index) {
    for (int to = 0; to < n_; ++to)
      for (int from = 0; from < n_; ++from) {
        if (from == to) continue;
        const int part = part_from(from, to);
        Channel c = s_.channels[index];
        c.name = fmt::format("{} from block {}", describe(c.name, to), from);
        c.by = Synchronisation::mbarrier_bytes;
        c.producer = agent_of(c.producer, from);
        for (int& consumer : c.consumers) consumer = agent_of(consumer, to);
        c.tensor = first_.at({c.tensor, to}) + part;
        if (part > 0) all_.channels.emplace_back();
        const int at = part == 0 ? channel_of(index, to) : static_cast<int>(all_.channels.size()) - 1;
        exchange_[{index, from, to}] = at;
        all_.channels[at] = std::move(c);
      }
  }

  /// Appends to `result` what a block executes for one step of a split-K exchange over channel `index`, with each other
  /// block:
  ///
  /// - a write becomes an acquire, then a write to this block's part of the other block's tensor;
  /// - a release signals that this part is written;
  /// - an acquire waits for the part of this block's tensor that the other block writes.
  void exchange(std::vector<Step>& result, const Step& step, int index, int block) {
    for (int other = 0; other < n_; ++other) {
      if (other == block) continue;
      Step y = step;
      if (Acquire* acquire = as<Acquire>(y)) {
        acquire->channel = exchange_.at({index, other, block});
      } else if (Release* release = as<Release>(y)) {
        release->channel = exchange_.at({index, block, other});
      } else {
        result.push_back({.is = Acquire{exchange_.at({index, block, other})}, .what = step.what});
        in_block(y, block, block);
        if (Compute* compute = as<Compute>(y)) compute->to_cluster = false;
        y.writes = accesses(step.writes, other, part_from(block, other));
      }
      result.push_back(std::move(y));
    }
  }

  /// Renumbers a step of `block`: its channel becomes that of block `to`, and its named barrier that of `block`.
  void in_block(Step& step, int to, int block) const {
    const auto rename = [this](int& channel, int of) {
      if (channel >= 0) channel = channel_of(channel, of);
    };
    kernel::match(
        step,
        [&](OneOf<Copy, Release> auto& part) {
          if (to != block) part.acquired_channel = part.channel, rename(part.acquired_channel, block);
          rename(part.channel, to);
        },
        [&](OneOf<Mma, Compute, Commit, WaitGroup, Acquire, Drain, MbarrierInit> auto& part) {
          rename(part.channel, to);
        },
        [&](Barrier& barrier) { barrier.id += barriers_per_block * block; },
        [](OneOf<Start, FenceInit, FenceProxy, GriddepWait, GriddepLaunchDependents, WarpBarrier, ClusterBarrier,
                 Loop> auto&) {});
  }

  /// Returns the accesses in `list` as accesses to the tensors of `block`. An access to a tensor with several parts
  /// becomes one access per part or, if part >= 0, an access to this part only.
  std::vector<Access> accesses(const std::vector<Access>& list, int block, int part) const {
    std::vector<Access> result;
    for (const Access& a : list)
      for (int p = 0; p < parts_of(a.tensor); ++p) {
        if (part >= 0 && parts_of(a.tensor) > 1 && p != part) continue;
        Access x = a;
        x.tensor = first_.at({a.tensor, block}) + p;
        result.push_back(x);
      }
    return result;
  }

  /// Returns the steps of a list, loops included, as a block executes them.
  std::vector<Step> steps_of(const std::vector<Step>& steps, int block) {
    std::vector<Step> result;
    for (const Step& step : steps) {
      const Compute* compute = as<Compute>(step);
      const Copy* copy = as<Copy>(step);
      const bool to_cluster = compute && compute->to_cluster;
      const int through = kernel::channel_of(step);
      if (to_cluster || is_exchange(through)) {
        exchange(result, step, to_cluster ? kernel::exchange_of(s_, step.writes.front().tensor) : through, block);
        continue;
      }
      const bool multicast = copy && copy->multicast,
                 everywhere = multicast || (as<Release>(step) && shared_.count(through));
      for (int to = 0; to < n_; ++to) {
        if (!everywhere && to != block) continue;
        Step y = step;
        in_block(y, to, block);
        y.reads = accesses(step.reads, block, -1);
        y.writes = accesses(step.writes, to, multicast ? block : -1);
        if (Copy* part = as<Copy>(y)) part->multicast = false;
        if (const Loop* loop = as<Loop>(step)) as<Loop>(y)->body = steps_of(loop->body, block);
        result.push_back(std::move(y));
      }
    }
    return result;
  }

  const Kernel& s_;
  int n_;
  std::set<int> shared_, split_;  // channels filled by multicast, and their tensors
  // By channel, writing block and reading block: index of the channel.
  std::map<std::array<int, 3>, int> exchange_;
  std::map<std::pair<int, int>, int> first_;  // by tensor and block: index of its first part
  Kernel all_;
};

}  // namespace

Kernel flat_cluster(const Kernel& s) { return FlatCluster(s).run(); }

}  // namespace zellige::verify
