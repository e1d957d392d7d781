// The verifier's state while it executes a schedule: vector clocks of the agents (warp roles), the last
// accesses to shared memory, the phases of channels, and the rounds of barriers. A channel is a ring of
// shared-memory stages that one warp role fills and others read; a phase is one filling of one stage. In a
// round of a barrier, each agent that uses the barrier arrives once.
//
// A clock has one component for each sequence of events that completes in order: an agent's steps, its asynchronous
// groups of each kind (cp.async, wgmma, bulk), and the stages that arrive through a channel. An event x with value v in
// component c happens before the current step of an agent if the agent's clock is at least v in c.
//
// An agent is many threads, so it has two clocks. `own` is what the acting thread has observed: its own
// steps, and the groups for which it waited. `seen` is what every thread of the agent has observed. A
// barrier merges `own` into `seen`.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <set>

#include "verify/verify_limits.hpp"
#include "verify/verify_trace.hpp"

namespace zellige::verify {

using AgentClock = std::vector<std::int64_t>;

/// Sets each component of the clock `into` to the larger of it and the same component of `from`.
inline void join(AgentClock& into, const AgentClock& from) {
  for (std::size_t k = 0; k < into.size(); ++k)
    if (from[k] > into[k]) into[k] = from[k];
}

/// The operation that makes an access: ordinary instructions, or an asynchronous operation of this kind.
enum class Via : std::uint8_t { ordinary, cp_async, wgmma, bulk_store, tma_load };
/// Returns whether an access by this kind of operation is made by PTX's asynchronous proxy.
inline bool in_async_proxy(Via v) { return v == Via::wgmma || v == Via::bulk_store || v == Via::tma_load; }

/// An access to one stage of one tensor, by a step or by the asynchronous operation that the step started.
struct Touch {
  int agent = -1;
  const StepEvent* event = nullptr;
  int cell = -1;  // index into State::cells; -1: registers only
  Via via{};
  bool writes = false, same_thread = false;
  int component = -1;  // the access is complete when a clock has reached `value` in this component
  std::int64_t value = 0;
};

/// One stage of one tensor in shared memory, or a set of columns of a channel in tensor memory: its bytes, its last write, and the reads
/// since then.
struct StageState {
  int tensor = -1, stage = 0;
  int channel = -1;  // of the set
  std::int64_t begin = 0, end = 0;
  std::vector<int> overlapping;             // cells that share bytes with this one, itself included
  std::optional<Touch> write, overwritten;  // last write; write through another tensor that shares bytes
  std::vector<Touch> reads;
};

/// The state of one warp role.
struct AgentState {
  std::size_t at = 0;  // index of its next event
  AgentClock seen, own;
  // The parts of `seen` and `own` that a fence_proxy has made visible to the asynchronous proxy.
  AgentClock fenced, fenced_own;
  // Number of committed groups, by kind.
  std::array<std::int64_t, group_kinds> committed{};
  std::array<std::optional<Touch>, group_kinds> last;  // by kind: the operation that was started last
  std::map<int, Touch> multiplies;                     // by channel: the wgmma that was started last
  // By barrier: number of rounds in which it has arrived.
  std::map<int, std::size_t> rounds;
  bool waits = false;                 // it has arrived at a barrier and waits there
  std::set<int> barriers;             // ids of those that it uses
  std::optional<Groups> only_groups;  // what its steps that name no channel mean, from the first such step on
};

/// One filling of one stage of an mbarrier channel: how many TMA copies fill it, and how many of them have been
/// started.
struct ChannelPhase {
  int copies = 0, started = 0;
  bool by_release = false, released = false;  // the producer arrives by a release; it has done so
  std::int64_t bytes = 0;
  AgentClock own, fenced;  // the producer's clocks when it announced the bytes or arrived
};

/// A consumer's progress in a channel: the number of stages acquired and released, and its clocks at each release.
struct ConsumerState {
  std::int64_t acquired = 0, released = 0;
  std::vector<AgentClock> released_own, released_fenced;
};

/// The state of one channel (pipeline): its phases, and how far the producer and each consumer are.
struct ChannelState {
  std::vector<ChannelPhase> phases;        // all of them, known before the simulation because control flow is static
  std::int64_t produced = 0;               // number of phases that the producer has begun
  std::map<int, ConsumerState> consumers;  // by agent
};

/// One round of a barrier, in which each warp role that uses the barrier arrives once: the warp roles that have
/// arrived so far, and their merged vector clocks.
struct Round {
  std::set<int> arrived;
  AgentClock own, fenced;
  std::map<int, std::int64_t> passed;  // by agent that has waited for the end: its step count then
};

/// The complete state.
struct State {
  const Kernel& kernel;                       // of all blocks (cluster.hpp)
  std::vector<std::vector<StepEvent>> lines;  // by agent: its events in order
  std::vector<AgentState> agents;
  std::vector<ChannelState> channels;
  std::map<int, std::vector<Round>> barriers;  // by barrier id: its rounds
  std::vector<StageState> cells;
  std::vector<int> first_cell;   // by tensor: index of the cell of stage 0
  std::map<int, int> first_set;  // by channel in tensor memory: index of the cell of its first set

  /// Three functions return the index of a component of the vector clocks. component(agent) counts the steps of an
  /// agent, component(agent, g) its asynchronous groups of kind g, and component_of_channel() the phases of a channel.
  int component(int agent) const { return agent; }
  int component(int agent, Groups g) const {
    return static_cast<int>(agents.size()) + agent * group_kinds + static_cast<int>(g);
  }
  int component_of_channel(int channel) const { return static_cast<int>(agents.size()) * (1 + group_kinds) + channel; }
  int components() const { return component_of_channel(static_cast<int>(channels.size())); }
};

/// Each of the following functions throws Rejected with a message about one kind of error.
[[noreturn]] void report_unwritten(const State&, const Touch& read);
[[noreturn]] void report_overwritten(const State&, const Touch& read);
[[noreturn]] void report_race(const State&, const Touch& first, const Touch& second);
[[noreturn]] void report_no_fence(const State&, const Touch& first, const Touch& second);
[[noreturn]] void report_deadlock(const State&);
[[noreturn]] void report_arrived_twice(const State&, int agent, const StepEvent&);
[[noreturn]] void report_left_in_flight(const State&, const Touch&);
[[noreturn]] void report_registers(const State&, const Touch& wgmma, const StepEvent& reader);
/// Returns the name of what a channel carries in messages: its tensor or, in tensor memory, its own.
const std::string& carried_by(const State&, const Channel&);
/// Returns the name of a stage of a tensor in messages: "sA[2]".
std::string cell_name(const State&, int cell);

}  // namespace zellige::verify
