// The products of floats that the emulator computes by vector instructions, and the matrices that it moves by tables, have the bits of
// the instructions' reference bodies.
#include "arithmetic/products.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "arithmetic/matrix_moves.hpp"
#include "zellige/atom/instruction_table.hpp"
#include "zellige/atom/matrix_move_reference.hpp"

namespace zellige::arithmetic {
namespace {

using Words = std::vector<std::uint32_t>;

/// What the random numbers are: of one magnitude, of all finite ones, with infinities, or any bits, most of them NaNs.
enum class Draw { near_one, finite, infinite, any };

// Returns 32 random bits of numbers of a type.
std::uint32_t draw(std::mt19937& random, Number number, Draw how) {
  std::uint32_t word = random();
  if (how == Draw::any) return word;
  const auto bounded = [&](unsigned from, unsigned bits, std::uint32_t max) {  // makes an exponent at most `max`
    const std::uint32_t mask = (1u << bits) - 1;
    const std::uint32_t near = mask / 2, e = how == Draw::near_one ? near - 1 + random() % 3 : random() % (max + 1);
    word = (word & ~(mask << from)) | e << from;
  };
  if (number == Number::f16)
    for (const unsigned half : {0u, 16u}) {
      bounded(half + 10, 5, 30);
      if (how == Draw::infinite && random() % 64 == 0) word = (word & ~(0x7fffu << half)) | 0x7c00u << half;
    }
  if (number == Number::bf16)
    for (const unsigned half : {0u, 16u}) bounded(half + 7, 8, 254);
  if (number == Number::tf32 || number == Number::f32) bounded(23, 8, 254);
  if (number == Number::e4m3)
    for (const unsigned byte : {0u, 8u, 16u, 24u}) bounded(byte + 3, 4, 14);
  if (number == Number::e5m2)
    for (const unsigned byte : {0u, 8u, 16u, 24u}) bounded(byte + 2, 5, 30);
  return word;
}

/// The registers, and the tiles in shared memory, of all threads of an instruction.
struct Operands {
  std::vector<Words> a, b, c;

