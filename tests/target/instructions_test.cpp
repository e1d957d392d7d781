// The instructions as the planner sees them: those of the tables, once each, with valid rows; and those of
// each target.
#include "target/instructions.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <zellige/atom/instruction_table.hpp>
#include <zellige/atom/sm80_sync.hpp>

#include "target/pipe.hpp"
#include "target/products.hpp"

namespace zellige {
namespace {

TEST(Instructions, AreThoseOfTheTablesOnceEach) {
  std::set<std::string> names, wanted;
  for (const Instruction& row : instructions()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
  for (const Instruction& row : sm80_instructions) wanted.insert(row.name);
  for (const Instruction& row : movement_rows) wanted.insert(row.name);
  each_mma_row([&](const MmaRow& row) { wanted.insert(mma_name(row)); });
  EXPECT_EQ(names, wanted);
}

// 132 multiprocessors in eight GPCs: five of 18, two of 16, one of 10. The driver of an H200 gives these numbers.
TEST(Clusters, LieWithinGpcs) {
  const target::Target& hopper = target::find("sm_90a");
  EXPECT_EQ(hopper.clusters(2), 66);
  EXPECT_EQ(hopper.clusters(4), 30);
  EXPECT_EQ(hopper.clusters(8), 15);
  EXPECT_EQ(target::find("sm_80").clusters(2), 0);
}

// Every operand in registers covers its part of the product once; what is in shared memory, every thread
// sees.
TEST(Instructions, OperandsCoverTheProduct) {
  for (const Instruction& row : instructions()) {
    if (row.kind != Instruction::Kind::mma) continue;
    const std::pair<const Instruction::Operand*, int> parts[] = {
        {&row.a, row.m * row.k}, {&row.b, row.n * row.k}, {&row.c, row.m * row.n}};
    for (const auto& [o, size] : parts) {
      std::vector<int> counts(static_cast<std::size_t>(size));
      ASSERT_EQ(o->layout.thread_count(), row.issuers) << row.name;
      // In shared memory one thread sees what all see.
      const bool shared = o->space == Instruction::Space::smem;
      if (shared) {
        EXPECT_EQ(o->layout.threads[0].stride, 0) << row.name;
      }
      const int values = o->layout.value_count();
      for (int t = 0; t < (shared ? 1 : row.issuers); ++t)
        for (int v = 0; v < values; ++v) {
          const int at = o->layout(t, v);
          if (at < 0 || at >= size) FAIL() << row.name;
          ++counts[static_cast<std::size_t>(at)];
        }
      ASSERT_TRUE(std::all_of(counts.begin(), counts.end(), [](int h) { return h == 1; })) << row.name;
      if (shared) {
        EXPECT_EQ(o->registers, 0) << row.name;
        EXPECT_EQ(o->swizzles, 0b1111) << row.name;
        EXPECT_EQ(o->majors, o->bits == 16 ? 0b11 : 0b01) << row.name;
      } else {
        EXPECT_EQ(o->registers, (o->layout.value_count() * o->bits + 31) / 32) << row.name;
      }
    }
    EXPECT_GE(row.cycles, 1) << row.name;
  }
}

// The mnemonic of a row is what its call has.
TEST(Instructions, MnemonicsAreThoseOfTheCalls) {
  std::ostringstream text;
  for (const char* file : {"mma_traits/names.hpp", "mma.hpp"})
    text << std::ifstream(std::string(ZELLIGE_SOURCE_DIR "/include/zellige/atom/") + file).rdbuf();
  const std::string calls = text.str();
  int checked = 0;
  for (const Instruction& row : instructions()) {
    if (row.kind != Instruction::Kind::mma || row.issuers > 32 || !*row.ptx) continue;
    const std::string rest = std::string(row.ptx).substr(std::string("mma.sync.aligned.").size());
    const bool there = calls.find("\"" + rest + "\"") != calls.npos || calls.find(row.ptx) != calls.npos;
    EXPECT_TRUE(there) << row.name << ": " << row.ptx;
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

TEST(Instructions, OfATarget) {
  using target::find;
  using target::find_instruction;
  const auto count = [](const char* name, auto admits) {
    int n = 0;
    for (const Instruction* row : target::instructions_of(find(name))) n += admits(*row);
    return n;
  };
  const auto any = [](const Instruction&) { return true; };
  const auto of_warpgroups = [](const Instruction& i) { return i.kind == Instruction::Kind::mma && i.issuers == 128; };
  const auto by_tma = [](const Instruction& i) { return i.kind == Instruction::Kind::tensor_copy; };
  EXPECT_EQ(count("sm_80", of_warpgroups), 0);
  EXPECT_EQ(count("sm_80", by_tma), 0);
  EXPECT_EQ(count("sm_90a", of_warpgroups), 32 * 24 + 18 * 16);
  EXPECT_EQ(count("sm_90a", by_tma), 54);
  const auto unpacked = [](const Instruction& i) { return std::string_view(i.name).starts_with("Unpacked<"); };
  EXPECT_EQ(count("sm_90a", any),
            static_cast<int>(instructions().size() + std::size(sm80_sync_instructions)) + count("sm_90a", unpacked));
  // Of wgmma and setmaxnreg later architectures have none. sm_100a and sm_103a have products in tensor memory, of four types.
  for (const char* blackwell : {"sm_100a", "sm_103a", "sm_120a", "sm_121a"}) {
    const bool in_columns = std::string_view(blackwell) < "sm_12";
    EXPECT_EQ(count(blackwell, of_warpgroups), in_columns ? 4 * 32 : 0) << blackwell;
    EXPECT_EQ(count(blackwell, target::in_tensor_memory), in_columns ? 4 * 32 : 0) << blackwell;
    EXPECT_EQ(count(blackwell, by_tma), 54) << blackwell;
    EXPECT_EQ(find_instruction(find(blackwell), "SM90_SETMAXNREG_INC"), nullptr) << blackwell;
  }
  const auto of_ada = std::ranges::count(instructions(), 89, &Instruction::compute_capability);
  EXPECT_GT(of_ada, 0);  // the products of 8-bit floats
  EXPECT_EQ(count("sm_89", any) - count("sm_80", any), of_ada);

  const Instruction* wgmma = find_instruction(find("sm_90a"), "SM90::GMMA::MMA_64x128x16_F32F16F16_SS");
  ASSERT_NE(wgmma, nullptr);
  EXPECT_EQ(wgmma->ptx, std::string_view("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16"));
  EXPECT_EQ(wgmma->completion, Instruction::Completion::commit_group);
  EXPECT_EQ(wgmma->cycles, 64);
  EXPECT_EQ(wgmma->c.registers, 64);
  EXPECT_EQ(find_instruction(find("sm_80"), wgmma->name), nullptr);
  const Instruction* load = find_instruction(find("sm_90a"), "SM90_TMA_LOAD_2D");
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(load->completion, Instruction::Completion::mbarrier_bytes);
  EXPECT_EQ(load->a.space, Instruction::Space::gmem);
  EXPECT_EQ(load->c.space, Instruction::Space::smem);
  EXPECT_EQ(load->c.swizzles, 0b1111);
  EXPECT_TRUE(find_instruction(find("sm_90a"), "SM90_SETMAXNREG_INC")->only_of_its_architecture);
}

// Where a row of the generic proxy writes shared memory and one of the async proxy reads it, a fence is between.
TEST(Instructions, OfDescriptorsAndTensorMapsAreInTheAsyncProxy) {
  for (const Instruction& row : instructions()) {
    const std::string_view ptx = row.ptx;
    const bool wgmma = ptx.starts_with("wgmma.mma_async"), bulk = ptx.find(".bulk") != ptx.npos;
    const auto shared = [](Instruction::Space space) {
      return space == Instruction::Space::smem || space == Instruction::Space::dsmem;
    };
    const bool moves =
        row.completion != Instruction::Completion::at_once && (shared(row.a.space) || shared(row.c.space));
    EXPECT_EQ(target::proxy(&row) == target::Proxy::async, wgmma || (bulk && moves)) << row.name << ", " << ptx;
    if (row.kind == Instruction::Kind::mma)
      EXPECT_EQ(row.completion != Instruction::Completion::at_once, wgmma) << row.name;
  }
  EXPECT_EQ(target::proxy(nullptr), target::Proxy::generic);
}

// A target that has an instruction has those that hand on its result, and calls them.
TEST(Instructions, AreHandedOnByOthers) {
  using Completion = Instruction::Completion;
  for (const target::Target& t : target::all())
    for (const Instruction* row : target::instructions_of(t)) {
      const target::Handover& by = target::handover(row->completion);
      EXPECT_EQ(by.commit == nullptr, row->completion == Completion::at_once) << row->name;
      ASSERT_TRUE(by.wait) << row->name;
      if (target::in_tensor_memory(*row)) continue;  // by functions of block/tensor_memory.hpp
      EXPECT_TRUE(!by.commit || target::find_instruction(t, by.commit->name) == by.commit) << row->name;
      EXPECT_EQ(target::find_instruction(t, by.wait->name), by.wait) << row->name;
      if (const Instruction* fence = target::fence(target::Proxy::generic, target::proxy(row))) {
        EXPECT_EQ(target::find_instruction(t, fence->name), fence) << row->name;
      }
    }
  EXPECT_EQ(target::fence(target::Proxy::async, target::Proxy::async), nullptr);
  EXPECT_EQ(target::fence(target::Proxy::generic, target::Proxy::generic), nullptr);
  EXPECT_EQ(target::function(*target::fence(target::Proxy::generic, target::Proxy::async)), "fence_proxy_async_shared");
  EXPECT_EQ(target::function(*target::handover(Completion::copy_group).wait), "cp_async_wait");
  EXPECT_EQ(target::function(*target::handover(Completion::bulk_group).wait), "tma_store_wait_read");
  EXPECT_EQ(target::function(*target::handover(Completion::commit_group).commit), "wgmma_commit");
}

TEST(Instructions, OfTensorMapsAreFoundByWhatTheyDo) {
  using Space = Instruction::Space;
  const target::Target &old = target::find("sm_80"), &hopper = target::find("sm_90a");
  for (int d = 1; d <= 5; ++d) {
    const auto name = [&](const char* what) { return "SM90_TMA_" + std::string(what) + "_" + std::to_string(d) + "D"; };
    const auto found = [&](Space from, Space to) {
      const Instruction* row = target::find_tma(hopper, from, to, static_cast<std::size_t>(d));
      return row ? row->name : std::string_view();
    };
    EXPECT_EQ(found(Space::gmem, Space::smem), name("LOAD"));
    EXPECT_EQ(found(Space::gmem, Space::dsmem), name("LOAD_MULTICAST"));
    EXPECT_EQ(found(Space::smem, Space::gmem), name("STORE"));
    EXPECT_EQ(target::find_tma(old, Space::gmem, Space::smem, static_cast<std::size_t>(d)), nullptr);
  }
  EXPECT_EQ(target::find_tma(hopper, Space::gmem, Space::smem, 6), nullptr);
}

// Columns say who issues a row, which tiles its accumulators are, and which swizzle its operands get.
TEST(Instructions, AreFoundByColumns) {
  const target::Target &ampere = target::find("sm_80"), &hopper = target::find("sm_90a");
  for (const Instruction& row : instructions())
    EXPECT_EQ(issuing_threads(target::issuer(row)).thread_count(), row.issuers) << row.name;
  EXPECT_EQ(target::single_tile_mma().name, std::string_view("SM80_16x8x8_F32F16F16F32_TN"));
  EXPECT_TRUE(target::has_programmatic_launch(hopper));
  EXPECT_FALSE(target::has_programmatic_launch(ampere));
  const Instruction& wgmma = *target::find_warpgroup_mma(hopper, "f16", "f16", "f32", 128);
  EXPECT_EQ(target::issuer(wgmma), Issuer::warpgroup);
  EXPECT_EQ(target::widest_span(wgmma.a), 128);
  EXPECT_EQ(target::widest(0b0101), SwizzleMode::b64);
  EXPECT_EQ(target::find_warpgroup_mma(ampere, "f16", "f16", "f32", 128), nullptr);
  const Instruction &whole = *target::find_mma(hopper, "e4m3", "e4m3", "f32"),
                    &half = *target::find_mma(hopper, "f16", "f16", "f32");
  EXPECT_EQ(whole.latency, 2 * *half.latency);  // two products, the second of which adds to the first's result
}

// __syncthreads is the compiler's own; the others have their mnemonics in cp_async.hpp.
TEST(Instructions, ThatOrderABlocksThreads) {
  std::ostringstream text;
  text << std::ifstream(ZELLIGE_SOURCE_DIR "/include/zellige/atom/cp_async.hpp").rdbuf();
  for (const Instruction& row : sm80_sync_instructions) {
    EXPECT_EQ(zellige::find_instruction(row.name), nullptr) << "twice in the tables";
    for (const target::Target& t : target::all()) EXPECT_EQ(target::find_instruction(t, row.name), &row) << t.name;
    EXPECT_EQ(row.kind, Instruction::Kind::control) << row.name;
    const std::string_view call = row.call;
    EXPECT_TRUE(call == "__syncthreads()" || text.str().find("\"" + std::string(row.ptx)) != std::string::npos)
        << row.name << ": " << row.ptx;
    EXPECT_TRUE(call == "__syncthreads()" ||
                text.str().find(std::string(call.substr(0, call.find_first_of("<("))) + "()") != std::string::npos)
        << row.name << ": " << call;
  }
}

// m16n8k32 of 8-bit floats is an instruction of sm_89 and sm_120. sm_90, sm_100 and sm_103 execute it as two of halves, and
// take as long as these (nvdisasm shows HMMA there, QMMA on the others).
TEST(Instructions, MultiplyFloat8AsTheTensorCoresDo) {
  for (const char* type : {"e4m3", "e5m2"}) {
    const auto find = [&](const char* name) { return target::find_mma(target::find(name), type, type, "f32"); };
    EXPECT_EQ(find("sm_80"), nullptr);
    EXPECT_EQ(find("sm_86"), nullptr);
    const Instruction *native = find("sm_89"), *unpacked = find("sm_90a"),
                      *half = target::find_mma(target::find("sm_90a"), "f16", "f16", "f32");
    ASSERT_TRUE(native && unpacked && half);
    EXPECT_EQ(native->cycles, half->cycles);
    EXPECT_EQ(find("sm_120a"), native);
    EXPECT_EQ(find("sm_121a"), native);
    for (const char* datacenter : {"sm_100a", "sm_103a"}) {
      ASSERT_TRUE(find(datacenter)) << datacenter;
      EXPECT_EQ(std::string_view(find(datacenter)->name), unpacked->name) << datacenter;
      EXPECT_EQ(target::instructions_in(*find(datacenter)), 2) << datacenter;
    }
    EXPECT_EQ(target::instructions_in(*native), 1);
    EXPECT_EQ(unpacked->name, fmt::format("Unpacked<float_{}_t>", type));
    EXPECT_EQ(unpacked->k, native->k);
    EXPECT_EQ(unpacked->cycles, 2 * half->cycles);
    EXPECT_EQ(target::instructions_in(*unpacked), 2);
  }
}

// The selection by the passes: the MMA with the largest K, copies from the widest on, and nothing if there is
// none.
TEST(Instructions, ThatAPlanIsMadeOf) {
  using target::find_mma;
  for (const target::Target& t : target::all()) {
    const Instruction* half = find_mma(t, "f16", "f16", "f32");
    const Instruction* brain = find_mma(t, "bf16", "bf16", "f32");
    ASSERT_TRUE(half && brain) << t.name;
    EXPECT_EQ(half->name, std::string_view("SM80_16x8x16_F32F16F16F32_TN")) << t.name;
    EXPECT_EQ(brain->name, std::string_view("SM80_16x8x16_F32BF16BF16F32_TN")) << t.name;
    EXPECT_EQ(find_mma(t, "f32", "f32", "f32"), nullptr) << t.name;
    EXPECT_EQ(find_mma(t, "f16", "bf16", "f32"), nullptr) << t.name;
    const Instruction* load = target::find_matrix_load(t);
    ASSERT_TRUE(load) << t.name;
    EXPECT_EQ(load->c.registers, 4) << t.name;
    std::vector<int> widths;
    for (const Instruction* row : target::async_copies(t)) {
      widths.push_back(row->c.bits);
      EXPECT_TRUE(row->zero_fill) << row->name;
      EXPECT_EQ(row->c.bits, row->c.alignment * 8) << row->name;
      EXPECT_EQ(row->a.alignment, row->c.alignment) << row->name;
    }
    EXPECT_EQ(widths, (std::vector<int>{128, 64, 32})) << t.name;
  }
  EXPECT_TRUE(target::matrix_stores(target::find("sm_80")).empty());
  std::vector<int> matrices;
  for (const Instruction* row : target::matrix_stores(target::find("sm_90a"))) matrices.push_back(row->a.registers);
  EXPECT_EQ(matrices, (std::vector<int>{4, 4, 2, 2, 1, 1}));
  target::Target older = target::find("sm_80");
  older.compute_capability = 75;
  ASSERT_TRUE(find_mma(older, "f16", "f16", "f32"));
  EXPECT_EQ(find_mma(older, "f16", "f16", "f32")->name, std::string_view("SM75_16x8x8_F32F16F16F32_TN"));
  EXPECT_EQ(find_mma(older, "bf16", "bf16", "f32"), nullptr);
  EXPECT_TRUE(target::async_copies(older).empty());
  older.compute_capability = 70;  // its products are of eight threads
  EXPECT_EQ(find_mma(older, "f16", "f16", "f32"), nullptr);
  EXPECT_EQ(target::find_matrix_load(older), nullptr);
}

}  // namespace
}  // namespace zellige
