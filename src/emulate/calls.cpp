// Implements the functions that emulated kernels call to access memory. Each function checks bounds and alignment, then
// the shadow memory (records of earlier accesses) for races and uninitialised bytes, and then updates the counters.
#include "emulate/calls.hpp"

#include <bit>
#include <utility>

#include "arithmetic/matrix_moves.hpp"
#include "arithmetic/products.hpp"
#include "emulate/atomics.hpp"
#include "emulate/block_reports.hpp"
#include "zellige/atom/exact_mma_reference.hpp"
#include "zellige/emulate/pointer.hpp"
#include "zellige/emulate/wavefronts.hpp"

namespace zellige::emulate {

namespace {

using Kind = Finding::Kind;
using What = shadow::Clash::What;

alignas(16) thread_local unsigned char sink[16];  // a rejected write goes here, and no one reads it

// Returns an access in words: "thread 37 (warp 1) of block (3,0,0) reads bytes 64..80".
std::string deed(const Block& b, unsigned thread, const Place& p, unsigned bytes, const char* verb) {
  const auto from = p.p - p.region->begin;
  return fmt::format("{} {} bytes {}..{}", b.who(thread), verb, from, from + bytes);
}

// Reports an access that is out of bounds, misaligned, or a write to a read-only tensor.
[[gnu::noinline, gnu::cold]] void refuse(Fiber& f, unsigned thread, Place p, unsigned bytes, bool writes, Site site,
                                         unsigned alignment) {
  Block& b = *f.home;
  const Region& r = *p.region;
  const char* verb = writes ? "writes" : "reads";
  const std::size_t from = std::size_t(p.p - r.begin);
  if (from > r.bytes || bytes > r.bytes - from) {
    const bool global = r.space == Space::global;
    b.report(f, Kind::out_of_bounds, r.name,
             {site, global ? Finding::Missing::bounds_check : Finding::Missing::nothing},
             "on {} tensor {}: {} at \1; the tensor has {}", spell(r.space), r.name, deed(b, thread, p, bytes, verb),
             r.bytes);
  } else if (writes && !r.writable) {
    b.report(f, Kind::read_only, r.name, site, "{}: {} at \1; the launch only reads it", r.name,
             deed(b, thread, p, bytes, verb));
  } else {
    b.report(f, Kind::misaligned, r.name, site,
             "in {} tensor {}: {} at \1; an access of {} bytes needs an address that is a multiple of it",
             spell(r.space), r.name, deed(b, thread, p, bytes, verb), alignment);
  }
}

// Returns true if an access is within its tensor, aligned, and not a write to a read-only tensor; otherwise
// reports a finding (an error in the kernel) and returns false.
inline bool admit(Fiber& f, unsigned thread, Place p, unsigned bytes, bool writes, Site site, unsigned alignment) {
  const Region& r = *p.region;
  const std::size_t from = std::size_t(p.p - r.begin);
  const bool inside = from <= r.bytes && bytes <= r.bytes - from;
  const bool aligned = (reinterpret_cast<std::uintptr_t>(p.p) & (alignment - 1)) == 0 && std::has_single_bit(alignment);
  if (inside && aligned && (r.writable || !writes)) [[likely]]
    return true;
  refuse(f, thread, p, bytes, writes, site, alignment);
  return false;
}

[[gnu::noinline, gnu::cold]] void stale(Fiber& f, unsigned thread, const Region& r, const PartsRead::Part& p,
                                        Site site) {
  f.home->report(
      f, Kind::stale, r.name, {site, p.site},
      "shared tensor {}: {} reads at \1 the stage that {} began to fill at \2, and has read a later one since", r.name,
      f.home->who(thread), f.home->spell(p.thread));
}

Block& home(const Place& p) { return *static_cast<Block*>(p.region->shadow); }

// Checks and records a read or write of shared memory, of this block or another one. `g`: the thread that makes the
// access; `f`: the running thread, a different one in a warp collective, where one thread runs for all lanes. Returns
// false if the block that owns the memory has exited.
template <bool writes>
inline bool check_shared(Fiber& f, Fiber& g, Place p, unsigned bytes, Site site) {
  constexpr const char* verb = writes ? "writes" : "reads";
  Block &b = *f.home, &there = home(p);
  if (&there != &b && !reach(there, g, verb, "shared tensor", p.region->name, site)) return false;
  const std::size_t at = std::size_t(p.p - there.memory), from = std::size_t(p.p - p.region->begin);
  const shadow::Actor a = b.actor(g, site.address);
  shadow::Clash c = writes ? there.shadow.write(at, bytes, a, *p.region) : there.shadow.read(at, bytes, a, *p.region);
  if (!c && !there.async.empty())
    c = writes ? there.async.write(at, a, b.cluster.ops) : there.async.read(at, a, b.cluster.ops);
  if (!c && !there.additions.empty()) c = there.additions.access(at, bytes, a);
  if (c) clash(f, g.index, p, bytes, verb, site, c);
  if constexpr (writes) there.mbarriers.spare(f, at, bytes, verb, site);
  if (!p.region->part_bytes || &there != &b) return true;
  if constexpr (writes)
    b.parts.filled(*p.region, from, std::uint16_t(g.index), a.epoch, site.address);
  else if (const auto* old = b.parts.read(*p.region, from, std::uint16_t(g.index), a.epoch)) [[unlikely]]
    stale(f, g.index, *p.region, *old, site);
  return true;
}

// Returns the mask of the lanes of the thread's warp that have not returned; these are expected to execute
// the thread's next instruction, too.
std::uint32_t awaited(const Fiber& f) { return f.its_warp->lanes & ~f.its_warp->returned; }

// Checks, records and counts a read or write of `bytes` bytes at `p` by thread `f`. Returns false if it is invalid.
template <bool writes>
inline bool access(Fiber& f, Place p, unsigned bytes, Site site) {
  Block& b = *f.home;
  b.check_time(f, site);
  if (!admit(f, f.index, p, bytes, writes, site, bytes)) return false;
  if (p.region->space == Space::shared) {
    if (!check_shared<writes>(f, f, p, bytes, site)) return false;
    ++b.counters[by_width(writes ? Counter::shared_store_1 : Counter::shared_load_1, bytes)];
    f.its_warp->log.add(site.address, writes ? Counter::shared_store_wavefronts : Counter::shared_load_wavefronts,
                        bytes, f.lane, std::size_t(p.p - home(p).memory), bytes, awaited(f), b.counters);
  } else {
    check_global<writes>(f, p, bytes, writes ? "writes" : "reads", site);
    ++b.counters[by_width(writes ? Counter::global_store_1 : Counter::global_load_1, bytes)];
    f.its_warp->log.add(site.address, writes ? Counter::global_store_sectors : Counter::global_load_sectors, bytes,
                        f.lane, reinterpret_cast<std::uint64_t>(p.p), bytes, awaited(f), b.counters);
  }
  return true;
}

const void* read(Thread& t, Place p, unsigned bytes) {
  return access<false>(fiber(t), p, bytes, ZELLIGE_SITE()) ? p.p : rejected;
}
void* write(Thread& t, Place p, unsigned bytes) {
  return access<true>(fiber(t), p, bytes, Call(t, ZELLIGE_SITE()).site) ? p.p : sink;
}

// Checks and records an access of `bytes` bytes at `p` that lane `lane` makes in a warp collective, such as ldmatrix.
// Returns false if it is invalid. Errors are reported at the source line of the collective. The caller counts the
// wavefronts.
template <bool writes>
bool access_for(Fiber& f, unsigned lane, Place p, unsigned bytes) {
  const Site site = f.its_warp->converging;
  Fiber& g = f.home->thread(f.its_warp->local * 32 + lane);
  if (!admit(f, g.index, p, bytes, writes, site, bytes)) return false;
  if (p.region->space == Space::shared) return check_shared<writes>(f, g, p, bytes, site);
  check_global<writes>(g, p, bytes, writes ? "writes" : "reads", site);
  return true;
}

// Returns the address to read from: `p`, or that of a NaN if the read is invalid; see access_for.
const void* read_as(Thread& t, unsigned lane, Place p, unsigned bytes) {
  return access_for<false>(fiber(t), lane, p, bytes) ? p.p : rejected;
}
void* write_as(Thread& t, unsigned lane, Place p, unsigned bytes) {
  return access_for<true>(fiber(t), lane, p, bytes) ? p.p : sink;
}

// Checks and records that lane `lane`, for which the running thread acts, reads a row of 16 bytes of the block's own memory. `a`: the
// lane, with what its warp has observed. Returns false, and has recorded nothing, where the general check must decide.
inline bool reads_row(Fiber& f, unsigned lane, const Place& p, shadow::Actor& a) {
  Block& b = *f.home;
  const Region& r = *p.region;
  const auto from = std::size_t(p.p - r.begin);
  if (r.space != Space::shared || r.shadow != &b || from > r.bytes || r.bytes - from < 16 ||
      reinterpret_cast<std::uintptr_t>(p.p) % 16 || !b.async.empty() || !b.additions.empty())
    return false;
  const unsigned thread = f.its_warp->local * 32 + lane;
  a.thread = std::uint16_t(b.first_thread + thread);
  if (!b.shadow.read_in_order(std::size_t(p.p - b.memory), a, r)) return false;
  if (!r.part_bytes) return true;
  if (const auto* old = b.parts.read(r, from, std::uint16_t(thread), a.epoch)) [[unlikely]]
    stale(f, thread, r, *old, f.its_warp->converging);
  return true;
}

// Checks the rows of 1, 2 or 4 8x8 matrices by the function `access` (read_as or write_as), each as an
// access of 16 bytes by its lane. Sets safe[i] to the address to use for row i, and adds the wavefronts to the
// counter `passes`, and to the next one, which is for the ideal number.
template <class Row, Row (*access)(Thread&, unsigned lane, Place, unsigned bytes), Counter passes>
void matrix_rows(Thread& t, const Place* rows, unsigned matrices, Row* safe) {
  Fiber& f = fiber(t);
  Block& b = *f.home;
  const bool converged = !f.its_warp->diverged && !f.its_warp->pairs;  // the lanes have observed the same
  shadow::Actor a = b.actor(f, f.its_warp->converging.address);
  for (unsigned m = 0; m < matrices; ++m) {
    std::uint32_t at[8], used = 0;
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned row = m * 8 + i;
      if (passes == Counter::ldmatrix_wavefronts && converged && reads_row(f, row, rows[row], a))
        safe[row] = rows[row].p;
      else
        safe[row] = access(t, row, rows[row], 16);
      at[i] = std::uint32_t(rows[row].p - b.memory);
      used |= 1u << at[i] / 16 % 8;
    }
    b.counters[passes] += used == 0xff ? 1 : wavefronts(at, nullptr, 8, 16);  // 0xff: all banks serve a row each
    ++b.counters[Counter(unsigned(passes) + 1)];
  }
}

void poisoned(Thread& t) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  const std::uintptr_t wgmma = f.in_flight ? f.in_flight->last_wgmma : 0;
  b.report(f, Kind::accumulator, nullptr, {site, wgmma},
           "of {}: at \1 it stores a value made of registers that the wgmma at \2 still owned when they were read; "
           "wgmma_commit and wgmma_wait come first",
           b.who(f.index));
}

