// The table that emitted text calls: bounds and alignment, then the shadow, then the counters.
#include "emulate/calls.hpp"

#include <bit>
#include <cstring>

#include "emulate/block.hpp"
#include "zellige/emulate/pointer.hpp"
#include "zellige/emulate/wavefronts.hpp"

namespace zellige::emulate {

namespace {

using Kind = Finding::Kind;
using Stream = AccessLog::Stream;
using What = Clash::What;

Fiber& fiber(Thread& t) { return static_cast<Fiber&>(t); }

const char* spell(Space s) { return s == Space::shared ? "shared" : "global"; }

// A refused read is answered with NaNs, a refused write goes nowhere.
alignas(16) constexpr unsigned char poison[16] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                  255, 255, 255, 255, 255, 255, 255, 255};
alignas(16) thread_local unsigned char sink[16];

// "thread 37 (warp 1) of block (3,0,0) reads bytes 64..80"
std::string deed(const Block& b, unsigned thread, const Place& p, unsigned bytes, const char* verb) {
  const auto from = p.p - p.region->begin;
  return fmt::format("{} of {} {} bytes {}..{}", b.spell(thread), b.spell_block(b.linear), verb, from,
                     from + bytes);
}

[[gnu::noinline, gnu::cold]] void refuse(Fiber& f, unsigned thread, Place p, unsigned bytes, bool writes,
                                         Site site, unsigned alignment) {
  Block& b = *f.home;
  const Region& r = *p.region;
  const char* verb = writes ? "writes" : "reads";
  const std::size_t from = std::size_t(p.p - r.begin);
  if (from > r.bytes || bytes > r.bytes - from) {
    b.report(f, Kind::out_of_bounds, r.name, site,
             fmt::format("on {} tensor {}: {} at \1; the tensor has {}", spell(r.space), r.name,
                         deed(b, thread, p, bytes, verb), r.bytes));
  } else if (writes && !r.writable) {
    b.report(f, Kind::read_only, r.name, site,
             fmt::format("{}: {} at \1; the launch only reads it", r.name, deed(b, thread, p, bytes, verb)));
  } else {
    b.report(f, Kind::misaligned, r.name, site,
             fmt::format(
                 "in {} tensor {}: {} at \1; an access of {} bytes needs an address that is a multiple of it",
                 spell(r.space), r.name, deed(b, thread, p, bytes, verb), alignment));
  }
}

/// Whether an access may be carried out at all; says so if not.
inline bool admit(Fiber& f, unsigned thread, Place p, unsigned bytes, bool writes, Site site,
                  unsigned alignment) {
  const Region& r = *p.region;
  const std::size_t from = std::size_t(p.p - r.begin);
  const bool inside = from <= r.bytes && bytes <= r.bytes - from;
  const bool aligned =
      (reinterpret_cast<std::uintptr_t>(p.p) & (alignment - 1)) == 0 && std::has_single_bit(alignment);
  if (inside && aligned && (r.writable || !writes)) [[likely]]
    return true;
  refuse(f, thread, p, bytes, writes, site, alignment);
  return false;
}

// The earlier access named by a clash, as the end of a sentence; its line is \2.
std::string against(const Block& b, const Clash& c, unsigned thread) {
  const std::string who = b.spell(c.thread);
  switch (c.what) {
    case What::unwritten:
      return ", which nothing has written";
    case What::other_tensor:
      return fmt::format(", which {} last wrote as tensor {} at \2", who, b.region_names[c.region]);
    case What::in_flight:
      return fmt::format("; the cp.async that {} issued at \2 is still in flight", who);
    default:
      break;
  }
  const char* deed = c.what == What::written ? "wrote" : "read";
  const char* between = c.thread / 32 == thread / 32 ? "no __syncwarp or barrier" : "no barrier";
  return fmt::format("; {} {} them at \2 and {} lies between", who, deed, between);
}

[[gnu::noinline, gnu::cold]] void clash(Fiber& f, unsigned thread, Place p, unsigned bytes, const char* verb,
                                        Site site, const Clash& c) {
  Block& b = *f.home;
  const Region& r = *p.region;
  const Kind kind =
      c.what == What::unwritten || c.what == What::other_tensor ? Kind::uninitialised_read : Kind::race;
  if (!b.findings.fresh(kind, r.name, site.address)) return;
  RawFinding raw{kind, r.name, "", {b.walk(f, site)}, b.linear};
  if (c.site) raw.sites.push_back({widen(c.site, site.address)});
  const char* on = kind == Kind::race ? "on" : "of";
  raw.text = fmt::format("{} {} tensor {}: {} at \1{}", on, spell(r.space), r.name,
                         deed(b, thread, p, bytes, verb), against(b, c, thread));
  b.findings.add(std::move(raw));
}

// Two blocks: the lower one is named first, whichever ran first.
[[gnu::noinline, gnu::cold]] void clash_of_blocks(Fiber& f, Place p, unsigned bytes, bool writes, Site site,
                                                  const Clash& c) {
  Block& b = *f.home;
  const Region& r = *p.region;
  const std::uintptr_t other = widen(c.site, site.address);
  const bool other_writes = c.what == What::written;
  if (!b.findings.fresh(Kind::race, r.name, site.address ^ other)) return;
  const auto from = p.p - r.begin;
  const char* mine = writes ? "writes" : "reads";
  const char* theirs = other_writes ? "writes" : "reads";
  const std::string they = c.block == unnamed_block ? "another block" : b.spell_block(c.block);
  RawFinding raw{Kind::race, r.name, "", {}, std::min<std::uint64_t>(b.linear, c.block)};
  const bool first = b.linear < c.block;
  if (first)
    raw.sites = {b.walk(f, site), {other}};
  else
    raw.sites = {{other}, b.walk(f, site)};
  raw.text = fmt::format(
      "between blocks on global tensor {}: {} of {} {} bytes {}..{} at \1, {} of {} {} them at \2, and "
      "nothing orders two "
      "blocks of a launch",
      r.name, b.spell(first ? f.index : c.thread), first ? b.spell_block(b.linear) : they,
      first ? mine : theirs, from, from + bytes, b.spell(first ? c.thread : f.index),
      first ? they : b.spell_block(b.linear), first ? theirs : mine);
  b.findings.add(std::move(raw));
}

bool all_written(const std::uint8_t* flags, unsigned bytes) {
  std::uint64_t word[2] = {0x0101010101010101, 0x0101010101010101};
  std::memcpy(word, flags, bytes);
  return word[0] == 0x0101010101010101 && word[1] == 0x0101010101010101;
}

inline void check_global_read(Fiber& f, Place p, unsigned bytes, Site site) {
  const auto& state = *static_cast<const GlobalState*>(p.region->shadow);
  const std::size_t at = std::size_t(p.p - p.region->begin);
  if (state.flags && !all_written(state.flags + at, bytes))
    clash(f, f.index, p, bytes, "reads", site, {What::unwritten});
  if (!state.races) return;
  const Block& b = *f.home;
  if (Clash c = state.races->read(at, bytes, b.actor(f, site.address), std::uint32_t(b.linear))) {
    if (c.block == b.linear)
      clash(f, f.index, p, bytes, "reads", site, c);
    else
      clash_of_blocks(f, p, bytes, false, site, c);
  }
}

inline void check_global_write(Fiber& f, Place p, unsigned bytes, Site site) {
  const auto& state = *static_cast<const GlobalState*>(p.region->shadow);
  const std::size_t at = std::size_t(p.p - p.region->begin);
  if (state.flags) std::memset(state.flags + at, 1, bytes);
  if (!state.races) return;
  const Block& b = *f.home;
  if (Clash c = state.races->write(at, bytes, b.actor(f, site.address), std::uint32_t(b.linear))) {
    if (c.block == b.linear)
      clash(f, f.index, p, bytes, "writes", site, c);
    else
      clash_of_blocks(f, p, bytes, true, site, c);
  }
}

std::uint32_t awaited(const Fiber& f) { return f.its_warp->lanes & ~f.its_warp->returned; }

const void* read(Thread& t, Place p, unsigned bytes) {
  const Site site = ZELLIGE_SITE();
  Fiber& f = fiber(t);
  if (!admit(f, f.index, p, bytes, false, site, bytes)) return poison;
  Block& b = *f.home;
  if (p.region->space == Space::shared) {
    const std::size_t at = std::size_t(p.p - b.memory);
    if (Clash c = b.shadow.read(at, bytes, b.actor(f, site.address), p.region->id))
      clash(f, f.index, p, bytes, "reads", site, c);
    ++b.counters[by_width(Counter::shared_load_1, bytes)];
    f.its_warp->log.add(site.address, Stream::shared_load, bytes, f.lane, at, bytes, awaited(f), b.counters);
  } else {
    check_global_read(f, p, bytes, site);
    ++b.counters[by_width(Counter::global_load_1, bytes)];
    f.its_warp->log.add(site.address, Stream::global_load, bytes, f.lane,
                        reinterpret_cast<std::uint64_t>(p.p), bytes, awaited(f), b.counters);
  }
  return p.p;
}

void* write(Thread& t, Place p, unsigned bytes) {
  const Site site = ZELLIGE_SITE();
  Fiber& f = fiber(t);
  if (!admit(f, f.index, p, bytes, true, site, bytes)) return sink;
  Block& b = *f.home;
  if (p.region->space == Space::shared) {
    const std::size_t at = std::size_t(p.p - b.memory);
    if (Clash c = b.shadow.write(at, bytes, b.actor(f, site.address), p.region->id))
      clash(f, f.index, p, bytes, "writes", site, c);
    ++b.counters[by_width(Counter::shared_store_1, bytes)];
    f.its_warp->log.add(site.address, Stream::shared_store, bytes, f.lane, at, bytes, awaited(f), b.counters);
  } else {
    check_global_write(f, p, bytes, site);
    ++b.counters[by_width(Counter::global_store_1, bytes)];
    f.its_warp->log.add(site.address, Stream::global_store, bytes, f.lane,
                        reinterpret_cast<std::uint64_t>(p.p), bytes, awaited(f), b.counters);
  }
  return p.p;
}

// An access of a collective instruction is checked as its lane's; where the warp met is its site, and what it
// costs is the instruction's to count.
const void* read_for(Fiber& f, unsigned lane, Place p, unsigned bytes) {
  const Site site = f.its_warp->meeting;
  Fiber& g = f.home->thread(f.its_warp->index * 32 + lane);
  if (!admit(f, g.index, p, bytes, false, site, bytes)) return poison;
  if (p.region->space == Space::global) {
    check_global_read(g, p, bytes, site);
  } else {
    Block& b = *f.home;
    if (Clash c = b.shadow.read(std::size_t(p.p - b.memory), bytes, b.actor(g, site.address), p.region->id))
      clash(f, g.index, p, bytes, "reads", site, c);
  }
  return p.p;
}

const void* read_as(Thread& t, unsigned lane, Place p, unsigned bytes) {
  return read_for(fiber(t), lane, p, bytes);
}

void* write_as(Thread& t, unsigned lane, Place p, unsigned bytes) {
  Fiber& f = fiber(t);
  const Site site = f.its_warp->meeting;
  Fiber& g = f.home->thread(f.its_warp->index * 32 + lane);
  if (!admit(f, g.index, p, bytes, true, site, bytes)) return sink;
  if (p.region->space == Space::global) {
    check_global_write(g, p, bytes, site);
  } else {
    Block& b = *f.home;
    if (Clash c = b.shadow.write(std::size_t(p.p - b.memory), bytes, b.actor(g, site.address), p.region->id))
      clash(f, g.index, p, bytes, "writes", site, c);
  }
  return p.p;
}

void read_rows(Thread& t, const Place* rows, unsigned matrices, const void** safe) {
  Fiber& f = fiber(t);
  Block& b = *f.home;
  for (unsigned m = 0; m < matrices; ++m) {
    std::uint32_t at[8];
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned row = m * 8 + i;
      safe[row] = read_for(f, row, rows[row], 16);
      at[i] = std::uint32_t(rows[row].p - b.memory);
    }
    b.counters[Counter::ldmatrix_wavefronts] += wavefronts(at, nullptr, 8, 16);
    ++b.counters[Counter::ldmatrix_wavefronts_ideal];
  }
}

