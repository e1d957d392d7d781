// Describes the data movement and synchronisation instructions of SM90 as Instruction descriptors: how they complete,
// memory spaces of source and destination, alignment. Covers mbarriers, fences, TMA, bulk copies and stmatrix.
//
//   for (const Instruction& row : movement_rows)
//     if (row.completion == Instruction::Completion::mbarrier_bytes) ...
//
// Some of these instructions exist on older GPUs, too; the field compute_capability says on which.
// mma_traits/table.hpp has the matrix instructions; copy_traits/ has the layouts of copies. Host code only.
#pragma once

#include <string_view>
#include <zellige/atom/matrix_layouts.hpp>
#include <zellige/atom/matrix_move_reference.hpp>

namespace zellige {

namespace sm90 {

using Kind = Instruction::Kind;
using Space = Instruction::Space;
using Completion = Instruction::Completion;

/// Returns the descriptor of an instruction that moves data or synchronises. `issuers` is the number of threads that
/// execute it together, `from` and `to` are the memory spaces of source and destination, `alignment` is the required
/// alignment of its memory addresses in bytes, and `call` shows how a kernel calls it. The compute capability is taken
/// from the digits in `name`. If `name` contains SETMAXNREG or WGMMA, the instruction is marked as one of sm_90a only.
constexpr Instruction row(const char* name, const char* ptx, Kind kind, int issuers, Space from, Space to,
                          int alignment, Completion completion, const char* call) {
  Instruction i{};
  i.name = name;
  i.ptx = ptx;
  i.compute_capability = (name[2] - '0') * 10 + (name[3] - '0');
  i.kind = kind;
  i.issuers = issuers;
  i.a.space = from;
  i.c.space = to;
  i.completion = completion;
  for (Instruction::Operand* o : {&i.a, &i.c}) {
    if (o->space != Space::none && o->space != Space::rmem) o->alignment = alignment;
    if (kind == Kind::tensor_copy && o->space == Space::smem) o->swizzles = 0b1111, o->majors = 0b11;
  }
  const std::string_view text = name;
  i.only_of_its_architecture = text.find("SETMAXNREG") != text.npos || text.find("WGMMA") != text.npos;
  i.call = call;
  return i;
}

/// Returns the descriptor of a TMA load of a box into the block's shared memory. The load completes on an mbarrier.
constexpr Instruction tma_load(const char* name, const char* ptx, const char* call) {
  return row(name, ptx, Kind::tensor_copy, 1, Space::gmem, Space::smem, 128, Completion::mbarrier_bytes, call);
}
/// Returns the descriptor of a TMA load into the shared memory of several blocks of a cluster.
constexpr Instruction tma_multicast(const char* name, const char* ptx, const char* call) {
  return row(name, ptx, Kind::tensor_copy, 1, Space::gmem, Space::dsmem, 128, Completion::mbarrier_bytes, call);
}
/// Returns the descriptor of a TMA store or reduction into global memory, which completes in bulk groups.
constexpr Instruction tma_store(const char* name, const char* ptx, const char* call) {
  return row(name, ptx, Kind::tensor_copy, 1, Space::smem, Space::gmem, 128, Completion::bulk_group, call);
}

/// Returns the descriptor of an stmatrix that stores `matrices` 8x8 matrices. `registers` is the layout of the source,
/// `rows` that of the addressed shared-memory rows. Both layouts map (thread, bit) to an offset in bits.
constexpr Instruction stmatrix(const char* name, const char* ptx, int matrices, const ThreadValue& registers,
                               const ThreadValue& rows, const char* call) {
  Instruction i = row(name, ptx, Kind::matrix_store, 32, Space::rmem, Space::smem, 16, Completion::at_once, call);
  i.a = {.type = "b16", .bits = 16, .space = Space::rmem, .layout = registers, .registers = matrices};
  i.c = {.type = "b16", .bits = 16, .space = Space::smem, .layout = rows, .alignment = 16};
  i.cycles = matrices;
  i.body = reference::move_bits;
  return i;
}
/// Returns the descriptor of movmatrix, which transposes an 8x8 matrix in the registers of a warp.
constexpr Instruction movmatrix(const char* name, const char* ptx, const char* call) {
  using namespace matrix_layouts;
  Instruction i = row(name, ptx, Kind::matrix_store, 32, Space::rmem, Space::rmem, 0, Completion::at_once, call);
  i.a = {.type = "b16", .bits = 16, .space = Space::rmem, .layout = matrix_x1, .registers = 1};
  i.c = {.type = "b16", .bits = 16, .space = Space::rmem, .layout = matrix_x1_trans, .registers = 1};
  i.body = reference::move_bits;
  return i;
}

inline constexpr Instruction movement_rows[] = {
    row("SM90_MBARRIER_INIT", "mbarrier.init.shared::cta.b64", Kind::barrier, 1, Space::none, Space::smem, 8,
        Completion::at_once, "mbarrier_init(barrier, count)"),
    row("SM90_MBARRIER_INVAL", "mbarrier.inval.shared::cta.b64", Kind::barrier, 1, Space::none, Space::smem, 8,
        Completion::at_once, "mbarrier_inval(barrier)"),
    row("SM90_MBARRIER_ARRIVE", "mbarrier.arrive.shared::cta.b64", Kind::barrier, 1, Space::none, Space::smem, 8,
        Completion::at_once, "mbarrier_arrive(barrier, count)"),
    row("SM90_MBARRIER_ARRIVE_EXPECT_TX", "mbarrier.arrive.expect_tx.shared::cta.b64", Kind::barrier, 1, Space::none,
        Space::smem, 8, Completion::at_once, "mbarrier_arrive_expect_tx(barrier, bytes)"),
    row("SM90_MBARRIER_EXPECT_TX", "mbarrier.expect_tx.relaxed.cta.shared::cta.b64", Kind::barrier, 1, Space::none,
        Space::smem, 8, Completion::at_once, "mbarrier_expect_tx(barrier, bytes)"),
    row("SM90_MBARRIER_COMPLETE_TX", "mbarrier.complete_tx.shared::cta.relaxed.cta.b64", Kind::barrier, 1, Space::none,
        Space::smem, 8, Completion::at_once, "mbarrier_complete_tx(barrier, bytes)"),
    row("SM90_MBARRIER_ARRIVE_REMOTE", "mbarrier.arrive.release.cluster.shared::cluster.b64", Kind::barrier, 1,
        Space::none, Space::smem, 8, Completion::at_once, "mbarrier_arrive_remote(barrier, rank, count)"),
    row("SM90_MBARRIER_ARRIVE_REMOTE_RELAXED", "mbarrier.arrive.relaxed.cluster.shared::cluster.b64", Kind::barrier, 1,
        Space::none, Space::smem, 8, Completion::at_once, "mbarrier_arrive_remote_relaxed(barrier, rank, count)"),
    row("SM90_MBARRIER_ARRIVE_EXPECT_TX_REMOTE", "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64",
        Kind::barrier, 1, Space::none, Space::smem, 8, Completion::at_once,
        "mbarrier_arrive_expect_tx_remote(barrier, rank, bytes)"),
    row("SM90_MBARRIER_TEST_WAIT", "mbarrier.test_wait.parity.shared::cta.b64", Kind::barrier, 1, Space::none,
        Space::smem, 8, Completion::at_once, "mbarrier_test_wait(barrier, parity)"),
    row("SM90_MBARRIER_TRY_WAIT", "mbarrier.try_wait.parity.shared::cta.b64", Kind::barrier, 1, Space::none,
        Space::smem, 8, Completion::at_once, "mbarrier_try_wait(barrier, parity), mbarrier_wait"),
    row("SM90_MBARRIER_TRY_WAIT_CLUSTER", "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64", Kind::barrier, 1,
        Space::none, Space::smem, 8, Completion::at_once, "mbarrier_wait_cluster(barrier, parity)"),
    row("SM80_CP_ASYNC_MBARRIER_ARRIVE", "cp.async.mbarrier.arrive.noinc.shared::cta.b64", Kind::barrier, 1,
        Space::none, Space::smem, 8, Completion::at_once, "cp_async_mbarrier_arrive(barrier)"),
    row("SM90_FENCE_MBARRIER_INIT", "fence.mbarrier_init.release.cluster", Kind::fence, 1, Space::none, Space::none, 0,
        Completion::at_once, "fence_mbarrier_init()"),
    row("SM90_FENCE_PROXY_ASYNC", "fence.proxy.async", Kind::fence, 1, Space::none, Space::none, 0, Completion::at_once,
        "fence_proxy_async()"),
    row("SM90_FENCE_PROXY_ASYNC_SHARED", "fence.proxy.async.shared::cta", Kind::fence, 1, Space::none, Space::none, 0,
        Completion::at_once, "fence_proxy_async_shared()"),
    row("SM90_FENCE_PROXY_ASYNC_GLOBAL", "fence.proxy.async.global", Kind::fence, 1, Space::none, Space::none, 0,
        Completion::at_once, "fence_proxy_async_global()"),
    row("SM70_FENCE_BLOCK", "fence.acq_rel.cta", Kind::fence, 1, Space::none, Space::none, 0, Completion::at_once,
        "fence_block()"),
    row("SM90_FENCE_CLUSTER", "fence.acq_rel.cluster", Kind::fence, 1, Space::none, Space::none, 0, Completion::at_once,
        "fence_cluster()"),
    row("SM70_FENCE_DEVICE", "fence.acq_rel.gpu", Kind::fence, 1, Space::none, Space::none, 0, Completion::at_once,
        "fence_device()"),
    row("SM90_CLUSTER_ARRIVE", "barrier.cluster.arrive.release.aligned", Kind::control, 32, Space::none, Space::none, 0,
        Completion::at_once, "cluster_arrive()"),
    row("SM90_CLUSTER_ARRIVE_RELAXED", "barrier.cluster.arrive.relaxed.aligned", Kind::control, 32, Space::none,
        Space::none, 0, Completion::at_once, "cluster_arrive_relaxed()"),
    row("SM90_CLUSTER_WAIT", "barrier.cluster.wait.acquire.aligned", Kind::control, 32, Space::none, Space::none, 0,
        Completion::at_once, "cluster_wait()"),
    row("SM90_MAPA", "mapa.u64", Kind::control, 1, Space::none, Space::none, 0, Completion::at_once,
        "mapa(pointer, rank)"),
    row("SM70_NAMED_BARRIER_SYNC", "bar.sync", Kind::control, 32, Space::none, Space::none, 0, Completion::at_once,
        "named_barrier_sync(id, threads)"),
    row("SM70_NAMED_BARRIER_ARRIVE", "bar.arrive", Kind::control, 32, Space::none, Space::none, 0, Completion::at_once,
        "named_barrier_arrive(id, threads)"),
    row("SM90_SETMAXNREG_DEC", "setmaxnreg.dec.sync.aligned.u32", Kind::control, 32, Space::none, Space::none, 0,
        Completion::at_once, "register_dealloc<40>()"),
    row("SM90_SETMAXNREG_INC", "setmaxnreg.inc.sync.aligned.u32", Kind::control, 32, Space::none, Space::none, 0,
        Completion::at_once, "register_alloc<232>()"),
    row("SM90_ELECT_SYNC", "elect.sync", Kind::control, 32, Space::none, Space::none, 0, Completion::at_once,
        "elect_one()"),
    row("SM90_GRIDDEPCONTROL_WAIT", "griddepcontrol.wait", Kind::control, 1, Space::none, Space::none, 0,
        Completion::at_once, "griddep_wait()"),
    row("SM90_GRIDDEPCONTROL_LAUNCH_DEPENDENTS", "griddepcontrol.launch_dependents", Kind::control, 1, Space::none,
        Space::none, 0, Completion::at_once, "griddep_launch_dependents()"),
    row("SM70_PREFETCH_L1", "prefetch.global.L1", Kind::prefetch, 1, Space::gmem, Space::none, 1, Completion::at_once,
        "prefetch_l1(address)"),
    row("SM70_PREFETCH_L2", "prefetch.global.L2", Kind::prefetch, 1, Space::gmem, Space::none, 1, Completion::at_once,
        "prefetch_l2(address)"),
    row("SM90_BULK_PREFETCH_L2", "cp.async.bulk.prefetch.L2.global", Kind::prefetch, 1, Space::gmem, Space::none, 16,
        Completion::at_once, "bulk_prefetch_l2(address, bytes)"),
    row("SM90_PREFETCH_TENSORMAP", "prefetch.tensormap", Kind::prefetch, 1, Space::gmem, Space::none, 64,
        Completion::at_once, "prefetch_tma_descriptor(map)"),
    row("SM90_BULK_COPY_G2S", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", Kind::bulk_copy, 1,
        Space::gmem, Space::smem, 16, Completion::mbarrier_bytes, "bulk_load(to, from, bytes, barrier)"),
    row("SM90_BULK_COPY_G2S_HINT", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint",
        Kind::bulk_copy, 1, Space::gmem, Space::smem, 16, Completion::mbarrier_bytes,
        "bulk_load_hint(to, from, bytes, barrier, hint)"),
    row("SM90_BULK_COPY_G2S_MULTICAST",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster", Kind::bulk_copy, 1,
        Space::gmem, Space::dsmem, 16, Completion::mbarrier_bytes,
        "bulk_load_multicast(to, from, bytes, barrier, mask)"),
    row("SM90_BULK_COPY_S2S", "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", Kind::bulk_copy,
        1, Space::smem, Space::dsmem, 16, Completion::mbarrier_bytes,
        "bulk_copy_cluster(to, rank, from, bytes, barrier)"),
    row("SM90_ST_ASYNC", "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32", Kind::bulk_copy, 1, Space::rmem,
        Space::dsmem, 4, Completion::mbarrier_bytes, "store_async(to, rank, value, barrier)"),
    row("SM90_BULK_COPY_S2G", "cp.async.bulk.global.shared::cta.bulk_group", Kind::bulk_copy, 1, Space::smem,
        Space::gmem, 16, Completion::bulk_group, "bulk_store(to, from, bytes)"),
    row("SM90_BULK_REDUCE_ADD_F32", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32", Kind::bulk_copy, 1,
        Space::smem, Space::gmem, 16, Completion::bulk_group, "bulk_reduce_add<T>(to, from, bytes)"),
    row("SM90_BULK_REDUCE_ADD_F16", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16", Kind::bulk_copy,
        1, Space::smem, Space::gmem, 16, Completion::bulk_group, "bulk_reduce_add<T>(to, from, bytes)"),
    row("SM90_BULK_REDUCE_ADD_BF16", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16",
        Kind::bulk_copy, 1, Space::smem, Space::gmem, 16, Completion::bulk_group,
        "bulk_reduce_add<T>(to, from, bytes)"),
    row("SM90_BULK_REDUCE_ADD_S32", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32", Kind::bulk_copy, 1,
        Space::smem, Space::gmem, 16, Completion::bulk_group, "bulk_reduce_add<T>(to, from, bytes)"),
    row("SM90_BULK_REDUCE_ADD_U32", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32", Kind::bulk_copy, 1,
        Space::smem, Space::gmem, 16, Completion::bulk_group, "bulk_reduce_add<T>(to, from, bytes)"),
    row("SM90_BULK_COMMIT_GROUP", "cp.async.bulk.commit_group", Kind::control, 1, Space::none, Space::none, 0,
        Completion::at_once, "tma_store_commit()"),
    row("SM90_BULK_WAIT_GROUP", "cp.async.bulk.wait_group", Kind::control, 1, Space::none, Space::none, 0,
        Completion::at_once, "tma_store_wait<N>()"),
    row("SM90_BULK_WAIT_GROUP_READ", "cp.async.bulk.wait_group.read", Kind::control, 1, Space::none, Space::none, 0,
        Completion::at_once, "tma_store_wait_read<N>()"),
    tma_load("SM90_TMA_LOAD_1D", "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes",
             "tma_load_1d(tile, map, barrier, c...)"),
    tma_load("SM90_TMA_LOAD_HINT_1D",
             "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint",
             "tma_load_hint_1d(tile, map, barrier, hint, c...)"),
    tma_multicast("SM90_TMA_LOAD_MULTICAST_1D",
                  "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
                  "tma_load_multicast_1d(tile, map, barrier, mask, c...)"),
    tma_multicast("SM90_TMA_LOAD_MULTICAST_HINT_1D",
                  "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::"
                  "cache_hint",
                  "tma_load_multicast_hint_1d(tile, map, barrier, mask, hint, c...)"),
    row("SM90_TMA_PREFETCH_1D", "cp.async.bulk.prefetch.tensor.1d.L2.global", Kind::prefetch, 1, Space::gmem,
        Space::none, 0, Completion::at_once, "tma_prefetch_1d(map, c...)"),
    tma_store("SM90_TMA_STORE_1D", "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group",
              "tma_store_1d(map, tile, c...)"),
    tma_store("SM90_TMA_STORE_HINT_1D", "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group.L2::cache_hint",
              "tma_store_hint_1d(map, tile, hint, c...)"),
    tma_store("SM90_TMA_REDUCE_ADD_1D", "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group",
              "tma_reduce_add_1d(map, tile, c...)"),
    tma_store("SM90_TMA_REDUCE_MIN_1D", "cp.reduce.async.bulk.tensor.1d.global.shared::cta.min.bulk_group",
              "tma_reduce_min_1d(map, tile, c...)"),
    tma_store("SM90_TMA_REDUCE_MAX_1D", "cp.reduce.async.bulk.tensor.1d.global.shared::cta.max.bulk_group",
              "tma_reduce_max_1d(map, tile, c...)"),
    tma_load("SM90_TMA_LOAD_2D", "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
             "tma_load_2d(tile, map, barrier, c...)"),
    tma_load("SM90_TMA_LOAD_HINT_2D",
             "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint",
             "tma_load_hint_2d(tile, map, barrier, hint, c...)"),
    tma_multicast("SM90_TMA_LOAD_MULTICAST_2D",
                  "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
                  "tma_load_multicast_2d(tile, map, barrier, mask, c...)"),
    tma_multicast("SM90_TMA_LOAD_MULTICAST_HINT_2D",
                  "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::"
                  "cache_hint",
                  "tma_load_multicast_hint_2d(tile, map, barrier, mask, hint, c...)"),
    row("SM90_TMA_PREFETCH_2D", "cp.async.bulk.prefetch.tensor.2d.L2.global", Kind::prefetch, 1, Space::gmem,
        Space::none, 0, Completion::at_once, "tma_prefetch_2d(map, c...)"),
    tma_store("SM90_TMA_STORE_2D", "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group",
              "tma_store_2d(map, tile, c...)"),
    tma_store("SM90_TMA_STORE_HINT_2D", "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint",
              "tma_store_hint_2d(map, tile, hint, c...)"),
    tma_store("SM90_TMA_REDUCE_ADD_2D", "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group",
              "tma_reduce_add_2d(map, tile, c...)"),
    tma_store("SM90_TMA_REDUCE_MIN_2D", "cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.bulk_group",
              "tma_reduce_min_2d(map, tile, c...)"),
    tma_store("SM90_TMA_REDUCE_MAX_2D", "cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.bulk_group",
              "tma_reduce_max_2d(map, tile, c...)"),
    tma_load("SM90_TMA_LOAD_3D", "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes",
             "tma_load_3d(tile, map, barrier, c...)"),
    tma_load("SM90_TMA_LOAD_HINT_3D",
             "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint",
             "tma_load_hint_3d(tile, map, barrier, hint, c...)"),
    tma_multicast("SM90_TMA_LOAD_MULTICAST_3D",
                  "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
                  "tma_load_multicast_3d(tile, map, barrier, mask, c...)"),
    tma_multicast("SM90_TMA_LOAD_MULTICAST_HINT_3D",
                  "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::"
                  "cache_hint",
                  "tma_load_multicast_hint_3d(tile, map, barrier, mask, hint, c...)"),
    row("SM90_TMA_PREFETCH_3D", "cp.async.bulk.prefetch.tensor.3d.L2.global", Kind::prefetch, 1, Space::gmem,
        Space::none, 0, Completion::at_once, "tma_prefetch_3d(map, c...)"),
    tma_store("SM90_TMA_STORE_3D", "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group",
              "tma_store_3d(map, tile, c...)"),
    tma_store("SM90_TMA_STORE_HINT_3D", "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group.L2::cache_hint",
              "tma_store_hint_3d(map, tile, hint, c...)"),
    tma_store("SM90_TMA_REDUCE_ADD_3D", "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.bulk_group",
              "tma_reduce_add_3d(map, tile, c...)"),
    tma_store("SM90_TMA_REDUCE_MIN_3D", "cp.reduce.async.bulk.tensor.3d.global.shared::cta.min.bulk_group",
              "tma_reduce_min_3d(map, tile, c...)"),
    tma_store("SM90_TMA_REDUCE_MAX_3D", "cp.reduce.async.bulk.tensor.3d.global.shared::cta.max.bulk_group",
              "tma_reduce_max_3d(map, tile, c...)"),
    tma_load("SM90_TMA_LOAD_IM2COL_3D",
             "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes",
             "tma_load_im2col_3d(tile, map, barrier, c..., o...)"),
    tma_multicast("SM90_TMA_LOAD_IM2COL_MULTICAST_3D",
                  "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::"
                  "cluster",
                  "tma_load_im2col_multicast_3d(tile, map, barrier, mask, c..., o...)"),
    tma_store("SM90_TMA_STORE_IM2COL_3D", "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group",
              "tma_store_im2col_3d(map, tile, c...)"),
    tma_load("SM90_TMA_LOAD_4D", "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes",
             "tma_load_4d(tile, map, barrier, c...)"),
    tma_load("SM90_TMA_LOAD_HINT_4D",
             "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint",
             "tma_load_hint_4d(tile, map, barrier, hint, c...)"),
    tma_multicast("SM90_TMA_LOAD_MULTICAST_4D",
                  "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
                  "tma_load_multicast_4d(tile, map, barrier, mask, c...)"),
    tma_multicast("SM90_TMA_LOAD_MULTICAST_HINT_4D",
                  "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::"
                  "cache_hint",
                  "tma_load_multicast_hint_4d(tile, map, barrier, mask, hint, c...)"),
    row("SM90_TMA_PREFETCH_4D", "cp.async.bulk.prefetch.tensor.4d.L2.global", Kind::prefetch, 1, Space::gmem,
        Space::none, 0, Completion::at_once, "tma_prefetch_4d(map, c...)"),
    tma_store("SM90_TMA_STORE_4D", "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group",
              "tma_store_4d(map, tile, c...)"),
    tma_store("SM90_TMA_STORE_HINT_4D", "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group.L2::cache_hint",
              "tma_store_hint_4d(map, tile, hint, c...)"),
    tma_store("SM90_TMA_REDUCE_ADD_4D", "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.bulk_group",
              "tma_reduce_add_4d(map, tile, c...)"),
    tma_store("SM90_TMA_REDUCE_MIN_4D", "cp.reduce.async.bulk.tensor.4d.global.shared::cta.min.bulk_group",
              "tma_reduce_min_4d(map, tile, c...)"),
    tma_store("SM90_TMA_REDUCE_MAX_4D", "cp.reduce.async.bulk.tensor.4d.global.shared::cta.max.bulk_group",
              "tma_reduce_max_4d(map, tile, c...)"),
    tma_load("SM90_TMA_LOAD_IM2COL_4D",
             "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes",
             "tma_load_im2col_4d(tile, map, barrier, c..., o...)"),
    tma_multicast("SM90_TMA_LOAD_IM2COL_MULTICAST_4D",
                  "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::"
                  "cluster",
                  "tma_load_im2col_multicast_4d(tile, map, barrier, mask, c..., o...)"),
    tma_store("SM90_TMA_STORE_IM2COL_4D", "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group",
              "tma_store_im2col_4d(map, tile, c...)"),
    tma_load("SM90_TMA_LOAD_5D", "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes",
             "tma_load_5d(tile, map, barrier, c...)"),
    tma_load("SM90_TMA_LOAD_HINT_5D",
             "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint",
             "tma_load_hint_5d(tile, map, barrier, hint, c...)"),
    tma_multicast("SM90_TMA_LOAD_MULTICAST_5D",
                  "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
                  "tma_load_multicast_5d(tile, map, barrier, mask, c...)"),
    tma_multicast("SM90_TMA_LOAD_MULTICAST_HINT_5D",
                  "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::"
                  "cache_hint",
                  "tma_load_multicast_hint_5d(tile, map, barrier, mask, hint, c...)"),
    row("SM90_TMA_PREFETCH_5D", "cp.async.bulk.prefetch.tensor.5d.L2.global", Kind::prefetch, 1, Space::gmem,
        Space::none, 0, Completion::at_once, "tma_prefetch_5d(map, c...)"),
    tma_store("SM90_TMA_STORE_5D", "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group",
              "tma_store_5d(map, tile, c...)"),
    tma_store("SM90_TMA_STORE_HINT_5D", "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group.L2::cache_hint",
              "tma_store_hint_5d(map, tile, hint, c...)"),
    tma_store("SM90_TMA_REDUCE_ADD_5D", "cp.reduce.async.bulk.tensor.5d.global.shared::cta.add.bulk_group",
              "tma_reduce_add_5d(map, tile, c...)"),
    tma_store("SM90_TMA_REDUCE_MIN_5D", "cp.reduce.async.bulk.tensor.5d.global.shared::cta.min.bulk_group",
              "tma_reduce_min_5d(map, tile, c...)"),
    tma_store("SM90_TMA_REDUCE_MAX_5D", "cp.reduce.async.bulk.tensor.5d.global.shared::cta.max.bulk_group",
              "tma_reduce_max_5d(map, tile, c...)"),
    tma_load("SM90_TMA_LOAD_IM2COL_5D",
             "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes",
             "tma_load_im2col_5d(tile, map, barrier, c..., o...)"),
    tma_multicast("SM90_TMA_LOAD_IM2COL_MULTICAST_5D",
                  "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::"
                  "cluster",
                  "tma_load_im2col_multicast_5d(tile, map, barrier, mask, c..., o...)"),
    tma_store("SM90_TMA_STORE_IM2COL_5D", "cp.async.bulk.tensor.5d.global.shared::cta.im2col_no_offs.bulk_group",
              "tma_store_im2col_5d(map, tile, c...)"),
    row("SM90_WGMMA_FENCE", "wgmma.fence.sync.aligned", Kind::control, 32, Space::none, Space::none, 0,
        Completion::at_once, "wgmma_fence()"),
    row("SM90_WGMMA_COMMIT_GROUP", "wgmma.commit_group.sync.aligned", Kind::control, 32, Space::none, Space::none, 0,
        Completion::at_once, "wgmma_commit()"),
    row("SM90_WGMMA_WAIT_GROUP", "wgmma.wait_group.sync.aligned", Kind::control, 32, Space::none, Space::none, 0,
        Completion::at_once, "wgmma_wait<N>()"),
    stmatrix("SM90_U32x1_STSM_N", "stmatrix.sync.aligned.m8n8.x1.shared.b16", 1, matrix_layouts::matrix_x1,
             matrix_layouts::rows_x1, "stmatrix_x1(row, r)"),
    stmatrix("SM90_U16x2_STSM_T", "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16", 1, matrix_layouts::matrix_x1_trans,
             matrix_layouts::rows_x1, "stmatrix_x1_trans(row, r)"),
    stmatrix("SM90_U32x2_STSM_N", "stmatrix.sync.aligned.m8n8.x2.shared.b16", 2, matrix_layouts::matrix_x2,
             matrix_layouts::rows_x2, "stmatrix_x2(row, r)"),
    stmatrix("SM90_U16x4_STSM_T", "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16", 2, matrix_layouts::matrix_x2_trans,
             matrix_layouts::rows_x2, "stmatrix_x2_trans(row, r)"),
    stmatrix("SM90_U32x4_STSM_N", "stmatrix.sync.aligned.m8n8.x4.shared.b16", 4, matrix_layouts::matrix_x4,
             matrix_layouts::rows_x4, "stmatrix_x4(row, r)"),
    stmatrix("SM90_U16x8_STSM_T", "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 4, matrix_layouts::matrix_x4_trans,
             matrix_layouts::rows_x4, "stmatrix_x4_trans(row, r)"),
    movmatrix("SM75_U32x1_MOVM_T", "movmatrix.sync.aligned.m8n8.trans.b16", "movmatrix_trans(r)"),
};

}  // namespace sm90

using sm90::movement_rows;

}  // namespace zellige