const Region* arranged(Thread&, const Region* region, const Arrangement& a, const Parts* parts) {
  return static_cast<Block*>(region->shadow)->arranged(*region, a, parts);
}

// Reports the use of an unwritten register. `declared`: code address of the register's declaration, 0 if unknown.
// `value`: index of the register in the declared object.
void unwritten(Thread& t, Use use, std::uintptr_t declared, unsigned value) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  const Kind kind = Kind::uninitialised_read;
  if (!b.findings.fresh(kind, reinterpret_cast<const void*>(declared), site.address)) return;
  const char* deed = use == Use::stores       ? "stores at \1 what it makes of"
                     : use == Use::rounds     ? "rounds at \1"
                     : use == Use::multiplies ? "multiplies at \1 by"
                                              : "accumulates at \1 on";
  RawFinding raw{kind, "", "", {b.walk(f, site)}, b.linear};
  raw.text = fmt::format("of registers{}: {} {} value {}{}, which nothing has written", declared ? " \x0e" : "",
                         b.who(f.index), deed, value, use == Use::multiplies && !declared ? " of an operand" : "");
  raw.registers = true;
  if (declared) {
    raw.text += "; they are declared at \2";
    raw.sites.push_back({declared});
    raw.named_by = 1;
  }
  b.findings.add(std::move(raw));
}

