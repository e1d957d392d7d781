// The reference bodies of warp MMAs against a second definition, on random registers; all are covered.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <zellige/atom/convert.hpp>
#include <zellige/atom/instruction_table.hpp>
#include <zellige/atom/mma_traits/names.hpp>

#include "warp_oracle.hpp"
#include "warp_rows.hpp"

namespace zellige {
namespace {

template <class Op>
void check_warp_row(const char* name) {
  constexpr MmaRow row = find_mma(Op::name);
  const oracle::WarpMmaKind kind = oracle::warp_mma_kind(row);
  using Number = oracle::WarpMmaKind::Number;
  std::mt19937 random(9);
  reference::MmaOperands<Op> in[32];
  reference::MmaResult<Op> out[32], want[32];
  const auto fill = [&](auto& registers, Number n) {
    auto* bytes = reinterpret_cast<unsigned char*>(registers);
    for (unsigned i = 0; i < sizeof(registers);) {
      const float x = static_cast<float>(static_cast<int>(random() % 7) - 3);
      const auto store = [&](auto value) {
        std::memcpy(bytes + i, static_cast<const void*>(&value), sizeof(value));
        i += sizeof(value);
      };
      if (n == Number::f64)
        store(static_cast<double>(x));
      else if (n == Number::f16)
        store(half_t(x));
      else if (n == Number::e4m3)
        store(float_e4m3_t(x));
      else if (n == Number::e5m2)
        store(float_e5m2_t(x));
      else
        store(static_cast<uint8_t>(random()));
    }
  };
  for (int trial = 0; trial < 3; ++trial) {
    const void *a[32], *b[32], *c[32];
    void* d[32];
    for (int t = 0; t < 32; ++t) {
      fill(in[t].a, kind.a);
      fill(in[t].b, kind.b);
      for (auto& x : in[t].c) {
        const int value = static_cast<int>(random() % 100);
        if constexpr (std::is_same_v<std::remove_reference_t<decltype(x)>, uint32_t>)
          x = pack<half_t>(static_cast<float>(value), 3.0f);
        else
          x = static_cast<std::remove_reference_t<decltype(x)>>(
              kind.ending == oracle::WarpMmaKind::Ending::saturate && trial ? 0x7fffffff - value : value);
      }
      a[t] = in[t].a, b[t] = in[t].b, c[t] = in[t].c, d[t] = want[t].d;
    }
    const Instruction& body = *find_instruction(Op::name);
    body.body(body, reference::WarpRegisters(in, out));
    oracle::warp_mma<row.m, row.n, row.k>(kind, a, b, c, d);
    for (int t = 0; t < 32; ++t) ASSERT_EQ(std::memcmp(out[t].d, want[t].d, sizeof(out[t].d)), 0) << name << " " << t;
  }
}
TEST(WarpMma, EveryBodyAgreesWithASecondDefinition) {
#define ZELLIGE_CHECK_ROW(op) check_warp_row<op>(#op);
  ZELLIGE_WARP_ROWS(ZELLIGE_CHECK_ROW)
#undef ZELLIGE_CHECK_ROW
}
TEST(WarpMma, TheListHasEveryRowOfTheTables) {
  std::set<std::string> listed;
#define ZELLIGE_LIST(op) listed.insert(op::name);
  ZELLIGE_WARP_ROWS(ZELLIGE_LIST)
#undef ZELLIGE_LIST
  each_mma_row([&](const MmaRow& row) {
    const bool complex = row.a == Number::c64;
    const bool elsewhere = row.arch == 80 && (row.a == Number::f16 || row.a == Number::bf16 || row.a == Number::tf32);
    if (row.issuer == Issuer::warpgroup || complex || elsewhere) return;
    EXPECT_TRUE(listed.contains(mma_name(row))) << mma_name(row) << " is missing in tests/atom/warp_rows.hpp";
  });
}

}  // namespace
}  // namespace zellige