void cp_async(Thread& t, Place dst, Place src, unsigned bytes, unsigned valid) {
  const Site site = ZELLIGE_SITE();
  Fiber& f = fiber(t);
  Block& b = *f.home;
  if (valid > bytes) {
    b.report(f, Kind::instruction, dst.region->name, site,
             fmt::format("cp.async: {} of {} asks at \1 for {} valid bytes of {}", b.spell(f.index),
                         b.spell_block(b.linear), valid, bytes));
    valid = bytes;
  }
  if (dst.region->space != Space::shared || (valid && src.region->space != Space::global)) {
    b.report(
        f, Kind::instruction, dst.region->name, site,
        fmt::format(
            "cp.async: {} of {} copies at \1 from {} to {} memory; it goes from global to shared only",
            b.spell(f.index), b.spell_block(b.linear), spell(src.region->space), spell(dst.region->space)));
    return;
  }
  const unsigned char* from = poison;
  if (valid && admit(f, f.index, src, valid, false, site, bytes)) {
    check_global_read(f, src, valid, site);
    from = src.p;
    f.its_warp->log.add(site.address, Stream::cp_async_source, bytes, f.lane,
                        reinterpret_cast<std::uint64_t>(src.p), valid, awaited(f), b.counters);
  }
  b.counters[Counter::cp_async_source_bytes] += valid;
  ++b.counters[by_width(Counter::cp_async_1, bytes)];
  if (!admit(f, f.index, dst, bytes, true, site, bytes)) return;
  const std::size_t at = std::size_t(dst.p - b.memory);
  if (Clash c = b.shadow.begin(at, bytes, b.actor(f, site.address), dst.region->id))
    clash(f, f.index, dst, bytes, "copies by cp.async into", site, c);
  b.issue_copy(f, at, *dst.region, from, bytes, valid, site);
  f.its_warp->log.add(site.address, Stream::cp_async_write, bytes, f.lane, at, bytes, awaited(f), b.counters);
}

