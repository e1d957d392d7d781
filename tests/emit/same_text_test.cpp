// Kernels that differ only in names become one function, launched with the tensors of
// each.
#include <gtest/gtest.h>

#include <set>

#include "emit/launch_text.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "run/compile.hpp"
#include "run/run.hpp"

namespace zellige::emit {
namespace {

constexpr const char* kernel = R"(// Grid 4 x 1 x 1
extern "C" __global__ void two_k0(gmem<const float> pX, gmem<float> p_y) {
  const auto gX = global_tile<Layout<Shape<Int<4>>, Stride<Int<1>>>>(pX);
  const auto ring = Ring<2, Tiles<64, 64>>::at({0, 64}, 128, {"X", "w"});
  const auto sX = shared_tile<float, Layout<Shape<Int<4>>, Stride<Int<1>>>>("X", 0, 4);  // of X
  write<1>(p_y(0), gX(0) + sX(1) * 2.0f);
}
)";

std::string changed(std::string_view from, std::string_view to) {
  std::string text = kernel;
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

TEST(SameText, NamesAndCommentsAreNoPartOfIt) {
  const std::string whole = unnamed(kernel, "two_k0");
  EXPECT_EQ(unnamed(changed("two_k0", "two_k17"), "two_k17"), whole);
  EXPECT_EQ(unnamed(changed("pX", "p_weights_2"), "two_k0"), whole);
  EXPECT_EQ(unnamed(changed("\"X\"", "\"a \\\" b\""), "two_k0"), whole);
  EXPECT_EQ(unnamed(changed("\"w\"", "\"v\""), "two_k0"), whole);
  EXPECT_EQ(unnamed(changed("// of X", "// of Y"), "two_k0"), whole);
  EXPECT_EQ(unnamed(changed("p_y", "p_X"), "two_k0"), whole);
}

TEST(SameText, WhatItDoesIs) {
  const std::string whole = unnamed(kernel, "two_k0");
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"2.0f", "3.0f"},
                                                        {"gX(0)", "gX(1)"},
                                                        {"gX(0)", "sX(0)"},
                                                        {"Int<4>", "Int<8>"},
                                                        {"{0, 64}", "{0, 32}"},
                                                        {"gmem<float> p_y", "gmem<half_t> p_y"},
                                                        {"write<1>(p_y", "write<1>(pX"},
                                                        {"\"C\"", "\"D\""},
                                                        {"+ sX", "- sX"}})
    EXPECT_NE(unnamed(changed(from, to), "two_k0"), whole) << from << " " << to;
}

/// `layers` of y = y + silu(y w), each with weights of its own.
graph::KernelGraph stack(int layers) {
  graph::Builder b("stack");
  graph::TensorHandle y = b.input("x", {32, 64});
  for (int i = 0; i < layers; ++i) y = y + silu(matmul(rms_norm(y, 1e-5), b.input("w" + std::to_string(i), {64, 64})));
  b.output(y, "y");
  return b.build();
}

std::size_t functions(const std::string& source) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = source.find("__global__", at)) != source.npos; ++at) ++count;
  return count;
}

TEST(SameText, LayersAreFunctionsOnce) {
  for (const char* name : {"sm_80", "sm_90a"}) {
    const target::Target& target = target::find(name);
    std::size_t of_four = 0;
    for (const int layers : {4, 8, 16}) {
      plan::PlanOptions options{.tiles = plan::TilingPolicy::given};
      const EmittedProgram p = run::transpile(fuse::optimize(stack(layers), target).graph, target, options);
      EXPECT_GE(p.manifest.kernels.size(), static_cast<std::size_t>(layers)) << name;
      if (layers == 4) of_four = functions(p.source);
      EXPECT_LT(of_four, p.manifest.kernels.size()) << name;
      EXPECT_EQ(functions(p.source), of_four) << name << ", " << layers << " layers";
      std::set<std::string> called;
      for (const manifest::KernelLaunch& k : p.manifest.kernels) called.insert(k.name);
      EXPECT_EQ(called.size(), of_four) << name;
    }
  }
}

TEST(SameText, EachLaunchHasItsOwnTensors) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (const char* name : {"sm_80", "sm_90a"}) {
    const run::RunResult r =
        run::run(stack(6), {.on = run::Machine::emulator, .target = name, .compile = {.fuse = true}}, cache);
    EXPECT_EQ(r.status, run::Status::correct) << name << ": " << r.reason;
  }
}

}  // namespace
}  // namespace zellige::emit
