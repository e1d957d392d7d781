// The functions that kernels call: shared memory, collectives of lanes, atomics, fences, barriers that vote.
#include <chrono>

#include "cuda/access.hpp"
#include "cuda/ptx_machine.hpp"
#include "emulate/atomics.hpp"
#include "emulate/block_reports.hpp"
#include "emulate/calls.hpp"
#include "emulate/masked.hpp"

namespace zellige::cuda {

using emulate::Block;
using emulate::Fiber;
using emulate::Finding;
using emulate::Place;
using emulate::Site;

namespace {

Fiber& running() { return emulate::fiber(emulate::self()); }

void* static_shared(const Declaration& d) {
  __atomic_store_n(&d.used, true, __ATOMIC_RELAXED);
  return running().home->memory + d.offset;
}

void* dynamic_shared(const char* name) {
  if (!*session().dynamic_name.load()) session().dynamic_name = name;
  return running().home->memory + session().static_bytes;
}

void converge(std::uint32_t mask, const void* in, void* out, LanesCompute compute, void* with, const char* what) {
  const Site site = ZELLIGE_SITE();
  emulate::judge_postponed();
  Fiber& f = running();
  ++f.home->counters[emulate::Counter::shuffle];
  emulate::converge_lanes(f, mask, in, out, compute, with, what, site);
}

std::uint32_t active() {
  const Site site = ZELLIGE_SITE();
  return emulate::active_lanes(running(), site);
}

bool atomic(void* p, unsigned bytes, AtomicChange change, void* with) {
  const Site site = ZELLIGE_SITE();
  if (!inside_kernel) return change(p, with), true;  // a function of host and device, on the host
  emulate::judge_postponed();
  Fiber& f = running();
  const Place place = place_of(f, p, site);
  if (!place.region) refuse_address(f, p, "updates", site);
  return emulate::atomic(f, place, bytes, change, with, site);
}

void fence(bool of_block) {
  if (inside_kernel) emulate::thread_fence(running(), of_block);
}

/// The votes of __syncthreads_count and its kin in one block. Those of a round lie here until all threads have read them.
struct BlockVotes {
  struct Round {
    unsigned votes = 0, threads = 0, readers = 0;
  };
  std::uint64_t launch = 0, block = ~std::uint64_t(0);
  Round rounds[2];
  std::map<unsigned, unsigned> calls;  // by thread
};
thread_local std::map<const Block*, BlockVotes> block_votes;

int vote_block(bool predicate, int what) {
  const Site site = ZELLIGE_SITE();
  Fiber& f = running();
  BlockVotes& all = block_votes[f.home];
  if (all.launch != session().launch || all.block != f.home->linear) {
    all = {};
    all.launch = session().launch;
    all.block = f.home->linear;
  }
  BlockVotes::Round& round = all.rounds[all.calls[f.index]++ % 2];
  round.votes += predicate;
  ++round.threads;
  emulate::sync_block(f, site);
  const unsigned votes = round.votes, threads = round.threads;
  if (++round.readers == threads) round = {};
  return what == 0 ? int(votes) : what == 1 ? votes == threads : votes != 0;
}

void grid_sync() {
  const Site site = ZELLIGE_SITE();
  Fiber& f = running();
  Block& b = *f.home;
  if (!session().running->cooperative)
    b.stop(f, Finding::Kind::barrier_divergence, nullptr, site,
           "of {}: it synchronizes the grid at \1, and the launch is not cooperative (cudaLaunchCooperativeKernel)",
           b.who(f.index));
  const bool last = b.cluster.arrived + 1 == b.cluster.live;
  b.cluster.arrive(f, true, site);
  if (last)  // the grid is one cluster, of which all threads have arrived
    for (const auto& [at, a] : session().memory.all())
      if (a->region)
        if (const auto* state = static_cast<const emulate::GlobalState*>(a->region->shadow); state->races)
          state->races->forget();
  b.cluster.wait(f, site);
}

void assert_failed(const char* condition, const char*) {
  if (!inside_kernel) return;
  const Site site = ZELLIGE_SITE();
  Fiber& f = running();
  f.home->stop(f, Finding::Kind::crash, nullptr, site, "of {}: its assertion `{}` does not hold at \1",
               f.home->who(f.index), condition);
}

void trap() {
  const Site site = ZELLIGE_SITE();
  Fiber& f = running();
  f.home->stop(f, Finding::Kind::crash, nullptr, site, "of {}: it reaches __trap() at \1", f.home->who(f.index));
}

void fault(const char* message, bool of_mask) {
  const Site site = ZELLIGE_SITE();
  Fiber& f = running();
  f.home->report(f, Finding::Kind::divergence, nullptr,
                 {site, of_mask ? Finding::Missing::mask_lanes : Finding::Missing::nothing}, "of {}: at \1 its {}",
                 f.home->who(f.index), message);
}

void cp_async(void* to, const void* from, unsigned bytes, unsigned valid) {
  const Site site = ZELLIGE_SITE();
  Fiber& f = running();
  const Place target = place_of(f, to, site), source = place_of(f, from, site);
  if (!target.region) refuse_address(f, to, "copies to", site);
  if (valid && !source.region) refuse_address(f, from, "copies from", site);
  if (bytes != 4 && bytes != 8 && bytes != 16)
    f.home->stop(f, Finding::Kind::instruction, target.region->name, site,
                 "cp.async: {} copies {} bytes at \1; it copies 4, 8 or 16", f.home->who(f.index), bytes);
  emulate::start_copy(f, target, source.region ? source : target, bytes, valid, site);
}

unsigned shared_address(const void* p) { return shared_address_of(running(), p, ZELLIGE_SITE()); }
void* shared_pointer(unsigned address) { return shared_pointer_of(running(), address); }
void* map_shared(void* p, unsigned rank) { return shared_in_block(running(), p, rank, ZELLIGE_SITE()); }
void ptx(const char* statement, const PtxOperand* operands, unsigned count) {
  execute_ptx(statement, operands, count, ZELLIGE_SITE());
}

std::uint64_t now() {
  const Site site = ZELLIGE_SITE();
  if (inside_kernel) running().home->check_time(running(), site);
  return std::uint64_t(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

}  // namespace

void add_kernel_calls(Host& all) {
  all.static_shared = static_shared;
  all.dynamic_shared = dynamic_shared;
  all.converge = converge;
  all.active = active;
  all.atomic = atomic;
  all.fence = fence;
  all.vote_block = vote_block;
  all.grid_sync = grid_sync;
  all.assert_failed = assert_failed;
  all.trap = trap;
  all.fault = fault;
  all.clock = now;
  all.cp_async = cp_async;
  all.shared_address = shared_address;
  all.shared_pointer = shared_pointer;
  all.map_shared = map_shared;
  all.ptx = ptx;
  all.encode_tensor_map = encode_tensor_map;
}

}  // namespace zellige::cuda
