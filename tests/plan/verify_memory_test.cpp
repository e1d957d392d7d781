// Reads of memory that has been released are refused; and lowering releases none too early.
#include <gtest/gtest.h>

#include "fuse/separate.hpp"
#include "graph/builder.hpp"
#include "lower/lower.hpp"
#include "verify/proofs.hpp"

namespace zellige::plan {
namespace {

using graph::TensorHandle;

/// K is read by kernel 0, and its memory taken by N in the next, which kernel 2 reads.
tile::TilePrograms cache() {
  graph::Builder b("cache");
  const TensorHandle K = b.input("K", {8, 64}), I = b.input("I", {2}, graph::DType::int32), U = b.input("U", {2, 64});
  const TensorHandle N = b.in_place(scatter(K, I, U), K);
  b.output(N, "N");
  b.output(exp(permute(K, {1, 0})), "old");
  b.output(exp(N), "new");
  const target::Target& target = target::find("sm_80");
  return lower::lower(fuse::separate(b.build(), target), target);
}

std::string message(const tile::TilePrograms& p) {
  try {
    verify::verify_memory(p);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(VerifyMemory, LoweringReadsTheOldValueFirst) {
  const tile::TilePrograms p = cache();
  ASSERT_EQ(p.kernels.size(), 3u);
  EXPECT_EQ(message(p), "");
}

TEST(VerifyMemory, OldValuesAreNotReadAfterwards) {
  tile::TilePrograms p = cache();
  std::swap(p.kernels[0], p.kernels[1]);
  EXPECT_EQ(message(p), "cache_k0 reads K from memory where cache_k1 has put N");
}

TEST(VerifyMemory, NorNewOnesBefore) {
  tile::TilePrograms p = cache();
  std::swap(p.kernels[1], p.kernels[2]);
  EXPECT_EQ(message(p), "cache_k2 reads N from the memory of K, where no kernel has put it yet");
}

TEST(VerifyMemory, NoKernelReadsWhatItReplaces) {
  tile::TilePrograms p = cache();
  for (const tile::Node& n : p.kernels[0].nodes)
    if (n.kind == tile::NodeKind::load) p.kernels[1].nodes.push_back(n);
  EXPECT_EQ(message(p), "cache_k1 puts N into memory from which it reads K");
}

}  // namespace
}  // namespace zellige::plan
