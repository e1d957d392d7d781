// Every kind of tcgen05.mma against simple loops, with operands of each major order and in tensor memory; and every shape of
// tcgen05.ld and st.
#include <zellige/atom.hpp>
#include <zellige/atom/elect.hpp>
#include <zellige/atom/fence.hpp>
#include <zellige/atom/tcgen05.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/atom/umma.hpp>
#include <zellige/atom/umma_reference.hpp>
#include <zellige/atom/umma_sparse.hpp>

#include "launch.hpp"

namespace zellige {
namespace {

constexpr int steps = 2;

/// Allocates 256 columns and initialises an mbarrier, by warp 0; returns the address of the columns.
ZELLIGE_CALL uint32_t set_up(smem<uint32_t> address, smem<uint64_t> done) {
  const TMEM::Allocator1Sm columns;
  if (threadIdx.x == 0) mbarrier_init(done, 1);
  if (threadIdx.x < 32) columns.allocate(256, address);
  __syncthreads();
  return *address;
}
/// Waits for the products, stores the first n columns of all lanes as words, and frees the columns.
ZELLIGE_CALL void tear_down(uint32_t address, smem<uint64_t> done, int n, gmem<uint32_t> d) {
  mbarrier_wait(done, 0);
  tcgen05_after_thread_sync();
  for (int c = 0; c < n; c += 8) {
    uint32_t r[8];
    SM100_TMEM_LOAD_32dp32b8x::call(r, address + (threadIdx.x / 32 * 32 << 16) + unsigned(c));
    tmem_load_wait();
    for (int i = 0; i < 8; ++i) d[int(threadIdx.x) * n + c + i] = r[i];
  }
  __syncthreads();
  if (threadIdx.x < 32) TMEM::Allocator1Sm().free(address, 256);
}
template <class X, class T>
ZELLIGE_CALL void fill(X& x, gmem<const T> from, int rows, int k) {
  for (int i = int(threadIdx.x); i < rows * k * steps; i += 128) {
    const int row = i % rows, at = i / rows;
    x(make_coord(row, at % k), 0, at / k) = from[row * k * steps + at];
  }
}

/// A product of one tile, by two instructions, whose operands in shared memory are as the atoms say.
template <class Op, class AtomA, class AtomB>
__global__ void product(gmem<const typename Op::TypeA> a, gmem<const typename Op::TypeB> b, gmem<uint32_t> d) {
  const auto address = shared<uint32_t>("address", 0, 1);
  const auto done = shared<uint64_t>("done", 8, 1);
  const auto mma = make_tiled_mma(Op{});
  const auto as = UMMA::tile_to_mma_shape(AtomA{}, partition_shape_A(mma, Shape<Int<Op::m>, Int<Op::k * steps>>{}));
  const auto bs = UMMA::tile_to_mma_shape(AtomB{}, partition_shape_B(mma, Shape<Int<Op::n>, Int<Op::k * steps>>{}));
  auto sa = make_tensor(make_smem_ptr(shared<typename Op::TypeA>("A", 1024, 16384)), as);
  auto sb = make_tensor(make_smem_ptr(shared<typename Op::TypeB>("B", 66560, 16384)), bs);
  fill(sa, a, Op::m, Op::k);
  fill(sb, b, Op::n, Op::k);
  fence_proxy_async_shared();
  const uint32_t columns = set_up(address, done);
  const auto fa = mma.make_fragment_A(sa);
  const auto fb = mma.make_fragment_B(sb);
  if (threadIdx.x < 32) {
    for (int i = 0; i < steps; ++i) Op::fma(fa(0, 0, i), fb(0, 0, i), columns, i > 0, uint64_t(Op::instruction) << 32);
    if (elect_one()) tcgen05_commit(done);
  }
  tear_down(columns, done, Op::n, d);
}
/// The same with A in tensor memory, which all warps store there.
template <class Op, class AtomB>
__global__ void product_of_tensor(gmem<const typename Op::TypeA> a, gmem<const typename Op::TypeB> b,
                                  gmem<uint32_t> d) {
  using A = typename Op::TypeA;
  const auto address = shared<uint32_t>("address", 0, 1);
  const auto done = shared<uint64_t>("done", 8, 1);
  const auto mma = make_tiled_mma(Op{});
  const auto bs = UMMA::tile_to_mma_shape(AtomB{}, partition_shape_B(mma, Shape<Int<Op::n>, Int<Op::k * steps>>{}));
  auto sb = make_tensor(make_smem_ptr(shared<typename Op::TypeB>("B", 66560, 16384)), bs);
  fill(sb, b, Op::n, Op::k);
  fence_proxy_async_shared();
  const uint32_t columns = set_up(address, done), at_a = columns + 128;
  const int lane = int(threadIdx.x), row = Op::m == 128 ? lane : lane / 32 * 16 + lane % 16;
  for (int i = 0; i < steps; ++i) {
    A values[Op::k];
    for (int k = 0; k < Op::k; ++k) values[k] = a[row * Op::k * steps + i * Op::k + k];
    uint32_t r[8];
    __builtin_memcpy(r, values, 32);
    SM100_TMEM_STORE_32dp32b8x::call(r, at_a + (threadIdx.x / 32 * 32 << 16) + 8u * unsigned(i));
  }
  tmem_store_wait();
  tcgen05_before_thread_sync();
  __syncthreads();
  tcgen05_after_thread_sync();
  const auto fb = mma.make_fragment_B(sb);
  if (threadIdx.x < 32) {
    for (int i = 0; i < steps; ++i)
      Op::fma(at_a + 8u * unsigned(i), fb(0, 0, i), columns, i > 0, uint64_t(Op::instruction) << 32);
    if (elect_one()) tcgen05_commit(done);
  }
  tear_down(columns, done, Op::n, d);
}

template <class T>
T number_of_draw(int x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::is_signed_v<T> ? x : x + 4);
  else
    return T(static_cast<float>(x));
}
template <class T>
double value_of(const Buffer& b, int i) {
  return static_cast<double>(static_cast<float>(elements<T>(b)[i]));
}
template <class Op>
void multiplies(void (*kernel)(emulate::Launch&)) {
  constexpr int m = Op::m, n = Op::n, k = Op::k * steps;
  std::mt19937 random(5);
  const auto draw = [&] { return static_cast<int>(random() % 9) - 4; };
  using A = typename Op::TypeA;
  using B = typename Op::TypeB;
  using C = typename Op::TypeC;
  Buffer a = filled<A>("a", m * k, [&](std::size_t) { return number_of_draw<A>(draw()); });
  Buffer b = filled<B>("b", n * k, [&](std::size_t) { return number_of_draw<B>(draw()); });
  Buffer d("d", 128 * n * 4);
  LaunchConfig config{.grid = {1}, .block = {128}, .shared_bytes = 66560 + 65536, .workers = 1};
  config.parameters.emplace_back(a, false);
  config.parameters.emplace_back(b, false);
  config.parameters.emplace_back(d, true);
  const EmulationReport report = emulate::run(kernel, config);
  EXPECT_EQ(text(report), "");
  const double sign = (Op::instruction >> 13 & 1) != (Op::instruction >> 14 & 1) ? -1 : 1;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int x = 0; x < k; ++x) sum += sign * value_of<A>(a, i * k + x) * value_of<B>(b, j * k + x);
      const int lane = m == 128 ? i : i / 16 * 32 + i % 16;
      C got;
      std::memcpy(static_cast<void*>(&got), elements<uint32_t>(d) + lane * n + j, sizeof(C));
      ASSERT_EQ(static_cast<double>(static_cast<float>(got)), sum) << i << "," << j;
    }
}
using UMMA::Major;
template <class Op, class AtomA, class AtomB>
void multiplies_shared() {
  multiplies<Op>(entry<product<Op, AtomA, AtomB>>);
}
template <class Op, class AtomB>
void multiplies_tensor() {
  multiplies<Op>(entry<product_of_tensor<Op, AtomB>>);
}

