// The copy instructions, run on the emulator, move exactly what their rows define: value v of thread t at the
// destination is the source element that both layouts give.
#include <zellige/atom/copy_call.hpp>
#include <zellige/layout/print.hpp>
#include <zellige/layout/runtime.hpp>

#include "emulated.hpp"

namespace zellige {
namespace {

/// Shared memory holds its own index; each thread's row is where the atom's source layout says.
template <class Op>
__global__ void load_matrices(gmem<uint16_t> out) {
  using Atom = Copy_Atom<Op, uint16_t>;
  auto const tile = make_tensor(make_smem_ptr(shared<uint16_t>("tile", 0, 256)), Layout<_256>{});
  int const t = int(threadIdx.x);
  for (int i = t; i < 256; i += 32) tile(i) = static_cast<uint16_t>(i);
  __syncthreads();
  auto const source = make_tensor(tile.data() + typename Atom::ValLayoutSrc{}(t, 0), Layout<_8>{});
  auto mine = make_tensor<uint16_t>(Layout<Int<Atom::NumValDst>>{});
  copy(Atom{}, source, mine);
  for (int v = 0; v < Atom::NumValDst; ++v) out[t * Atom::NumValDst + v] = mine(v);
}
/// Registers hold (thread, value) as the source layout counts; shared memory must be in order.
template <class Op>
__global__ void store_matrices(gmem<uint16_t> out) {
  using Atom = Copy_Atom<Op, uint16_t>;
  auto const tile = make_tensor(make_smem_ptr(shared<uint16_t>("tile", 0, 256)), Layout<_256>{});
  int const t = int(threadIdx.x);
  auto mine = make_tensor<uint16_t>(Layout<Int<Atom::NumValSrc>>{});
  for (int v = 0; v < Atom::NumValSrc; ++v) mine(v) = static_cast<uint16_t>(int(typename Atom::ValLayoutSrc{}(t, v)));
  auto target = make_tensor(tile.data() + typename Atom::ValLayoutDst{}(t, 0), Layout<_8>{});
  copy(Atom{}, mine, target);
  __syncthreads();
  for (int i = t; i < 32 * Atom::NumValSrc; i += 32) out[i] = tile(i);
}
template <class Op>
__global__ void exchange_registers(gmem<uint32_t> out) {
  using Atom = Copy_Atom<Op, uint32_t>;
  int const t = int(threadIdx.x);
  auto mine = make_tensor<uint32_t>(Layout<Int<Atom::NumValSrc>>{});
  for (int v = 0; v < Atom::NumValSrc; ++v) mine(v) = uint32_t(int(typename Atom::ValLayoutSrc{}(t, v)));
  auto theirs = make_tensor<uint32_t>(Layout<Int<Atom::NumValDst>>{});
  copy(Atom{}, mine, theirs);
  for (int v = 0; v < Atom::NumValDst; ++v) out[t * Atom::NumValDst + v] = theirs(v);
}
/// cp.async of a row of 64 floats, of which the first 40 are there: said of the copy, or by copy_if's
/// predicate.
template <bool by_predicate>
__global__ void fill_row(gmem<float const> in, gmem<float> out) {
  constexpr int valid = 40;
  auto const row = make_tensor(make_smem_ptr(shared<float>("row", 0, 64)), Layout<_64>{});
  auto const from = make_tensor(make_gmem_ptr(in), Layout<_64>{});
  auto const to = make_tensor(make_gmem_ptr(out), Layout<_64>{});
  auto const fill =
      make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS_ZFILL<uint64_t>, float>{}, Layout<_32>{}, Layout<_2>{});
  auto const mine = fill.get_slice(int(threadIdx.x));
  auto const at = mine.partition_S(make_identity_tensor(Shape<_64>{}));
  bool const there = int(get<0>(at(0))) < valid;
  if constexpr (by_predicate) {
    auto target = mine.partition_D(row);
    copy_if(
        fill, [&](int) { return there; }, mine.partition_S(from), target);
  } else {
    copy(fill.with(there), mine.partition_S(from), mine.partition_D(row));
  }
  cp_async_fence();
  cp_async_wait<0>();
  __syncthreads();
  auto const back = make_tiled_copy(Copy_Atom<UniversalCopy<uint64_t>, float>{}, Layout<_32>{}, Layout<_2>{});
  auto const mine_back = back.get_slice(int(threadIdx.x));
  auto target = mine_back.partition_D(to);
  copy_if(
      back, [&](int) { return int(threadIdx.x) != 31; }, mine_back.partition_S(row), target);
}

template <class Op>
void run_load(emulate::Launch& l) {
  emulate::call(l, load_matrices<Op>);
}
template <class Op>
void run_store(emulate::Launch& l) {
  emulate::call(l, store_matrices<Op>);
}
template <class Op>
void run_exchange(emulate::Launch& l) {
  emulate::call(l, exchange_registers<Op>);
}

template <bool by_predicate>
void run_fill(emulate::Launch& l) {
  emulate::call(l, fill_row<by_predicate>);
}

template <class Op>
void loads_as_its_row() {
  using Atom = Copy_Atom<Op, uint16_t>;
  emulate::Buffer out("out", 32 * Atom::NumValDst * 2);
  ASSERT_EQ(launch(run_load<Op>, {&out}, {true}, 32, 512), "") << Op::name;
  Indexer const at(describe(typename Atom::ValLayoutDst{}));
  for (int t = 0; t < 32; ++t) {
    for (int v = 0; v < Atom::NumValDst; ++v)
      ASSERT_EQ(elements<uint16_t>(out)[t * Atom::NumValDst + v], at(t + 32 * v)) << Op::name << " " << t << " " << v;
  }
}
template <class Op>
void stores_as_its_row() {
  using Atom = Copy_Atom<Op, uint16_t>;
  emulate::Buffer out("out", 32 * Atom::NumValSrc * 2);
  ASSERT_EQ(launch(run_store<Op>, {&out}, {true}, 32, 512), "") << Op::name;
  for (int i = 0; i < 32 * Atom::NumValSrc; ++i) ASSERT_EQ(elements<uint16_t>(out)[i], i) << Op::name;
}
template <class Op>
void exchanges_as_its_row() {
  using Atom = Copy_Atom<Op, uint32_t>;
  emulate::Buffer out("out", 32 * Atom::NumValDst * 4);
  ASSERT_EQ(launch(run_exchange<Op>, {&out}, {true}, 32, 0), "") << Op::name;
  Indexer const at(describe(typename Atom::ValLayoutDst{}));
  for (int t = 0; t < 32; ++t) {
    for (int v = 0; v < Atom::NumValDst; ++v)
      ASSERT_EQ(elements<uint32_t>(out)[t * Atom::NumValDst + v], at(t + 32 * v)) << Op::name << " " << t << " " << v;
  }
}

TEST(CopyInstructions, LdmatrixLoadsAsItsRows) {
  loads_as_its_row<SM75_U32x1_LDSM_N>();
  loads_as_its_row<SM75_U32x2_LDSM_N>();
  loads_as_its_row<SM75_U32x4_LDSM_N>();
  loads_as_its_row<SM75_U16x2_LDSM_T>();
  loads_as_its_row<SM75_U16x4_LDSM_T>();
  loads_as_its_row<SM75_U16x8_LDSM_T>();
}
TEST(CopyInstructions, StmatrixStoresAsItsRows) {
  stores_as_its_row<SM90_U32x1_STSM_N>();
  stores_as_its_row<SM90_U32x2_STSM_N>();
  stores_as_its_row<SM90_U32x4_STSM_N>();
  stores_as_its_row<SM90_U16x2_STSM_T>();
  stores_as_its_row<SM90_U16x4_STSM_T>();
  stores_as_its_row<SM90_U16x8_STSM_T>();
}
TEST(CopyInstructions, ShufflesExchangeAsTheirRows) {
  exchanges_as_its_row<SM50_Shuffle_U32_2x2Trans_XOR1>();
  exchanges_as_its_row<SM50_Shuffle_U32_2x2Trans_XOR4>();
}
TEST(CopyInstructions, CpAsyncFillsWithZerosWhatIsNotValid) {
  for (auto* const run : {run_fill<false>, run_fill<true>}) {
    emulate::Buffer in = filled<float>("in", 64, [](int i) { return float(i + 1); }), out("out", 256);
    ASSERT_EQ(launch(run, {&in, &out}, {false, true}, 32, 256), "");
    for (int i = 0; i < 62; ++i) ASSERT_EQ(elements<float>(out)[i], i < 40 ? i + 1 : 0) << i;
  }
}

}  // namespace
}  // namespace zellige
