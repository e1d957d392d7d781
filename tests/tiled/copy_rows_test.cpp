// Every copy instruction of the tables: each bit read is written, and no bit twice.
#include <gtest/gtest.h>

#include <map>
#include <zellige/atom/evaluate.hpp>
#include <zellige/atom/print.hpp>
#include <zellige/layout/runtime.hpp>

namespace zellige {
namespace {

std::map<long long, int> bit_counts(Value const& layout) {
  Indexer const at(layout);
  std::map<long long, int> counts;
  for (long long i = 0; i < size(layout); ++i) ++counts[at(i)];
  return counts;
}

TEST(CopyRows, SourceAndDestinationAreTheSameBits) {
  for (CopyName const& known : copy_rows) {
    CopyRow const row = find_copy(known.name);
    ASSERT_TRUE(bool(row)) << known.name;
    auto const source = bit_counts(algebra::copy_layout(row, CopyPart::source));
    auto const destination = bit_counts(algebra::copy_layout(row, CopyPart::destination));
    auto const reference = bit_counts(algebra::copy_layout(row, CopyPart::reference));
    ASSERT_EQ(source.size(), destination.size()) << known.name;
    ASSERT_EQ(reference.size(), destination.size()) << known.name;
    for (auto const& [bit, count] : destination) ASSERT_TRUE(source.contains(bit)) << known.name << " " << bit;
    // Registers hold each bit once; memory may be addressed by threads whose addresses are not used.
    for (auto const& [bit, count] : reference) ASSERT_EQ(count, 1) << known.name << " " << bit;
    bool const to_memory = row.kind == CopyRow::Kind::to_rows || row.kind == CopyRow::Kind::to_columns ||
                           row.kind == CopyRow::Kind::to_byte_columns;
    for (auto const& [bit, count] : to_memory ? source : destination) ASSERT_EQ(count, 1) << known.name;
  }
}
TEST(CopyRows, ElementsOfEverySizeThatFits) {
  for (CopyName const& known : copy_rows) {
    for (int bits : {1, 4, 8, 16, 32, 64, 128}) {
      Tape t;
      Value const values = algebra::copy_values(t, known.row, CopyPart::destination, bits);
      if (t.failed()) {
        EXPECT_EQ(t.refusal().rule, Rule::copy_type) << known.name;
        EXPECT_GT(bits, 8) << known.name;
      } else if (known.row.kind != CopyRow::Kind::element) {
        Value const whole = algebra::copy_layout(known.row, CopyPart::destination);
        EXPECT_EQ(size(values[1]) * bits, size(whole[1])) << known.name << " " << bits;
      }
    }
  }
}
TEST(CopyRows, NamesWithArguments) {
  EXPECT_EQ(*evaluate_atom("copy_traits", {"UniversalCopy<float>"}),
            "ThrID: _1:_0\nSrcLayout: (_1,_32):(_0,_1)\nDstLayout: (_1,_32):(_0,_1)\nRefLayout: (_1,_32):(_0,_1)");
  EXPECT_EQ(copy_traits_text<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>>(),
            *evaluate_atom("copy_traits", {"SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>"}));
  EXPECT_EQ(to_text(Copy_Atom<SM75_U16x8_LDSM_T, half_t>{}),
            *evaluate_atom("copy_atom_print", {"SM75_U16x8_LDSM_T", "half_t"}));
}

}  // namespace
}  // namespace zellige
