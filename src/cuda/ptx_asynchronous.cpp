// PTX's barriers, fences and asynchronous copies: bar, barrier.cluster, mbarrier, fence, cp.async, bulk copies, TMA, st.async.
#include <algorithm>
#include <array>
#include <span>

#include "cuda/ptx_machine.hpp"
#include "emulate/atomics.hpp"
#include "emulate/calls.hpp"
#include "zellige/emulate/async.hpp"

namespace zellige::cuda {

namespace {

using emulate::Element;
using emulate::Place;
using emulate::ProxyFence;
using emulate::Reduction;

void run_bar_sync(PtxMachine& m, const PtxInstruction& i) {
  const unsigned threads = i.operands.size() > 1 ? unsigned(m.read(i, 1)) : 0;
  m.f.engine->bar_sync(m.f, unsigned(m.read(i, 0)), threads);
}
void run_bar_arrive(PtxMachine& m, const PtxInstruction& i) {
  m.f.engine->bar_arrive(m.f, unsigned(m.read(i, 0)), unsigned(m.read(i, 1)));
}
void run_cluster_arrive(PtxMachine& m, const PtxInstruction& i) {
  m.f.engine->async->cluster_arrive(m.f, !i.has("relaxed"));
}
void run_cluster_wait(PtxMachine& m, const PtxInstruction&) { m.f.engine->async->cluster_wait(m.f); }

void run_fence(PtxMachine& m, const PtxInstruction& i) { emulate::thread_fence(m.f, i.has("cta")); }
void run_fence_proxy(PtxMachine& m, const PtxInstruction& i) {
  const bool shared = i.has("shared::cta") || i.has("shared::cluster");
  m.f.engine->async->fence_proxy(m.f, shared            ? ProxyFence::shared
                                      : i.has("global") ? ProxyFence::global
                                                        : ProxyFence::both);
}
void run_fence_init(PtxMachine& m, const PtxInstruction&) { m.f.engine->async->fence_proxy(m.f, ProxyFence::init); }
void run_no_fence(PtxMachine&, const PtxInstruction&) {}

void run_mbarrier_init(PtxMachine& m, const PtxInstruction& i) {
  unsigned rank = 0;
  m.f.engine->async->mbarrier_init(m.f, m.own_place(i.operands[0], rank), unsigned(m.read(i, 1)));
}
void run_mbarrier_inval(PtxMachine& m, const PtxInstruction& i) {
  unsigned rank = 0;
  m.f.engine->async->mbarrier_inval(m.f, m.own_place(i.operands[0], rank));
}

// Returns the operand that is an address.
unsigned address_operand(PtxMachine& m, const PtxInstruction& i) {
  for (unsigned k = 0; k < i.operands.size(); ++k)
    if (i.operands[k].kind == PtxValue::Kind::address) return k;
  m.refuse(i, "without an address");
}
// mbarrier.arrive{.expect_tx} state, [a]{, n}: the state is the parity of the phase. It may be left out, or be `_`.
void run_mbarrier_arrive(PtxMachine& m, const PtxInstruction& i) {
  const unsigned at = address_operand(m, i);
  unsigned rank = 0;
  const Place p = m.own_place(i.operands[at], rank);
  emulate::Block& there = m.f.home->cluster.block(rank);
  if (const emulate::MBarrier* b = there.mbarriers.find(std::uint32_t(p.p - m.f.home->memory)); b && at > 0)
    m.write(i.operands[0], b->phase & 1);
  const bool expects = i.has("expect_tx");
  const unsigned n = i.operands.size() > at + 1 ? unsigned(m.read(i, at + 1)) : 1;
  m.f.engine->async->mbarrier_arrive(m.f, p, rank, expects ? 1 : n, expects ? n : 0);
}
void run_mbarrier_expect(PtxMachine& m, const PtxInstruction& i) {
  unsigned rank = 0;
  const Place p = m.own_place(i.operands[0], rank);
  m.f.engine->async->mbarrier_arrive(m.f, p, rank, 0, unsigned(m.read(i, 1)));
}
void run_mbarrier_complete(PtxMachine& m, const PtxInstruction& i) {
  unsigned rank = 0;
  m.f.engine->async->mbarrier_complete_tx(m.f, m.own_place(i.operands[0], rank), unsigned(m.read(i, 1)));
}
// mbarrier.try_wait{.parity} p, [a], phase.
void run_mbarrier_test(PtxMachine& m, const PtxInstruction& i) {
  if (i.operands.size() < 3) m.refuse(i, "with so few operands");
  unsigned rank = 0;
  const Place p = m.own_place(i.operands[1], rank);
  m.write(i.operands[0], m.f.engine->async->mbarrier_test_wait(m.f, p, unsigned(m.read(i, 2) & 1)));
}

void run_setmaxnreg(PtxMachine& m, const PtxInstruction& i) {
  m.f.engine->async->setmaxnreg(m.f, unsigned(m.read(i, 0)), i.has("inc"));
}

constexpr std::string_view arrive_words = "expect_tx release relaxed cta cluster shared shared::cta shared::cluster";
constexpr std::string_view wait_words = "parity acquire relaxed cta cluster shared shared::cta";
constexpr auto barrier_rows = std::to_array<PtxRow>({
    {"bar.sync", run_bar_sync, "aligned"},
    {"bar.cta.sync", run_bar_sync, "aligned"},
    {"barrier.sync", run_bar_sync, "aligned"},
    {"barrier.cta.sync", run_bar_sync, "aligned"},
    {"bar.arrive", run_bar_arrive, "aligned"},
    {"barrier.arrive", run_bar_arrive, "aligned"},
    {"barrier.cta.arrive", run_bar_arrive, "aligned"},
    {"barrier.cluster.arrive", run_cluster_arrive, "release relaxed aligned"},
    {"barrier.cluster.wait", run_cluster_wait, "acquire aligned"},
    {"fence", run_fence, "sc acq_rel acquire release cta cluster gpu sys"},
    {"membar", run_fence, "cta gl sys sc"},
    {"fence.proxy.async", run_fence_proxy, "global shared::cta shared::cluster"},
    {"fence.proxy.alias", run_no_fence, ""},
    {"fence.proxy.tensormap::generic", run_no_fence, "*"},
    {"fence.mbarrier_init", run_fence_init, "release cluster"},
    {"mbarrier.init", run_mbarrier_init, "shared shared::cta"},
    {"mbarrier.inval", run_mbarrier_inval, "shared shared::cta"},
    {"mbarrier.arrive", run_mbarrier_arrive, arrive_words},
    {"mbarrier.expect_tx", run_mbarrier_expect, "relaxed cta cluster shared shared::cta shared::cluster"},
    {"mbarrier.complete_tx", run_mbarrier_complete, "relaxed cta cluster shared shared::cta shared::cluster"},
    {"mbarrier.test_wait", run_mbarrier_test, wait_words},
    {"mbarrier.try_wait", run_mbarrier_test, wait_words},
    {"setmaxnreg", run_setmaxnreg, "inc dec sync aligned"},
    {"griddepcontrol.wait", run_no_fence, ""},
    {"griddepcontrol.launch_dependents", run_no_fence, ""},
});

// cp.async.ca.shared.global [to], [from], bytes{, valid}{, policy}.
void run_cp_async(PtxMachine& m, const PtxInstruction& i) {
  const unsigned bytes = unsigned(m.read(i, 2)),
                 given = unsigned(i.operands.size()) - (i.has("L2::cache_hint") ? 1 : 0);
  const unsigned valid = given > 3 ? unsigned(m.read(i, 3)) : bytes;
  if (bytes != 4 && bytes != 8 && bytes != 16)
    m.f.home->stop(m.f, emulate::Finding::Kind::instruction, nullptr, m.site,
                   "cp.async: {} copies {} bytes at \1; it copies 4, 8 or 16", m.f.home->who(m.f.index), bytes);
  const Place to = m.place(m.address(i.operands[0], true), "copies to");
  const Place from = valid ? m.place(m.address(i.operands[1], false), "copies from") : to;
  emulate::start_copy(m.f, to, from, bytes, valid, m.site);
}
void run_cp_async_commit(PtxMachine& m, const PtxInstruction&) { m.f.engine->cp_async_commit(m.f); }
void run_cp_async_wait(PtxMachine& m, const PtxInstruction& i) {
  m.f.engine->cp_async_wait(m.f, unsigned(m.read(i, 0)));
}
void run_cp_async_wait_all(PtxMachine& m, const PtxInstruction&) {
  m.f.engine->cp_async_commit(m.f);
  m.f.engine->cp_async_wait(m.f, 0);
}
// Without .noinc the arrival is one that the mbarrier does not count otherwise: the copies have landed when it returns.
void run_cp_async_arrive(PtxMachine& m, const PtxInstruction& i) {
  unsigned rank = 0;
  const Place p = m.own_place(i.operands[0], rank);
  if (!i.has("noinc")) return run_cp_async_wait_all(m, i);
  m.f.engine->async->cp_async_mbarrier_arrive(m.f, p);
}

// Returns the mask of a copy to several blocks, operand k of the instruction.
unsigned multicast_mask(PtxMachine& m, const PtxInstruction& i, unsigned k) {
  return i.has("multicast::cluster") ? emulate::multicast | (unsigned(m.read(i, k)) & 0xffff) : 0;
}
Reduction reduction_of(PtxMachine& m, const PtxInstruction& i) {
  if (i.words[1] != "reduce") return Reduction::none;
  if (i.has("add")) return Reduction::add;
  if (i.has("min")) return Reduction::min;
  if (i.has("max")) return Reduction::max;
  m.refuse(i, "(it adds, or takes the least or the greatest)");
}
Element element_of(const PtxInstruction& i) {
  using Kind = PtxType::Kind;
  switch (i.type.kind) {
    case Kind::real:
      return i.type.bits == 16 ? Element::f16 : i.type.bits == 32 ? Element::f32 : Element::f64;
    case Kind::brain:
      return Element::bf16;
    case Kind::integer:
      return i.type.bits == 32 ? Element::s32 : Element::s64;
    default:
      return i.type.bits == 32 ? Element::u32 : Element::u64;
  }
}

// cp.async.bulk and cp.reduce.async.bulk: between global and shared memory, and to another block.
void run_bulk(PtxMachine& m, const PtxInstruction& i) {
  const emulate::AsyncEngine& all = *m.f.engine->async;
  const bool to_global = i.has("bulk_group");
  if (i.operands.size() < (to_global ? 3u : 4u)) m.refuse(i, "with so few operands");
  const unsigned bytes = unsigned(m.read(i, 2));
  if (to_global) {
    const Place to = m.place(m.address(i.operands[0], false), "copies to");
    const Place from = m.place(m.address(i.operands[1], true), "copies from");
    return all.bulk_store(m.f, to, from, bytes, reduction_of(m, i), element_of(i));
  }
  unsigned rank = 0, bar_rank = 0;
  const Place to = m.own_place(i.operands[0], rank), barrier = m.own_place(i.operands[3], bar_rank);
  if (!i.has("global")) {
    if (reduction_of(m, i) != Reduction::none) m.refuse(i, "to shared memory");
    const Place from = m.place(m.address(i.operands[1], true), "copies from");
    return all.bulk_copy_cluster(m.f, to, rank, from, bytes, barrier);
  }
  const Place from = m.place(m.address(i.operands[1], false), "copies from");
  all.bulk_load(m.f, to, from, bytes, barrier, multicast_mask(m, i, 4));
}
void run_bulk_commit(PtxMachine& m, const PtxInstruction&) { m.f.engine->async->bulk_commit(m.f); }
void run_bulk_wait(PtxMachine& m, const PtxInstruction& i) {
  m.f.engine->async->bulk_wait(m.f, unsigned(m.read(i, 0)), i.has("read"));
}

// Reads the tensor map and the coordinates that an operand "[map, {x, y}]" names.
emulate::TmaMap tensor_map(PtxMachine& m, const PtxInstruction& i, const PtxValue& v, int (&at)[5], unsigned& rank) {
  if (v.parts.size() < 3) m.refuse(i, "without coordinates");
  const PtxValue& coordinates = v.parts[2];
  rank = unsigned(coordinates.parts.size());
  for (unsigned k = 0; k < std::min(rank, 5u); ++k) at[k] = int(m.read(coordinates.parts[k]));
  return read_tensor_map(m.f, m.address(v, false), m.site);
}

// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor.
void run_tensor(PtxMachine& m, const PtxInstruction& i) {
  const emulate::AsyncEngine& all = *m.f.engine->async;
  int at[5] = {};
  unsigned rank = 0;
  const bool im2col = i.has("im2col") || i.has("im2col_no_offs");
  if (i.has("bulk_group")) {
    const emulate::TmaMap map = tensor_map(m, i, i.operands[0], at, rank);
    const Place from = m.place(m.address(i.operands[1], true), "copies from");
    return all.tma_store(m.f, &map, from, rank, at, reduction_of(m, i), im2col);
  }
  if (i.operands.size() < 3) m.refuse(i, "with so few operands");
  unsigned to_rank = 0, bar_rank = 0, next = 3;
  const Place to = m.own_place(i.operands[0], to_rank);
  const emulate::TmaMap map = tensor_map(m, i, i.operands[1], at, rank);
  const Place barrier = m.own_place(i.operands[2], bar_rank);
  std::uint16_t offsets[3] = {};
  if (im2col) {
    const PtxValue& given = i.operands[next++];
    for (unsigned k = 0; k < std::min<std::size_t>(3, given.parts.size()); ++k)
      offsets[k] = std::uint16_t(m.read(given.parts[k]));
  }
  all.tma_load(m.f, &map, to, barrier, rank, at, im2col ? offsets : nullptr, multicast_mask(m, i, next));
}

// st.async.weak.shared::cluster.mbarrier::complete_tx::bytes [to], value, [mbarrier].
void run_st_async(PtxMachine& m, const PtxInstruction& i) {
  if (i.operands.size() < 3) m.refuse(i, "with so few operands");
  unsigned rank = 0, bar_rank = 0;
  Place to = m.own_place(i.operands[0], rank);
  const Place barrier = m.own_place(i.operands[2], bar_rank);
  const PtxValue& v = i.operands[1];
  const std::span<const PtxValue> parts =
      v.kind == PtxValue::Kind::group ? std::span<const PtxValue>(v.parts) : std::span<const PtxValue>(&v, 1);
  for (const PtxValue& part : parts)
    for (unsigned k = 0; k < i.type.bits; k += 32, to.p += 4)
      m.f.engine->async->store_async(m.f, to, rank, std::uint32_t(m.read(part) >> k), barrier);
}
void run_no_copy(PtxMachine&, const PtxInstruction&) {}

constexpr std::string_view bulk_words =
    "shared::cluster shared::cta global mbarrier::complete_tx::bytes bulk_group multicast::cluster L2::cache_hint add "
    "min "
    "max noftz";
constexpr std::string_view tensor_words =
    "1d 2d 3d 4d 5d tile im2col im2col_no_offs shared::cluster shared::cta global mbarrier::complete_tx::bytes "
    "bulk_group "
    "multicast::cluster L2::cache_hint add min max";
constexpr auto copy_rows = std::to_array<PtxRow>({
    {"cp.async.ca.shared", run_cp_async, "global L2::cache_hint L2::64B L2::128B L2::256B"},
    {"cp.async.ca.shared::cta", run_cp_async, "global L2::cache_hint L2::64B L2::128B L2::256B"},
    {"cp.async.cg.shared", run_cp_async, "global L2::cache_hint L2::64B L2::128B L2::256B"},
    {"cp.async.cg.shared::cta", run_cp_async, "global L2::cache_hint L2::64B L2::128B L2::256B"},
    {"cp.async.commit_group", run_cp_async_commit, ""},
    {"cp.async.wait_group", run_cp_async_wait, ""},
    {"cp.async.wait_all", run_cp_async_wait_all, ""},
    {"cp.async.mbarrier.arrive", run_cp_async_arrive, "noinc shared shared::cta"},
    {"cp.async.bulk", run_bulk, bulk_words},
    {"cp.reduce.async.bulk", run_bulk, bulk_words},
    {"cp.async.bulk.commit_group", run_bulk_commit, ""},
    {"cp.async.bulk.wait_group", run_bulk_wait, "read"},
    {"cp.async.bulk.prefetch", run_no_copy, "*"},
    {"cp.async.bulk.tensor", run_tensor, tensor_words},
    {"cp.reduce.async.bulk.tensor", run_tensor, tensor_words},
    {"st.async", run_st_async, "weak shared::cluster mbarrier::complete_tx::bytes v2 v4"},
});

}  // namespace

std::span<const PtxRow> ptx_asynchronous() {
  static const auto all = [] {
    std::array<PtxRow, barrier_rows.size() + copy_rows.size()> rows{};
    std::ranges::copy(copy_rows, std::ranges::copy(barrier_rows, rows.begin()).out);
    return rows;
  }();
  return all;
}

}  // namespace zellige::cuda
