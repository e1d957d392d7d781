// Kernels do not use features that the target lacks, or are refused with a message; and no pass tests a
// target's name.
#include <gtest/gtest.h>

#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "folder.hpp"
#include "graph/builder.hpp"
#include "ir/ir.hpp"
#include "toolchain/host_compiler.hpp"

namespace zellige {
namespace {

graph::KernelGraph product(graph::DType dtype) {
  graph::Builder b("product");
  const graph::TensorHandle A = b.input("A", {32, 64}, dtype), B = b.input("B", {64, 32}, dtype);
  b.output(b.custom({.grid = {}, .block = {64}, .loop = 2},
                    [&](graph::BlockBuilder& t) {
                      t.store(accum(matmul(t.load(A, {.loop = 1}), t.load(B, {.loop = 0}))));
                    })[0],
           "C", {32, 1});
  return b.build();
}

bool has(const std::string& text, const char* what) { return text.find(what) != text.npos; }

TEST(EmittedForATarget, IsMadeOfItsInstructions) {
  target::Target t = target::find("sm_80");
  const emit::EmittedProgram now = test::transpile(product(graph::DType::f16), t);
  EXPECT_TRUE(has(now.source, "multiply<") && has(now.source, "cp_async<16>")) << now.source;

  t.compute_capability = 70;  // no product of a warp, no ldmatrix, no cp.async
  const emit::EmittedProgram simple = test::transpile(product(graph::DType::f16), t);
  EXPECT_FALSE(has(simple.source, "multiply<") || has(simple.source, "cp_async<")) << simple.source;
  const std::string text = ir::print(simple);  // the matmul is a sum of products, of no instruction
  EXPECT_TRUE(has(text, "do reduce %2") && !has(text, "do mma")) << text;
  const Folder folder;
  EXPECT_NO_THROW(toolchain::compile_for_emulator(simple.source, "product", toolchain::Cache{folder.path}));
}

TEST(EmittedForATarget, IsRefusedWhereNoFragmentIsWritten) {
  target::Target t = target::find("sm_80");
  t.compute_capability = 75;  // half by m16n8k8 at most, bfloat16 not at all
  try {
    test::transpile(product(graph::DType::f16), t);
    FAIL() << "planned";
  } catch (const Error& e) {
    EXPECT_TRUE(has(e.what(), "SM75_16x8x8_F32F16F16F32_TN") && has(e.what(), "m16n8 with four registers of A"))
        << e.what();
  }
  EXPECT_FALSE(has(test::transpile(product(graph::DType::bf16), t).source, "multiply<"));
}

}  // namespace
}  // namespace zellige
