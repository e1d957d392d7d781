// Issues TMA copies, bulk copies and store_async. The writes of stores to global memory are in global_stores.cpp.
#include <algorithm>
#include <span>

#include "emulate/box.hpp"
#include "emulate/calls.hpp"

namespace zellige::emulate {
namespace {

using Kind = Finding::Kind;
using AsyncKind = shadow::AsyncOp::Kind;

// Returns true if the `bytes` bytes at `p` are in the memory `space`, within their tensor, and at a multiple
// of `alignment`; otherwise reports a finding (an error in the kernel) and returns false. `verb`: what the
// thread does with the bytes, for the message.
bool admit(Fiber& f, Place p, std::size_t bytes, Space space, unsigned alignment, const char* verb, Site site) {
  const Region& r = *p.region;
  const Block& b = *f.home;
  if (r.space != space)
    return f.home->fail_at(f, r.name, site, "it {} {}, which is in {} memory; it must be in {} memory", verb, r.name,
                           spell(r.space), spell(space));
  const std::ptrdiff_t from = p.p - r.begin;
  const auto where = [&] {
    return fmt::format("{} tensor {}: {} {} bytes {}..{} at \1", spell(space), r.name, b.who(f.index), verb, from,
                       from + std::ptrdiff_t(bytes));
  };
  if (from < 0 || std::size_t(from) > r.bytes || bytes > r.bytes - std::size_t(from))
    return f.home->report(f, Kind::out_of_bounds, r.name,
                          {site, space == Space::global ? Finding::Missing::bounds_check : Finding::Missing::nothing},
                          "on {}; the tensor has {}", where(), r.bytes);
  const std::uintptr_t address =
      space == Space::shared ? std::uintptr_t(p.p - static_cast<Block*>(r.shadow)->memory) : std::uintptr_t(p.p);
  if (address % alignment)
    return f.home->report(f, Kind::misaligned, r.name, site, "in {}; the address must be a multiple of {} bytes",
                          where(), alignment);
  return true;
}

// Returns true if `bytes`, the size of a bulk copy, is a positive multiple of 16; otherwise reports a finding
// (an error in the kernel) and returns false. `what`: name of the instruction, for the message.
bool whole_chunks(Fiber& f, const Region& r, unsigned bytes, const char* what, Site site) {
  if (bytes % 16 == 0 && bytes > 0) return true;
  return f.home->fail_at(f, r.name, site, "{} of {} bytes; there must be a multiple of 16", what, bytes);
}

// Returns true if the cluster has a block `rank`; otherwise reports a finding and returns false.
bool has_block(Fiber& f, unsigned rank, const Region& r, Site site) {
  const unsigned blocks = f.home->cluster.size();
  if (rank < blocks) return true;
  return f.home->fail_at(f, r.name, site, "block {} of a cluster of {}", rank, blocks);
}

// Returns true if the TMA map is an im2col map (or a tiled one, if not `im2col`); otherwise reports a finding and
// returns false. `what`: name of the instruction, for the message.
bool check_mode(Fiber& f, const TmaMap& map, bool im2col, const char* what, Site site) {
  if (map.im2col == im2col) return true;
  return f.home->fail_at(f, map.region->name, site, "{} with a descriptor of tensor {} that is {}", what,
                         map.region->name, map.im2col ? "im2col" : "tiled");
}

// An asynchronous copy into the shared memory of one or several blocks of the cluster.
struct Load {
  AsyncKind kind;
  const char *verb, *use;           // what it does to the tile, and to the mbarrier, for messages
  std::vector<unsigned char> data;  // the bytes, in order
  std::uint32_t chunk = 16;         // bytes per chunk
  unsigned swizzle = 0;
  const Box* box = nullptr;  // TMA loads: gives the positions of the bytes in the tile; null: contiguous
  // the bytes of global memory that are read, if the launch writes their buffer
  std::vector<std::span<const unsigned char>> sources = {};
};

// Returns true if the tile is in the thread's own block, which is where copies to several blocks are named too;
// otherwise reports a finding and returns false.
bool in_own_block(Fiber& f, Place tile, const char* verb, Site site) {
  if (tile.region->shadow == f.home) return true;
  return f.home->fail_at(f, tile.region->name, site, "it {} {} of another block; the place must be in its own block",
                         verb, tile.region->name);
}

bool watched(const Region& r) { return static_cast<const GlobalState*>(r.shadow)->races != nullptr; }

// Issues an asynchronous copy to the tile `to` in each block of the cluster whose bit is set in `ranks`. In
// each of these blocks, the copy completes on the mbarrier at the offset of `barrier`.
void issue(Fiber& f, Load load, Place to, Place barrier, unsigned ranks, Site site, bool for_pair = false) {
  Block& own = *f.home;
  Cluster& cluster = own.cluster;
  if (!in_own_block(f, to, load.verb, site)) return;
  const std::uint32_t at = std::uint32_t(to.p - own.memory), bytes = std::uint32_t(load.data.size());
  const std::uint32_t bar = std::uint32_t(barrier.p - own.memory);
  const auto data = std::make_shared<std::vector<unsigned char>>(std::move(load.data));
  const auto places = std::make_shared<std::vector<std::uint32_t>>();
  for (std::uint32_t i = 0; i < bytes; i += load.chunk)
    places->push_back(swizzled(at + (load.box ? load.box->place(i) : i), load.swizzle));
  if (barrier.region->space != Space::shared || barrier.region->shadow != &own) {
    f.home->fail_at(f, barrier.region->name, site, "the mbarrier of a {} must be in the block's own shared memory",
                    load.verb);
    return;
  }
  for (unsigned rank = 0; rank < cluster.size(); ++rank) {
    if (!(ranks >> rank & 1)) continue;
    Block& there = cluster.block(rank);
    Block& counting = for_pair ? cluster.block(rank & ~1u) : there;
    MBarrier* b = &counting == &own ? mbarrier_at(f, barrier, load.use, site)
                                    : mbarrier_at(counting, f, bar, load.use, site, barrier.region->name, true);
    if (!b) continue;
    if (!b->fenced_at || !own.actor(f, site.address).after(b->fenced_at, b->made_by)) {
      own.report(f, Kind::fence, b->tensor, {site, widen(b->made_site, site.address)},
                 "on mbarrier {}: {} {} it at \1; {} initialised it at \2 and no fence_mbarrier_init {}", b->name,
                 own.who(f.index), load.use, cluster.spell(b->made_by),
                 b->fenced_at ? "comes before the barrier between" : "followed");
    }
    const Region* region = to.region;
    if (&there != &own) {
      if (!reach(there, f, load.verb, "shared tensor", to.region->name, site, true)) continue;
      region =
          there.shared(f, to.region->name, unsigned(to.region->begin - own.memory), unsigned(to.region->bytes), site);
    }
    there.async.start(there.shared_bytes);
    const shadow::Actor a = own.actor(f, site.address);
    const std::uint32_t op = cluster.add({load.kind, std::uint8_t(load.swizzle), false, a.thread, region->id, a.site, 0,
                                          shadow::AsyncOp::never, there.rank, bar});
    if (for_pair) cluster.ops[op].barrier_block = counting.rank;
    for (const std::uint32_t p : *places)
      if (const shadow::Clash c =
              shadow::first_of(there.shadow.write(p, load.chunk, a, region->id, shadow::SharedShadow::By::proxy),
                               there.async.write_by(op, p, a, cluster.ops)))
        clash(f, f.index, {there.memory + p, region}, load.chunk, load.verb, site, c);
    for (const auto source : load.sources) cluster.global_reads.add(source.data(), source.size(), op, a, cluster.ops);
    for (const std::uint32_t p : *places) there.mbarriers.spare(f, p, load.chunk, load.verb, site);
    own.counters[Counter::tma_load_bytes] += bytes;
    cluster.queue({op, load.chunk, data, places, known(f).time[cluster.previous] != 0, cluster.ends_known(known(f))});
  }
  if (load.kind == AsyncKind::tma_load || load.kind == AsyncKind::bulk_load) ++own.counters[Counter::tma_load];
}

// Returns a bit mask of the blocks (ranks in the cluster) into which a copy is written. `mask`: the operand of the
// copy; without the flag `multicast`, the result is this thread's block. Reports ranks that the cluster does not have.
unsigned ranks_of(Fiber& f, unsigned mask, const Region& r, const char* what, Site site) {
  Block& b = *f.home;
  if (!(mask & multicast)) return 1u << b.rank;
  const unsigned ranks = mask & 0xFFFF, there = (1u << b.cluster.size()) - 1;
  if (ranks & ~there || !ranks)
    f.home->fail_at(f, r.name, site, "{} to the blocks {:#x} of a cluster of {}", what, ranks, b.cluster.size());
  return ranks & there;
}

// Returns a flag for each 16-byte chunk of a store of `bytes` bytes: true if some byte of the chunk is inside
// the tensor. Other chunks are not stored. `box`: the TMA box that is stored; null for a bulk store, all of
// whose chunks are inside.
std::vector<bool> chunks_inside(const Box* box, std::uint32_t bytes) {
  std::vector<bool> inside(bytes / 16, box == nullptr);
  for (const BoxRun& run : box ? box->runs : std::vector<BoxRun>{})
    for (std::uint32_t i = run.to / 16; 16 * i < run.to + run.bytes; ++i) inside[i] = true;
  return inside;
}

// Issues a TMA or bulk store. Shared memory is read at once; the bytes are written to global memory when the
// thread waits for the store's group.
void issue_store(Fiber& f, AsyncKind kind, const char* verb, Place from, std::uint32_t bytes, unsigned swizzle,
                 const Box* box, StoreInFlight store, Site site) {
  Block& b = *f.home;
  Cluster& cluster = b.cluster;
  if (!in_own_block(f, from, verb, site)) return;
  InFlight& mine = in_flight(f);
  if (!mine.store_agent) mine.store_agent = cluster.new_agent();
  b.async.start(b.shared_bytes);
  const shadow::Actor a = b.actor(f, site.address);
  store.group = mine.stores_committed + 1;
  store.op = cluster.add(
      {kind, std::uint8_t(swizzle), true, a.thread, from.region->id, a.site, mine.store_agent, store.group, b.rank, 0});
  store.site = {site.address, 0};
  store.data.resize(bytes);
  const std::uint32_t at = std::uint32_t(from.p - b.memory);
  const std::vector<bool> inside = chunks_inside(box, bytes);
  for (std::uint32_t i = 0; i < bytes; i += 16) {
    if (!inside[i / 16]) continue;
    const std::uint32_t p = swizzled(at + (box ? box->place(i) : i), swizzle);
    std::memcpy(store.data.data() + i, b.memory + p, 16);
    shadow::Clash written = b.shadow.proxy_read(p, 16, a);
    if (written.what == shadow::Clash::What::unwritten && b.is_raw(from.region->id)) written = {};
    shadow::Clash c = shadow::first_of(written, b.async.read_by(store.op, p, a, cluster.ops));
    if (!c && !b.is_raw(from.region->id) && b.shadow.region_at(p) != from.region->id)
      c = {shadow::Clash::What::other_tensor, a.thread, b.shadow.region_at(p), 0};
    if (c) clash(f, f.index, {b.memory + p, from.region}, 16, verb, site, c);
  }
  begin_store(f, store);
  ++b.counters[Counter::tma_store];
  b.counters[Counter::tma_store_bytes] += bytes;
  mine.stores.push_back(std::move(store));
}

// Returns true if `map` is a TMA map that the launch passes as a parameter, for tensors of `rank` dimensions (0: any);
// otherwise reports a finding and returns false. `what`: name of the instruction, for the message.
bool valid_map(Fiber& f, const TmaMap* map, unsigned rank, const char* what, Site site) {
  if (map->magic != TmaMap::mark || !map->region)
    return f.home->fail_at(f, nullptr, site, "the descriptor of a {} is not one that the launch passes as a parameter",
                           what);
  if (rank && map->rank != rank)
    return f.home->fail_at(f, map->region->name, site, "a {} of {} dimensions with a descriptor of {}, for tensor {}",
                           what, rank, map->rank, map->region->name);
  return true;
}

// Returns true if the hardware accepts the coordinates `at` of a TMA load (or store, if `stores`; see coordinate_error
// in box.hpp); otherwise reports a finding and returns false. `what`: name of the instruction, for the message.
bool valid_coordinates(Fiber& f, const TmaMap& map, const int* at, bool stores, const char* what, Site site) {
  const std::string error = coordinate_error(map, at, stores);
  if (!error.empty())
    f.home->fail_at(f, map.region->name, site, "in the {} of tensor {}, {}", what, map.region->name, error);
  return error.empty();
}

void check_map(Thread& t, const TmaMap* map, unsigned rank, const int* at) {
  const Site site = Call(t, ZELLIGE_SITE()).site;
  if (valid_map(fiber(t), map, rank, "prefetch", site) && at)
    valid_coordinates(fiber(t), *map, at, false, "tma_prefetch", site);
}

void tma_load(Thread& t, const TmaMap* operand, Place to, Place barrier, unsigned rank, const int* at,
              const std::uint16_t* offsets, unsigned mask) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  b.check_time(f, site);
  if (!valid_map(f, operand, rank, "tma_load", site)) return;
  const TmaMap& map = *operand;
  if (!check_mode(f, map, offsets != nullptr, offsets ? "tma_load_im2col" : "tma_load", site)) return;
  if (!valid_coordinates(f, map, at, false, "tma_load", site)) return;
  Box box = box_of(map, at, offsets);
  if (!admit(f, to, box.tile_bytes(), Space::shared, 128, "copies by tma_load into", site)) return;
  const Region& r = *map.region;
  // make_tma_descriptor has rejected maps that exceed the tensor; the launch may give the map another one.
  const auto outside = [&](const BoxRun& run) { return run.from > r.bytes || run.bytes > r.bytes - run.from; };
  if (const auto run = std::ranges::find_if(box.runs, outside); run != box.runs.end())
    b.report(
        f, Kind::out_of_bounds, r.name, {site, Finding::Missing::bounds_check},
        "on global tensor {}: {} copies by tma_load bytes {}..{} at \1; the descriptor is of a larger tensor, this "
        "one has {}",
        r.name, b.who(f.index), run->from, run->from + run->bytes, r.bytes);
  std::erase_if(box.runs, outside);
  for (const BoxRun& run : box.runs)
    check_global<false>(f, {r.begin + run.from, &r}, run.bytes, "copies", site, shadow::AccessProxy::async);
  const unsigned ranks = ranks_of(f, mask, r, "tma_load_multicast", site);
  Load load{AsyncKind::tma_load, "copies by tma_load into", "lets a tma_load complete on", loaded(map, box, r.begin)};
  load.swizzle = map.swizzle, load.box = &box;
  for (const BoxRun& run : box.runs)
    if (watched(r)) load.sources.emplace_back(r.begin + run.from, run.bytes);
  issue(f, std::move(load), to, barrier, ranks, site, (mask & of_pair) != 0);
}

void bulk_load(Thread& t, Place to, Place from, unsigned bytes, Place barrier, unsigned mask) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  if (!whole_chunks(f, *to.region, bytes, "bulk_load", site)) return;
  if (!admit(f, to, bytes, Space::shared, 16, "copies by bulk_load into", site)) return;
  if (!admit(f, from, bytes, Space::global, 16, "reads", site)) return;
  check_global<false>(f, from, bytes, "copies", site, shadow::AccessProxy::async);
  const unsigned ranks = ranks_of(f, mask, *to.region, "bulk_load_multicast", site);
  Load load{AsyncKind::bulk_load, "copies by bulk_load into", "lets a bulk_load complete on", {from.p, from.p + bytes}};
  if (watched(*from.region)) load.sources.emplace_back(from.p, bytes);
  issue(f, std::move(load), to, barrier, ranks, site);
}