  Operands(const Instruction& row, std::mt19937& random, Draw how) {
    const auto fill = [&](std::vector<Words>& of, const Instruction::Operand& o, std::size_t threads,
                          std::size_t words) {
      of.assign(threads, Words(words));
      for (Words& thread : of)
        for (std::uint32_t& word : thread) word = draw(random, o.number, how);
    };
    const auto threads = static_cast<std::size_t>(row.issuers);
    const bool a_shared = row.a.space == Instruction::Space::smem, b_shared = row.b.space == Instruction::Space::smem;
    fill(a, row.a, a_shared ? 1 : threads, a_shared ? 64 * 64 : 64);
    fill(b, row.b, b_shared ? 1 : threads, b_shared ? 256 * 64 : 64);
    fill(c, row.c, threads, 128);
  }
};

// Computes an instruction by `body`, which returns false if it did nothing. Returns what the threads receive.
template <class F>
std::vector<Words> results(const Operands& in, const Instruction& row, bool zeros, bool& done, F body) {
  std::vector<Words> out(in.c.size(), Words(128, 7));
  std::vector<const void*> a, b, c;
  std::vector<void*> d;
  for (const Words& of_thread : in.a) a.push_back(of_thread.data());
  for (const Words& of_thread : in.b) b.push_back(of_thread.data());
  for (const Words& of_thread : in.c) c.push_back(of_thread.data());
  for (Words& of_thread : out) d.push_back(of_thread.data());
  done = body(row, BodyOperands{a.data(), b.data(), zeros ? nullptr : c.data(), d.data(), zeros ? -1 : 1});
  return out;
}

TEST(Products, HaveTheBitsOfTheReferenceBodies) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP() << "a processor without AVX2";
  std::mt19937 random(65);
  int computed = 0, left = 0;
  for (const Instruction& row : instructions()) {
    if (row.kind != Instruction::Kind::mma || !row.body || (row.issuers != 32 && row.issuers != 128)) continue;
    if (row.issuers == 128 && row.n % 64 != 0 && random() % 8 != 0) continue;  // they differ in n alone
    for (const Draw how : {Draw::near_one, Draw::finite, Draw::infinite, Draw::any}) {
      const Operands in(row, random, how);
      const bool zeros = how == Draw::near_one && random() % 2 == 0;
      bool done = false, expected = false;
      const std::vector<Words> found = results(in, row, zeros, done, multiply_floats);
      ++(done ? computed : left);
      if (!done) {
        EXPECT_EQ(found, std::vector<Words>(in.c.size(), Words(128, 7))) << row.name << ": it has written";
        continue;
      }
      EXPECT_EQ(found, results(in, row, zeros, expected,
                               [](const Instruction& i, const BodyOperands& o) {
                                 i.body(i, o);
                                 return true;
                               }))
          << row.name << ", draw " << int(how);
    }
  }
  EXPECT_GT(computed, 300);
  EXPECT_GT(left, 100);  // integers, and draws with NaNs
}

// Adds to `d` the products of m fragments of A with n of B, those without accumulators excepted, one by one.
void multiply_each(const Instruction& row, int m, int n, const void* const* a, const void* const* b, void* const* d) {
  for (int t = 0; t < m * n; ++t) {
    void* const* const its = d + t * 32;
    if (!its[0]) continue;
    Words sums[32];
    std::vector<const void*> c;
    for (int lane = 0; lane < 32; ++lane) {
      sums[lane].assign(static_cast<std::uint32_t*>(its[lane]), static_cast<std::uint32_t*>(its[lane]) + 8);
      c.push_back(sums[lane].data());
    }
    row.body(row, {a + t / n * 32, b + t % n * 32, c.data(), its});
  }
}

// The products of a step are those of its instructions, one by one, also where some results are NaNs or some products are
// skipped.
TEST(Products, OfFragmentsAreThoseOfTheirInstructions) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP() << "a processor without AVX2";
  std::mt19937 random(7);
  int computed = 0;
  for (const Instruction& row : instructions()) {
    if (row.kind != Instruction::Kind::mma || !row.body || row.issuers != 32) continue;
    for (const Draw how : {Draw::near_one, Draw::finite, Draw::infinite, Draw::any}) {
      const int m = 1 + int(random() % 3), n = 1 + int(random() % 4);
      std::vector<Words> words[4];  // A, B, and the sums twice
      std::vector<void*> at[4];
      const auto fill = [&](int which, int fragments, Number number) {
        for (int i = 0; i < fragments * 32; ++i) words[which].emplace_back(8);
        for (Words& of_lane : words[which])
          for (std::uint32_t& word : of_lane) word = draw(random, number, how);
      };
      fill(0, m, row.a.number), fill(1, n, row.b.number), fill(2, m * n, row.c.number);
      words[3] = words[2];
      for (int i = 0; i < 4; ++i)
        for (Words& of_lane : words[i]) at[i].push_back(of_lane.data());
      for (int t = 0; t < m * n; ++t)
        if (random() % 4 == 0)
          std::fill_n(at[2].begin() + t * 32, 32, nullptr), std::fill_n(at[3].begin() + t * 32, 32, nullptr);
      if (!multiply_fragments(row, m, n, at[0].data(), at[1].data(), at[2].data())) {
        EXPECT_EQ(words[2], words[3]) << row.name << ": it has written";
        continue;
      }
      ++computed;
      multiply_each(row, m, n, at[0].data(), at[1].data(), at[3].data());
      EXPECT_EQ(words[2], words[3]) << row.name << ", draw " << int(how);
    }
  }
  EXPECT_GT(computed, 20);
}

TEST(MatrixMoves, AreThoseOfTheReferenceBodies) {
  std::mt19937 random(3);
  int computed = 0;
  for (const Instruction& row : instructions()) {
    if (row.body != reference::move_bits) continue;
    const Operands in(row, random, Draw::any);
    bool done = false, expected = false;
    Operands all = in;  // 32 rows, and registers of 32 threads
    all.a.assign(32, Words(8)), all.c.assign(32, Words(8));
    for (Words& of_thread : all.a)
      for (std::uint32_t& word : of_thread) word = random();
    const std::vector<Words> found = results(all, row, false, done, move_matrices);
    EXPECT_TRUE(done) << row.name;
    computed += done;
    EXPECT_EQ(found, results(all, row, false, expected,
                             [](const Instruction& i, const BodyOperands& o) {
                               i.body(i, o);
                               return true;
                             }))
        << row.name;
  }
  EXPECT_GE(computed, 6);
}

}  // namespace
}  // namespace zellige::arithmetic
