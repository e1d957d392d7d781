// Buffers' layouts: every element of every stage and part has its own offset, inside the buffer, in aligned
// vectors.
#include <gtest/gtest.h>

#include "random_plans.hpp"

namespace zellige::plan {
namespace {

TEST(Swizzle, GivesEveryElementItsOwnPlace) {
  int swizzled = 0;
  for_each_kernel([&](const std::string& name, const kernel::Kernel& k, const Plan&) {
    for (const kernel::SmemTensor& b : k.tensors) {
      swizzled += b.swizzled();
      std::vector<char> taken(static_cast<std::size_t>(b.bytes()), 0);
      for (int stage = 0; stage < b.stages; ++stage)
        for (int part = 0; part < b.partials; ++part)
          for (std::int64_t i = 0; i < graph::size(b.padded); ++i) {
            const std::int64_t at = place(b, stage, part, graph::coordinates(i, b.padded)) - b.offset;
            ASSERT_TRUE(at >= 0 && at + graph::whole_bytes(b.dtype) <= b.bytes())
                << name << " " << b.name << ": byte " << at << " of " << b.bytes();
            ASSERT_FALSE(taken[static_cast<std::size_t>(at)]++)
                << name << " " << b.name << ": two elements at byte " << at;
          }
    }
  });
  EXPECT_GE(swizzled, 20);
}

// ldmatrix, cp.async and 16-byte accesses of a matmul's operand: 16 bytes of neighbours, aligned to 16 bytes.
TEST(Swizzle, KeepsTheVectorsOfOperandsTogether) {
  int operands = 0;
  for_each_kernel([&](const std::string& name, const kernel::Kernel& k, const Plan&) {
    for (const kernel::SmemTensor& b : k.tensors) {
      if (!b.matmul_operand) continue;
      ++operands;
      for (int stage = 0; stage < b.stages; ++stage)
        for (std::int64_t i = 0; i < graph::size(b.padded); ++i) {
          graph::Shape at = graph::coordinates(i, b.padded);
          const std::int64_t from = at[b.inner] % (graph::elements_in(16, b.dtype));
          const std::int64_t here = place(b, stage, 0, at);
          at[b.inner] -= from;
          const std::int64_t first = place(b, stage, 0, at);
          ASSERT_EQ(first % 16, 0) << name << " " << b.name << " " << graph::to_string(at);
          ASSERT_EQ(here, first + from * graph::whole_bytes(b.dtype))
              << name << " " << b.name << " " << graph::to_string(at);
        }
    }
  });
  EXPECT_GE(operands, 20);
}

TEST(Swizzle, SaysWhatItChose) {
  for_each_kernel([](const std::string& name, const kernel::Kernel& k, const Plan&) {
    for (const kernel::SmemTensor& b : k.tensors)
      if (b.swizzled()) EXPECT_FALSE(b.swizzle_reason.empty()) << name << " " << b.name;
  });
}

}  // namespace
}  // namespace zellige::plan
