// Unwritten registers are reported by name: vectors, fragments, operands, tensors, arrays; kernels that
// validly leave registers unwritten have no finding.
#include <zellige/block/multiply.hpp>
#include <zellige/tensor.hpp>

#include "emulate/findings.hpp"
#include "kernel.hpp"
#include "zellige/atom/mma_call.hpp"
#include "zellige/atom/wgmma.hpp"

namespace zellige::emulate {
namespace {

using In = pointer<const float>;
using Out = pointer<float>;

std::string at(const char* tag) { return line_of(__FILE__, tag); }

// "uninitialised read of registers NAME: thread 0 (warp 0) of block (0,0,0) DEED at LINE ... value V"
std::string registers(const char* name, unsigned thread, const std::string& deed, const std::string& declared) {
  return "uninitialised read of registers " + std::string(name) + ": thread " + std::to_string(thread) + " (warp " +
         std::to_string(thread / 32) + ") of block (0,0,0) " + deed +
         ", which nothing has written; they are declared at " + at(declared.c_str());
}

__global__ void element_omitted(In x, Out y) {
  Vec<float, 4> scaled;  // <vec>
  for (int v = 0; v < 4; ++v)
    if (v != 2 || threadIdx.x != 5) scaled[v] = 2 * x[4 * threadIdx.x + v];
  for (int v = 0; v < 4; ++v) scaled[v] = max(scaled[v] + 1.0f, 0.0f);
  store(y + 4 * threadIdx.x, scaled);  // <vec stored>
}

TEST(Registers, AnElementOfAVectorThroughArithmetic) {
  Trial r(__FILE__, {1}, {32});
  const EmulationReport report = r.run<element_omitted>();
  EXPECT_EQ(messages(report),
            (Messages{registers("scaled", 5, "stores at " + at("vec stored") + " what it makes of value 2", "vec")}));
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].tensor, "scaled");
  EXPECT_EQ(report.findings[0].kind, Finding::Kind::uninitialised_read);
}

template <class T>
__global__ void rounded(In, pointer<T> y) {
  Vec<float, 2> pair;  // <pair>
  pair[0] = 1;
  write<2>(y + 2 * threadIdx.x, pair);  // <pair written>
}

TEST(Registers, BeforeTheyAreRounded) {
  Trial r(__FILE__, {1}, {32});
  const auto named =
      Messages{registers("pair", 0, "stores at " + at("pair written") + " what it makes of value 1", "pair")};
  EXPECT_EQ(messages(r.run<rounded<half_t>>()), named);
  EXPECT_EQ(messages(r.run<rounded<bfloat16_t>>()), named);
  EXPECT_EQ(messages(r.run<rounded<float>>()), named);
}

template <class T>
__global__ void made_of_halves(In, Out y) {
  Vec<T, 2> halves;  // <halves>
  halves[1] = T(3.0f);
  y[threadIdx.x] = halves[0] + 1.0f;  // <halves stored>
}

// 16 bits have no room for the declaration: the finding is without it.
TEST(Registers, NumbersOf16BitsHaveNoName) {
  Trial r(__FILE__, {1}, {1});
  const Messages found{"uninitialised read of registers: thread 0 (warp 0) of block (0,0,0) stores at " +
                       at("halves stored") + " what it makes of value 0, which nothing has written"};
  EXPECT_EQ(messages(r.run<made_of_halves<half_t>>()), found);
  EXPECT_EQ(messages(r.run<made_of_halves<bfloat16_t>>()), found);
}

using Acc = Fragment<1, 16, 16>;

