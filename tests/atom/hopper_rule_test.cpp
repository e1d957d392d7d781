// Rules that are not part of the engine: the addresses of operands, the results of the reference bodies, and
// the instructions as called from kernels.
#include <cmath>
#include <zellige/atom.hpp>
#include <zellige/atom/elect.hpp>
#include <zellige/atom/gmma_operand.hpp>
#include <zellige/atom/launch_limits.hpp>
#include <zellige/atom/movmatrix.hpp>
#include <zellige/atom/setmaxnreg.hpp>
#include <zellige/atom/stmatrix.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/atom/wgmma.hpp>
#include <zellige/layout/gmma_atoms.hpp>

#include "launch.hpp"
#include "wgmma_elements.hpp"

namespace zellige {
namespace {

std::string at(const char* tag) { return line_of("hopper_rule_test.cpp", tag); }

// A swizzled atom of CuTe's, as a function of its two coordinates, in bytes.
template <class Atom>
unsigned atom_byte(unsigned mn, unsigned k) {
  const auto swizzled = Atom{};
  return static_cast<unsigned>(swizzled.layout_a()(2 * int(swizzled.layout_b()(int(mn), int(k)))));
}
template <class Atom>
void agrees(SwizzleMode mode, bool mn_major, unsigned rows, unsigned depth) {
  const unsigned span = swizzle_span(mode);
  const uint64_t d = smem_descriptor_bits(0, 4096, 8 * span, mode);
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned k = 0; k < depth; ++k)
      ASSERT_EQ(gmma_address(d, mn_major, 2, r, k), atom_byte<Atom>(r, k)) << r << " " << k;
}
TEST(GmmaOperand, LiesAsCuTesAtomsSay) {
  using namespace SM90::GMMA;
  agrees<Layout_K_SW128_Atom<half_t>>(SwizzleMode::b128, false, 8, 64);
  agrees<Layout_K_SW64_Atom<half_t>>(SwizzleMode::b64, false, 8, 32);
  agrees<Layout_K_SW32_Atom<half_t>>(SwizzleMode::b32, false, 8, 16);
  agrees<Layout_K_INTER_Atom<half_t>>(SwizzleMode::none, false, 8, 8);
  agrees<Layout_MN_SW128_Atom<half_t>>(SwizzleMode::b128, true, 64, 8);
  agrees<Layout_MN_SW64_Atom<half_t>>(SwizzleMode::b64, true, 32, 8);
  agrees<Layout_MN_SW32_Atom<half_t>>(SwizzleMode::b32, true, 16, 8);
  agrees<Layout_MN_INTER_Atom<half_t>>(SwizzleMode::none, true, 8, 8);
}
TEST(GmmaOperand, DescriptorsHoldTheirFields) {
  const uint64_t d = smem_descriptor_bits(0x12340, 0x80, 0x400, SwizzleMode::b128);
  EXPECT_EQ(d & 0x3fff, 0x1234u);
  EXPECT_EQ(d >> 16 & 0x3fff, 0x8u);
  EXPECT_EQ(d >> 32 & 0x3fff, 0x40u);
  EXPECT_EQ(d >> 62, 1u);
  EXPECT_EQ(smem_descriptor_bits(0, 0, 0, SwizzleMode::b64) >> 62, 2u);
  EXPECT_EQ(smem_descriptor_bits(0, 0, 0, SwizzleMode::b32) >> 62, 3u);
  EXPECT_EQ(advance(d, 32) - d, 2u);
  EXPECT_EQ(gmma_swizzle(d), 3u);
}

// One wgmma of each type and form against simple loops; A and B are written to shared memory by ordinary
// code.
struct Form {
  bool from_registers, accumulate;
  unsigned swizzle, variant;
};
template <class T, class U, class D, int R, Major A, Major B>
__global__ void multiplies(gmem<const T> a, gmem<const U> b, gmem<D> c, Form form) {
  constexpr unsigned n = 2 * R * wgmma_type<T, U, D>::packed, k = 32 / sizeof(T), per = 4 / sizeof(T);
  const auto ta = shared<T>("A", 0, 16384 / sizeof(T));
  const auto tb = shared<U>("B", 16384, 65536 / sizeof(U));
  const unsigned t = threadIdx.x, span = 16u << form.swizzle;
  const auto mode = static_cast<SwizzleMode>(form.swizzle);
  const auto strides = [&](bool mn) {
    if (!mn) return form.swizzle ? Vec<unsigned, 2>{{0, 8 * span}} : Vec<unsigned, 2>{{128, 256}};
    return form.swizzle ? Vec<unsigned, 2>{{16 * span, 8 * span}} : Vec<unsigned, 2>{{128, 256}};
  };
  const auto sa = strides(A == Major::MN), sb = strides(B == Major::MN);
  const uint64_t da = smem_descriptor(ta, sa[0], sa[1], mode), db = smem_descriptor(tb, sb[0], sb[1], mode);
  for (unsigned i = t; i < 64 * k; i += 128)
    ta[gmma_address(da, A == Major::MN, sizeof(T), i / k, i % k) / sizeof(T)] = a[i];
  for (unsigned i = t; i < n * k; i += 128)
    tb[(gmma_address(db, B == Major::MN, sizeof(U), i / k, i % k) - 16384) / sizeof(U)] = b[i];
  fence_proxy_async_shared();
  __syncthreads();
  D d[R];
  for (int i = 0; i < R; ++i) d[i] = c[t * R + i];
  wgmma_fence();
  if (form.from_registers) {
    uint32_t ra[4];
    for (unsigned r = 0; r < 4; ++r) {
      T values[per];
      for (unsigned e = 0; e < per; ++e) {
        const auto [row, column] = wgmma_operand_element(int(t), int(r), int(e), int(per));
        values[e] = a[row * int(k) + column];
      }
      __builtin_memcpy(&ra[r], static_cast<const void*>(values), 4);
    }
    if constexpr (A == Major::K) wgmma<T, B, U>(d, ra, db, form.accumulate);
  } else {
    wgmma<T, A, B, U>(d, da, db, form.accumulate);
  }
  wgmma_commit();
  wgmma_wait<0>();
  for (int i = 0; i < R; ++i) c[t * R + i] = d[i];
}
template <class T, class U, class D, int R, Major A = Major::K, Major B = Major::K>
void check_wgmma(const char* what) {
  using Number = typename wgmma_number<D>::type;
  constexpr int n = 2 * R * wgmma_type<T, U, D>::packed, k = 32 / sizeof(T);
  std::mt19937 random(5);
  const auto draw = [&](std::size_t) {
    return static_cast<float>(static_cast<int>(random() % 9) -
                              (std::is_unsigned_v<T> || std::is_unsigned_v<U> ? 0 : 4));
  };
  for (unsigned how = 0; how < 8; ++how) {
    const Form form{how >= 4, how % 2 == 1, how % 4, 0};
    if (form.from_registers && A == Major::MN) continue;
    Buffer a = filled<T>("a", 64 * k, [&](std::size_t i) { return T(draw(i)); });
    Buffer b = filled<U>("b", n * k, [&](std::size_t i) { return U(draw(i)); });
    Buffer c = filled<Number>("c", 64 * n, [&](std::size_t i) { return Number(draw(i)); }),
           before = filled<Number>("c", 64 * n, [&](std::size_t i) { return elements<Number>(c)[i]; });
    LaunchConfig config{.grid = {1}, .block = {128}, .shared_bytes = 16384 + 65536, .workers = 1};
    config.parameters.emplace_back(a, false);
    config.parameters.emplace_back(b, false);
    config.parameters.emplace_back(c, true);
    config.parameters.emplace_back(form);
    ASSERT_EQ(text(emulate::run(entry<multiplies<T, U, D, R, A, B>>, config)), "") << what << how;
    for (int t = 0; t < 128; ++t) {
      for (int v = 0; v < n / 2; ++v) {
        const auto [row, column] = wgmma_element(t, v);
        double sum = form.accumulate ? static_cast<double>(elements<Number>(before)[t * n / 2 + v]) : 0;
        for (int i = 0; i < k; ++i)
          sum += static_cast<double>(elements<T>(a)[row * k + i]) * static_cast<double>(elements<U>(b)[column * k + i]);
        ASSERT_EQ(static_cast<double>(elements<Number>(c)[t * n / 2 + v]), sum) << what << how << " " << t << " " << v;
      }
    }
  }
}
TEST(Wgmma, EveryTypeAndForm) {
  constexpr Major K = Major::K, MN = Major::MN;
  check_wgmma<half_t, half_t, float, 4>("f16 n8 ");
  check_wgmma<half_t, half_t, float, 128, K, MN>("f16 n256 ");
  check_wgmma<half_t, half_t, float, 36, MN, K>("f16 n72 ");
  check_wgmma<half_t, half_t, uint32_t, 20, MN, MN>("f16 f16 n80 ");
  check_wgmma<bfloat16_t, bfloat16_t, float, 48>("bf16 n96 ");
  check_wgmma<tfloat32_t, tfloat32_t, float, 16>("tf32 n32 ");
  check_wgmma<float_e4m3_t, float_e5m2_t, float, 32>("e4m3 n64 ");
  check_wgmma<float_e5m2_t, float_e4m3_t, uint32_t, 8>("e5m2 n32 ");
  check_wgmma<int8_t, uint8_t, int32_t, 12>("s8 n24 ");
  check_wgmma<uint8_t, int8_t, int32_t, 64>("u8 n128 ");
}

__global__ void negates(gmem<float> c) {
  const auto a = shared<half_t>("A", 0, 1024);
  const auto b = shared<half_t>("B", 2048, 128);
  for (unsigned i = threadIdx.x; i < 1024; i += 128) a[i] = half_t(2.0f);
  b[threadIdx.x] = half_t(3.0f);
  fence_proxy_async_shared();
  __syncthreads();
  float d[4] = {1, 1, 1, 1};
  wgmma_fence();
  wgmma<half_t, Major::K, Major::K, half_t, -1, 1>(d, smem_descriptor(a, 128, 256, SwizzleMode::none),
                                                   smem_descriptor(b, 128, 256, SwizzleMode::none));
  wgmma_commit();
  wgmma_wait<0>();
  c[threadIdx.x] = d[0];
}
TEST(Wgmma, SignsOfOperands) {
  Buffer c("c", 512);
  LaunchConfig config{.grid = {1}, .block = {128}, .shared_bytes = 2304, .workers = 1};
  config.parameters.emplace_back(c, true);
  EXPECT_EQ(text(emulate::run(entry<negates>, config)), "");
  EXPECT_EQ(elements<float>(c)[7], 1.0f - 16 * 6);
}

// 8-bit floats: every pattern, and every midpoint between neighbours.
template <class T>
void small_floats(int mantissa, int bias, int largest, bool infinity) {
  const auto value = [&](int bits) {
    const int e = bits >> mantissa & ((1 << (7 - mantissa)) - 1), m = bits & ((1 << mantissa) - 1);
    return std::ldexp(e ? m + (1 << mantissa) : m, (e ? e : 1) - bias - mantissa);
  };
  for (int bits = 0; bits < 256; ++bits) {
    const float got = T::bitcast(static_cast<uint8_t>(bits));
    const int magnitude = bits & 0x7f;
    if (magnitude > largest) {
      if (infinity && magnitude == 0x7c)
        EXPECT_TRUE(std::isinf(got));
      else
        EXPECT_TRUE(std::isnan(got)) << bits;
      continue;
    }
    EXPECT_EQ(std::fabs(got), value(magnitude)) << bits;
    EXPECT_EQ(T(got).bits, bits);
    if (magnitude == largest) continue;
    const double middle = (value(magnitude) + value(magnitude + 1)) / 2;
    const int sign = bits & 0x80;
    const auto rounded = [&](float x) { return T(sign ? -x : x).bits - sign; };
    EXPECT_EQ(rounded(static_cast<float>(middle)), magnitude + magnitude % 2) << bits;
    EXPECT_EQ(rounded(std::nextafter(static_cast<float>(middle), 0.0f)), magnitude) << bits;
    EXPECT_EQ(rounded(std::nextafter(static_cast<float>(middle), 1e9f)), magnitude + 1) << bits;
  }
  EXPECT_EQ(T(1e9f).bits, largest);
  EXPECT_EQ(T(-INFINITY).bits, largest | 0x80);
  EXPECT_EQ(T(NAN).bits, 0x7f);
}
TEST(Float8, RoundsToNearestEvenAndSaturates) {
  small_floats<float_e4m3_t>(3, 7, 0x7e, false);
  small_floats<float_e5m2_t>(2, 15, 0x7b, true);
}

__global__ void stores_and_flips(gmem<uint32_t> out) {
  const auto tile = shared<half_t>("tile", 0, 256);
  const unsigned t = threadIdx.x;
  const uint32_t r[4] = {t * 2 | (t * 2 + 1) << 16, 0x100 + t, 0x200 + t, 0x300 + t};
  if (elect_one()) out[128] = t;
  stmatrix_x4(tile + 8 * t, r);
  __syncwarp();
  uint32_t back[4];
  ldmatrix_x4(back, tile + 8 * t);
  uint32_t transposed[1];
  ldmatrix_x1_trans(transposed, tile + 8 * (t % 8));
  out[t] = back[0] == r[0] && back[1] == r[1] && back[2] == r[2] && back[3] == r[3];
  out[32 + t] = movmatrix_trans(r[0]) == transposed[0];
  const uint32_t mine[2] = {movmatrix_trans(r[0]), 7};
  stmatrix_x2_trans(tile + 8 * (t % 16), mine);
  __syncwarp();
  ldmatrix_x1(transposed, tile + 8 * (t % 8));
  out[64 + t] = transposed[0] == r[0];
}
TEST(Stmatrix, IsLdmatrixBackwards) {
  Buffer out("out", 129 * 4);
  LaunchConfig config{.grid = {1}, .block = {32}, .shared_bytes = 512, .workers = 1};
  config.parameters.emplace_back(out, true);
  const EmulationReport report = emulate::run(entry<stores_and_flips>, config);
  EXPECT_EQ(text(report), "");
  for (int i = 0; i < 96; ++i) EXPECT_EQ(elements<uint32_t>(out)[i], 1u) << i;
  EXPECT_EQ(elements<uint32_t>(out)[128], 0u);
}

__global__ void moves_registers(gmem<uint32_t>, bool wrong_way) {
  if (threadIdx.x < 128) {
    if (wrong_way)
      register_alloc<24>();  // <fewer>
    else
      register_dealloc<40>();
  } else {
    register_alloc<232>();
  }
}
TEST(Registers, MoveBetweenWarpgroups) {
  Buffer out("out", 4);
  LaunchConfig config{.grid = {1}, .block = {256}, .workers = 1, .registers = 136};
  config.parameters.emplace_back(out, true);
  config.parameters.emplace_back(false);
  EXPECT_EQ(text(emulate::run(entry<moves_registers>, config)), "");
  config.parameters[1] = emulate::LaunchParameter(true);
  EXPECT_TRUE(says(emulate::run(entry<moves_registers>, config),
                   "instruction at " + at("fewer") +
                       ", thread 0 (warp 0) of block (0,0,0): register_alloc to 24 registers, and the thread has 136"));
}

TEST(Launch, SaysWhatTheHardwareWouldRefuse) {
  const CheckedLaunch good{.name = "gemm",
                           .grid = {132, 1, 1},
                           .threads = 384,
                           .shared_bytes = 231000,
                           .registers = 168,
                           .cluster = 2,
                           .moved = {{128, 40}, {256, 232}}};
  EXPECT_EQ(launch_error(good), "");
  const auto error = [&](auto change) {
    CheckedLaunch l = good;
    change(l);
    return launch_error(l);
  };
  const std::string who = "launch of gemm: ";
  EXPECT_EQ(error([](CheckedLaunch& l) { l.grid[1] = 65536; }), who + "grid[1] is 65536; it must be 1 to 65535");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.threads = 1056; }), who + "threads is 1056; it must be 1 to 1024");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.shared_bytes = 232449; }),
            who + "shared_bytes is 232449; a block may have 232448");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.cluster = 12; }),
            who + "cluster is 12 blocks; it must be 1 to 8, or 16 where the launch allows what is not portable");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.cluster = 8; }),
            who + "the grid has 132 blocks; it must be whole clusters of 8");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.registers = 176; }),
            who + "registers is 176 for 384 threads, 67584 together; a block may have 65536");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.moved[1].registers = 240; }),
            who + "the roles of setmaxnreg ask for 66560 registers; the block has 64512");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.moved[0].threads = 64; }),
            who + "a role of setmaxnreg has 64 threads; it must be whole warpgroups of 128");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.moved[0].registers = 20; }),
            who + "a role of setmaxnreg has 20 registers; it must be 24 to 256, a multiple of 8");
  EXPECT_EQ(error([](CheckedLaunch& l) { l.moved.pop_back(); }),
            who + "the roles of setmaxnreg have 128 threads; the block has 384");
}

}  // namespace
}  // namespace zellige