void cp_async_commit(Thread& t) {
  Fiber& f = fiber(t);
  f.group_ends.push_back(std::uint32_t(f.copies.size()));
}

void cp_async_wait(Thread& t, unsigned pending) {
  Fiber& f = fiber(t);
  f.home->land_copies(f, pending);
}

const Region* shared(Thread& t, const char* name, unsigned offset, unsigned bytes) {
  return fiber(t).home->shared(fiber(t), name, offset, bytes, ZELLIGE_SITE());
}
void fail(Thread& t, const char* tensor, const char* message) {
  const Site site = ZELLIGE_SITE();
  Fiber& f = fiber(t);
  Block& b = *f.home;
  b.report(f, Kind::instruction, tensor, site,
           fmt::format("at \1, {} of {}: {}", b.spell(f.index), b.spell_block(b.linear), message));
}

}  // namespace

const Engine& engine() {
  static constexpr Engine table = {.read = read,
                                   .write = write,
                                   .shared = shared,
                                   .meet = calls::meet,
                                   .read_rows = read_rows,
                                   .read_as = read_as,
                                   .write_as = write_as,
                                   .sync_warp = calls::sync_warp,
                                   .bar_sync = calls::bar_sync,
                                   .bar_arrive = calls::bar_arrive,
                                   .cp_async = cp_async,
                                   .cp_async_commit = cp_async_commit,
                                   .cp_async_wait = cp_async_wait,
                                   .fail = fail};
  return table;
}

}  // namespace zellige::emulate