template <bool Clear>
__global__ void product(In, Out y) {
  auto a = shared_pointer<half_t>("A", 0, 16 * 16), b = shared_pointer<half_t>("B", 512, 16 * 16);
  for (int i = threadIdx.x; i < 256; i += 32) a[i] = half_t(1.0f), b[i] = half_t(2.0f);
  __syncwarp();
  using L = Layout<Shape<_1, _16, _16>, Stride<_256, _16, _1>>;
  const int lane = threadIdx.x;
  Acc acc4;  // <fragment>
  if (Clear) acc4.clear();
  multiply<half_t, 16, true, false>(acc4, global_tile<L>(a), global_tile<L>(b), 0, lane);  // <multiplied>
  if (Clear)
    for (int i = 0; i < acc4.pairs; ++i) y[i * 32 + lane] = acc4.pair(i)[0];
}

TEST(Registers, AccumulatorsThatAreNotCleared) {
  Trial r(__FILE__, {1}, {32}, 1024);
  EXPECT_EQ(messages(r.run<product<false>>()),
            (Messages{registers("acc4", 30, "accumulates at " + at("multiplied") + " on value 0", "fragment")}));
  EXPECT_EQ(messages(r.run<product<true>>()), Messages{});
}

template <int Put>
__global__ void operand(In, Out y) {
  auto b = shared_pointer<half_t>("B", 0, 16 * 16);
  for (int i = threadIdx.x; i < 256; i += 32) b[i] = half_t(2.0f);
  __syncwarp();
  using L = Layout<Shape<_1, _16, _16>, Stride<_256, _16, _1>>;
  const int lane = threadIdx.x;
  Acc s;  // <scores>
  if (Put != 2) s.fill(1.0f);
  Operand<half_t, Acc> op6;  // <operand>
  for (int i = 0; i < Acc::pairs; ++i)
    if (Put != 1 || i != 1) op6.put(i, s.pair(i)[0], s.pair(i)[1]);  // <put>
  Acc d;
  d.clear();
  multiply<half_t, 16, false>(d, op6, global_tile<L>(b), 0, lane);  // <chained>
  y[lane] = d.pair(0)[0];
}

TEST(Registers, AnOperandInRegistersThatIsNotPut) {
  Trial r(__FILE__, {1}, {32}, 512);
  EXPECT_EQ(messages(r.run<operand<0>>()), Messages{});
  const Messages missing = messages(r.run<operand<1>>());
  ASSERT_GE(missing.size(), 1u);
  EXPECT_EQ(missing[0], registers("op6", 30, "multiplies at " + at("chained") + " by value 1", "operand"));
  const Messages from = messages(r.run<operand<2>>());
  ASSERT_GE(from.size(), 1u);
  EXPECT_EQ(from[0], registers("s", 31, "rounds at " + at("put") + " value 0", "scores"));
}

template <bool Clear>
__global__ void fragment_of_a_tensor(In x, Out y) {
  Tensor gX = make_tensor(make_gmem_ptr(x + 4 * threadIdx.x), make_layout(Int<4>{}));
  Tensor gY = make_tensor(make_gmem_ptr(y + 4 * threadIdx.x), make_layout(Int<4>{}));
  Tensor rX = make_fragment_like(gX);  // <tensor>
  if (Clear) clear(rX);
  for (int i = 0; i < 3; ++i) rX(i) = gX(i);
  copy(rX, gY);  // <copied>
}

TEST(Registers, AFragmentOfATensor) {
  Trial r(__FILE__, {1}, {32});
  EXPECT_EQ(messages(r.run<fragment_of_a_tensor<false>>()),
            (Messages{registers("rX", 0, "stores at " + at("copied") + " what it makes of value 3", "tensor")}));
  EXPECT_EQ(messages(r.run<fragment_of_a_tensor<true>>()), Messages{});
}

__global__ void own_tensor(In, Out y) {
  Tensor sums = make_tensor<float>(Shape<_2, _2>{});  // <own tensor>
  sums(0, 0) += 1.0f;
  y[threadIdx.x] = sums(0, 0);  // <own stored>
}

TEST(Registers, ATensorThatOwnsItsElements) {
  Trial r(__FILE__, {1}, {1});
  EXPECT_EQ(
      messages(r.run<own_tensor>()),
      (Messages{registers("sums", 0, "stores at " + at("own stored") + " what it makes of value 0", "own tensor")}));
}