void bulk_copy_cluster(Thread& t, Place to, unsigned rank, Place from, unsigned bytes, Place barrier) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  if (!whole_chunks(f, *to.region, bytes, "bulk_copy_cluster", site)) return;
  if (!admit(f, to, bytes, Space::shared, 16, "copies by bulk_copy_cluster into", site)) return;
  if (!admit(f, from, bytes, Space::shared, 16, "reads", site)) return;
  if (!has_block(f, rank, *to.region, site)) return;
  if (!in_own_block(f, from, "reads", site)) return;
  b.async.start(b.shared_bytes);
  const std::size_t before = b.cluster.ops.size();
  Load load{AsyncKind::cluster_copy, "copies by bulk_copy_cluster into", "lets a bulk_copy_cluster complete on"};
  load.data.assign(from.p, from.p + bytes);
  issue(f, std::move(load), to, barrier, 1u << rank, site);
  if (b.cluster.ops.size() == before) return;
  b.cluster.ops[before].from = b.rank;
  const shadow::Actor a = b.actor(f, site.address);
  for (unsigned i = 0; i < bytes; i += 16) {
    const std::size_t p = std::size_t(from.p - b.memory) + i;
    const shadow::Clash c =
        shadow::first_of(b.shadow.proxy_read(p, 16, a), b.async.read_by(std::uint32_t(before), p, a, b.cluster.ops));
    if (c) clash(f, f.index, {from.p + i, from.region}, 16, "copies by bulk_copy_cluster", site, c);
  }
}

