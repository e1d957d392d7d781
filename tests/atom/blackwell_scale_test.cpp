// tcgen05.mma with scales of blocks, which tcgen05.cp copies to tensor memory: against simple loops, and with faults.
#include <zellige/atom.hpp>
#include <zellige/atom/elect.hpp>
#include <zellige/atom/fence.hpp>
#include <zellige/atom/launch_control.hpp>
#include <zellige/atom/smem_descriptor.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/atom/tmem_from_shared.hpp>
#include <zellige/atom/umma_block.hpp>
#include <zellige/atom/umma_reference.hpp>

#include "launch.hpp"

namespace zellige {
namespace {

using Kind = emulate::Finding::Kind;
using UMMA::Major;

enum class ScaleBug {
  none,
  scales_in_other_columns,
  no_copy_of_the_scales_of_b,
  copied_after_the_products,
  scales_beyond_the_columns,
  scales_at_lane_32,
  no_proxy_fence,
  no_barrier,
  overwritten_before_the_wait,
  copied_by_another_thread,
  freed_before_the_wait,
  count
};

constexpr unsigned rows_a = 128, rows_b = 64, row_bytes = 128;

/// A product of 128 x 64 whose operands' rows have 128 bytes: four instructions. Scales are in tiles of 32 rows of 16 bytes,
/// of 4 bytes for each 32 rows of the operand.
template <class Op>
__global__ void scaled(gmem<const unsigned char> a, gmem<const unsigned char> b, gmem<const unsigned char> scales_a,
                       gmem<const unsigned char> scales_b, gmem<float> d, ScaleBug bug) {
  constexpr unsigned blocks = Op::k / Op::vec_size, tiles = blocks;  // of the four instructions
  const unsigned t = threadIdx.x;
  const auto address = shared<uint32_t>("address", 0, 1);
  const auto done = shared<uint64_t>("done", 8, 1);
  const auto in_a = shared<unsigned char>("A", 1024, rows_a * row_bytes);
  const auto in_b = shared<unsigned char>("B", 17408, rows_b * row_bytes);
  const auto in_sa = shared<unsigned char>("scales of A", 25600, tiles * 512);
  const auto in_sb = shared<unsigned char>("scales of B", 27648, tiles * 512);
  const auto place = [](unsigned i) { return int(i ^ (i >> 7 & 7u) << 4); };  // the swizzle of 128 bytes
  for (unsigned i = t; i < rows_a * row_bytes; i += 128) in_a[place(i)] = a[int(i)];
  for (unsigned i = t; i < rows_b * row_bytes; i += 128) in_b[place(i)] = b[int(i)];
  for (unsigned i = t; i < tiles * 512; i += 128) in_sa[int(i)] = scales_a[int(i)], in_sb[int(i)] = scales_b[int(i)];
  if (bug != ScaleBug::no_proxy_fence) fence_proxy_async_shared();
  if (t == 0) mbarrier_init(done, 1);
  if (t < 32) TMEM::Allocator1Sm().allocate(128, address);
  if (bug != ScaleBug::no_barrier) __syncthreads();
  __syncwarp();
  const uint32_t columns = t < 32 || bug != ScaleBug::no_barrier ? uint32_t(*address) : 0u;
  const uint32_t sfa = columns + 64, sfb = columns + 96;
  if (t < 32) {
    const uint64_t version = uint64_t(1) << 46;
    const auto copy = [&](smem<unsigned char> from, uint32_t to) {
      for (unsigned i = 0; i < tiles; ++i)
        SM100_UTCCP_4x32dp128bit_1cta::copy(smem_descriptor(from + i * 512, 0, 128, SwizzleMode::none) | version,
                                            to + 4 * i);
    };
    const auto copy_all = [&] {
      copy(in_sa, sfa);
      const uint32_t to = bug == ScaleBug::scales_in_other_columns     ? sfb + 4
                          : bug == ScaleBug::scales_beyond_the_columns ? columns + 126
                          : bug == ScaleBug::scales_at_lane_32         ? sfb + (32u << 16)
                                                                       : sfb;
      if (bug != ScaleBug::no_copy_of_the_scales_of_b) copy(in_sb, to);
    };
    if (t == (bug == ScaleBug::copied_by_another_thread ? 1u : 0u) && bug != ScaleBug::copied_after_the_products)
      copy_all();
    const uint64_t da = smem_descriptor(in_a, 0, 1024, SwizzleMode::b128) | version;
    const uint64_t db = smem_descriptor(in_b, 0, 1024, SwizzleMode::b128) | version;
    for (unsigned i = 0; i < 4; ++i) {
      const uint32_t step = i * blocks / 4 * 4, byte = i * blocks % 4 << 30;
      Op::fma(advance(da, 32 * i), advance(db, 32 * i), columns, i > 0,
              UMMA::make_runtime_instr_desc_block_scaled({Op::word}, (sfa + step) | byte, (sfb + step) | byte),
              (sfa + step) | byte, (sfb + step) | byte);
    }
    if (t == 0 && bug == ScaleBug::copied_after_the_products) copy_all();
    if (elect_one()) tcgen05_commit(done);
    if (bug == ScaleBug::freed_before_the_wait) TMEM::Allocator1Sm().free(columns, 128);
  }
  if (bug == ScaleBug::no_barrier) __syncthreads();
  if (bug == ScaleBug::overwritten_before_the_wait && t == 50) in_sa[3] = (unsigned char)1;
  mbarrier_wait(done, 0);
  tcgen05_after_thread_sync();
  for (unsigned c = 0; c < rows_b && bug != ScaleBug::freed_before_the_wait; c += 8) {
    uint32_t r[8];
    SM100_TMEM_LOAD_32dp32b8x::call(r, uint32_t(*address) + (t / 32 * 32 << 16) + c);
    tmem_load_wait();
    for (unsigned i = 0; i < 8; ++i) d[int(t * rows_b + c + i)] = __builtin_bit_cast(float, r[i]);
  }
  __syncthreads();
  if (t < 32 && bug != ScaleBug::freed_before_the_wait) TMEM::Allocator1Sm().free(*address, 128);
}

/// The operands and scales of a trial, and the result.
template <class Op>
struct ScaledTrial {
  static constexpr unsigned blocks = Op::k / Op::vec_size;
  Buffer a, b, scales_a, scales_b, d{"d", rows_a*rows_b * 4};
  EmulationReport report;

