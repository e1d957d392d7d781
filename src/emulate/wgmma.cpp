// Implements wgmma. The call waits for the whole warpgroup, reads the operands through the asynchronous proxy, and
// stores the results aside: until wgmma_wait, the accumulator registers hold poison, a NaN whose use is reported.
#include <array>
#include <cstring>

#include "emulate/calls.hpp"
#include "emulate/operand_reader.hpp"

namespace zellige::emulate {

using Kind = Finding::Kind;

namespace {

// Poison for accumulators of f16, which are packed in pairs.
constexpr std::uint32_t poison_pair = poison_half * 0x10001u;

// The registers of the accumulators that a wgmma has in a thread, all poison.
template <std::uint32_t word>
const std::uint32_t* poison_words() {
  static const auto words = [] {
    std::array<std::uint32_t, 128> all;
    all.fill(word);
    return all;
  }();
  return words.data();
}

// Fills the accumulator registers with poison, a NaN whose use is reported.
void poison(Accumulators& a, Number number) {
  const bool wide = number == Number::f32;
  std::memcpy(a.d, wide ? poison_words<poison_word>() : poison_words<poison_pair>(), a.bytes);
}

// Returns true if all accumulator registers hold exactly the poison that the wgmma left in them: nothing has written
// them since. A sum or a sign makes another NaN of it.
bool poisoned(const unsigned char* registers, std::uint32_t bytes) {
  if (std::memcmp(registers, poison_words<poison_word>(), bytes) == 0) return true;
  for (std::uint32_t i = 0; i < bytes; i += 4) {
    std::uint32_t word;
    std::memcpy(&word, registers + i, 4);
    if (word != poison_word && word != poison_pair) return false;
  }
  return true;
}

// Reports that a thread misuses registers of a wgmma; the arguments are those of Block::report().
template <class... Args>
void misused(const Fiber& f, const Block::Where& at, fmt::format_string<Args...> text, Args&&... args) {
  f.home->report(f, Kind::accumulator, nullptr, at, "of {}: {}", f.home->who(f.index),
                 fmt::format(text, std::forward<Args>(args)...));
}

// Returns true if some of the `count` registers of an A operand hold poison, the NaN in accumulators that a wgmma still
// owns. The kernel has then computed the operand from such accumulators before it waited for that wgmma.
bool any_poison(const std::uint32_t* words, unsigned count) {
  const auto half = [](std::uint32_t h) { return (h & 0x7fff) == poison_half || (h & 0x7fff) == poison_bfloat; };
  for (unsigned i = 0; i < count; ++i)
    if (is_poison(words[i]) || (half(words[i]) && half(words[i] >> 16))) return true;
  return false;
}

// Checks a thread's accumulator registers when a wgmma is issued. `acc`: their record, null if no wgmma has
// used them; `d_bytes`: their size; `running`: an earlier wgmma owns them, and they are unchanged. Reports a finding
// (an error in the kernel) in these cases:
// 1. An earlier wgmma owns the registers, and ordinary code has written them since.
// 2. No wgmma has used the registers, and there has been no wgmma_fence since the last wait.
// 3. Ordinary code has written them since the last wgmma_fence, or since the last wait if no fence followed.
void check_accumulators(Fiber& f, const Accumulators* acc, const WgmmaCall& call, unsigned d_bytes, bool running,
                        Site site) {
  InFlight& its = *f.in_flight;
  if (acc && acc->running && !running) {
    misused(f, {site, acc->site},
            "at \1 a wgmma finds that they have been written since the wgmma at \2 that still owns them; wgmma_commit "
            "and wgmma_wait come first");
  } else if (!running && !acc) {
    if (!its.wgmma_fenced)
      misused(f, site, "at \1 a wgmma takes registers that ordinary code has written, and no wgmma_fence lies between");
  } else if (!running && acc->bytes == d_bytes && (acc->fenced || !its.wgmma_fenced) &&
             std::memcmp(acc->content.data(), call.d, acc->bytes) != 0) {
    misused(f, {site, acc->site}, "at \1 a wgmma takes registers that have been written since {}",
            acc->fenced ? "the last wgmma_fence; it must come after what writes them"
                        : "the wgmma at \2 was waited for, and no wgmma_fence lies between");
  }
}

// Checks and records the four registers of the A operand that a thread passes to a wgmma of the commit
// group with number `group`. Reports a finding (an error in the kernel) if they have been written since an
// earlier wgmma that may still read them, or without a later wgmma_fence.
void take_operand(Fiber& f, const std::uint32_t* registers, std::uint32_t group, Site site) {
  InFlight& its = *f.in_flight;
  WgmmaRegisters* o = nullptr;
  for (WgmmaRegisters& known : its.operands)
    if (known.a == registers) o = &known;
  const bool changed = o && std::memcmp(o->content, registers, sizeof(o->content)) != 0;
  if (o && o->running && changed) {
    misused(f, {site, o->site},
            "at \1 the registers of a wgmma's first operand have been written since the wgmma at \2, which may still "
            "read them; wgmma_commit and wgmma_wait come first");
  } else if (o ? !o->running && changed : !its.wgmma_fenced) {
    misused(f, site,
            "at \1 a wgmma takes a first operand in registers that ordinary code has written, and no wgmma_fence lies "
            "between");
  }
  if (!o) o = &its.operands.emplace_back();
  o->a = registers, o->group = group, o->running = true, o->site = site.address;
  std::memcpy(o->content, registers, sizeof(o->content));
}

// Records that a thread has reached its warpgroup's wgmma. Returns whether it is the last of the warpgroup. Reports
// a finding (an error in the kernel) if others have reached another wgmma.
bool join_wgmma(const Fiber& f, const WgmmaCall& call, Site site) {
  Block& b = *f.home;
  const unsigned g = f.index / 128;
  Warpgroup& m = b.warpgroups[g];
  if (!m.arrived) {
    m.site = site;
  } else if (m.site.address != site.address) {
    b.report(f, Kind::divergence, nullptr, {site, m.site.address, true},
             "in warpgroup {} of {}: {} reaches wgmma at \1, others the one at \2", g, b.name(), b.spell(f.index));
  }
  m.call[f.index % 128] = &call;
  m.arrived = (m.arrived + 1) % 128;
  return m.arrived == 0;
}

// Reports a finding if the threads of a warpgroup that have reached a wgmma disagree: about its descriptors, about
// whether it accumulates, or about how many instructions for whole warps they have executed.
void check_agreement(const Fiber& f, unsigned g, Site site) {
  Block& b = *f.home;
  for (unsigned i = 1; i < 128; ++i)
    if (i % 32) check_together(b.thread(g * 128 + i), b.thread(g * 128 + i / 32 * 32));
  const Warpgroup& m = b.warpgroups[g];
  const WgmmaCall& first = *m.call[0];
  for (unsigned i = 1; i < 128; ++i) {
    const WgmmaCall& other = *m.call[i];
    if (other.a == first.a && other.b == first.b && other.accumulate == first.accumulate) continue;
    const char* what = other.a != first.a   ? "descriptor of operand A"
                       : other.b != first.b ? "descriptor of operand B"
                                            : "choice to accumulate";
    b.report(f, Kind::divergence, nullptr, site,
             "in warpgroup {} of {}: threads {} and {} reach wgmma at \1 with different values of the {}", g, b.name(),
             g * 128, g * 128 + i, what);
    break;
  }
}

// Reads the operands that the warpgroup's wgmma of commit group `group` takes from shared memory, A into `ta` and B into
// `tb`. They must be ordered before the wgmma for all of its threads: what counts is what all threads of the warpgroup
// have observed. What only single lanes of a warp have observed is left out.
void read_operands(Fiber& leader, const Instruction& row, std::uint32_t group, Site site,
                   std::vector<unsigned char>& ta, std::vector<unsigned char>& tb) {
  Block& b = *leader.home;
  const Warp* const warps = leader.its_warp;
  const Warpgroup& m = b.warpgroups[leader.index / 128];
  const WgmmaCall& first = *m.call[0];
  const unsigned k = unsigned(row.k), size = unsigned(row.a.bits) / 8;
  shadow::Actor a = b.actor(leader, site.address);
  const std::uint32_t op =
      b.cluster.add({shadow::AsyncOp::Kind::wgmma, 0, true, a.thread, 0, a.site, m.agent, group, b.rank, 0});
  shadow::Clock all;
  all.assign(warps[0].clock, b.cluster.agents());
  for (unsigned i = 1; i < 4; ++i) all.take_minimum(warps[i].clock, b.cluster.agents());
  a.clock = &all;
  a.minimum = all.minimum(b.cluster.warps());
  a.thread = a.warp = 0xFFFF;
  if (!first.ra)
    OperandReader{b, leader, op, site, "wgmma", "A", a}.read(first.a, first.a_mn, unsigned(row.m), k, size, ta);
  OperandReader{b, leader, op, site, "wgmma", "B", a}.read(first.b, first.b_mn, first.n, k, size, tb);
}

// Checks and takes over a thread's accumulator registers, of `d_bytes` bytes, for a wgmma of commit group `group`. Returns
// their record, which keeps their content until the wait.
Accumulators& take_accumulators(Fiber& f, const WgmmaCall& call, unsigned d_bytes, std::uint32_t group, Site site) {
  InFlight& its = *f.in_flight;
  auto* registers = static_cast<unsigned char*>(call.d);
  Accumulators* acc = nullptr;
  for (Accumulators& known : its.accumulators)
    if (known.d == registers) acc = &known;
  const bool running = acc && acc->running && poisoned(registers, acc->bytes);
  check_accumulators(f, acc, call, d_bytes, running, site);
  if (!acc) acc = &its.accumulators.emplace_back();
  if (!running) acc->content.assign(registers, registers + d_bytes);
  acc->d = registers, acc->bytes = d_bytes, acc->group = group, acc->site = site.address;
  acc->running = true, acc->fenced = false;
  its.wgmma_open = true;
  return *acc;
}

void wgmma(Thread& t, const WgmmaCall& call) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  const unsigned g = f.index / 128;
  if (g * 128 + 128 > b.thread_count())
    b.stop(f, Kind::divergence, nullptr, site, "at wgmma: {} needs a warpgroup of 128 threads, the block has {} (\1)",
           b.who(f.index), b.thread_count());
  InFlight& mine = in_flight(f);
  f.watch_poison = true;
  mine.last_wgmma = site.address;
  if (call.ra && any_poison(call.ra, 4))
    misused(f, {site, mine.last_wgmma},
            "at \1 its operand's registers are made of accumulators that the wgmma at \2 still owned when they were "
            "read; wgmma_commit and wgmma_wait come first");
  if (!join_wgmma(f, call, site)) return b.suspend(f, Fiber::State::in_wgmma, site);

