#include "verify/staged_values.hpp"

#include "verify/rejected.hpp"

namespace zellige::verify {

StagedValues::StagedValues(const Kernel& whole, const Kernel& flat)
    : sections_(whole.program), ring_(flat.tensors.size(), -1) {
  for (const Agent& agent : flat.agents)
    walk(agent.steps, [&](const Step& step, const StepPosition&) {
      if (step.work.node >= 0 && is_tma_load(flat, step))
        for (const Access& a : step.writes) ring_[static_cast<std::size_t>(a.tensor)] = kernel::channel_of(step);
    });
}

std::optional<std::int64_t> StagedValues::left(const Step& step) const {
  const Work& w = step.work;
  if (as<Start>(step) || w.kind == WorkKind::accumulate || kernel::section_of(w, sections_) != Section::inside)
    return {};
  return kernel::guard_lag_of(step);
}

void StagedValues::check(const State& s, const Touch& write, const Touch& read) const {
  const StepEvent &from = *write.event, &to = *read.event;
  if (from.step->work.node < 0 || to.step->work.node < 0) return;
  const auto subject = [&] {
    return fmt::format("{}: {} reads {} in {}", s.kernel.name(), s.kernel.agents[read.agent].name,
                       cell_name(s, read.cell), describe(to));
  };
  if (from.tile != to.tile)
    reject("{}, of the block's tile {}, where {} left the value of its tile {}", subject(), to.tile, describe(from),
           from.tile);
  const std::optional<std::int64_t> lag = left(*from.step);
  // After the loop the last iteration's value is read, which was written last: verify_iterations() proves that of it.
  if (!lag || kernel::section_of(to.step->work, sections_) != Section::inside) return;
  const StageState& cell = s.cells[read.cell];
  for (const Access& a : to.step->reads) {
    if (a.tensor != cell.tensor || stage_of(a, s.kernel.tensors[a.tensor].stages, to.iteration) != cell.stage) continue;
    if (to.iteration + a.lag != from.iteration + *lag)
      reject("{}, and needs there the value of iteration {}; {} left that of iteration {}", subject(), to.shown + a.lag,
             describe(from), from.shown + *lag);
  }
}

void StagedValues::check_acquired(const State& s, const Touch& read) const {
  const StageState& cell = s.cells[read.cell];
  const int channel = ring_[static_cast<std::size_t>(cell.tensor)];
  if (channel < 0 || read.event->step->work.node < 0) return;
  const auto& consumers = s.channels[channel].consumers;
  const auto mine = consumers.find(read.agent);
  if (mine == consumers.end()) return;
  const Channel& c = s.kernel.channels[channel];
  const std::int64_t acquired = mine->second.acquired;
  if (acquired > 0 && (acquired - 1) % c.stages == cell.stage) return;
  reject(s.kernel,
         "{} reads {} in {}, and the stage of channel {} that it acquired last is {}; acquire {} before this step",
         s.kernel.agents[read.agent].name, cell_name(s, read.cell), describe(*read.event), c.name,
         acquired > 0 ? fmt::format("{}", (acquired - 1) % c.stages) : "none", c.name);
}

}  // namespace zellige::verify
