// Formats the verifier's error messages: which steps access what, what is missing, and how to fix it.
#include <algorithm>

#include "verify/rejected.hpp"
#include "verify/verify_state.hpp"

namespace zellige::verify {
namespace {

/// Returns the beginning of a message: "kernel: consumer reads sA[0] in step 'mma' of iteration 3".
std::string subject(const State& s, const Touch& t) {
  return fmt::format("{}: {} {} {} in {}", s.kernel.name(), s.kernel.agents[t.agent].name,
                     t.writes ? "writes" : "reads", cell_name(s, t.cell), describe(*t.event));
}

/// Returns the step of access t as a string. Adds the warp role if it differs from that of access `seen_from`:
/// "step 'load A' of iteration 0, of agent producer,".
std::string who(const State& s, const Touch& t, const Touch& seen_from) {
  std::string text = describe(*t.event);
  if (t.agent != seen_from.agent) text += ", of agent " + s.kernel.agents[t.agent].name + ",";
  return text;
}

/// What messages call an operation, and the kind of its asynchronous group.
struct NamedOperation {
  std::string_view name, by;
  Groups groups{};
};
constexpr NamedOperation operations[] = {{"", "ordinary instructions"},  // by Via
                                         {"the cp.async copy", "cp.async", Groups::cp_async},
                                         {"the wgmma", "wgmma", Groups::wgmma},
                                         {"the TMA store", "a TMA store", Groups::bulk},
                                         {"the TMA copy", "a TMA copy"}};
const NamedOperation& operation(Via via) { return operations[static_cast<std::size_t>(via)]; }
/// Returns the number of asynchronous groups of the access's kind that its warp role has committed.
std::int64_t committed_groups(const State& s, const Touch& t) {
  return s.agents[t.agent].committed[static_cast<int>(operation(t.via).groups)];
}

/// Returns "it" if access t is to the same cell as access `seen_from`; else the cell's name, and that it shares bytes.
std::string touched(const State& s, const Touch& t, const Touch& seen_from) {
  return t.cell == seen_from.cell ? "it" : cell_name(s, t.cell) + " (same bytes)";
}

/// Says how many groups were committed after the group of access t, and how many the warp role has not waited for. The
/// numbers count from the newest group, so they hold for the real loop as well as for the shortened one.
std::string how_far_waited(const State& s, const Touch& t) {
  const std::int64_t committed = committed_groups(s, t), newer = committed - t.value,
                     left = committed - s.agents[t.agent].own[t.component];
  const std::string place = newer == 0   ? "its group is the newest"
                            : newer == 1 ? "1 group was committed after its own"
                                         : fmt::format("{} groups were committed after its own", newer);
  return fmt::format("{}, and {} {}", place, s.kernel.agents[t.agent].name,
                     left == committed ? "has waited for none" : fmt::format("leaves the newest {} in flight", left));
}

}  // namespace

const std::string& carried_by(const State& s, const Channel& c) {
  return c.tensor < 0 ? c.name : s.kernel.tensors[c.tensor].name;
}

std::string cell_name(const State& s, int cell) {
  const StageState& c = s.cells[cell];
  return fmt::format("{}[{}]", c.tensor < 0 ? s.kernel.channels[c.channel].name : s.kernel.tensors[c.tensor].name,
                     c.stage);
}

void report_unwritten(const State& s, const Touch& read) {
  const StageState& cell = s.cells[read.cell];
  for (std::size_t a = 0; a < s.lines.size(); ++a)
    for (const StepEvent& e : s.lines[a])
      for (const Access& w : e.step->writes) {
        if (w.tensor != cell.tensor) continue;
        if (stage_of(w, s.kernel.tensors[w.tensor].stages, e.iteration) != cell.stage) continue;
        if (static_cast<int>(a) == read.agent)
          reject("{}, which nobody wrote before; its first write is {}: let that come first", subject(s, read),
                 describe(e));
        reject(
            "{}, which nobody need have written by then; {}, of agent {}, writes it: make {} wait for that, by a "
            "channel or a barrier",
            subject(s, read), describe(e), s.kernel.agents[a].name, s.kernel.agents[read.agent].name);
      }
  reject("{}, which no step writes; write it first", subject(s, read));
}

void report_overwritten(const State& s, const Touch& read) {
  const StageState& cell = s.cells[read.cell];
  const Touch& over = *cell.overwritten;
  const StageState& other = s.cells[over.cell];
  reject(
      "{}, but {} wrote {} over it (bytes [{}, {}) are in both); place the two in separate bytes, or read before that "
      "write",
      subject(s, read), who(s, over, read), cell_name(s, over.cell), std::max(cell.begin, other.begin),
      std::min(cell.end, other.end));
}

void report_race(const State& s, const Touch& first, const Touch& second) {
  const std::string head = subject(s, second);
  const std::string what = touched(s, first, second);
  const std::string by = who(s, first, second);
  const bool same_agent = first.agent == second.agent;
  const std::string& first_agent = s.kernel.agents[first.agent].name;
  const std::string& second_agent = s.kernel.agents[second.agent].name;

  if (first.via == Via::tma_load) {
    const Channel& c = s.kernel.channels[kernel::channel_of(*first.event->step)];
    reject(
        "{}, but the TMA copy of {} may still write {}: {} is {} acquire of channel {} short of it; acquire {} before "
        "this step",
        head, by, what, second_agent, first.value - s.agents[second.agent].seen[first.component], c.name, c.name);
  }
  if (first.via != Via::ordinary) {
    const std::int64_t waited = s.agents[first.agent].own[first.component], committed = committed_groups(s, first);
    const std::string_view verb = first.writes ? "write" : "read";
    if (committed < first.value)
      reject(
          "{}, but {} of {} may still {} {}: no commit has closed its group; put a commit after it and a wait_group "
          "before this step",
          head, operation(first.via).name, by, verb, what);
    if (waited < first.value)
      reject(
          "{}, but {} of {} may still {} {}: {}; wait_group {} and then a barrier or release must come before this "
          "step",
          head, operation(first.via).name, by, verb, what, how_far_waited(s, first), committed - first.value);
    reject(
        "{}, but {} of {} may still {} {} as far as other threads know: only the threads that started it have waited; "
        "put a barrier{} between that wait_group and this step",
        head, operation(first.via).name, by, verb, what, same_agent ? "" : ", or a release and an acquire,");
  }
  if (second.via == Via::tma_load && !same_agent) {
    const Channel& c = s.kernel.channels[kernel::channel_of(*second.event->step)];
    reject("{}, but {} may still {} {}; let {} release channel {} after that, and {} acquire it before this step", head,
           by, first.writes ? "write" : "read", what, first_agent, c.name, second_agent);
  }
  if (same_agent && first.event == second.event)
    reject(
        "{}, which also {} {} in other threads; split the step and put a barrier between, or let each thread touch "
        "only its own (same_thread)",
        head, first.writes ? "writes" : "reads", what);
  if (same_agent)
    reject("{}, but {} {} {} in other threads and no barrier lies between; put a barrier between the two", head, by,
           first.writes ? "wrote" : "may still read", what);
  reject(
      "{}, but {} {} {} and nothing orders the two; put a barrier of {} and {} between them, or a release and an "
      "acquire of a channel",
      head, by, first.writes ? "wrote" : "may still read", what, first_agent, second_agent);
}

void report_no_fence(const State& s, const Touch& first, const Touch& second) {
  reject(
      "{} by {}, but {} wrote {} by {} and no fence_proxy lies between; put fence_proxy after that write, before the "
      "barrier or release that orders the two",
      subject(s, second), operation(second.via).by, who(s, first, second), touched(s, first, second),
      operation(first.via).by);
}

void report_deadlock(const State& s) {
  std::string text;
  for (std::size_t a = 0; a < s.agents.size(); ++a) {
    const Agent& agent = s.kernel.agents[a];
    text += (a == 0 ? "" : "; ") + agent.name;
    if (s.agents[a].at == s.lines[a].size()) {
      text += " has ended";
      continue;
    }
    const StepEvent& e = s.lines[a][s.agents[a].at];
    text += " waits in " + describe(e);
    if (const Barrier* barrier = as<Barrier>(*e.step)) {
      text += fmt::format(" at barrier {}", barrier->id);
      continue;
    }
    const int channel = kernel::channel_of(*e.step);  // only acquire and drain wait besides barriers
    const Channel& c = s.kernel.channels[channel];
    const ChannelState& state = s.channels[channel];
    const bool producer = c.producer == static_cast<int>(a);
    const std::int64_t acquired = producer ? 0 : state.consumers.at(static_cast<int>(a)).acquired;
    const bool never_filled = !producer && acquired < state.produced && state.phases[acquired].copies == 0 &&
                              !(kernel::in_columns(c) && state.phases[acquired].by_release);
    const auto& [slowest, consumer] = *std::ranges::min_element(
        state.consumers, [](auto& x, auto& y) { return x.second.released < y.second.released; });
    const std::int64_t needed = producer ? state.produced - (as<Drain>(*e.step) ? 0 : c.stages - 1) : acquired + 1;
    text += fmt::format(
        " for {} to {} {}[{}] of channel {}{}", s.kernel.agents[producer ? slowest : c.producer].name,
        producer ? "release" : "fill", carried_by(s, c), (needed - 1) % c.stages, c.name,
        never_filled ? ", which it has acquired but neither copies into nor releases"
                     : fmt::format(" ({} more needed)", needed - (producer ? consumer.released : state.produced)));
  }
  reject(s.kernel, "deadlock: {}; every acquire needs its copy or release, and every barrier all its agents", text);
}

void report_arrived_twice(const State& s, int agent, const StepEvent& e) {
  reject(s.kernel,
         "{} reaches barrier {} again in {}, but does not know that those who wait there have passed its last round, "
         "so it may be counted twice; let it wait, or learn of it, between the two",
         s.kernel.agents[agent].name, as<Barrier>(*e.step)->id, describe(e));
}

void report_left_in_flight(const State& s, const Touch& t) {
  const std::int64_t committed = committed_groups(s, t);
  const std::string head =
      fmt::format("{}: {} ends while {}{} of {} may be in flight", s.kernel.name(), s.kernel.agents[t.agent].name,
                  operation(t.via).name, t.cell < 0 ? "" : " of " + cell_name(s, t.cell), describe(*t.event));
  if (committed < t.value)
    reject("{}: no commit has closed its group; put a commit after it and wait_group 0 after that", head);
  reject("{}: {}; put wait_group {} after it", head, how_far_waited(s, t), committed - t.value);
}

void report_registers(const State& s, const Touch& wgmma, const StepEvent& reader) {
  const std::int64_t committed = committed_groups(s, wgmma);
  const std::string head =
      fmt::format("{}: {} reads the registers of channel {} in {}, but the wgmma of {} may still write them",
                  s.kernel.name(), s.kernel.agents[wgmma.agent].name,
                  s.kernel.channels[kernel::channel_of(*reader.step)].name, describe(reader), describe(*wgmma.event));
  if (committed < wgmma.value)
    reject("{}: no commit has closed its group; put a commit and wait_group 0 before this step", head);
  reject("{}: {}; put wait_group {} before this step", head, how_far_waited(s, wgmma), committed - wgmma.value);
}

}  // namespace zellige::verify