  Warpgroup& m = b.warpgroups[g];
  check_agreement(f, g, site);
  ++b.counters[Counter::wgmma];
  const WgmmaCall& first = *m.call[0];
  const Instruction& row = wgmma_row(first.n, first.types, first.saturate, !first.ra);
  b.async.start(b.shared_bytes);
  if (!m.agent) m.agent = b.cluster.new_agent();
  Fiber& leader = b.thread(g * 128);
  const std::uint32_t group = leader.in_flight->wgmma_committed + 1;
  std::vector<unsigned char> ta, tb;
  read_operands(leader, row, group, site, ta, tb);

  std::uint32_t ra[128][4];
  const void *a_of[128] = {ta.data()}, *const b_of[] = {tb.data()}, *c[128];
  void* d[128];
  Accumulators* taken[128];
  for (unsigned i = 0; i < 128; ++i) {
    const WgmmaCall& its = *m.call[i];
    if (its.ra) std::memcpy(ra[i], its.ra, 16), a_of[i] = ra[i];
    taken[i] = &take_accumulators(b.thread(g * 128 + i), its, 4 * unsigned(row.c.registers), group, site);
    c[i] = d[i] = taken[i]->content.data();
    if (its.ra) take_operand(b.thread(g * 128 + i), its.ra, group, site);
  }
  execute_matrix(row, {a_of, b_of, first.accumulate ? c : nullptr, d, first.sign});
  for (Accumulators* a : taken) poison(*a, row.c.number);
  for (unsigned w = 0; w < 4; ++w) {
    Warp& warp = b.warps[g * 4 + w];
    b.make_ready(warp, &warp == f.its_warp ? ~(1u << f.lane) : ~0u);
  }
}

// Records the content of the thread's accumulator and operand registers, which must be unchanged at the next wgmma.
void wgmma_fence(Thread& t) {
  Fiber& f = fiber(t);
  InFlight& its = in_flight(f);
  f.together_at = Call(t, ZELLIGE_SITE()).site;
  ++f.together[0];
  its.wgmma_fenced = true;
  for (Accumulators& a : its.accumulators) {
    if (a.running) continue;
    a.content.assign(a.d, a.d + a.bytes);
    a.fenced = true;
  }
  for (WgmmaRegisters& o : its.operands)
    if (!o.running) std::memcpy(o.content, o.a, sizeof(o.content));
}
void wgmma_commit(Thread& t) {
  Fiber& f = fiber(t);
  ++f.together[1];
  f.together_at = Call(t, ZELLIGE_SITE()).site;
  ++in_flight(f).wgmma_committed;
  f.in_flight->wgmma_open = false;
}
void wgmma_wait(Thread& t, unsigned pending) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  ++f.together[2];
  f.together_at = site;
  if (!f.in_flight) return;
  InFlight& mine = *f.in_flight;
  const std::uint32_t done = mine.wgmma_committed > pending ? mine.wgmma_committed - pending : 0;
  if (done <= mine.wgmma_done) return;
  mine.wgmma_done = done;
  const std::uint32_t agent = b.warpgroups[f.index / 128].agent;
  if (agent) hear(f, agent, done + 1);
  for (WgmmaRegisters& o : mine.operands) {
    if (!o.running || o.group > done) continue;
    o.running = false;
    mine.wgmma_fenced = false;
    if (std::memcmp(o.content, o.a, sizeof(o.content)) == 0) continue;
    misused(f, {site, o.site},
            "the registers of the first operand of the wgmma at \2 have been written (or are no longer there) before "
            "its wait at \1");
    std::memcpy(o.content, o.a, sizeof(o.content));
  }
  for (Accumulators& a : mine.accumulators) {
    if (!a.running || a.group > done) continue;
    a.running = a.fenced = false;
    mine.wgmma_fenced = false;
    if (!poisoned(a.d, a.bytes)) {
      misused(f, {site, a.site}, "they have been written between the wgmma at \2 and its wait at \1");
      continue;
    }
    std::memcpy(a.d, a.content.data(), a.bytes);
  }
}

