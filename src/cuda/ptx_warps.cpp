// PTX's collectives of a warp's lanes: shfl, vote, match, redux, elect, activemask, bar.warp.
#include <array>
#include <bit>
#include <span>

#include "cuda/ptx_machine.hpp"
#include "emulate/calls.hpp"
#include "emulate/masked.hpp"

namespace zellige::cuda {

namespace {

/// What a lane gives to a collective, and what it gets.
struct LaneOperand {
  std::uint64_t value = 0;
  unsigned from = 0;
};
struct LaneResult {
  std::uint64_t value = 0;
  bool predicate = false;
};
/// Returns a lane's result. lanes: those that take part.
using LaneRule = LaneResult (*)(const PtxInstruction&, std::uint32_t lanes, const LaneOperand* all, unsigned lane);

struct LaneCall {
  LaneRule rule;
  const PtxInstruction* i;
};
void compute_lanes(void* with, std::uint32_t lanes, const void* const* in, void* const* out) {
  const auto& call = *static_cast<const LaneCall*>(with);
  LaneOperand all[32];
  for (unsigned lane = 0; lane < 32; ++lane)
    if (lanes >> lane & 1) all[lane] = *static_cast<const LaneOperand*>(in[lane]);
  for (unsigned lane = 0; lane < 32; ++lane)
    if (lanes >> lane & 1) *static_cast<LaneResult*>(out[lane]) = call.rule(*call.i, lanes, all, lane);
}
LaneResult meet_lanes(PtxMachine& m, const PtxInstruction& i, std::uint64_t mask, const LaneOperand& mine,
                      LaneRule rule) {
  LaneCall call{rule, &i};
  LaneResult result;
  ++m.f.home->counters[emulate::Counter::shuffle];
  emulate::converge_lanes(m.f, std::uint32_t(mask), &mine, &result, compute_lanes, &call, i.name.c_str(), m.site);
  return result;
}

// shfl.sync.mode.b32 d|p, a, b, c, mask.
void run_shfl(PtxMachine& m, const PtxInstruction& i) {
  if (i.operands.size() < 5) m.refuse(i, "with so few operands");
  const unsigned lane = m.f.lane, b = unsigned(m.read(i, 2)), c = unsigned(m.read(i, 3));
  const unsigned segment = c >> 8 & 31, clamp = c & 31;
  const unsigned first = lane & segment, last = first | (clamp & ~segment);
  const int from = i.has("up")     ? int(lane) - int(b & 31)
                   : i.has("down") ? int(lane + (b & 31))
                   : i.has("bfly") ? int(lane ^ (b & 31))
                                   : int(first | (b & 31 & ~segment));
  const bool inside = i.has("up") ? from >= int(last) : from <= int(last);
  const LaneOperand mine{m.read(i, 1), inside ? unsigned(from) & 31 : lane};
  const LaneResult r = meet_lanes(m, i, m.read(i, 4), mine,
                                  [](const PtxInstruction&, std::uint32_t lanes, const LaneOperand* all, unsigned at) {
                                    const unsigned source = all[at].from;
                                    const bool there = lanes >> source & 1;
                                    return LaneResult{all[there ? source : at].value, there};
                                  });
  if (!r.predicate)
    m.f.home->report(m.f, emulate::Finding::Kind::divergence, nullptr, {m.site, emulate::Finding::Missing::mask_lanes},
                     "of {}: at \1 its {} reads a lane that the mask leaves out, or that has returned",
                     m.f.home->who(m.f.index), i.name);
  m.write_pair(i.operands[0], ptx_low(r.value, 32), inside);
}

std::uint32_t voters(std::uint32_t lanes, const LaneOperand* all) {
  std::uint32_t set = 0;
  for (unsigned k = 0; k < 32; ++k)
    if ((lanes >> k & 1) && all[k].value) set |= 1u << k;
  return set;
}
void run_vote(PtxMachine& m, const PtxInstruction& i) {
  const LaneResult r = meet_lanes(m, i, m.read(i, 2), {m.read(i, 1) & 1},
                                  [](const PtxInstruction& of, std::uint32_t lanes, const LaneOperand* all, unsigned) {
                                    const std::uint32_t set = voters(lanes, all);
                                    return LaneResult{of.has("ballot") ? set
                                                      : of.has("all")  ? set == lanes
                                                      : of.has("any")  ? set != 0
                                                                       : set == 0 || set == lanes};
                                  });
  m.write(i.operands[0], r.value);
}
void run_match(PtxMachine& m, const PtxInstruction& i) {
  const LaneResult r =
      meet_lanes(m, i, m.read(i, 2), {ptx_low(m.read(i, 1), i.type.bits)},
                 [](const PtxInstruction& of, std::uint32_t lanes, const LaneOperand* all, unsigned at) {
                   std::uint32_t same = 0;
                   for (unsigned k = 0; k < 32; ++k)
                     if ((lanes >> k & 1) && all[k].value == all[at].value) same |= 1u << k;
                   const bool equal = same == lanes;
                   return LaneResult{of.has("all") && !equal ? 0 : same, equal};
                 });
  m.write_pair(i.operands[0], r.value, r.predicate);
}
LaneResult reduced(const PtxInstruction& i, std::uint32_t lanes, const LaneOperand* all, unsigned) {
  bool first = true;
  std::uint64_t x = 0;
  for (unsigned k = 0; k < 32; ++k) {
    if (!(lanes >> k & 1)) continue;
    const std::uint64_t y = ptx_low(all[k].value, 32);
    const bool less = i.type.is_signed() ? ptx_signed(y, 32) < ptx_signed(x, 32) : y < x;
    x = first          ? y
        : i.has("add") ? x + y
        : i.has("and") ? x & y
        : i.has("or")  ? x | y
        : i.has("xor") ? x ^ y
        : i.has("min") ? (less ? y : x)
                       : (less ? x : y);
    first = false;
  }
  return {ptx_low(x, 32)};
}
void run_redux(PtxMachine& m, const PtxInstruction& i) {
  m.write(i.operands[0], meet_lanes(m, i, m.read(i, 2), {m.read(i, 1)}, reduced).value);
}
// elect.sync d|p, mask: p is true in one lane of the mask.
void run_elect(PtxMachine& m, const PtxInstruction& i) {
  const LaneResult r = meet_lanes(m, i, m.read(i, 1), {},
                                  [](const PtxInstruction&, std::uint32_t lanes, const LaneOperand*, unsigned at) {
                                    const unsigned chosen = unsigned(std::countr_zero(lanes));
                                    return LaneResult{chosen, chosen == at};
                                  });
  m.write_pair(i.operands[0], r.value, r.predicate);
}
void run_activemask(PtxMachine& m, const PtxInstruction& i) {
  m.write(i.operands[0], emulate::active_lanes(m.f, m.site));
}
void run_bar_warp(PtxMachine& m, const PtxInstruction& i) { m.f.engine->sync_warp(m.f, unsigned(m.read(i, 0))); }

constexpr auto warp_rows = std::to_array<PtxRow>({
    {"shfl.sync", run_shfl, "up down bfly idx"},
    {"vote.sync", run_vote, "all any uni ballot"},
    {"match.any.sync", run_match, ""},
    {"match.all.sync", run_match, ""},
    {"redux.sync", run_redux, "add min max and or xor"},
    {"elect.sync", run_elect, ""},
    {"activemask", run_activemask, ""},
    {"bar.warp.sync", run_bar_warp, ""},
});

}  // namespace

std::span<const PtxRow> ptx_warps() { return warp_rows; }

}  // namespace zellige::cuda
