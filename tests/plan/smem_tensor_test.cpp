// Tensors in shared memory: their addresses are those of the arithmetic on strides, spans, parts and swizzles that a
// layout replaces, and those of the layout library.
#include <gtest/gtest.h>

#include <random>
#include <zellige/layout/runtime.hpp>

#include "../unfused.hpp"
#include "kernel/evaluated_layout.hpp"
#include "random_plans.hpp"
#include "verify/proofs.hpp"

namespace zellige::plan {
namespace {

std::int64_t in_library(const kernel::SmemTensor& b, const graph::Shape& at) {
  return index(b.layout, std::vector<long long>(at.begin(), at.end()));
}

/// The layout of a tensor as numbers. The lines along `inner` are cut into spans, unless `span` is 0: all rows of the
/// first span precede those of the second.
struct Numbers {
  graph::Shape padded;
  graph::Strides strides;
  int inner = 0;
  std::int64_t span = 0;
  int bits = 0, base = 0, shift = 0;

  std::int64_t rows() const { return graph::size(padded) / padded[inner]; }
  std::int64_t element(const graph::Shape& at) const {
    std::int64_t x = 0;
    for (std::size_t d = 0; d < at.size(); ++d) x += at[d] * strides[d];
    if (span > 0) x += at[inner] / span * (rows() - 1) * span;
    return bits == 0 ? x : x ^ ((x & (((std::int64_t{1} << bits) - 1) << (base + shift))) >> shift);
  }
  Value layout() const {
    Value tile = empty(ValueKind::layout);
    for (int d = 0; d < static_cast<int>(padded.size()); ++d)
      tile.add(d == inner && span > 0 ? kernel::strided({span, tile::ceil_div(padded[d], span)}, {1, rows() * span})
                                      : kernel::strided({padded[d]}, {strides[d]})[0]);
    return kernel::swizzled(bits, base, shift, tile);
  }
};

TEST(SmemTensor, HasTheAddressesOfItsNumbers) {
  std::mt19937 random(3);
  const auto up_to = [&](int n) { return 1 + static_cast<int>(random() % static_cast<unsigned>(n)); };
  int swizzles = 0, spans = 0, parts = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Numbers n;
    n.padded.resize(static_cast<std::size_t>(up_to(4)));
    for (auto& extent : n.padded) extent = up_to(9);
    const int rank = static_cast<int>(n.padded.size());
    n.inner = static_cast<int>(random() % n.padded.size());
    n.padded[n.inner] = up_to(150);
    if (random() % 3 == 0) n.span = 32 << random() % 2;
    std::int64_t pitch = n.span > 0 ? n.span : n.padded[n.inner] + up_to(20);
    n.strides.assign(n.padded.size(), 1);
    for (int d = rank - 1; d >= 0; --d)
      if (d != n.inner) n.strides[d] = pitch, pitch *= n.padded[d];
    if (random() % 2 == 0) n.bits = up_to(3), n.base = up_to(4) - 1, n.shift = n.bits + up_to(2) - 1;
    kernel::SmemTensor b;
    b.dtype = random() % 2 ? graph::DType::f16 : graph::DType::f32;
    b.shape = b.padded = n.padded, b.inner = n.inner, b.layout = n.layout();
    b.partials = up_to(4), b.part_step = 16 * up_to(5000), b.offset = 128 * up_to(100);
    swizzles += n.bits > 0, spans += b.boxes() > 1, parts += b.partials > 1;
    for (std::int64_t i = 0; i < graph::size(n.padded); i += up_to(3)) {
      const graph::Shape at = graph::coordinates(i, n.padded);
      const std::int64_t part = static_cast<std::int64_t>(random() % static_cast<unsigned>(b.partials));
      ASSERT_EQ(b.address(at, part), b.offset + part * b.part_step + n.element(at) * graph::whole_bytes(b.dtype))
          << to_text(b.layout) << " at " << graph::to_string(at);
      if (i % 16 == 0) ASSERT_EQ(in_library(b, at), n.element(at)) << to_text(b.layout) << graph::to_string(at);
    }
    EXPECT_EQ(b.box(), n.span > 0 ? n.span : n.padded[n.inner]);
    for (int d = 0; d < rank; ++d) EXPECT_EQ(b.stride(d), n.strides[d]);
  }
  EXPECT_GE(swizzles, 80);
  EXPECT_GE(spans, 30);
  EXPECT_GE(parts, 80);
}

/// The widest access to neighbours along `inner` for which strides, steps, swizzle and extent leave room.
int widest(const kernel::SmemTensor& b, int vector, std::int64_t shift) {
  const std::int64_t line = b.padded[b.inner];
  const auto fits = [&](int w) {
    for (int d = 0; d < static_cast<int>(b.padded.size()); ++d)
      if (d != b.inner && b.padded[d] > 1 && b.stride(d) % w != 0) return false;
    if (b.partials > 1 && graph::elements_in(b.part_step, b.dtype) % w != 0) return false;
    if (b.stages > 1 && graph::elements_in(b.stage_step, b.dtype) % w != 0) return false;
    if (b.swizzled() && (1 << values::View(b.layout)[0].root().d.v) < w) return false;
    return shift % w == 0 && (line % w == 0 || line >= vector);
  };
  int width = std::min(vector, b.chunk());
  while (width > 1 && !fits(width)) width /= 2;
  return width;
}

// What access_width() takes for granted, and verify_bounds() proves by evaluation, as the library states it.
TEST(SmemTensor, OfAPlanKeepsChunksWhole) {
  int swizzles = 0, boxes = 0, chunks = 0;
  const auto check = [&](const kernel::Kernel& k) {
    for (const kernel::SmemTensor& b : k.tensors) {
      swizzles += b.swizzled(), boxes += b.boxes() > 1;
      const int size = graph::whole_bytes(b.dtype);
      EXPECT_LE(cosize(Value(b.tile())) * size, b.part_step) << b.name << " " << to_text(b.layout);
      for (std::int64_t i = 0; i < graph::size(b.padded); i += 97) {
        const graph::Shape at = graph::coordinates(i, b.padded);
        ASSERT_EQ(b.address(at), b.offset + in_library(b, at) * size) << to_text(b.layout) << graph::to_string(at);
      }
      if (b.padded[b.inner] == 1) continue;
      Value lines = b.layout;  // with their padding
      ValueNode& line = lines.nodes[static_cast<int>(b.tile()[b.inner].node - b.layout.nodes.data)];
      if (line.kids < 0) line.s = fixed(tile::ceil_div(line.s.v, b.chunk()) * b.chunk());
      EXPECT_EQ(max_alignment(lines) % b.chunk(), 0) << b.name << " " << to_text(lines);
      for (const int vector : {1, 2, 4, 8, 16})
        for (const int shift : {0, 1, 2, 4, 12})
          EXPECT_EQ(b.access_width(b.inner, vector, shift), widest(b, vector, shift))
              << to_text(b.layout) << " by " << vector << " from " << shift;
      ++chunks;
    }
  };
  for_each_kernel([&](const std::string&, const kernel::Kernel& k, const Plan&) { check(k); });
  for (const GoldenGraph& g : golden_graphs())
    for (const kernel::Kernel& k : test::make_plan(g.graph(), target::find("sm_90a")).kernels) check(k);
  EXPECT_GE(swizzles, 20);
  EXPECT_GE(boxes, 2);
  EXPECT_GE(chunks, 50);
}

// A swizzle that moves single elements, and stages that are not aligned, would break vectors.
TEST(SmemTensor, IsRefusedWhereVectorsAreNotWhole) {
  int refused = 0, staged = 0;
  for_each_kernel([&](const std::string& name, const kernel::Kernel& planned, const Plan& plan) {
    const auto refusal = [&](auto change) -> std::string {
      kernel::Kernel k = planned;
      const auto b = std::ranges::find_if(k.tensors, [](const kernel::SmemTensor& t) {
        return t.stages > 1 && t.padded[t.inner] > 1 && graph::size(t.padded) >= 64;
      });
      if (b == k.tensors.end()) return "";
      ++staged;
      change(*b);
      try {
        verify::verify_bounds(k);
      } catch (const Error& e) {
        return e.what();
      }
      return "none";
    };
    const auto check = [&](const std::string& why) {
      if (why.empty()) return;
      EXPECT_NE(why.find("vectors are not adjacent and aligned"), std::string::npos) << name << ": " << why;
      ++refused;
    };
    check(refusal([](kernel::SmemTensor& b) { b.layout = kernel::swizzled(1, 0, 5, b.tile()); }));
    check(refusal([](kernel::SmemTensor& b) { b.stage_step += 4; }));
  });
  EXPECT_EQ(refused, staged);
  EXPECT_GE(refused, 6);
}

// A swizzle of (tile, stage) is another layout than the swizzled tile in each stage: banks would change.
TEST(SmemTensor, SwizzlesItsTileAndNotItsStages) {
  kernel::SmemTensor b;
  b.dtype = graph::DType::f16, b.padded = {20, 64}, b.inner = 1, b.stages = 3, b.stage_step = 2560, b.offset = 0;
  b.layout = kernel::swizzled(3, 3, 4, kernel::strided({20, 64}, {64, 1}));
  const Value staged = kernel::swizzled(3, 3, 4, kernel::strided({20, 64, 3}, {64, 1, 1280}));
  int elsewhere = 0;
  for (int stage = 0; stage < b.stages; ++stage)
    for (std::int64_t i = 0; i < 1280; ++i)
      elsewhere += b.address({i / 64, i % 64}) + stage * b.stage_step != 2 * index(staged, {i / 64, i % 64, stage});
  EXPECT_EQ(elsewhere, 2560);
}

// Chunks that do not divide among the threads: some threads are idle, and no single layout says who copies what. Every
// element has one place all the same, and every chunk is one access.
TEST(SmemTensor, TakesRaggedShares) {
  for (const graph::Shape& shape : std::vector<graph::Shape>{{24, 36}, {64, 72}, {16, 384}, {8, 1536}, {64, 640}})
    for (const int threads : {96, 100, 256}) {
      kernel::SmemTensor b;
      b.dtype = graph::DType::f16, b.padded = shape, b.inner = 1, b.offset = 0;
      const std::int64_t pitch = tile::ceil_div(shape[1], 8) * 8;
      b.layout = kernel::swizzled(1, 3, 5, kernel::strided(shape, {pitch, 1}));
      std::set<std::int64_t> places;
      int chunks = 0;
      kernel::for_each(
          kernel::EvaluatedLayout(kernel::blocked_layout(shape, 1, 8, threads)),
          [&](int, int, const graph::Shape& at) {
            if (at.empty()) return;
            ASSERT_EQ(b.address(at) % kernel::chunk_bytes, 0) << graph::to_string(at);
            ++chunks, places.insert(b.address(at));
          },
          b.access_width(1, 8));
      EXPECT_EQ(chunks, shape[0] * pitch / 8) << graph::to_string(shape);
      EXPECT_EQ(static_cast<int>(places.size()), chunks) << graph::to_string(shape);
    }
}

}  // namespace
}  // namespace zellige::plan