void cp_async(Thread& t, Place dst, Place src, unsigned bytes, unsigned valid) {
  start_copy(fiber(t), dst, src, bytes, valid, ZELLIGE_SITE());
}

void cp_async_commit(Thread& t) {
  Fiber& f = fiber(t);
  f.copy_groups.push_back(std::exchange(f.uncommitted, 0));
}

void cp_async_wait(Thread& t, unsigned pending) { land_copies(fiber(t), pending); }

const Region* shared(Thread& t, const char* name, unsigned offset, unsigned bytes) {
  return fiber(t).home->shared(fiber(t), name, offset, bytes, ZELLIGE_SITE());
}

const Region* region_of(Thread& t, const void* p) { return fiber(t).home->region_of(fiber(t), p, ZELLIGE_SITE()); }

unsigned atomic_increment(Thread& t, Place p, unsigned last) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  if (!admit(f, f.index, p, 4, true, site, 4)) return 0;
  if (p.region->space != Space::global) {
    b.fail_at(f, p.region->name, site, "atomic_increment of {}, which is not in global memory", p.region->name);
    return 0;
  }
  const auto& state = *static_cast<const GlobalState*>(p.region->shadow);
  const std::size_t at = std::size_t(p.p - p.region->begin);
  if (state.flags && std::memchr(state.flags + at, 0, 4)) clash(f, f.index, p, 4, "counts", site, {What::unwritten});
  if (!known(f).time[b.cluster.previous]) early(f, p, 4, true, site);
  if (const shadow::Clash c = state.races->add(at, 4, b.actor(f, site.address), std::uint32_t(b.linear), 0))
    clash_of_global(f, p, 4, "counts", site, c, true);
  shadow::Arrival mine = released_by(f, site);
  shadow::Arrivals& arrivals = state.races->arrivals;
  const std::lock_guard lock(arrivals.mutex);
  std::uint32_t before = 0;
  std::memcpy(&before, p.p, 4);
  const std::uint32_t after = before >= last ? 0 : before + 1;
  std::memcpy(p.p, &after, 4);
  std::vector<shadow::Arrival>& all = arrivals.at[at];
  b.acquired.push_back({mine.epoch, std::uint16_t(b.first_thread + f.index), all});
  all.push_back(std::move(mine));
  return before;
}

