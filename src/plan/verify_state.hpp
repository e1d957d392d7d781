// The verifier's state while it runs the agents.
//
// A clock has one component for each sequence of events that completes in order: an agent's steps, its groups
// of each kind (cp.async, wgmma, bulk), and the stages that arrive through a channel. Event x happens before
// the current step of agent b if b's clock has reached x's value in x's component.
//
// An agent is many threads, so it has two clocks. `own`: what the acting thread has observed (its own steps,
// the groups it waited for). `seen`: what every thread of the agent has observed. A barrier merges the first
// into the second.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <set>

#include "plan/verify_limits.hpp"
#include "plan/verify_trace.hpp"

namespace zellige::plan {

using Clock = std::vector<std::int64_t>;

inline void join(Clock& into, const Clock& from) {
  for (std::size_t k = 0; k < into.size(); ++k)
    if (from[k] > into[k]) into[k] = from[k];
}

enum class Via : std::uint8_t { ordinary, cp_async, wgmma, bulk_store, tma_load };
inline bool in_async_proxy(Via v) { return v == Via::wgmma || v == Via::bulk_store || v == Via::tma_load; }

/// One access to one stage of one tensor, by a step or by the asynchronous operation that it started.
struct Touch {
  int agent = -1;
  const Event* event = nullptr;
  int cell = -1;
  Via via{};
  bool writes = false, same_thread = false;
  int component = -1;  // complete when a clock has reached `value` in it
  std::int64_t value = 0;
};

/// One stage of one tensor: its last writer, and its readers since.
struct Cell {
  int tensor = -1, stage = 0;
  std::int64_t begin = 0, end = 0;
  std::vector<int> overlapping;  // cells, this one included
  std::optional<Touch> write, overwritten;
  std::vector<Touch> reads;
};

struct AgentState {
  std::size_t at = 0;  // next event
  Clock seen, own;
  // The same two, as far as a fence_proxy has made them visible to the asynchronous proxy.
  Clock fenced, fenced_own;
  std::array<std::int64_t, group_kinds> committed{};
  std::array<std::optional<Touch>, group_kinds> last;  // by kind, the operation started last
  std::map<int, Touch> multiplies;                     // by channel, the wgmma started last
  std::map<int, std::size_t> rounds;                   // by barrier, its current phase
  bool waits = false;                                  // has arrived at a barrier and waits
};

/// One filling of one stage of an mbarrier channel.
struct Phase {
  int copies = 0, started = 0;
  bool by_release = false, released = false;  // the producer arrives itself
  std::int64_t bytes = 0;
  Clock own, fenced;  // the producer's, as it announced the bytes or arrived
};

/// A consumer's progress in its channel's stages, and its clocks when it released each.
struct ConsumerState {
  std::int64_t acquired = 0, released = 0;
  std::vector<Clock> released_own, released_fenced;
};

struct ChannelState {
  std::vector<Phase> phases;  // known before the simulation: control flow is static
  std::int64_t produced = 0;
  std::map<int, ConsumerState> consumers;  // by agent
};

/// One phase of a barrier: which agents have arrived, and their clocks.
struct Round {
  std::set<int> arrived;
  Clock own, fenced;
  std::map<int, std::int64_t> passed;  // agents that waited, and their clock's value after it
};

struct State {
  const Schedule& schedule;
  const std::string& kernel;
  std::vector<std::vector<Event>> lines;
  std::vector<AgentState> agents;
  std::vector<ChannelState> channels;
  std::map<int, std::vector<Round>> barriers;  // by id
  std::vector<Cell> cells;
  std::vector<int> first_cell;  // by tensor

  int component(int agent) const { return agent; }
  int component(int agent, Groups g) const {
    return static_cast<int>(agents.size()) + agent * group_kinds + static_cast<int>(g);
  }
  int component_of_channel(int channel) const {
    return static_cast<int>(agents.size()) * (1 + group_kinds) + channel;
  }
  int components() const { return component_of_channel(static_cast<int>(channels.size())); }
};

[[noreturn]] void report_unwritten(const State&, const Touch& read);
[[noreturn]] void report_overwritten(const State&, const Touch& read);
[[noreturn]] void report_race(const State&, const Touch& first, const Touch& second);
[[noreturn]] void report_no_fence(const State&, const Touch& first, const Touch& second);
[[noreturn]] void report_deadlock(const State&);
[[noreturn]] void report_arrived_twice(const State&, int agent, const Event&);
[[noreturn]] void report_left_in_flight(const State&, const Touch&);
[[noreturn]] void report_registers(const State&, const Touch& wgmma, const Event& reader);
std::string cell_name(const State&, int cell);

}  // namespace zellige::plan
