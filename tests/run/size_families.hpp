// Families of graphs, one for each number of rows, whose programs take that number at launch; and their runs on the emulator.
#pragma once
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "manifest/launch_sizes.hpp"

namespace zellige::run {

using graph::Builder;
using graph::KernelGraph;
using graph::TensorHandle;

/// A family of graphs, one for each number of rows, and how it is tiled.
struct Family {
  const char* name;
  KernelGraph (*graph)(std::int64_t rows);
  const char* target;
  tile::Size size;
  retile::Tiling tiling = {};
};

inline KernelGraph softmax_of_rows(std::int64_t rows) {
  Builder b("softmax");
  b.output(softmax(b.input("A", {rows, 96}), 1), "C");
  return b.build();
}
inline KernelGraph norm(std::int64_t rows) {
  Builder b("norm");
  const TensorHandle x = b.input("x", {rows, 256}), w = b.input("w", {256});
  b.output(rms_norm(x) * w, "y");
  return b.build();
}
/// A block has 8 rows if that divides them, else one.
inline KernelGraph elementwise(std::int64_t rows) {
  Builder b("elementwise");
  const TensorHandle x = b.input("x", {rows, 40});
  const std::vector<TensorHandle> y =
      b.custom({.grid = {rows % 8 == 0 ? rows / 8 : rows}, .block = {128}},
               [&](graph::BlockBuilder& t) { t.store(silu(t.load(x, {.x = 0})) * 2.0, {.x = 0}); });
  b.output(y.at(0), "y");
  return b.build();
}
inline KernelGraph product(std::int64_t rows) {
  Builder b("product");
  const TensorHandle A = b.input("A", {rows, 128}), B = b.input("B", {128, 64});
  b.output(matmul(A, B), "C");
  return b.build();
}

inline KernelGraph gate(std::int64_t rows) {
  Builder b("gate");
  const TensorHandle x = b.input("x", {rows, 64}), v = b.input("v", {64, 64}), w = b.input("w", {64, 64});
  b.output(silu(matmul(x, v)) * matmul(x, w), "y");
  return b.build();
}
/// The size is the batch.
inline KernelGraph attention(std::int64_t batch) {
  Builder b("attention");
  const TensorHandle q = b.input("q", {batch, 16, 32}), k = b.input("k", {batch, 32, 24}),
                     v = b.input("v", {batch, 24, 32});
  b.output(matmul(softmax(matmul(q, k) * 0.125, 2), v), "y");
  return b.build();
}

/// Rows after those of the size begin where these end.
inline KernelGraph joined(std::int64_t rows) {
  Builder b("joined");
  const TensorHandle x = b.input("x", {rows, 64}), z = b.input("z", {9, 64});
  b.output(concat(x, z, 0), "y");
  return b.build();
}

inline const retile::Tiling tiles_of_64{
    {.op = 0, .product = retile::MatmulTile{.m = 64, .n = 64, .k = 64, .threads = 128}}};

inline tile::Size rows(std::int64_t low, std::int64_t high, std::int64_t multiple = 1) {
  return {.name = "T", .low = low, .high = high, .multiple = multiple, .of = {{0, 0}}};
}

inline const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"softmax", softmax_of_rows, "sm_80", rows(1, 64)},
      {"norm", norm, "sm_80", rows(1, 64)},
      {"norm", norm, "sm_90a", rows(1, 64)},
      {"elementwise", elementwise, "sm_80", rows(1, 200)},
      {"product", product, "sm_80", rows(1, 256), tiles_of_64},
      {"product of multiples", product, "sm_80", rows(64, 256, 64), tiles_of_64},
      {"product", product, "sm_90a", rows(1, 256), tiles_of_64},
      {"product of multiples", product, "sm_90a", rows(64, 256, 64), tiles_of_64},
      {"gate", gate, "sm_80", rows(1, 72)},
      {"joined", joined, "sm_80", rows(1, 64)},
      {"gate", gate, "sm_90a", rows(1, 72)},
      {"attention", attention, "sm_80", {.name = "B", .low = 1, .high = 20, .of = {{0, 0}, {1, 0}, {2, 0}}}},
  };
  return all;
}

inline plan::PlanOptions options(const Family& f, bool sized) {
  plan::PlanOptions o{.blocks = {plan::Blocks::a_tile}, .tiling = f.tiling};
  if (sized) o.sizes = {f.size};
  return o;
}

/// The ends, multiples of 64 and of 16, one less and one more, and random values.
inline std::set<std::int64_t> values(const tile::Size& s) {
  std::set<std::int64_t> all;
  std::mt19937 random(7);
  const auto add = [&](std::int64_t n) {
    if (n >= s.low && n <= s.high && n % s.multiple == 0) all.insert(n);
  };
  for (const std::int64_t n : {s.low, s.high, std::int64_t{16}, std::int64_t{64}, std::int64_t{128}})
    for (int by = -1; by <= 1; ++by) add(n + by * s.multiple);
  for (int i = 0; i < 2; ++i)
    add(s.low + static_cast<std::int64_t>(random()) % (s.high - s.low + 1) / s.multiple * s.multiple);
  return all;
}

inline std::vector<reference::Array> inputs_of(const KernelGraph& g) {
  std::vector<reference::Array> all;
  for (const int t : g.inputs) all.push_back(integers(g.tensors[t].shape, t));
  return all;
}

struct Ran {
  std::vector<Bytes> storage;
  std::vector<EmulatedKernel> kernels;
};

/// Runs a manifest, which must be that of a launch.
inline Ran ran(const std::string& source, const manifest::Manifest& m, const std::vector<reference::Array>& inputs,
               const toolchain::Cache& cache) {
  Ran r;
  for (const manifest::TensorPlace& t : m.tensors)
    r.storage.push_back(t.role == manifest::Role::input
                            ? pack(t, inputs.at(static_cast<std::size_t>(t.position)).values)
                            : poisoned(t));
  EmulatedRun done = run_emulated(source, m, r.storage, cache, 2);
  for (const auto& f : done.findings) ADD_FAILURE() << f.message;
  r.kernels = std::move(done.kernels);
  return r;
}

inline void expect_near(const KernelGraph& g, const manifest::Manifest& m, const Ran& r,
                        const std::vector<reference::Array>& inputs) {
  const std::vector<reference::Array> expected = reference::run_reference(g, inputs);
  for (std::size_t t = 0; t < m.tensors.size(); ++t) {
    if (m.tensors[t].role != manifest::Role::output) continue;
    const std::vector<double> found = unpack(m.tensors[t], r.storage[t]);
    const std::vector<double>& right = expected[static_cast<std::size_t>(m.tensors[t].position)].values;
    ASSERT_EQ(found.size(), right.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_LE(std::fabs(found[i] - right[i]), 0.02 * std::fabs(right[i]) + 0.002) << "element " << i;
  }
}

/// Returns whether the outputs of two runs have the same bits.
inline bool same_outputs(const manifest::Manifest& m, const Ran& a, const Ran& b) {
  for (std::size_t t = 0; t < m.tensors.size(); ++t)
    if (m.tensors[t].role == manifest::Role::output && a.storage[t] != b.storage[t]) return false;
  return true;
}

}  // namespace zellige::run