void relaxed(Thread& t, Place p, unsigned bytes, bool writes) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  if (p.region->space == Space::global) return relaxed_access(f, p, bytes, writes, site);
  b.fail_at(f, p.region->name, site, "a flag of {}, which is not in global memory", p.region->name);
}

void release(Thread& t) { thread_fence(fiber(t)); }

void fail_at(Thread& t, const char* tensor, const char* message) {
  fiber(t).home->fail_at(fiber(t), tensor, Call(t, ZELLIGE_SITE()).site, "{}", message);
}

// Executes the products of a warp's step; see multiply in <zellige/emulate/device.hpp>.
unsigned multiply(const Instruction& row, unsigned m, unsigned n, const void* const* a, const void* const* b,
                  void* const* d) {
  unsigned products = 0;
  for (unsigned t = 0; t < m * n; ++t) products += d[t * 32] != nullptr;
  const bool exact = exact_sums && ::zellige::reference::has_exact_sums(row);
  if (!exact && arithmetic::multiply_fragments(row, int(m), int(n), a, b, d)) return products;
  for (unsigned t = 0; t < m * n; ++t) {
    void* const* const its = d + t * 32;
    if (!its[0]) continue;
    alignas(16) unsigned char c[32][64];
    const void* sums[32];
    for (unsigned lane = 0; lane < 32; ++lane)
      sums[lane] = std::memcpy(c[lane], its[lane], std::size_t(row.c.registers) * 4);
    execute_matrix(row, {a + t / n * 32, b + t % n * 32, sums, its});
  }
  return products;
}

}  // namespace

