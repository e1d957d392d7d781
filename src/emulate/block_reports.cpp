// What a block has to say: accesses that clash, threads that do not meet, and why it cannot go on.
#include <bit>

#include "emulate/block.hpp"

namespace zellige::emulate {

std::string Block::spell(unsigned thread) const {
  return fmt::format("thread {} (warp {})", thread, thread / 32);
}

std::string Block::spell_block(std::uint64_t linear_index) const {
  const dim3& grid = launch_->config->grid;
  return fmt::format("block ({},{},{})", linear_index % grid.x, linear_index / grid.x % grid.y,
                     linear_index / grid.x / grid.y);
}

std::vector<std::uintptr_t> Block::walk(const Fiber& f, Site site) const {
  return callers(site, stacks_.low(f.index), stacks_.high(f.index));
}

void Block::report(const Fiber& f, Finding::Kind kind, const char* tensor, Site site, std::string text,
                   std::uintptr_t other_site, bool only_between_lines) {
  if (!findings.fresh(kind, tensor, site.address, only_between_lines ? other_site : 0)) return;
  RawFinding raw{kind, tensor ? tensor : "", std::move(text), {walk(f, site)}, linear, only_between_lines};
  if (other_site) raw.sites.push_back({other_site});
  findings.add(std::move(raw));
}

// "waits in mma at \3", the site appended to the finding.
std::string Block::waiting_for(const Fiber& f, RawFinding& raw) const {
  if (f.state == Fiber::State::returned) return "has returned";
  raw.sites.push_back(walk(f, f.site));
  const char line[] = {char(raw.sites.size()), 0};
  const Barrier& b = barrier_[f.barrier];
  switch (f.state) {
    case Fiber::State::meeting:
      return fmt::format("waits in {} at {}", f.its_warp->what, line);
    case Fiber::State::in_syncwarp:
      return fmt::format("waits in __syncwarp at {}", line);
    case Fiber::State::at_barrier:
      if (f.barrier == 0 && b.expected == threads_)
        return fmt::format("waits at the block's barrier at {}", line);
      return fmt::format("waits at barrier {} ({} of {} threads have come) at {}", f.barrier, b.arrived,
                         b.expected, line);
    default:
      return fmt::format("is at {}", line);
  }
}

// A warp part of which is in a collective instruction that the others will never come to.
bool Block::report_meeting() {
  for (unsigned w = 0; w < warps_; ++w) {
    const Warp& warp = warp_[w];
    if (!warp.met) continue;
    const Fiber& here = stacks_.fiber(w * 32 + unsigned(std::countr_zero(warp.met)));
    const Fiber& there = stacks_.fiber(w * 32 + unsigned(std::countr_zero(~warp.met)));
    if (!findings.fresh(Finding::Kind::divergence, nullptr, here.site.address)) return true;
    RawFinding raw{Finding::Kind::divergence, "", "", {walk(here, here.site)}, linear};
    const std::string other = waiting_for(there, raw);
    raw.text = fmt::format(
        "in warp {} of {}: {} of 32 threads, thread {} first, wait in {} at \1 for thread {}, which {}", w,
        spell_block(linear), std::popcount(warp.met), here.index, warp.what, there.index, other);
    findings.add(std::move(raw));
    return true;
  }
  return false;
}

// Threads in order, as ranges that wait in the same place.
void Block::report_deadlock() {
  RawFinding raw{Finding::Kind::deadlock, "", fmt::format("of {}:", spell_block(linear)), {}, linear};
  unsigned ranges = 0;
  std::uintptr_t first_site = 0;
  for (unsigned i = 0; i < threads_;) {
    const Fiber& f = stacks_.fiber(i);
    unsigned end = i + 1;
    for (; end < threads_; ++end) {
      const Fiber& g = stacks_.fiber(end);
      if (g.state != f.state) break;
      if (f.state != Fiber::State::returned && g.site.address != f.site.address) break;
      if (f.state == Fiber::State::at_barrier && g.barrier != f.barrier) break;
    }
    if (f.state != Fiber::State::returned && !first_site) first_site = f.site.address;
    if (++ranges > 6) {
      raw.text += ", and so on";
      break;
    }
    const std::string waits = waiting_for(f, raw);
    const std::string who =
        end - i == 1 ? fmt::format("thread {}", i) : fmt::format("each of threads {}..{}", i, end - 1);
    raw.text += fmt::format("{} {} {}", ranges > 1 ? "," : "", who, waits);
    i = end;
  }
  if (findings.fresh(Finding::Kind::deadlock, nullptr, first_site)) findings.add(std::move(raw));
}

bool Block::unstick() {
  if (report_meeting()) return false;
  Barrier& b = barrier_[0];
  if (b.arrived && b.arrived == live_ && b.expected == threads_) {
    const Fiber& here = stacks_.fiber(b.first_thread);
    unsigned returned = 0;
    while (stacks_.fiber(returned).state != Fiber::State::returned) ++returned;
    report(
        here, Finding::Kind::barrier_divergence, nullptr, b.first,
        fmt::format("in {}: {} of {} threads, {} first, come to the block's barrier at \1, {} has returned",
                    spell_block(linear), b.arrived, threads_, spell(b.first_thread), spell(returned)));
    complete(b);
    return true;
  }
  report_deadlock();
  return false;
}

}  // namespace zellige::emulate
