// Implements the tcgen05 instructions: allocation of tensor memory, moves from and to registers, waits, fences, products, and
// commits to mbarriers.
#include "zellige/emulate/tcgen05.hpp"

#include <bit>
#include <string_view>

#include "emulate/calls.hpp"
#include "emulate/operand_reader.hpp"
#include "zellige/atom/umma_reference.hpp"

namespace zellige::emulate {

using Kind = Finding::Kind;
using zellige::reference::UmmaKind;
using zellige::reference::UmmaShape;

namespace {

// An address without the bits in which pointers to narrow elements count these within a word.
constexpr std::uint32_t address_bits = 0x1fffffff;

// The call of a warp collective: the running thread, which calls for all lanes, and the place in the kernel.
struct TensorCall {
  explicit TensorCall(Thread& t) : f(fiber(t)), b(*f.home), w(*f.its_warp), site(w.converging) {}
  Fiber& f;
  Block& b;
  Warp& w;
  Site site;
  Fiber& lane(unsigned i) const { return b.thread(w.local * 32 + i); }
};

// Adds an observation to what every lane of a warp has observed.
void hear_together(Warp& w, std::uint32_t agent, std::uint32_t time) {
  w.clock.time[agent] = std::max(w.clock.time[agent], time);
  for (std::uint32_t left = w.diverged; left; left &= left - 1) {
    std::uint32_t& own = w.own[unsigned(std::countr_zero(left))].time[agent];
    own = std::max(own, time);
  }
}

// Returns whether a block's tcgen05 instructions are all for as many CTAs as this one; reports it if not.
bool same_group(Fiber& f, Block& b, unsigned ctas, const char* what, Site site) {
  if (b.tensor.ctas == 0) b.tensor.ctas = ctas;
  if (b.tensor.ctas == ctas) return true;
  return b.fail_at(f, nullptr, site, "{} of cta_group::{}, and the block's tcgen05 before it are of cta_group::{}",
                   what, ctas, b.tensor.ctas);
}

void alloc(Thread& t, Place to, unsigned columns, unsigned ctas) {
  const TensorCall call(t);
  auto& [f, b, w, site] = call;
  if (columns < 32 || columns > TensorMemory::columns || !std::has_single_bit(columns)) {
    b.fail_at(f, "tensor memory", site, "tcgen05.alloc of {} columns; a power of two, 32 to 512, is possible", columns);
    return;
  }
  if (!same_group(f, b, ctas, "tcgen05.alloc", site)) return;
  if (b.tensor.relinquished) {
    b.fail_at(f, "tensor memory", site,
              "tcgen05.alloc after the block has given up its permit by relinquish_alloc_permit");
    return;
  }
  unsigned first = b.tensor.find_free(columns);
  while (first == TensorMemory::columns) {
    f.barrier = columns;
    b.suspend(f, Fiber::State::for_columns, site);
    first = b.tensor.find_free(columns);
  }
  const shadow::Actor a = b.actor(f, site.address);
  const std::uint16_t warp = std::uint16_t(a.thread / 32 * 32);
  b.tensor.allocate({first, columns, ctas, warp, a.epoch, site});
  const std::uint32_t address = first;
  std::memcpy(t.engine->write_as(t, 0, to, 4), &address, 4);
}

void dealloc(Thread& t, std::uint32_t address, unsigned columns, unsigned ctas) {
  const TensorCall call(t);
  auto& [f, b, w, site] = call;
  if (address >> 16) {
    b.fail_at(f, "tensor memory", site, "tcgen05.dealloc at lane {}; an allocation begins at lane 0", address >> 16);
    return;
  }
  if (!same_group(f, b, ctas, "tcgen05.dealloc", site)) return;
  if (b.tensor.free(f, address & 0xffff, columns, ctas, site)) b.wake(Fiber::State::for_columns);
}

void relinquish(Thread& t, unsigned ctas) {
  const TensorCall call(t);
  if (!same_group(call.f, call.b, ctas, "tcgen05.relinquish_alloc_permit", call.site)) return;
  call.b.tensor.relinquished = true;
}

// Returns the lanes and columns that a move touches, and reports lanes that belong to other warps.
bool part_of(const TensorCall& call, std::uint32_t address, const TmemWords& shape, TensorMemory::Part& p) {
  const unsigned halves = 64 * shape.registers, quarter = call.w.local % 4;
  unsigned last = 0;
  p = {0, address & 0xffff, 0};
  unsigned first_lane = ~0u, last_lane = 0;
  for (unsigned i = 0; i < halves; ++i) {
    const unsigned lane = (address >> 16) + (shape.places[i] >> 16);
    last = std::max(last, (shape.places[i] & 0xffff) / 2);
    first_lane = std::min(first_lane, lane), last_lane = std::max(last_lane, lane);
    if (lane < TensorMemory::lanes) p.cells |= 1u << lane / TensorMemory::lanes_of_cell;
  }
  p.count = last + 1;
  if (first_lane / 32 == quarter && last_lane / 32 == quarter && first_lane % 16 == 0) return true;
  return call.b.report(
      call.f, Kind::out_of_bounds, "tensor memory", call.site,
      "on tensor memory: {} {} lanes {}..{} at \1; warp {} of the block may access lanes {}..{}, from {} "
      "or {} on",
      call.b.who(call.f.index / 32 * 32), shape.load ? "reads by tcgen05.ld" : "writes by tcgen05.st", first_lane,
      last_lane + 1, call.w.local, 32 * quarter, 32 * quarter + 32, 32 * quarter, 32 * quarter + 16);
}

// Moves the halves of a warp's registers.
void move_words(TensorMemory& memory, const TmemOperands* in, std::uint32_t address, const TmemWords& shape) {
  for (unsigned t = 0; t < 32; ++t)
    for (unsigned r = 0; r < shape.registers; ++r) {
      std::uint32_t halves[2];
      for (unsigned h = 0; h < 2; ++h) {
        const std::uint32_t place = shape.places[2 * (t * shape.registers + r) + h];
        const unsigned lane = (address >> 16) + (place >> 16);
        const unsigned column = (address & 0xffff) + (place & 0xffff) / 2, shift = 16 * (place & 1);
        std::uint32_t& word = memory.word(lane, column);
        if (shape.load) {
          halves[h] = memory.written(lane, column) ? word >> shift & 0xffff
                      : shape.of_half              ? std::uint32_t(0x7fd4)
                                                   : std::uint32_t(0x7fd40000) >> shift & 0xffff;
        } else {
          const std::uint32_t half = in[t].registers[r] >> 16 * h & 0xffff;
          word = shape.of_half ? half : (word & ~(0xffffu << shift)) | half << shift;
        }
      }
      if (shape.load) in[t].registers[r] = halves[0] | halves[1] << 16;
    }
}

void move(Thread& t, const TmemOperands* in, const TmemWords& shape) {
  const TensorCall call(t);
  auto& [f, b, w, site] = call;
  b.check_time(f, site);
  TensorMemory::Part part{};
  const auto refuse = [&] {
    for (unsigned l = 0; shape.load && l < 32; ++l) std::memset(in[l].registers, 0xff, 4 * shape.registers);
  };
  const std::uint32_t address = in[0].address & address_bits;
  if (!part_of(call, address, shape, part)) return refuse();
  const TensorOp::Kind kind = shape.load ? TensorOp::Kind::load : TensorOp::Kind::store;
  shadow::Actor a = b.actor(f, site.address);
  a.thread = std::uint16_t(b.first_thread + w.local * 32);
  a.clock = &w.clock, a.synced = w.synced, a.pairs = nullptr;
  TensorSource& source = b.tensor.source(kind, w.index);
  if (!source.agent) source.agent = b.cluster.new_agent();
  const TensorOp op{kind, 1, a.thread, a.site, a.epoch, source.groups + 1, &source};
  const TensorMemory::Access x{call.lane(0), site, a, op, shape.load ? "reads by tcgen05.ld" : "writes by tcgen05.st",
                               true};
  if (!(shape.load ? b.tensor.read(x, part, false) : b.tensor.write(x, part))) return refuse();
  move_words(b.tensor, in, address, shape);
  ++b.counters[shape.load ? Counter::tmem_load : Counter::tmem_store];
}

void wait(Thread& t, bool load) {
  const TensorCall call(t);
  TensorSource& source = call.b.tensor.source(load ? TensorOp::Kind::load : TensorOp::Kind::store, call.w.index);
  if (!source.agent) return;
  hear_together(call.w, source.agent, ++source.groups + 1);
}

// A fence of a thread: before, it marks what the thread's operations and those of its warp have completed; after, what the
// thread has observed.
void fence(Thread& t, bool after) {
  Fiber& f = fiber(t);
  Block& b = *f.home;
  b.cluster.fences_tensors = true;
  if (after) {
    const shadow::Clock& now = known(f);
    in_flight(f).tensor_seen.assign(now.time, now.time + b.cluster.agents());
    return;
  }
  const auto mark = [&](TensorOp::Kind kind, unsigned issuer, std::uint32_t open) {
    const auto found = b.tensor.sources().find({kind, issuer});
    if (found == b.tensor.sources().end() || !found->second.agent) return;
    TensorSource& source = found->second;
    if (!source.fenced) source.fenced = b.cluster.new_agent();
    const std::uint32_t time = source.groups + 1 + open;
    if (known(f).time[source.fenced] < time) hear(f, source.fenced, time);
  };
  mark(TensorOp::Kind::load, f.its_warp->index, 0);
  mark(TensorOp::Kind::store, f.its_warp->index, 0);
  mark(TensorOp::Kind::mma, b.first_thread + f.index, 1);
}

void leave_fences(Thread& t) { fiber(t).home->cluster.leaves_fences = true; }

// Returns whether the address of D, or of A, has a lane at which the instruction can have it; reports it if not.
bool valid_lane(Fiber& f, const UmmaShape& s, std::uint32_t address, const char* which, Site site) {
  const unsigned lane = address >> 16;
  if (lane == 0 || (s.m == 64 && lane == 16)) return true;
  return f.home->fail_at(f, "tensor memory", site,
                         "tcgen05.mma of {} rows has operand {} at lane {}; it begins at lane 0{}", s.m, which, lane,
                         s.m == 64 ? " or 16" : "");
}

// Returns the cells of tensor memory that `rows` rows occupy from an address on, in these columns.
TensorMemory::Part rows_at(unsigned rows, unsigned ctas, std::uint32_t address, unsigned columns) {
  const bool some = rows == 64 && ctas == 1;
  return {some ? 0x55u << (address >> 16) / 16 : 0xffu, address & 0xffff, columns};
}

// Returns whether the descriptors are such that the instruction exists; reports it if not.
bool valid(Fiber& f, const UmmaCall& call, const UmmaShape& s, Site site) {
  Block& b = *f.home;
  if (s.a == Number::none || s.b == Number::none || (s.d == Number::s32) != (call.kind == UmmaKind::i8))
    return b.fail_at(f, nullptr, site,
                     "the descriptor {:#x} of a tcgen05.mma names types of operands that its kind does not have",
                     call.instruction);
  const bool rows = call.ctas == 1 ? s.m == 64 || s.m == 128 : s.m == 128 || s.m == 256;
  if (!rows || s.n < 8 || s.n > 256)
    return b.fail_at(f, nullptr, site, "the descriptor of a tcgen05.mma of {} CTA(s) says M = {} and N = {}", call.ctas,
                     s.m, s.n);
  if ((call.b | (call.a_in_tmem ? 0 : call.a)) >> 61 & 1)
    return b.fail_at(f, nullptr, site,
                     "a descriptor of a tcgen05.mma says a swizzle of 128 bytes in units of 32; the emulator has none");
  if (call.instruction >> 31 && call.scale_block)
    return b.fail_at(f, nullptr, site, "a tcgen05.mma of K = 96; the emulator has none");
  if (!same_group(f, b, call.ctas, "tcgen05.mma", site)) return false;
  if (call.ctas == 2 && (b.cluster.size() % 2 || b.rank % 2))
    return b.fail_at(f, nullptr, site,
                     "block {} of a cluster of {} issues a tcgen05.mma of a pair of CTAs; the block of even rank of a "
                     "pair issues it",
                     b.rank, b.cluster.size());
  return valid_lane(f, s, call.d, "D", site);
}

// Reads a CTA's rows of A from tensor memory.
bool read_tensor_a(Block& there, TensorMemory::Access x, const UmmaCall& call, const UmmaShape& s, unsigned rows,
                   std::vector<double>& a) {
  const std::uint32_t address = std::uint32_t(call.a) & address_bits;
  if (!valid_lane(x.f, s, address, "A", x.site)) return false;
  if (bits_of(s.a) < 8)
    return x.f.home->fail_at(x.f, "tensor memory", x.site, "the emulator has no operands of {} bits in tensor memory",
                             bits_of(s.a));
  x.verb = "multiplies by tcgen05.mma";
  constexpr unsigned columns = 8;  // the 32 bytes of a row
  if (!there.tensor.read(x, rows_at(rows, call.ctas, address, columns), true)) return false;
  for (unsigned r = 0; r < rows; ++r) {
    unsigned char row[4 * columns];
    const unsigned lane = zellige::reference::UmmaPlace(rows, call.ctas, s.n, address >> 16, r, 0).lane;
    for (unsigned c = 0; c < columns; ++c)
      std::memcpy(row + 4 * c, &there.tensor.word(lane, (address & 0xffff) + c), 4);
    for (unsigned c = 0; c < s.k; ++c) a[r * s.k + c] = zellige::reference::umma_element(s.a, row, c);
  }
  return true;
}

// Reads `rows` rows of an operand by a reader of a block's shared memory.
void read_shared(OperandReader reader, std::uint64_t descriptor, bool mn, unsigned rows, const UmmaShape& s,
                 Number number, double* to) {
  static thread_local std::vector<unsigned char> bytes;
  constexpr unsigned of_row = 32;
  reader.read(descriptor, mn, rows, of_row / s.size, s.size, bytes);
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < s.k; ++c)
      to[r * s.k + c] = s.packed ? zellige::reference::packed_element(&bytes[r * of_row], c)
                                 : zellige::reference::umma_element(number, &bytes[r * of_row], c);
}

// Multiplies the elements of an operand by the scales of their blocks, whose address is given: row r has them in the lanes
// r mod 32 of each warp, in column r / 32 from the address on, a byte for each block from byte `first` on.
bool apply_scales(Block& there, TensorMemory::Access x, const UmmaCall& call, std::uint32_t address, unsigned first,
                  unsigned rows, const UmmaShape& s, const char* which, double* to) {
  const unsigned column = address & 0xffff, blocks = s.k / call.scale_block;
  if ((address & address_bits) >> 16 || first + blocks > 4)
    return x.f.home->fail_at(
        x.f, "tensor memory", x.site,
        "the {} scales of a row of {} begin at lane {} and byte {} of a word of tensor memory; they "
        "lie in one word, from lane 0 on",
        blocks, which, (address & address_bits) >> 16, first);
  x.verb = "scales by tcgen05.mma";
  if (!there.tensor.read(x, {0xff, column, (rows + 31) / 32}, true)) return false;
  for (unsigned r = 0; r < rows; ++r) {
    const std::uint32_t word = there.tensor.word(r % 32, column + r / 32);
    for (unsigned c = 0; c < s.k; ++c)
      to[r * s.k + c] *= zellige::reference::narrow_value(s.scale, word >> 8 * (first + c / call.scale_block) & 0xffu);
  }
  return true;
}

// Executes a tcgen05.mma. The result is in tensor memory at once; until a thread knows by a commit that the instruction is
// complete, an access to it is a race.
void mma(Thread& t, const UmmaCall& call) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  b.check_time(f, site);
  const UmmaShape s(call.kind, call.instruction);
  if (!valid(f, call, s, site)) return;
  Cluster& cluster = b.cluster;
  ++b.counters[Counter::tcgen05_mma];
  TensorSource& pipe = b.tensor.source(TensorOp::Kind::mma, b.first_thread + f.index);
  if (!pipe.agent) pipe.agent = cluster.new_agent();
  const shadow::Actor actor = b.actor(f, site.address);
  const TensorOp op{TensorOp::Kind::mma, call.ctas, actor.thread, actor.site, actor.epoch, pipe.groups + 1, &pipe};
  const TensorMemory::Access access{f, site, actor, op, "writes by tcgen05.mma", false, call.accumulate};
  const unsigned rows = s.m / call.ctas, rows_of_b = s.n / call.ctas;
  std::vector<double> all_a(s.m * s.k), all_b(s.n * s.k);
  for (unsigned i = 0; i < call.ctas; ++i) {
    Block& there = cluster.block(b.rank + i);
    if (i && !reach(there, f, "multiplies from", "shared tensor", "A and B", site, true)) return;
    there.async.start(there.shared_bytes);
    const std::uint32_t reads = cluster.add({shadow::AsyncOp::Kind::tcgen05_mma, 0, true, actor.thread, 0, actor.site,
                                             pipe.agent, pipe.groups + 1, there.rank, 0});
    std::vector<double> a(rows * s.k);
    if (!call.a_in_tmem)
      read_shared({there, f, reads, site, "tcgen05.mma", "A", actor}, call.a, s.a_mn, rows, s, s.a, a.data());
    else if (!read_tensor_a(there, access, call, s, rows, a))
      return;
    if (call.scale_block && !apply_scales(there, access, call, call.scales_a, s.scale_at_a, rows, s, "A", a.data()))
      return;
    std::copy(a.begin(), a.end(), all_a.begin() + i * rows * s.k);
    read_shared({there, f, reads, site, "tcgen05.mma", "B", actor}, call.b, s.b_mn, rows_of_b, s, s.b,
                &all_b[i * rows_of_b * s.k]);
    const unsigned columns = rows == 64 && call.ctas == 2 ? s.n / 2 : s.n;
    if (!there.tensor.write(access, rows_at(rows, call.ctas, call.d, columns))) return;
  }
  if (call.scale_block && !apply_scales(b, access, call, call.scales_b, s.scale_at_b, s.n, s, "B", all_b.data()))
    return;
  for (unsigned i = 0; i < call.ctas; ++i) {
    TensorMemory& memory = cluster.block(b.rank + i).tensor;
    zellige::reference::umma(s, rows, &all_a[i * rows * s.k], all_b.data(), call.accumulate,
                             [&](unsigned row, unsigned column) -> std::uint32_t& {
                               const zellige::reference::UmmaPlace p(rows, call.ctas, s.n, call.d >> 16, row, column);
                               return memory.word(p.lane, (call.d & 0xffff) + p.column);
                             });
  }
}

