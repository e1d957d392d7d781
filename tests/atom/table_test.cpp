// The rows against CuTe's output for the instructions of the same names, and against themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <zellige/atom/instruction_table.hpp>

#include "sm80_rows.hpp"

namespace zellige {
namespace {

std::string thread_ids(const Instruction& row) { return row.issuers == 1 ? "_1:_0" : "_32:_1"; }

// The words of CuTe's print of MMA_Traits and Copy_Traits.
std::string traits(const Instruction& row) {
  std::ostringstream out;
  if (row.kind == Instruction::Kind::mma) {
    out << "Shape_MNK: (_" << row.m << ",_" << row.n << ",_" << row.k << ")\nThrID: " << thread_ids(row)
        << "\nALayout: " << to_string(row.a.layout) << "\nBLayout: " << to_string(row.b.layout)
        << "\nCLayout: " << to_string(row.c.layout) << "\nValBits_DABC: " << row.c.bits << " " << row.a.bits << " "
        << row.b.bits << " " << row.c.bits;
  } else {
    out << "ThrID: " << thread_ids(row) << "\nSrcLayout: " << to_string(row.a.layout)
        << "\nDstLayout: " << to_string(row.c.layout) << "\nRefLayout: " << to_string(row.c.layout);
  }
  return out.str();
}

TEST(InstructionTable, SaysWhatPtxSays) {
  const std::map<std::string, std::string> expected = {
      {"SM80_16x8x16_F32F16F16F32_TN",
       "Shape_MNK: (_16,_8,_16)\nThrID: _32:_1\nALayout: ((_4,_8),(_2,_2,_2)):((_32,_1),(_16,_8,_128))\n"
       "BLayout: ((_4,_8),(_2,_2)):((_16,_1),(_8,_64))\nCLayout: ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))\n"
       "ValBits_DABC: 32 16 16 32"},
      {"SM80_16x8x8_F16F16F16F16_TN",
       "Shape_MNK: (_16,_8,_8)\nThrID: _32:_1\nALayout: ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))\n"
       "BLayout: ((_4,_8),_2):((_16,_1),_8)\nCLayout: ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))\nValBits_DABC: "
       "16 16 16 16"},
      {"SM80_16x8x8_F32TF32TF32F32_TN",
       "Shape_MNK: (_16,_8,_8)\nThrID: _32:_1\nALayout: ((_4,_8),(_2,_2)):((_16,_1),(_8,_64))\n"
       "BLayout: ((_4,_8),_2):((_8,_1),_32)\nCLayout: ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))\nValBits_DABC: "
       "32 32 32 32"},
      {"SM75_U16x4_LDSM_T",
       "ThrID: _32:_1\nSrcLayout: ((_16,_2),_128):((_128,_0),_1)\n"
       "DstLayout: ((_4,_8),(_16,_2,_2)):((_256,_16),(_1,_128,_1024))\n"
       "RefLayout: ((_4,_8),(_16,_2,_2)):((_256,_16),(_1,_128,_1024))"},
      {"SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>",
       "ThrID: _1:_0\nSrcLayout: (_1,_128):(_0,_1)\nDstLayout: (_1,_128):(_0,_1)\nRefLayout: "
       "(_1,_128):(_0,_1)"},
  };
  for (const auto& [name, text] : expected) {
    const Instruction* row = find_instruction(name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_EQ(traits(*row), text) << name;
  }
  EXPECT_EQ(find_instruction("SM80_16x8x16_F32F16F16F32"), nullptr);
}

// The whole corpus, if it is next to the checkout; the hand-written rows. Rows generated from the tables of
// traits are checked against it by tests/conformance.
TEST(InstructionTable, AgreesWithTheConformanceCorpus) {
  const std::filesystem::path corpus = ZELLIGE_SOURCE_DIR "/../shared/conformance";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "the conformance corpus is not next to this checkout";
  std::set<std::string> met;
  for (const char* file : {"mma_traits.jsonl", "copy_traits.jsonl"}) {
    std::ifstream in(corpus / file);
    ASSERT_TRUE(in) << file;
    for (std::string line; std::getline(in, line);) {
      const auto record = nlohmann::json::parse(line);
      if (record["args"].size() != 1) continue;  // Copy_Atom<Op, T>, recast to T
      const Instruction* row = find_instruction(record["args"][0].get<std::string>());
      const auto by_hand = [&](const Instruction& mine) { return std::string_view(mine.name) == row->name; };
      if (!row || std::ranges::none_of(sm80_rows(), by_hand)) continue;
      EXPECT_EQ(traits(*row), record["result"].get<std::string>()) << row->name;
      met.insert(row->name);
    }
  }
  EXPECT_GE(met.size(), 14u);  // how many of our rows the corpus has
}

// docs/reference/instructions.md and hardware.cu speak of every row.
TEST(InstructionTable, IsDocumentedAndProvedRowByRow) {
  for (const char* file : {"docs/reference/instructions.md", "tests/atom/hardware.cu"}) {
    std::ostringstream text;
    text << std::ifstream(std::string(ZELLIGE_SOURCE_DIR "/") + file).rdbuf();
    for (const Instruction& row : sm80_rows()) {
      EXPECT_NE(text.str().find(row.name), std::string::npos) << row.name << " is missing from " << file;
      if (std::string(file) == "docs/reference/instructions.md") {
        EXPECT_NE(text.str().find("| `" + std::string(row.name) + "` | `" + row.ptx + "` | sm_" +
                                  std::to_string(row.compute_capability) + " | `" + row.call),
                  std::string::npos)
            << row.name;
      }
    }
  }
}

template <class F>
void each_coordinate_once(const Instruction::Operand& operand, int size, const char* name, F f) {
  std::vector<int> counts(static_cast<std::size_t>(size));
  for (int t = 0; t < operand.layout.thread_count(); ++t)
    for (int v = 0; v < operand.layout.value_count(); ++v) {
      const int at = operand.layout(t, v);
      ASSERT_TRUE(0 <= at && at < size) << name;
      ++counts[static_cast<std::size_t>(at)];
    }
  for (int count : counts) f(count);
}

TEST(InstructionTable, FragmentsHoldEachElementOnce) {
  std::set<std::string> names;
  for (const Instruction& row : sm80_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice";
    const auto once = [&](int count) { ASSERT_EQ(count, 1) << row.name; };
    if (row.kind == Instruction::Kind::mma) {
      each_coordinate_once(row.a, row.m * row.k, row.name, once);
      each_coordinate_once(row.b, row.n * row.k, row.name, once);
      each_coordinate_once(row.c, row.m * row.n, row.name, once);
      EXPECT_EQ(row.a.registers * 32 * 32, row.m * row.k * row.a.bits) << row.name;
      EXPECT_EQ(row.b.registers * 32 * 32, row.n * row.k * row.b.bits) << row.name;
      EXPECT_EQ(row.c.registers * 32 * 32, row.m * row.n * row.c.bits) << row.name;
    }
    if (row.kind == Instruction::Kind::matrix_load) {
      each_coordinate_once(row.c, row.c.registers * 8 * 8 * 16, row.name, once);
      each_coordinate_once(row.a, row.c.registers * 8 * 8 * 16, row.name,
                           [&](int count) { ASSERT_EQ(count, 4 / row.c.registers) << row.name; });
      EXPECT_EQ(row.a.alignment, 16);
      EXPECT_EQ(row.a.space, Instruction::Space::smem);
    }
    if (row.kind == Instruction::Kind::async_copy) {
      EXPECT_EQ(row.a.alignment * 8, row.a.layout.value_count()) << row.name;
      EXPECT_EQ(row.completion, Instruction::Completion::copy_group);
    }
    EXPECT_GE(row.compute_capability, 75);
    EXPECT_GE(row.cycles, 1);
  }
  EXPECT_EQ(names.size(), 20u);
}

// A row has the latency that is listed for it, and no other.
TEST(InstructionTable, LatenciesAreTheMeasuredOnes) {
  std::map<std::string, int> listed;
  for (const MeasuredLatency& m : measured_latencies) {
    ASSERT_NE(find_instruction(m.name), nullptr) << m.name;
    EXPECT_TRUE(listed.emplace(m.name, m.cycles).second) << m.name << " twice";
  }
  for (const Instruction& row : instructions()) {
    const auto at = listed.find(row.name);
    ASSERT_EQ(row.latency.has_value(), at != listed.end()) << row.name;
    if (row.latency) EXPECT_EQ(*row.latency, at->second) << row.name;
  }
}

// The emulator has a body to run for what a warp or a warpgroup computes together: all but complex products, which are made of
// others.
TEST(InstructionTable, BodiesAreThere) {
  using Kind = Instruction::Kind;
  for (const Instruction& row : instructions()) {
    const bool computes = row.kind == Kind::mma || row.kind == Kind::matrix_load || row.kind == Kind::matrix_store;
    const bool complex = row.a.number == Number::c64;
    EXPECT_EQ(row.body != nullptr, computes && !complex) << row.name;
  }
}

}  // namespace
}  // namespace zellige