// Executes setmaxnreg: sets the warp's registers per thread to `wanted`. `more`: true for setmaxnreg.inc,
// false for setmaxnreg.dec. Registers that a warp releases are available to other warps of the block; an
// increase waits until enough are.
void setmaxnreg(Thread& t, unsigned wanted, bool more) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  ++f.together[3];
  f.together_at = site;
  if (b.thread_count() % 128 || f.lane != unsigned(std::countr_zero(f.its_warp->lanes & ~f.its_warp->returned))) {
    if (b.thread_count() % 128)
      b.fail_at(f, nullptr, site, "setmaxnreg is for warpgroups, and the block has {} threads", b.thread_count());
    return;
  }
  const unsigned have = f.its_warp->registers;
  if (more ? wanted < have : wanted > have) {
    b.fail_at(f, nullptr, site, "{} to {} registers, and the thread has {}",
              more ? "register_alloc" : "register_dealloc", wanted, have);
    return;
  }
  if (!more) {
    b.free_registers += have - wanted;
    f.its_warp->registers = wanted;
    b.wake(Fiber::State::for_registers);
    return;
  }
  while (wanted - have > b.free_registers) {
    f.barrier = wanted;
    b.suspend(f, Fiber::State::for_registers, site);
  }
  b.free_registers -= wanted - have;
  f.its_warp->registers = wanted;
}

}  // namespace

