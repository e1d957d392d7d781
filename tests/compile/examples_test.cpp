// Compiles the worked examples at the top of headers. `before` declares what an example assumes.
#include <filesystem>
#include <regex>
#include <vector>

#include "compiler.hpp"

namespace compile_test {
namespace {

struct Example {
  char const* header;
  char const* before;
  int statements;  // the minimum number found: an example that was reflowed away is missing
};
std::vector<Example> const examples = {
    {"atom/cp_async.hpp", "smem<half_t> tile; gmem<const half_t> source; int i = 8, valid = 4;", 4},
    {"atom/fence.hpp", "smem<float> tile; TmaDescriptor map{}; int i = 0; float x = 1;", 4},
    {"atom/griddepcontrol.hpp", "", 2},
    {"atom/make_tma_descriptor.hpp", "long long k = 128, m = 256; void* device_pointer = nullptr;", 3},
    {"atom/tiled_mma.hpp",
     "half_t a[32 * 16], b[32 * 16]; float c[32 * 32];"
     "auto sA = make_tensor(make_smem_ptr(a), Layout<Shape<_32, _16>, Stride<_16, _1>>{});"
     "auto sB = make_tensor(make_smem_ptr(b), Layout<Shape<_32, _16>, Stride<_16, _1>>{});"
     "auto gC = make_tensor(make_gmem_ptr(c), Layout<Shape<_32, _32>, Stride<_32, _1>>{});"
     "auto slice = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2, _1>>{}, Tile<_32, "
     "_32, _16>{})"
     ".get_slice(threadIdx.x); Tensor rA = slice.partition_fragment_A(sA); Tensor rB = "
     "slice.partition_fragment_B(sB);",
     5},
    {"atom/wgmma.hpp", "unsigned long long a = 0, b = 0; uint32_t a_registers[4] = {};", 8},
    {"block/tensor_memory.hpp", "smem<half_t> a, b; unsigned at = 0;", 7},
    {"block/product_sets.hpp",
     "smem<half_t> a, b; unsigned barriers = 0, address = 0; using F = Fragment<1, 128, 128, 1, 8>; F d;"
     "const auto ring = Ring<4, Tiles<16384>>::at(0, 65536, {\"A\"}); auto stage = ring.first();",
     11},
    {"block/fragment_wgmma.hpp",
     "smem<half_t> sA, sB; int warp = 0; auto rows_of = [](smem<half_t> a, int) { return a; };", 4},
    {"block/ring.hpp", "TmaDescriptor a{}, b{}; int k = 0, m = 0, n = 0;", 13},
    {"block/roles.hpp", "int ring = 0; auto load = [](int) {}, multiply = load;", 1},
    {"layout/algebra.hpp", "", 3},
    {"layout/mixed_bits.hpp", "unsigned i = 2;", 1},
    {"layout/modes.hpp", "", 2},
    {"layout/tuple_modes.hpp", "int x = 7;", 5},
    {"tensor/partition.hpp",
     "float p[512 * 512]; auto a = make_tensor(p, make_shape(512, 512)); int bx = 1, by = 2, tid = 3;", 3},
    {"tensor/tensor.hpp", "float memory[32]; float* p = memory; int m = 4, n = 8;", 2},
    {"tensor/zip.hpp",
     "float p[32]; int q[32]; auto a = make_tensor(p, make_shape(4, 8)), c = a; auto b = make_tensor(q, "
     "make_shape(4, 8)); (void)c;",
     2},
};

/// The statements of the header's opening example as source code: comments are kept, `X  is  Y` becomes X.
struct Statements {
  std::string text;
  int count = 0;
};
Statements statements_of(std::string const& header) {
  std::ifstream in(ZELLIGE_SOURCE_DIR "/include/zellige/" + header);
  Statements found;
  std::string open;
  for (std::string line; std::getline(in, line) && line.rfind("//", 0) == 0;) {
    if (line.rfind("//   ", 0) != 0) continue;
    std::string code = line.substr(5);
    code = code.substr(0, code.find("//"));
    if (code.find("...") != std::string::npos) continue;
    code = std::regex_replace(code, std::regex(" +$"), "");
    if (std::regex_search(code, std::regex("^ *is  "))) code = "";
    code = std::regex_replace(code, std::regex("^(.*\\S) +is  .*$"), "$1");
    if (code.empty() && open.empty()) continue;
    open += code + "\n";
    auto const count = [&](char c) { return std::count(open.begin(), open.end(), c); };
    if (count('(') != count(')') || count('{') != count('}')) continue;
    char const end = open[open.find_last_not_of(" \n")];
    if (end == ',') continue;
    found.text += end == ';' || end == '}' ? open : "  (void)(" + open + ");\n";
    ++found.count;
    open.clear();
  }
  EXPECT_EQ(open, "") << header << ": the example ends in the middle of a statement";
  return found;
}

TEST(OpeningExamples, AreCode) {
  // One unit for all: the headers are read once.
  std::string text =
      "#include <zellige/emulate/device.hpp>\n#include <zellige/atom.hpp>\n#include <zellige/tensor.hpp>\n"
      "#include <zellige/atom/fence.hpp>\n#include <zellige/atom/griddepcontrol.hpp>\n#include "
      "<zellige/atom/tma.hpp>\n"
      "#include <zellige/atom/smem_descriptor.hpp>\n#include <zellige/atom/wgmma.hpp>\n"
      "#include <zellige/atom/tiled_mma.hpp>\n#include <zellige/atom/mma_call.hpp>\n"
      "#include <zellige/atom/make_tma_descriptor.hpp>\n#include <zellige/layout/mixed_bits.hpp>\n"
      "#include <zellige/block/fragment_wgmma.hpp>\n#include <zellige/block/tensor_memory.hpp>\n#include "
      "<zellige/block/ring.hpp>\n#include <zellige/block/product_sets.hpp>\n"
      "#include <zellige/block/roles.hpp>\n#include <zellige/tensor/zip.hpp>\nusing namespace zellige;\n";
  int i = 0;
  for (Example const& e : examples) {
    Statements const found = statements_of(e.header);
    EXPECT_GE(found.count, e.statements) << e.header << "\n" << found.text;
    text += "void example" + std::to_string(i++) + "() {  // " + e.header + "\n" + e.before + "\n" + found.text + "}\n";
  }
  Compiled const c = run(host + "-DZELLIGE_EMULATE -fsyntax-only", "examples.cpp", text);
  EXPECT_EQ(c.errors, 0) << c.output << text;
}

}  // namespace
}  // namespace compile_test
