// Offsets around 2^31: the index expressions of emitted code, compiled for the host with their loop and block
// coordinates at their last values, give the offset of 64-bit arithmetic; no sum or product in them exceeds
// 32 bits unless it is computed in 64. The sanitizer checks every step.
#include "kernel/index_width.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "folder.hpp"
#include "graph/builder.hpp"
#include "ir/ir.hpp"
#include "plan/plan.hpp"
#include "system/process.hpp"
#include "toolchain/host_compiler.hpp"
#include "toolchain/nvrtc.hpp"

namespace zellige {
namespace {

struct Case {
  std::string name;
  graph::KernelGraph graph;
};

graph::KernelGraph whole(const graph::Shape& shape, graph::Strides strides = {}) {
  graph::Builder b("whole");
  b.output(relu(b.input("W", shape, graph::DType::f16, strides)), "Y");
  return b.build();
}
graph::KernelGraph rows(const graph::Shape& shape, graph::Strides strides = {}) {
  graph::Builder b("rows");
  b.output(rms_norm(b.input("W", shape, graph::DType::f16, strides)), "Y");
  return b.build();
}
graph::KernelGraph product(std::int64_t m, std::int64_t n, std::int64_t k) {
  graph::Builder b("product");
  b.output(matmul(b.input("A", {m, k}), b.input("W", {k, n})), "Y");
  return b.build();
}
graph::KernelGraph looped(std::int64_t m, std::int64_t n, std::int64_t loop, graph::Strides strides = {}) {
  graph::Builder b("looped");
  const graph::TensorHandle W = b.input("W", {m, n}, graph::DType::f16, strides);
  const auto Y = b.custom({.grid = {m / 16}, .block = {128}, .loop = loop}, [&](graph::BlockBuilder& t) {
    t.store(accum_red_sum(t.load(W, {.x = 0, .loop = 1})), {.x = 0});
  });
  b.output(Y[0], "Y");
  return b.build();
}

std::vector<Case> cases() {
  const std::int64_t two31 = std::int64_t{1} << 31;
  std::vector<Case> all;
  const auto add = [&](std::string name, graph::KernelGraph g) { all.push_back({std::move(name), std::move(g)}); };
  add("the issue's", whole({65536, 131072}));
  add("rows of the issue's", rows({65536, 131072 / 2}));
  for (std::int64_t n : {32768, 65520, 65528, 65536, 65544, 131072})
    add(fmt::format("(32768, {})", n), whole({32768, n}));
  for (std::int64_t s : {two31 / 2 - 1, two31 - 8, two31 - 1, two31, two31 + 1, 3 * two31, two31 << 8})
    add(fmt::format("stride {}", s), whole({2, 8}, {s, 1}));
  for (std::int64_t s : {65535, 65536, 65544, 1 << 20})
    add(fmt::format("columns of {}", s), whole({32, 32768}, {1, s}));
  add("three", whole({3, 40000, 40000}));
  add("four", whole({2, 3, 20000, 20000}));
  add("prime", whole({46349, 46349}));
  add("just below a prime square", whole({46337, 46337}));
  add("a long vector", whole({(1ll << 31) - 1}));
  add("a long row", rows({1, 1 << 30}));
  add("a coordinate beyond 32 bits", rows({two31 - 1, 315}));
  for (std::int64_t m : {16384, 65536}) add(fmt::format("product {}", m), product(m, 131072, 96));
  add("product of long k", product(64, 64, 1 << 26));
  for (std::int64_t n : {65536, 131072}) add(fmt::format("looped {}", n), looped(32768, n, n / 64));
  add("looped with strides", looped(64, 65536, 1024, {two31 / 32, 1}));
  return all;
}

std::vector<std::string> calls_of(const std::string& text, const std::string& tile) {
  std::vector<std::string> calls;
  for (std::size_t at = 0; (at = text.find(tile + "(", at)) != text.npos;) {
    const std::size_t begin = at;
    int depth = 0;
    for (at += tile.size(); at < text.size(); ++at)
      if ((depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0) == 0) break;
    if (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_')) continue;
    calls.push_back(text.substr(begin, at - begin + 1));
  }
  return calls;
}

TEST(IndexWidth, OfEmittedTextHoldsEveryOffset) {
  std::string body;
  int checks = 0, wide = 0, narrow = 0;
  for (const Case& c : cases()) {
    const target::Target& target = target::find("sm_80");
    const emit::EmittedProgram program = test::transpile(c.graph, target);
    const plan::Plan plan = test::make_plan(c.graph, target);
    for (const kernel::Kernel& kernel : plan.kernels) {
      const tile::TileProgram& p = kernel.program;
      const std::size_t begin = program.source.find(" " + p.name + "(");
      ASSERT_NE(begin, program.source.npos) << p.name;
      const std::string source = program.source.substr(begin, program.source.find("\n}\n", begin) - begin);
      for (std::size_t i = 0; i < p.nodes.size(); ++i) {
        const tile::Node& n = p.nodes[i];
        if (n.kind != tile::NodeKind::load && n.kind != tile::NodeKind::store) continue;
        const auto& tensor = plan.program.tensors[n.tensor];
        const std::string tile = "g" + tensor.name;
        std::smatch declaration;
        ASSERT_TRUE(std::regex_search(source, declaration,
                                      std::regex("const auto " + tile + " = global_tile<(Layout<.*>>)(.*)>\\(p")));
        const bool in64 = declaration[2] == ", long long";
        (in64 ? wide : narrow) += 1;
        std::int64_t last = 0;
        for (std::size_t d = 0; d < tensor.shape.size(); ++d) last += (tensor.shape[d] - 1) * tensor.strides[d];
        if (last > kernel::max_int32) EXPECT_TRUE(in64) << c.name << ": " << tensor.name;
        const kernel::IndexReach reach = kernel::reach(kernel, n, &tensor);
        EXPECT_EQ(in64, reach.wide()) << c.name << ": " << tensor.name;
        EXPECT_GE(reach.offset, last) << c.name;

        // The last block's last thread in the last iteration, element by element of the tile's far corner.
        body += fmt::format("  {{ // {}\n    const auto {} = global_tile<{}{}>(base);\n", c.name, tile,
                            declaration[1].str(), declaration[2].str());
        for (int axis = 0; axis < 3; ++axis)
          body += fmt::format("    const int b{} = {};\n", "xyz"[axis], p.grid[axis] - 1);
        body += fmt::format("    const int it = {0}, ahead = {0};\n", p.loop - 1);
        for (std::size_t d = 0; d < n.shape.size(); ++d)
          body += fmt::format("    const int i{} = {};\n", d, n.shape[d] - 1);
        body += fmt::format(
            "    const struct {{ int b, m, n; }} at{{0, {}, {}}};\n    const long long k = {}, kk = k;\n",
            n.shape.size() > 1 ? n.shape[n.shape.size() - 2] - 1 : 0, n.shape.back() - 1, n.shape.back() - 1);
        // The 64-bit result: each argument separately, times its stride.
        body += fmt::format(
            "    const auto right = [](auto... x) {{ const long long s[] = {{{}}}; long long sum = 0; int d = "
            "0; ((sum += "
            "static_cast<long long>(x) * s[d++]), ...); return sum; }};\n",
            fmt::join(tensor.strides, ", "));
        for (const std::string& call : calls_of(source, tile)) {
          body += fmt::format("    expect(right{}, {} - base, \"{}: {}\");\n", call.substr(tile.size()), call, c.name,
                              call);
          ++checks;
        }
        body += "  }\n";
      }
    }
  }
  EXPECT_GE(checks, 60);
  EXPECT_GE(wide, 20);
  EXPECT_GE(narrow, 10);
  const Folder folder;
  std::ofstream(folder / "widths.cpp")
      << "#define ZELLIGE_EMULATE\n#include <cstdio>\n#include <zellige/block.hpp>\nusing namespace "
         "zellige;\nint wrong = 0;\n"
         "void expect(long long right, long long found, const char* what) {\n"
         "  if (right != found) ++wrong, std::printf(\"%s is %lld, not %lld\\n\", what, found, right);\n}\n"
         "int main() {\n  const half_t* const base = reinterpret_cast<const half_t*>(1ll << 45);\n"
      << body << "  return wrong != 0;\n}\n";
  const auto gxx = system::find_program("g++");
  ASSERT_TRUE(gxx);
  const system::Finished built =
      system::run_process({*gxx, "-std=c++20", "-O0", "-w", "-fsanitize=signed-integer-overflow",
                           "-fno-sanitize-recover=all", "-I", std::string(ZELLIGE_SOURCE_DIR) + "/include",
                           (folder / "widths.cpp").string(), "-o", (folder / "widths").string()});
  ASSERT_EQ(built.status, 0) << built.output.substr(0, 4000);
  const system::Finished ran = system::run_process({(folder / "widths").string()});
  EXPECT_EQ(ran.status, 0) << ran.output.substr(0, 4000);
}

TEST(IndexWidth, WideTextCompiles) {
  const Folder folder;
  const toolchain::Cache cache{folder.path};
  bool nvrtc = true;
  try {
    toolchain::nvrtc_version();
  } catch (const Error&) {
    nvrtc = false;
  }
  const std::set<std::string> selected{"the issue's",   "stride 549755813888", "four",
                                       "product 65536", "looped 131072",       "a coordinate beyond 32 bits"};
  std::size_t found = 0;
  for (const Case& c : cases()) {
    if (!selected.count(c.name)) continue;
    ++found;
    // On sm_90a TMA reads this product's operands, by coordinates.
    const target::Target& target = target::find(c.name == "product 65536" ? "sm_80" : "sm_90a");
    const emit::EmittedProgram p = test::transpile(c.graph, target);
    EXPECT_NE(p.source.find(", long long>(p"), std::string::npos) << c.name;
    EXPECT_NE(ir::consequences(p.plan).find(": offsets in 64 bits"), std::string::npos) << c.name;
    EXPECT_NO_THROW(toolchain::compile_for_emulator(p.source, p.manifest.name, cache)) << c.name;
    if (nvrtc) EXPECT_NO_THROW(toolchain::compile_cubin(p.source, target.name, cache)) << c.name;
  }
  EXPECT_EQ(found, selected.size());
}

}  // namespace
}  // namespace zellige