// Executes a tcgen05.cp: rows of 16 or 32 bytes go to lanes of one or several warps. It is in order with the thread's
// tcgen05.mma, and as these its result is there at once.
void copy(Thread& t, std::uint64_t descriptor, std::uint32_t address, const char* shape, unsigned ctas) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  const std::string_view form = shape;
  const unsigned rows = form.starts_with(".128x")  ? 128
                        : form.starts_with(".64x") ? 64
                        : form.starts_with(".32x") ? 32
                                                   : 0;
  const unsigned bytes = form.find("256b") != form.npos ? 32 : 16, column = address & 0xffff;
  const bool neighbours = form.ends_with("01_23");
  if (!rows || (address & address_bits) >> 16) {
    b.fail_at(f, "tensor memory", site, "tcgen05.cp{} to lane {}; {}", form, (address & address_bits) >> 16,
              rows ? "it writes from lane 0 on" : "the emulator does not have this shape");
    return;
  }
  if (!same_group(f, b, ctas, "tcgen05.cp", site)) return;
  ++b.counters[Counter::tcgen05_cp];
  TensorSource& pipe = b.tensor.source(TensorOp::Kind::mma, b.first_thread + f.index);
  if (!pipe.agent) pipe.agent = b.cluster.new_agent();
  const shadow::Actor actor = b.actor(f, site.address);
  const TensorOp op{TensorOp::Kind::copy, std::uint8_t(ctas), actor.thread, actor.site,
                    actor.epoch,          pipe.groups + 1,    &pipe};
  const TensorMemory::Access access{f, site, actor, op, "writes by tcgen05.cp", false};
  for (unsigned i = 0; i < ctas && b.rank + i < b.cluster.size(); ++i) {
    Block& there = b.cluster.block(b.rank + i);
    there.async.start(there.shared_bytes);
    const std::uint32_t reads = b.cluster.add({shadow::AsyncOp::Kind::tcgen05_cp, 0, true, actor.thread, 0, actor.site,
                                               pipe.agent, pipe.groups + 1, there.rank, 0});
    std::vector<unsigned char> data;
    OperandReader{there, f, reads, site, "tcgen05.cp", "", actor}.read(descriptor, false, rows, bytes, 1, data);
    if (!there.tensor.write(access, {0xff, column, bytes / 4})) return;
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned again = 0; again < 128 / rows; ++again) {
        const unsigned lane = neighbours ? r % 32 + r / 32 * 64 + 32 * again : r + rows * again;
        for (unsigned c = 0; c < bytes / 4; ++c)
          std::memcpy(&there.tensor.word(lane, column + c), &data[r * bytes + 4 * c], 4);
      }
  }
}

