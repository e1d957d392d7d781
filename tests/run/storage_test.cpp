#include "run/storage.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "failing.hpp"
#include "graph/dtype.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using manifest::Role;
using manifest::TensorPlace;

TensorPlace place(std::string name, DType dtype, graph::Shape shape, graph::Strides strides, Role role = Role::input,
                  std::int64_t offset = -1) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) last += (shape[d] - 1) * strides[d];
  return {std::move(name),
          dtype,
          std::move(shape),
          std::move(strides),
          role,
          0,
          offset,
          (last + 1) * graph::whole_bytes(dtype)};
}

TEST(Storage, ElementsLieWhereTheStridesSay) {
  const TensorPlace t = place("t", DType::f16, {3, 5}, {8, 1});
  std::vector<double> values(15);
  for (int i = 0; i < 15; ++i) values[static_cast<std::size_t>(i)] = i - 7.5;
  const Bytes bytes = pack(t, values);
  ASSERT_EQ(bytes.size(), (2 * 8 + 5) * 2u);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 8 && 8 * i + j < 21; ++j) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, &bytes[static_cast<std::size_t>(2 * (8 * i + j))], 2);
      if (j < 5) {
        EXPECT_EQ(graph::from_bits(DType::f16, bits), 5 * i + j - 7.5);
      } else {
        EXPECT_EQ(bits, 0xffff) << "padding";
      }
    }
  }
}

// Rows of f16, bf16 and f32 are converted by shorter ways than to_bits: normal numbers, ties, those at and beyond the ends of the
// format, and what is no number.
TEST(Storage, PackedBitsAreThoseOfToBits) {
  std::mt19937_64 random(5);
  std::vector<double> values;
  for (int i = 0; i < 2000; ++i) {
    const double x = std::bit_cast<double>(random());
    values.insert(values.end(), {x, std::ldexp(std::fmod(x, 2), int(random() % 40) - 26)});
    const float tie = std::bit_cast<float>(std::uint32_t(random() & 0xffff8000));
    values.insert(values.end(), {double(tie), std::nextafter(double(tie), 0), 65504.0 + double(random() % 32)});
  }
  values.insert(values.end(), {0.0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-14, 0x1p-24, 0x1p-25, 0x1.fep127, 0x1.ffp127});
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    const auto n = static_cast<std::int64_t>(values.size());
    const Bytes bytes = pack(place("t", dtype, {1, n}, {n, 1}), values);
    const auto width = static_cast<std::size_t>(graph::whole_bytes(dtype));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &bytes[i * width], width);
      EXPECT_EQ(bits, graph::to_bits(dtype, values[i])) << graph::name(dtype) << " of " << values[i];
    }
  }
}

TEST(Storage, UnpackInvertsPack) {
  std::mt19937 random(1);
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    for (const auto& [shape, strides] : std::vector<std::pair<graph::Shape, graph::Strides>>{{{7}, {1}},
                                                                                             {{4, 6}, {1, 4}},
                                                                                             {{2, 3, 5}, {40, 8, 1}},
                                                                                             {{3, 2, 4}, {1, 16, 4}},
                                                                                             {{1, 1}, {9, 9}},
                                                                                             {{}, {}}}) {
      const TensorPlace t = place("t", dtype, shape, strides);
      std::vector<double> values;
      for (std::int64_t i = 0; i < graph::size(shape); ++i) {
        values.push_back(graph::round_to(dtype, std::normal_distribution<>()(random)));
      }
      EXPECT_EQ(unpack(t, pack(t, values)), values);
      for (const double v : unpack(t, poisoned(t))) EXPECT_TRUE(std::isnan(v));
    }
  }
}

TEST(Storage, TheWrongNumberOfValuesIsRefused) {
  EXPECT_EQ(message_of([] {
              pack(place("X0", DType::f16, {2, 3}, {3, 1}), {1, 2});
            }),
            "tensor X0: 2 values given; its shape (2, 3) has 6");
}

manifest::Manifest two_kernels() {
  manifest::Manifest m{.name = "m", .target = "sm_80"};
  m.tensors = {place("X", DType::f16, {8}, {1}), place("s", DType::f16, {128}, {1}, Role::intermediate, 0),
               place("t", DType::f16, {128}, {1}, Role::intermediate, 256),
               place("Y", DType::f16, {8}, {1}, Role::output)};
  m.kernels = {{"k0", {}, {}, 0, {0, 1}, {false, true}},
               {"k1", {}, {}, 0, {1, 2}, {false, true}},
               {"k2", {}, {}, 0, {2, 3}, {false, true}}};
  m.buffer_size = 512;
  return m;
}

TEST(Storage, SoundManifestsPass) {
  check(two_kernels());
  manifest::Manifest reuse = two_kernels();  // s is dead where u is born
  reuse.tensors.push_back(place("u", DType::f16, {128}, {1}, Role::intermediate, 0));
  reuse.kernels[2].tensors.push_back(4);
  reuse.kernels[2].writes.push_back(true);
  check(reuse);
}

TEST(Storage, ContradictoryManifestsAreRefused) {
  auto refused = [](auto change) {
    manifest::Manifest m = two_kernels();
    change(m);
    return message_of([&] { check(m); });
  };
  EXPECT_EQ(refused([](auto& m) { m.tensors[2].offset = 0; }),
            "manifest of m: tensors s and t share bytes of the workspace (at 0 and 0) and are needed at once");
  EXPECT_EQ(refused([](auto& m) { m.buffer_size = 511; }),
            "manifest of m: tensor t lies at 256 and has 256 bytes, in a workspace of 511");
  EXPECT_EQ(refused([](auto& m) { m.tensors[1].offset = 8; }),
            "manifest of m: tensor s lies at 8 and has 256 bytes, in a workspace of 512");
  EXPECT_EQ(refused([](auto& m) { m.tensors[0].bytes = 15; }),
            "manifest of m: tensor X has 15 bytes; its shape and strides need 16");
  EXPECT_EQ(refused([](auto& m) { m.tensors[0].strides = {}; }),
            "manifest of m: tensor X has 0 strides for its shape (8)");
  EXPECT_EQ(refused([](auto& m) { m.kernels[0].tensors[0] = 9; }), "manifest of m: kernel k0 names tensor 9 of 4");
  EXPECT_EQ(refused([](auto& m) { m.kernels[0].writes.pop_back(); }),
            "manifest of m: kernel k0 takes 2 tensors and says of 1 whether it writes them");
}

}  // namespace
}  // namespace zellige::run