  ScaledTrial(ScaleBug bug, unsigned schedule)
      : a(filled<unsigned char>("a", rows_a * row_bytes, code)),
        b(filled<unsigned char>("b", rows_b * row_bytes, code)),
        scales_a(filled<unsigned char>("scales_a", blocks * 512, scale)),
        scales_b(filled<unsigned char>("scales_b", blocks * 512, scale)) {
    LaunchConfig config{.grid = {1}, .block = {128}, .shared_bytes = 29696, .workers = 1};
    config.schedule = schedule;
    config.seconds = 20;
    for (Buffer* x : {&a, &b, &scales_a, &scales_b}) config.parameters.emplace_back(*x, false);
    config.parameters.emplace_back(d, true);
    config.parameters.emplace_back(bug);
    report = emulate::run(entry<scaled<Op>>, config);
  }
  static unsigned char code(std::size_t i) {
    const auto x = static_cast<unsigned>(i * 37 % 11);
    if (Op::packed) return static_cast<unsigned char>(i * 73 % 251);
    return __builtin_bit_cast(unsigned char, float_e4m3_t(float(x) - 5));
  }
  static unsigned char scale(std::size_t i) {  // 1/2, 1 or 2
    return static_cast<unsigned char>(number_of<typename Op::TypeSF> == Number::ue8m0 ? 126 + i % 3 : 0x30 + i % 3 * 8);
  }
  static double element(const Buffer& x, unsigned row, unsigned k) {
    const unsigned char* const bytes = elements<unsigned char>(x) + row * row_bytes;
    if (Op::packed) return reference::narrow_value(Number::e2m1, bytes[k / 2] >> k % 2 * 4 & 0xfu);
    return reference::narrow_value(Number::e4m3, bytes[k]);
  }
  /// The scale of element k of a row: in the tile of its instructions, row r mod 32, of 4 bytes for r / 32.
  static double scale_of(const Buffer& x, unsigned row, unsigned k) {
    const unsigned block = k / Op::vec_size;
    return reference::narrow_value(
        number_of<typename Op::TypeSF>,
        elements<unsigned char>(x)[block / 4 * 512 + row % 32 * 16 + row / 32 * 4 + block % 4]);
  }
  int wrong() const {
    int count = 0;
    for (unsigned i = 0; i < rows_a; ++i)
      for (unsigned j = 0; j < rows_b; ++j) {
        double sum = 0;
        for (unsigned k = 0; k < 4 * Op::k; ++k)
          sum += element(a, i, k) * scale_of(scales_a, i, k) * element(b, j, k) * scale_of(scales_b, j, k);
        count += elements<float>(d)[i * rows_b + j] != float(sum);
      }
    return count;
  }
};

using Mx8 = SM100_MMA_MXF8F6F4_SS<float_e4m3_t, float_e4m3_t, float, float_ue8m0_t, 128, 64, Major::K, Major::K>;
using Nv4 = SM100_MMA_MXF4_SS<float_e2m1_t, float_e2m1_t, float, float_ue4m3_t, 128, 64, 16, Major::K, Major::K>;
using Mx4 = SM100_MMA_MXF4_SS<float_e2m1_t, float_e2m1_t, float, float_ue8m0_t, 128, 64, 32, Major::K, Major::K>;

template <class Op>
void multiplies() {
  for (const unsigned schedule : {0u, 5u}) {
    const ScaledTrial<Op> t(ScaleBug::none, schedule);
    EXPECT_EQ(text(t.report), "");
    EXPECT_EQ(t.wrong(), 0);
  }
}
TEST(BlackwellScale, MultipliesWithoutAFinding) {
  multiplies<Mx8>();
  multiplies<Nv4>();
  multiplies<Mx4>();
}

TEST(BlackwellScale, EachFaultIsNamed) {
  const struct {
    ScaleBug bug;
    Kind kind;
    const char* words;
  } expected[] = {
      {ScaleBug::scales_in_other_columns, Kind::uninitialised_read, "scales by tcgen05.mma"},
      {ScaleBug::no_copy_of_the_scales_of_b, Kind::uninitialised_read, "scales by tcgen05.mma"},
      {ScaleBug::copied_after_the_products, Kind::uninitialised_read, "scales by tcgen05.mma"},
      {ScaleBug::scales_beyond_the_columns, Kind::out_of_bounds, "writes by tcgen05.cp"},
      {ScaleBug::scales_at_lane_32, Kind::instruction, "tcgen05.cp.32x128b.warpx4 to lane 32"},
      {ScaleBug::no_proxy_fence, Kind::fence, "no fence_proxy_async lies between"},
      {ScaleBug::no_barrier, Kind::race, "tcgen05.cp"},
      {ScaleBug::overwritten_before_the_wait, Kind::race, "on shared tensor scales of A"},
      {ScaleBug::copied_by_another_thread, Kind::race, "the tcgen05.cp that thread 1"},
      {ScaleBug::freed_before_the_wait, Kind::race, "frees"},
  };
  ASSERT_EQ(std::size(expected) + 1, std::size_t(ScaleBug::count));
  for (const auto& e : expected)
    for (const unsigned schedule : {0u, 5u}) {
      const ScaledTrial<Mx8> t(e.bug, schedule);
      bool named = false;
      for (const auto& f : t.report.findings) named |= f.kind == e.kind && f.message.find(e.words) != f.message.npos;
      EXPECT_TRUE(named) << "fault " << int(e.bug) << ", schedule " << schedule << ": " << e.words << "\nfound:\n"
                         << text(t.report);
    }
}

}  // namespace
}  // namespace zellige