void start_copy(Fiber& f, Place dst, Place src, unsigned bytes, unsigned valid, Site site) {
  Block& b = *f.home;
  b.check_time(f, site);
  if (valid > bytes) {
    b.report(f, Kind::instruction, dst.region->name, site, "cp.async: {} asks at \1 for {} valid bytes of {}",
             b.who(f.index), valid, bytes);
    valid = bytes;
  }
  if (dst.region->space != Space::shared || (valid && src.region->space != Space::global)) {
    b.report(f, Kind::instruction, dst.region->name, site,
             "cp.async: {} copies at \1 from {} to {} memory; it goes from global to shared only", b.who(f.index),
             spell(src.region->space), spell(dst.region->space));
    return;
  }
  const unsigned char* from = rejected;
  bool watched = false;  // the source is in the record of reads of global memory
  if (valid && admit(f, f.index, src, valid, false, site, bytes)) {
    check_global<false>(f, src, valid, "reads", site);
    from = src.p;
    if (static_cast<const GlobalState*>(src.region->shadow)->races) {
      b.cluster.global_reads.begin(src.p, valid, b.actor(f, site.address));
      watched = true;
    }
    f.its_warp->log.add(site.address, Counter::cp_async_sectors, bytes, f.lane, reinterpret_cast<std::uint64_t>(src.p),
                        valid, awaited(f), b.counters);
  }
  b.counters[Counter::cp_async_source_bytes] += valid;
  ++b.counters[by_width(Counter::cp_async_1, bytes)];
  if (!admit(f, f.index, dst, bytes, true, site, bytes)) return;
  if (dst.region->shadow != &b) {
    b.fail_at(f, dst.region->name, site, "cp.async to another block's shared memory; it writes its own block's");
    return;
  }
  const std::size_t at = std::size_t(dst.p - b.memory);
  const shadow::Actor a = b.actor(f, site.address);
  shadow::Clash c = b.shadow.write(at, bytes, a, *dst.region, shadow::SharedShadow::By::cp_async);
  if (!c && !b.async.empty()) c = b.async.write(at, a, b.cluster.ops);
  if (c) clash(f, f.index, dst, bytes, "copies by cp.async into", site, c);
  b.mbarriers.spare(f, at, bytes, "copies by cp.async into", site);
  if (dst.region->part_bytes)
    b.parts.filled(*dst.region, std::size_t(dst.p - dst.region->begin), std::uint16_t(f.index), a.epoch, site.address);
  ++f.uncommitted;
  CopyInFlight& copy = f.copies.emplace_back();
  copy.at = std::uint32_t(at);
  copy.bytes = std::uint8_t(bytes);
  copy.region = dst.region->id;
  copy.site = std::uint32_t(site.address);
  copy.source = watched ? src.p : nullptr;
  copy.valid = std::uint8_t(valid);
  std::memcpy(copy.data, from, valid);
  std::memset(copy.data + valid, 0, bytes - valid);
  f.its_warp->log.add(site.address, Counter::cp_async_wavefronts, bytes, f.lane, at, bytes, awaited(f), b.counters);
}

void execute_matrix(const Instruction& row, const BodyOperands& operands) {
  if (exact_sums && ::zellige::reference::has_exact_sums(row))
    ::zellige::reference::exact_mma(row, operands);
  else if (!arithmetic::multiply_floats(row, operands) && !arithmetic::move_matrices(row, operands))
    row.body(row, operands);
}

bool check_access(Fiber& f, Place p, unsigned bytes, bool writes, Site site) {
  acquire_again(f, site);
  judge_postponed();
  const PostponesStores until_done;
  return writes ? access<true>(f, p, bytes, site) : access<false>(f, p, bytes, site);
}

bool admit_access(Fiber& f, Place p, unsigned bytes, bool writes, Site site) {
  return admit(f, f.index, p, bytes, writes, site, bytes);
}

void land_copies(Fiber& f, unsigned pending_groups) {
  Block& b = *f.home;
  shadow::Actor a = b.actor(f, 0);
  for (; f.copy_groups.size() > pending_groups; f.copy_groups.pop_front())
    for (std::uint32_t left = f.copy_groups.front(); left; --left, f.copies.pop_front()) {
      const CopyInFlight& copy = f.copies.front();
      a.site = copy.site;
      std::memcpy(b.memory + copy.at, copy.data, copy.bytes);
      b.shadow.land(copy.at, copy.bytes, a, copy.region);
      if (copy.source) b.cluster.global_reads.land(copy.source, copy.valid, a);
    }
}

const Engine& engine() {
  static const Engine table = [] {
    Engine all = {.read = read,
                  .write = write,
                  .shared = shared,
                  .read_rows = matrix_rows<const void*, read_as, Counter::ldmatrix_wavefronts>,
                  .read_as = read_as,
                  .write_as = write_as,
                  .cp_async = cp_async,
                  .cp_async_commit = cp_async_commit,
                  .cp_async_wait = cp_async_wait,
                  .fail = fail_at,
                  .write_rows = matrix_rows<void*, write_as, Counter::stmatrix_wavefronts>,
                  .poisoned = poisoned,
                  .async = &async_engine(),
                  .atomic_increment = atomic_increment,
                  .arranged = arranged,
                  .unwritten = unwritten,
                  .instruction = row_of,
                  .run_body = execute_matrix,
                  .multiply = multiply,
                  .region_of = region_of,
                  .relaxed = relaxed,
                  .release = release};
    add_waits(all);
    return all;
  }();
  return table;
}

}  // namespace zellige::emulate