TEST(BlackwellProduct, OfHalves) {
  multiplies_shared<SM100_MMA_F16BF16_SS<bfloat16_t, bfloat16_t, float, 128, 64, Major::MN, Major::MN>,
                    UMMA::Layout_MN_SW128_Atom<bfloat16_t>, UMMA::Layout_MN_SW128_Atom<bfloat16_t>>();
  multiplies_shared<SM100_MMA_F16BF16_SS<half_t, half_t, float, 128, 32, Major::K, Major::MN>,
                    UMMA::Layout_K_SW64_Atom<half_t>, UMMA::Layout_MN_SW64_Atom<half_t>>();
  multiplies_shared<SM100_MMA_F16BF16_SS<half_t, half_t, half_t, 64, 24, Major::K, Major::K, UMMA::ScaleIn::Neg>,
                    UMMA::Layout_K_INTER_Atom<half_t>, UMMA::Layout_K_SW32_Atom<half_t>>();
}
TEST(BlackwellProduct, OfOtherNumbers) {
  multiplies_shared<SM100_MMA_TF32_SS<tfloat32_t, tfloat32_t, float, 64, 16, Major::K, Major::K>,
                    UMMA::Layout_K_SW64_Atom<tfloat32_t>, UMMA::Layout_K_SW32_Atom<tfloat32_t>>();
  multiplies_shared<SM100_MMA_S8_SS<int8_t, uint8_t, int32_t, 128, 32, Major::K, Major::K>,
                    UMMA::Layout_K_SW64_Atom<int8_t>, UMMA::Layout_K_SW64_Atom<uint8_t>>();
}
template <auto value>
using Of = integral_constant<remove_cvref_t<decltype(value)>, value>;
TEST(BlackwellProduct, OfBytes) {
  multiplies_shared<UMMA::detail::F8F6F4Op<1, float_e4m3_t, float_e5m2_t, half_t, Int<64>, Int<16>, Of<Major::K>,
                                           Of<Major::K>, Of<UMMA::ScaleIn::One>, Of<UMMA::ScaleIn::Neg>>,
                    UMMA::Layout_K_SW64_Atom<float_e4m3_t>, UMMA::Layout_K_SW64_Atom<float_e5m2_t>>();
}
TEST(BlackwellProduct, OfTensorMemory) {
  multiplies_tensor<SM100_MMA_F16BF16_TS<half_t, half_t, float, 128, 32, Major::K, Major::K>,
                    UMMA::Layout_K_SW64_Atom<half_t>>();
  multiplies_tensor<SM100_MMA_F8F6F4_TS<float_e4m3_t, float_e5m2_t, float, 64, 16, Major::K, Major::K>,
                    UMMA::Layout_K_SW64_Atom<float_e5m2_t>>();
  multiplies_tensor<SM100_MMA_S8_TS<uint8_t, int8_t, int32_t, 128, 16, Major::K, Major::K>,
                    UMMA::Layout_K_SW64_Atom<int8_t>>();
}
TEST(BlackwellProduct, PacksNarrowElementsIn16Bytes) {
  unsigned char row[32] = {};
  row[8] = 0xff, row[0] = 0x21, row[7] = 0x70, row[16] = 0x04;  // the bytes from 8 on are padding
  const auto e2m1 = [&](unsigned c) { return reference::umma_element(Number::e2m1, row, c); };
  EXPECT_EQ(e2m1(0), 0.5);
  EXPECT_EQ(e2m1(1), 1.0);
  EXPECT_EQ(e2m1(15), 6.0);
  EXPECT_EQ(e2m1(16), 2.0);
  row[0] = 0x3f, row[1] = 0xf0 & 0x0f, row[2] = 0x04;  // 6 bits: 111111, 000000, 000000, 000001
  EXPECT_EQ(reference::umma_element(Number::e2m3, row, 0), -7.5);
  EXPECT_EQ(reference::umma_element(Number::e2m3, row, 1), 0.0);
  EXPECT_EQ(reference::umma_element(Number::e2m3, row, 3), 0.125);
}