void store_async(Thread& t, Place to, unsigned rank, std::uint32_t value, Place barrier) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  if (!admit(f, to, 4, Space::shared, 4, "writes by store_async", site)) return;
  if (!has_block(f, rank, *to.region, site)) return;
  std::vector<unsigned char> data(4);
  std::memcpy(data.data(), &value, 4);
  issue(f, {AsyncKind::store_async, "writes by store_async", "lets a store_async complete on", std::move(data), 4}, to,
        barrier, 1u << rank, site);
}

// Executes clusterlaunchcontrol.try_cancel: takes the next cluster of the grid from those that have not started, if there is
// one, and writes the answer as a copy does.
void try_cancel(Thread& t, Place answer, Place barrier, bool to_all) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  Cluster& cluster = b.cluster;
  constexpr const char* verb = "writes by cluster_launch_try_cancel";
  if (!admit(f, answer, 16, Space::shared, 16, verb, site)) return;
  if (cluster.refused && cluster.ops[cluster.refused].over_for(known(f)))
    b.fail_at(f, answer.region->name, {site, widen(cluster.ops[cluster.refused].site, site.address)},
              "cluster_launch_try_cancel after the answer to the one at \2 was that no cluster is left");
  const LaunchState& launch = cluster.launch();
  const std::uint64_t next = launch.next->fetch_add(1, std::memory_order_relaxed);
  std::uint32_t words[4] = {};
  if (next < launch.clusters) {
    const dim3 first = cluster.first_block(next);
    words[0] = first.x, words[1] = first.y, words[2] = first.z, words[3] = 1;
  }
  std::vector<unsigned char> data(16);
  std::memcpy(data.data(), words, 16);
  const std::size_t before = cluster.ops.size();
  issue(f, {AsyncKind::try_cancel, verb, "lets a cluster_launch_try_cancel complete on", std::move(data)}, answer,
        barrier, to_all ? (1u << cluster.size()) - 1 : 1u << b.rank, site);
  if (!words[3] && cluster.ops.size() > before) cluster.refused = std::uint32_t(before);
}