void check_registers(const Fiber& f, const void* p, std::size_t bytes, bool writes, Site site) {
  if (!f.in_flight) return;
  const auto* const at = static_cast<const unsigned char*>(p);
  for (const Accumulators& a : f.in_flight->accumulators) {
    if (!a.running || at >= a.d + a.bytes || at + bytes <= a.d) continue;
    return misused(f, {site, a.site},
                   "at \1 it {} accumulators that the wgmma at \2 still owns; wgmma_commit and wgmma_wait come first",
                   writes ? "writes" : "reads");
  }
}

void check_together(const Fiber& f, const Fiber& other) {
  if (std::memcmp(f.together, other.together, sizeof(f.together)) == 0) return;
  static constexpr const char* names[] = {"wgmma_fence", "wgmma_commit", "wgmma_wait", "setmaxnreg"};
  Block& b = *f.home;
  for (unsigned i = 0; i < 4; ++i) {
    if (f.together[i] == other.together[i]) continue;
    if (!b.findings.fresh(Kind::divergence, names[i], 0)) return;
    const bool before = other.together[i] < f.together[i];
    const Fiber &more = before ? f : other, &less = before ? other : f;
    b.findings.add(
        {Kind::divergence,
         "",
         fmt::format("in warp {} of {}: thread {} has reached {} {} times at \1, thread {} {} times; all "
                     "lanes of a warp reach it together",
                     f.its_warp->local, b.name(), more.index, names[i], more.together[i], less.index, less.together[i]),
         {b.walk(more, more.together_at)},
         b.linear});
    return;
  }
}

void check_registers(Block& b) {
  constexpr unsigned setmaxnreg = 3;  // in Fiber::together
  for (unsigned w = 0; w < b.warp_count(); ++w) {
    const Fiber &here = *b.warps[w].left_first, &first = *b.warps[w / 4 * 4].left_first;
    if (here.together[setmaxnreg] == first.together[setmaxnreg]) continue;
    const bool less = here.together[setmaxnreg] < first.together[setmaxnreg];
    const Fiber &more = less ? first : here, &fewer = less ? here : first;
    b.report(more, Kind::divergence, nullptr, more.together_at,
             "in warpgroup {} of {}: warp {} has reached setmaxnreg {} times at \1, warp {} {} times; all warps of a "
             "warpgroup reach it together",
             w / 4, b.name(), more.its_warp->local, more.together[setmaxnreg], fewer.its_warp->local,
             fewer.together[setmaxnreg]);
    return;
  }
}

void add_wgmma(AsyncEngine& all) {
  all.wgmma = wgmma;
  all.wgmma_fence = wgmma_fence;
  all.wgmma_commit = wgmma_commit;
  all.wgmma_wait = wgmma_wait;
  all.setmaxnreg = setmaxnreg;
}

}  // namespace zellige::emulate