// Arrays of the language have no declaration to name; what they hold is known where it is used as it is.
__global__ void scalar_array(In, Out y) {
  float d[4];
  const std::uint32_t a[4] = {}, b[2] = {};
  mma_m16n8k16<half_t>(d, a, b);  // <array multiplied>
  (void)y;
}
__global__ void scalar_operand(In, Out y) {
  float d[4] = {};
  std::uint32_t a[4];
  const std::uint32_t b[2] = {};
  a[0] = a[1] = a[3] = 0;
  mma_m16n8k16<half_t>(d, a, b);  // <operand multiplied>
  (void)y;
}
__global__ void scalar_store(In, Out y) {
  float d[4];
  for (unsigned i = 1; i < threadIdx.x; ++i) d[i % 4] = 0;
  y[threadIdx.x] = d[0];  // <array stored>
}

TEST(Registers, ArraysOfTheLanguage) {
  Trial r(__FILE__, {1}, {32});
  const std::string who = "uninitialised read of registers: thread 0 (warp 0) of block (0,0,0) ";
  EXPECT_EQ(messages(r.run<scalar_array>()),
            (Messages{who + "accumulates at " + at("array multiplied") + " on value 0, which nothing has written"}));
  EXPECT_EQ(messages(r.run<scalar_operand>()), (Messages{who + "multiplies at " + at("operand multiplied") +
                                                         " by value 2 of an operand, which nothing has written"}));
  EXPECT_EQ(messages(r.run<scalar_store>()), (Messages{who + "stores at " + at("array stored") +
                                                       " what it makes of value 0, which nothing has written"}));
}

// Right: nobody reads what is not written, {} writes zeros, and data may hold any bits.
__global__ void right(In x, Out y) {
  Vec<float, 4> never, zeros{};
  Vec<float, 2> partly;
  partly[0] = x[threadIdx.x];
  float copy[2];
  copy[1] = partly[0];
  Fragment<1, 16, 16> none{};
  if (threadIdx.x > 64) never[0] = 1, store(y, never);
  y[threadIdx.x] = partly[0] + copy[1] + zeros[3] + none.pair(3)[1] - partly[0];
}
__global__ void any_bits(pointer<const std::uint32_t> x, pointer<std::uint32_t> y) {
  store(y + 4 * threadIdx.x, load<4>(x + 4 * threadIdx.x));
}

TEST(Registers, WhatIsLeftUnwrittenRightly) {
  Trial r(__FILE__, {1}, {32});
  EXPECT_EQ(messages(r.run<right>()), Messages{});
  EXPECT_EQ(r.out(7), 7.0f);
  auto* words = reinterpret_cast<std::uint32_t*>(r.x.data());
  for (unsigned i = 0; i < 128; ++i) words[i] = i % 2 ? left_alone : unwritten_word + i;
  EXPECT_EQ(messages(r.run<any_bits>()), Messages{});
}

TEST(Registers, NamesOfDeclarations) {
  const std::pair<const char*, const char*> lines[] = {
      {"  Fragment<1, 32, 64, 1, 2, 1, 1> acc13;", "acc13"},
      {"    Vec<float, Fragment<1, 32, 64>::lines> sum5;  // sums", "sum5"},
      {"Operand<half_t, Fragment<1, 32, 64, 1, 2, 1, 1>> op11;", "op11"},
      {"  Tensor tCrC = partition_fragment_C(mma, shape);", "tCrC"},
      {"auto rA = make_fragment_like<float>(tA(_, 0));", "rA"},
      {"  Vec<T, V> x[Chunks];", "x"},
      {"  const auto acc = make_tensor<float>(Shape<_2, _2>{});", "acc"},
      {"  return make_tensor<float>(layout);", ""},
      {"  if (x < 3) return;", ""},
      {"", ""}};
  for (const auto& [line, name] : lines) EXPECT_EQ(declared_name(line), name) << line;
}

}  // namespace
}  // namespace zellige::emulate
