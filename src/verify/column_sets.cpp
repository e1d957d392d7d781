#include "verify/column_sets.hpp"

#include "verify/rejected.hpp"

namespace zellige::verify {
namespace {

/// Rejects access y unless all threads of its warp role have observed that access x is complete.
void require_ordered(const State& s, const Touch& x, const Touch& y) {
  if (s.agents[y.agent].seen[x.component] < x.value) report_race(s, x, y);
}

int set_of(const State& s, int channel, std::int64_t phase) {
  return s.first_set.at(channel) + static_cast<int>(phase % s.kernel.channels[channel].stages);
}

}  // namespace

void lay_out_sets(State& s) {
  for (int c = 0; c < static_cast<int>(s.kernel.channels.size()); ++c) {
    const Channel& channel = s.kernel.channels[c];
    if (!kernel::in_columns(channel)) continue;
    s.first_set[c] = static_cast<int>(s.cells.size());
    for (int set = 0; set < channel.stages; ++set) {
      StageState& cell = s.cells.emplace_back();
      cell.stage = set, cell.channel = c;
    }
  }
}

void multiply_into(State& s, int a, const StepEvent& e, int of) {
  const ChannelState& channel = s.channels[of];
  const std::string& name = s.kernel.channels[of].name;
  if (channel.produced == 0 || channel.phases[channel.produced - 1].released)
    reject(s.kernel, "{} multiplies in {} without holding a set of channel {}; acquire {} before this step",
           s.kernel.agents[a].name, describe(e), name, name);
  const std::int64_t group = s.agents[a].committed[static_cast<int>(Groups::wgmma)] + 1;
  const Touch w{.agent = a,
                .event = &e,
                .cell = set_of(s, of, channel.produced - 1),
                .via = Via::wgmma,
                .writes = true,
                .component = s.component(a, Groups::wgmma),
                .value = group};
  StageState& set = s.cells[w.cell];
  for (const Touch& r : set.reads) require_ordered(s, r, w);
  set.reads.clear();
  set.write = w;
}

void load_columns(State& s, int a, const StepEvent& e, int of, std::int64_t now) {
  const Touch r{.agent = a,
                .event = &e,
                .cell = set_of(s, of, s.channels[of].consumers.at(a).acquired - 1),
                .component = s.component(a),
                .value = now};
  StageState& set = s.cells[r.cell];
  if (!set.write) report_unwritten(s, r);
  require_ordered(s, *set.write, r);
  set.reads.push_back(r);
}

}  // namespace zellige::verify