/// Stores what the registers of a warp hold, by one shape, and loads all lanes and columns by another.
template <class Store, int N, int lanes, int columns>
__global__ void stored(gmem<uint32_t> d) {
  const auto address = shared<uint32_t>("address", 0, 1);
  if (threadIdx.x < 32) TMEM::Allocator1Sm().allocate(512, address);
  __syncthreads();
  const uint32_t at = *address + (threadIdx.x / 32 * 32 << 16);
  uint32_t r[N], all[1];
  for (int i = 0; i < N; ++i) r[i] = (threadIdx.x % 32 << 8) + unsigned(i) + (threadIdx.x << 21);
  Store::call(r, at);
  tmem_store_wait();
  for (int c = 0; c < columns; ++c) {
    SM100_TMEM_LOAD_32dp32b1x::call(all, at + unsigned(c));
    tmem_load_wait();
    if (threadIdx.x % 32 < lanes) d[int(threadIdx.x) * columns + c] = all[0];
  }
  __syncthreads();
  if (threadIdx.x < 32) TMEM::Allocator1Sm().free(*address, 512);
}
/// Checks where a store of N registers a thread puts them: thread_of and register_of a lane and column of the warp's.
template <class Store, int N, int lanes, int columns, class Thread, class Register>
void stores(Thread thread_of, Register register_of) {
  Buffer d("d", 128 * columns * 4);
  LaunchConfig config{.grid = {1}, .block = {128}, .shared_bytes = 16, .workers = 1};
  config.parameters.emplace_back(d, true);
  const EmulationReport report = emulate::run(entry<stored<Store, N, lanes, columns>>, config);
  EXPECT_EQ(text(report), "") << Store::name;
  for (int w = 0; w < 4; ++w)
    for (int l = 0; l < lanes; ++l)
      for (int c = 0; c < columns; ++c) {
        const unsigned t = unsigned(thread_of(l, c));
        ASSERT_EQ(elements<uint32_t>(d)[(32 * w + l) * columns + c],
                  (t << 8) + unsigned(register_of(l, c)) + (unsigned(32 * w) + t << 21))
            << Store::name << " lane " << l << " column " << c;
      }
}