void tma_store(Thread& t, const TmaMap* operand, Place from, unsigned rank, const int* at, Reduction reduction,
               bool im2col) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  b.check_time(f, site);
  if (!valid_map(f, operand, rank, "tma_store", site)) return;
  const TmaMap& map = *operand;
  if (!check_mode(f, map, im2col, im2col ? "tma_store_im2col" : "tma_store", site)) return;
  if (!valid_coordinates(f, map, at, true, reduction == Reduction::none ? "tma_store" : "tma_reduce", site)) return;
  const Box box = box_of(map, at, nullptr);
  const char* verb = reduction == Reduction::none ? "stores by tma_store" : "reduces by tma_reduce";
  if (!admit(f, from, box.tile_bytes(), Space::shared, 128, verb, site)) return;
  StoreInFlight store{map.region, reduction, map.element, 0, 0, {}, {}, {}};
  // TMA writes whole chunks of 16 bytes, even if the last chunk is partly outside the tensor.
  for (const BoxRun& run : box.runs) store.pieces.push_back({run.from, run.to, (run.bytes + 15) / 16 * 16});
  issue_store(f, AsyncKind::tma_store, verb, from, box.bytes, map.swizzle, &box, std::move(store), site);
}

void bulk_store(Thread& t, Place to, Place from, unsigned bytes, Reduction reduction, Element element) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  if (!whole_chunks(f, *to.region, bytes, "bulk_store", site)) return;
  if (!admit(f, from, bytes, Space::shared, 16, "stores by bulk_store", site)) return;
  if (!admit(f, to, bytes, Space::global, 16, "writes", site)) return;
  StoreInFlight store{to.region, reduction, element, 0, 0, {}, {}, {}};
  store.pieces.push_back({std::uint64_t(to.p - to.region->begin), 0, bytes});
  issue_store(f, AsyncKind::bulk_store, "stores by bulk_store", from, bytes, 0, nullptr, std::move(store), site);
}

void bulk_commit(Thread& t) { ++in_flight(fiber(t)).stores_committed; }

void bulk_wait(Thread& t, unsigned pending, bool read) {
  Fiber& f = fiber(t);
  InFlight& mine = in_flight(f);
  const std::uint32_t groups = mine.stores_committed > pending ? mine.stores_committed - pending : 0;
  if (groups > mine.stores_read) {
    mine.stores_read = groups;
    if (mine.store_agent) hear(f, mine.store_agent, groups + 1);
  }
  if (!read) finish_stores(f, groups);
}

}  // namespace

void add_copies(AsyncEngine& all) {
  all.check_map = check_map;
  all.tma_load = tma_load;
  all.tma_store = tma_store;
  all.bulk_load = bulk_load;
  all.bulk_store = bulk_store;
  all.bulk_copy_cluster = bulk_copy_cluster;
  all.store_async = store_async;
  all.try_cancel = try_cancel;
  all.bulk_commit = bulk_commit;
  all.bulk_wait = bulk_wait;
}

}  // namespace zellige::emulate