void commit(Thread& t, Place barrier, unsigned mask, unsigned ctas) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  Cluster& cluster = b.cluster;
  b.check_time(f, site);
  if (!same_group(f, b, ctas, "tcgen05.commit", site)) return;
  if (barrier.region->space != Space::shared || barrier.region->shadow != &b) {
    b.fail_at(f, barrier.region->name, site,
              "the mbarrier of a tcgen05_commit must be in the block's own shared memory");
    return;
  }
  const auto at = std::uint32_t(barrier.p - b.memory);
  const unsigned ranks = mask & multicast ? mask & 0xffff : 1u << b.rank, there = (1u << cluster.size()) - 1;
  if (ranks & ~there || !ranks)
    b.fail_at(f, barrier.region->name, site, "tcgen05_commit_multicast to the blocks {:#x} of a cluster of {}", ranks,
              cluster.size());
  TensorSource& pipe = b.tensor.source(TensorOp::Kind::mma, b.first_thread + f.index);
  if (!pipe.agent) pipe.agent = cluster.new_agent();
  ++pipe.groups;
  const shadow::Actor a = b.actor(f, site.address);
  for (unsigned rank = 0; rank < cluster.size(); ++rank) {
    if (!((ranks & there) >> rank & 1)) continue;
    Block& to = cluster.block(rank);
    MBarrier* const m = &to == &b ? mbarrier_at(f, barrier, "commits to", site)
                                  : mbarrier_at(to, f, at, "commits to", site, barrier.region->name, true);
    if (!m || !begin_commit(f, *m, site)) continue;
    const std::uint32_t op = cluster.add({shadow::AsyncOp::Kind::tcgen05_commit, 0, false, a.thread, barrier.region->id,
                                          a.site, pipe.agent, pipe.groups, to.rank, m->at});
    Landing landing{op};
    landing.after_wait = known(f).time[cluster.previous] != 0;
    landing.ends.emplace_back(pipe.agent, pipe.groups + 1);
    for (unsigned r = 0; r < cluster.size(); ++r)
      for (const auto& [offset, other] : cluster.block(r).mbarriers.all)
        if (known(f).time[other.agent]) landing.ends.emplace_back(other.agent, known(f).time[other.agent]);
    cluster.queue(std::move(landing));
  }
}

void differs(Thread& t, const char* what, const char* operand) {
  const TensorCall call(t);
  call.b.report(call.f, Kind::divergence, nullptr, call.site,
                "in warp {} of {}: its threads reach {} at \1 with different values of the {}", call.w.local,
                call.b.name(), what, operand);
}

}  // namespace

void add_tcgen05(AsyncEngine& all) {
  static const Tcgen05Engine table{alloc,        dealloc, relinquish, move, wait,   fence,
                                   leave_fences, mma,     commit,     copy, differs};
  all.tcgen05 = &table;
}

}  // namespace zellige::emulate