// The figures of the PTX ISA, "tcgen05.ld": which thread holds which element in which register.
TEST(BlackwellMove, PutsRegistersWhereTheIsaSays) {
  stores<SM100_TMEM_STORE_32dp32b4x, 4, 32, 4>([](int l, int) { return l; }, [](int, int c) { return c; });
  stores<SM100_TMEM_STORE_16dp128b2x, 4, 16, 8>([](int l, int c) { return l % 8 * 4 + c % 4; },
                                                [](int l, int c) { return l / 8 + c / 4 * 2; });
  stores<SM100_TMEM_STORE_16dp256b2x, 8, 16, 16>([](int l, int c) { return l % 8 * 4 + c % 8 / 2; },
                                                 [](int l, int c) { return c % 2 + l / 8 * 2 + c / 8 * 4; });
  stores<SM100_TMEM_STORE_16dp32b2x, 2, 16, 4>([](int l, int c) { return l + c / 2 * 16; },
                                               [](int, int c) { return c % 2; });
}

/// Loads by the same shape what it has stored.
template <class Store, class Load, int N>
__global__ void round_trip(gmem<uint32_t> d) {
  const auto address = shared<uint32_t>("address", 0, 1);
  if (threadIdx.x < 32) TMEM::Allocator1Sm().allocate(512, address);
  __syncthreads();
  const uint32_t at = *address + (threadIdx.x / 32 * 32 << 16);
  uint32_t r[N], back[N];
  for (int i = 0; i < N; ++i) r[i] = threadIdx.x * 1000u + unsigned(i) * 7u;
  Store::call(r, at);
  tmem_store_wait();
  Load::call(back, at);
  tmem_load_wait();
  uint32_t wrong = 0;
  for (int i = 0; i < N; ++i) wrong += back[i] != r[i];
  d[threadIdx.x] = wrong;
  __syncthreads();
  if (threadIdx.x < 32) TMEM::Allocator1Sm().free(*address, 512);
}
template <class Store, class Load, int N>
void returns() {
  Buffer d("d", 128 * 4);
  LaunchConfig config{.grid = {1}, .block = {128}, .shared_bytes = 16, .workers = 1};
  config.parameters.emplace_back(d, true);
  const EmulationReport report = emulate::run(entry<round_trip<Store, Load, N>>, config);
  EXPECT_EQ(text(report), "") << Store::name;
  for (int i = 0; i < 128; ++i) EXPECT_EQ(elements<uint32_t>(d)[i], 0u) << Store::name << " thread " << i;
}
TEST(BlackwellMove, LoadsWhatItStored) {
  returns<SM100_TMEM_STORE_16dp64b2x, SM100_TMEM_LOAD_16dp64b2x, 2>();
  returns<SM100_TMEM_STORE_16dp64b16x_16b, SM100_TMEM_LOAD_16dp64b16x_16b, 16>();
  returns<SM100_TMEM_STORE_16dp256b8x, SM100_TMEM_LOAD_16dp256b8x, 32>();
  returns<SM100_TMEM_STORE_16dp256b1x_16b, SM100_TMEM_LOAD_16dp256b1x_16b, 4>();
  returns<SM100_TMEM_STORE_16dp128b1x_16b, SM100_TMEM_LOAD_16dp128b1x_16b, 2>();
  returns<SM100_TMEM_STORE_16dp32b64x, SM100_TMEM_LOAD_16dp32b64x, 64>();
  returns<SM100_TMEM_STORE_32dp32b128x, SM100_TMEM_LOAD_32dp32b128x, 128>();
  returns<SM100_TMEM_STORE_32dp32b8x_16b, SM100_TMEM_LOAD_32dp32b8x_16b, 8>();
}

}  // namespace
}  // namespace zellige
