// Tilings by brute force: threads together own each element of a tensor the expected number of times, the
// compile-time and run-time APIs agree, and a tiled copy's source and destination are the same elements in
// the order of the instruction.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <zellige/atom/evaluate.hpp>
#include <zellige/layout/runtime.hpp>

namespace zellige {
namespace {

using namespace algebra;

struct TiledMmaCase {
  char const* op;
  char const* threads;
  char const* permutation;
};
constexpr TiledMmaCase mma_cases[] = {
    {"SM80_16x8x16_F32F16F16F32_TN", "(_2,_2,_1):(_1,_2,_0)", "(_,_,_)"},
    {"SM80_16x8x16_F32F16F16F32_TN", "(_2,_2,_1):(_2,_1,_0)", "(_32,_32,_16)"},
    {"SM80_16x8x16_F32F16F16F32_TN", "(_1,_4,_2):(_1,_1,_4)", "(_,(_2,_4,_2,_4):(_1,_4,_2,_16),_)"},
    {"SM80_16x8x8_F32TF32TF32F32_TN", "(_4,_1,_1):(_1,_0,_0)", "(_64,_16,_16)"},
    {"SM80_8x8x4_F64F64F64F64_TN", "(_4,_2,_1):(_2,_1,_0)", "((_8,_4):(_1,_8),_32,_4)"},
    {"SM80_16x8x32_S32S8U8S32_TN", "(_1,_1,_1):(_0,_0,_0)", "(_,_,_)"},
    {"SM89_16x8x32_F16E4M3E5M2F16_TN", "(_2,_1,_1):(_1,_0,_0)", "(_,_16,_)"},
    {"SM70_8x8x4_F32F16F16F32_NT", "(_2,_2,_1):(_1,_2,_0)", "(_,_,_)"},
    {"SM75_16x8x8_F32F16F16F32_TN", "(_2,_4,_1):(_1,_2,_0)", "(_,_,_8)"},
    {"SM90::GMMA::MMA_64x64x16_F32F16F16_RS", "(_2,_1,_1):(_1,_0,_0)", "(_,_,_)"},
    {"UniversalFMA<float>", "(_16,_16,_1):(_16,_1,_0)", "(_32,_32,_1)"},
};

/// The number of times each element of a column-major tensor is in the threads' parts.
std::map<long long, int> partitioned(MmaTiling const& m, Value const& shape, int threads) {
  std::map<long long, int> had;
  for (int i = 0; i < threads; ++i) {
    Tape t;
    Value const layout = compact_left(t, shape);
    Value const part = mma_partition(t, layout, m, thread_vmnk(t, m.vmnk, number(i)));
    EXPECT_FALSE(t.failed()) << to_text(t.refusal());
    if (t.failed()) return {};
    Indexer const at(part[0]);
    for (long long v = 0; v < size(part[0]); ++v) ++had[at(v) + part[1].root().s.v];
  }
  return had;
}

TEST(TiledMmas, ThreadsHaveEachElementOfCOnceAndOfAAndBAsOftenAsTheyShare) {
  for (TiledMmaCase const& c : mma_cases) {
    SCOPED_TRACE(std::string(c.op) + " " + c.threads + " " + c.permutation);
    for (char part : {'A', 'B', 'C'}) {
      Tape t;
      MmaTiling const m = detail::mma_tiling(t, {c.op, c.threads, c.permutation}, 0, part);
      ASSERT_FALSE(t.failed());
      // Two tiles along the first mode, three along the second.
      Value shape = empty(ValueKind::tuple);
      for (int i = 0; i < 2; ++i)
        shape.add(number(t.mul(size_of(t, permutation_mnk(t, m, m.mode_of(i))), fixed(2 + i))));
      long long const threads = size_of(t, m.vmnk).v, elements = product_of(t, shape).v;
      // Volta's eight threads are of 32; the rest repeats them.
      int const count = std::string_view(c.op).starts_with("SM70") ? 32 : int(threads);
      auto const had = partitioned(m, shape, count);
      ASSERT_EQ(static_cast<long long>(had.size()), elements) << part;
      bool const descriptor = part != 'C' && m.tv[0].is_leaf() && size(m.tv[0]) == 128 && m.tv[0].root().d.is(0);
      long long const sharing = part == 'C'   ? size_of(t, m.vmnk[3]).v
                                : part == 'A' ? size_of(t, m.vmnk[2]).v
                                              : size_of(t, m.vmnk[1]).v;
      for (auto const& [element, times] : had) {
        ASSERT_TRUE(element >= 0 && element < elements);
        ASSERT_EQ(times, sharing * (descriptor ? 128 : 1) * count / threads) << part << " " << element;
      }
    }
  }
}
TEST(TiledMmas, LayoutTvIsWhatPartitionGives) {
  for (TiledMmaCase const& c : mma_cases) {
    if (std::string_view(c.op).starts_with("SM70")) continue;  // threads that take no part have no partition
    SCOPED_TRACE(std::string(c.op) + " " + c.threads + " " + c.permutation);
    for (char part : {'A', 'B', 'C'}) {
      Tape t;
      MmaTiling const m = detail::mma_tiling(t, {c.op, c.threads, c.permutation}, 0, part);
      if (part == 'C' && !size_of(t, m.vmnk[3]).is(1)) continue;  // as in CuTe: K counts beyond the tile
      Value const tv = mma_layout_tv(t, m);
      ASSERT_FALSE(t.failed());
      Value shape = empty(ValueKind::tuple);
      for (int i = 0; i < 2; ++i) shape.add(number(size_of(t, permutation_mnk(t, m, m.mode_of(i)))));
      Indexer const at(tv);
      long long const threads = size(tv[0]);
      for (long long i = 0; i < threads; i += 1 + threads / 17) {
        Value const mine = mma_partition(t, compact_left(t, shape), m, thread_vmnk(t, m.vmnk, number(i)));
        ASSERT_FALSE(t.failed());
        Indexer const in_part(mine[0]);
        ASSERT_EQ(size(mine[0]), size(tv[1]));
        for (long long v = 0; v < size(mine[0]); ++v)
          ASSERT_EQ(in_part(v) + mine[1].root().s.v, at(i + threads * v)) << part << " " << i << " " << v;
      }
    }
  }
}

struct TiledCopyCase {
  char const* op;
  char const* type;
  char const* threads;
  char const* values;
};
constexpr TiledCopyCase copy_cases[] = {
    {"UniversalCopy<uint128_t>", "half_t", "(_16,_8):(_8,_1)", "(_1,_8):(_1,_1)"},
    {"UniversalCopy<uint32_t>", "half_t", "(_4,_8):(_8,_1)", "(_2,_2):(_2,_1)"},
    {"AutoVectorizingCopy", "float", "(_32,_4):(_1,_32)", "(_4,_1):(_1,_0)"},
    {"SM80_CP_ASYNC_CACHEALWAYS<uint64_t>", "float", "(_8,_16):(_16,_1)", "(_1,_4):(_0,_1)"},
    {"SM75_U32x4_LDSM_N", "half_t", "(_32,_1):(_1,_0)", "(_1,_8):(_0,_1)"},
    {"SM75_U32x2_LDSM_N", "half_t", "(_16,_4):(_4,_1)", "(_2,_4):(_4,_1)"},
    {"SM75_U16x8_LDSM_T", "half_t", "(_32,_1):(_1,_0)", "(_1,_8):(_0,_1)"},
    {"SM90_U32x4_STSM_N", "half_t", "(_32,_4):(_1,_32)", "(_8,_1):(_1,_0)"},
};
TEST(TiledCopies, EveryElementIsCopied) {
  for (TiledCopyCase const& c : copy_cases) {
    SCOPED_TRACE(std::string(c.op) + " " + c.threads + " " + c.values);
    Tape t;
    CopyAtomValue const atom = detail::copy_atom(t, c.op, c.type);
    Value const tiling = raked_tiling(t, parse_value(c.threads), parse_value(c.values));
    ASSERT_FALSE(t.failed());
    for (char side : {'S', 'D'}) {
      CopyTiling const copy = detail::copy_tiling(atom, tiling, side);
      Value shape = empty(ValueKind::tuple);
      for (int i = 0; i < 2; ++i) shape.add(number(t.mul(copy.tiler[i].root().s, fixed(3 - i))));
      long long const elements = product_of(t, shape).v, threads = size(copy.tv[0]);
      std::map<long long, int> had;
      for (long long i = 0; i < threads; ++i) {
        Value const part = copy_partition(t, compact_left(t, shape), copy, number(i));
        ASSERT_FALSE(t.failed()) << to_text(t.refusal());
        Indexer const at(part[0]);
        for (long long v = 0; v < size(part[0]); ++v) ++had[at(v) + part[1].root().s.v];
      }
      // Threads of a matrix load or store whose addresses are not used address what others do.
      ASSERT_EQ(static_cast<long long>(had.size()), elements) << side;
      long long const per_thread = size(side == 'S' ? atom.source : atom.destination);
      long long const repeats = per_thread / size(atom.reference);
      for (auto const& [element, times] : had) ASSERT_EQ(times, repeats) << side << " " << element;
    }
  }
}
// Random threads and values, in any order: the tile is covered once.
TEST(TiledCopies, RandomThreadsAndValues) {
  std::mt19937 random(7);
  auto power = [&](int max_size) { return 1 << random() % (max_size + 1); };
  auto layout = [&](int m, int n) {
    bool const first = random() % 2;
    std::string const s = "(_" + std::to_string(m) + ",_" + std::to_string(n) + ")";
    return s + ":(_" + std::to_string(first ? 1 : n) + ",_" + std::to_string(first ? m : 1) + ")";
  };
  for (int trial = 0; trial < 200; ++trial) {
    std::string const threads = layout(power(4), power(4)), values = layout(power(2), power(2));
    SCOPED_TRACE(threads + " " + values);
    Tape t;
    CopyAtomValue const atom = detail::copy_atom(t, "DefaultCopy", "float");
    Value const tiling = raked_tiling(t, parse_value(threads), parse_value(values));
    ASSERT_FALSE(t.failed()) << to_text(t.refusal());
    Value const tv = copy_layout_tv(t, detail::copy_tiling(atom, tiling, 'S'));
    ASSERT_FALSE(t.failed());
    std::vector<bool> seen(std::size_t(size(tv)), false);
    Indexer const at(tv);
    for (long long i = 0; i < size(tv); ++i) {
      ASSERT_LT(at(i), size(tv));
      ASSERT_FALSE(seen[std::size_t(at(i))]);
      seen[std::size_t(at(i))] = true;
    }
  }
}
// retile only renumbers: the same registers, and value v of the copy is value v of the MMA's operand.
TEST(TiledCopies, RetiledFragmentsAreTheSameRegisters) {
  for (char const* op : {"DefaultCopy", "UniversalCopy<uint32_t>", "SM75_U32x4_LDSM_N", "SM75_U16x8_LDSM_T"}) {
    for (char part : {'A', 'B'}) {
      Tape t;
      CopyAtomValue const atom = detail::copy_atom(t, op, "half_t");
      MmaTiling const m =
          detail::mma_tiling(t, {"SM80_16x8x16_F32F16F16F32_TN", "(_2,_2,_1):(_1,_2,_0)", "(_32,_32,_16)"}, 0, part);
      Value const tiling = detail::operand_tiling(t, atom, m, false);
      CopyTiling const copy = detail::copy_tiling(atom, tiling, 'S');
      Value const fragment = compact_left(t, mma_partition_shape(t, parse_value("(_64,_32)"), m));
      Value const again = retile(t, fragment, copy);
      ASSERT_FALSE(t.failed()) << op << " " << to_text(t.refusal());
      ASSERT_EQ(size(again), size(fragment));
      std::set<long long> registers;
      Indexer const at(again);
      for (long long i = 0; i < size(again); ++i) registers.insert(at(i));
      EXPECT_EQ(static_cast<long long>(registers.size()), size(fragment)) << op;
      EXPECT_EQ(*registers.rbegin(), size(fragment) - 1) << op;
    }
  }
}

// The box of a TMA copy covers the tile: boxes of the tiling are disjoint, and in order they are the tile.
TEST(TmaTilings, BoxesCoverTheTile) {
  struct Case {
    char const *global, *shared, *tile;
  };
  for (Case const& c : {Case{"(512,512):(512,_1)", "GMMA|K_SW128|half_t|(_128,_64)", "(_128,_64)"},
                        Case{"(512,512):(_1,512)", "GMMA|MN_SW64|half_t|(_128,_64)", "(_128,_64)"},
                        Case{"(512,512):(512,_1)", "GMMA|K_INTER|half_t|(_64,_64)", "(_64,_64)"},
                        Case{"(128,(64,8)):(_1,(128,8192))", "(_32,(_32,_2)):(_1,(_32,_1024))", "(_32,(_32,_2))"}}) {
    SCOPED_TRACE(std::string(c.global) + " " + c.shared);
    Tape t;
    Value const global = parse_value(c.global), shared = without_swizzle(detail::shared_layout(t, c.shared));
    TmaRequest const r{global, shared, tile_modes(t, global, parse_value(c.tile)), 16, 16};
    Value const box = tma_basis(t, r);
    ASSERT_FALSE(t.failed()) << to_text(t.refusal());
    Value const tiling = tma_tiling(t, r, box, unit());
    ASSERT_FALSE(t.failed()) << to_text(t.refusal());
    // Value v of the tiling is the element of the tile that lies at address v of shared memory.
    Indexer const values(tiling[0][1]), address(shared);
    long long const elements = tma_elements(t, r, box).v;
    EXPECT_EQ(size(tiling[0][1]), size(shared));
    EXPECT_EQ(size(shared) % elements, 0);
    for (long long v = 0; v < size(shared); ++v) ASSERT_EQ(address(values(v)), v);
  }
}

}  // namespace
}  // namespace zellige
