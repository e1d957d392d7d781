// CUDA's syntax as C++: what each construct becomes, and that lines stay where they are.
#include "cuda/rewrite.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/declarators.hpp"
#include "graph/error.hpp"

namespace zellige::cuda {
namespace {

std::string text_of(const std::string& source) { return rewrite(source, "k.cu").text; }

TEST(Rewrite, LaunchBecomesACallWithTheKernelsName) {
  EXPECT_EQ(text_of("void f() { k<<<1, 32>>>(x, n); }"),
            "void f() { ::zellige::cuda::launch(\"k\", [=](auto... zellige_p) { k(zellige_p...); }, "
            "::zellige::cuda::Configuration(1, 32), x, n); }");
  EXPECT_EQ(text_of("void f() { a::k<float, 4> <<<g, b, n * sizeof(T), s>>> (); }"),
            "void f() { ::zellige::cuda::launch(\"a::k<float, 4>\", [=](auto... zellige_p) { a::k<float, "
            "4>(zellige_p...); }, "
            "::zellige::cuda::Configuration(g, b, n * sizeof(T), s)); }");
  EXPECT_NE(text_of("void f() { table[i]<<<1, 2>>>(x); }").find("{ table[i](zellige_p...); }"), std::string::npos);
}

TEST(Rewrite, KernelThatIsCalledWithoutALaunchIsRefused) {
  const auto refused = [](const std::string& call) {
    try {
      text_of("template <int N> __global__ void __launch_bounds__(64) add(float* x);\nint main() {\n  " + call + "\n}");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  for (const char* call : {"add(x);", "add<4>(x);", "if (n) return add<N / 2>(x);"})
    EXPECT_EQ(
        refused(call),
        "k.cu:3: add: this kernel is called without its grid and block; a launch has them: add<<<grid, block>>>(...)")
        << call;
  for (const char* call : {"add<4><<<1, 64>>>(x);", "std::add(x);", "t.add(x);", "auto add = f; add(x);",
                           "Tensor add(3);", "f(add<4>, x);", "bool b = add < 4;"})
    EXPECT_EQ(refused(call), "no error") << call;
}

TEST(Rewrite, ShiftsAndComparisonsStayAsTheyAre) {
  const std::string source =
      "int f(int a) { return a << 3 >> 1 < 2; } vector<vector<set<int>>> v; auto s = \"k<<<1,1>>>(x)\"; // "
      "k<<<1,1>>>(x)\n";
  EXPECT_EQ(text_of(source), source);
}

TEST(Rewrite, SharedVariableBecomesAReferenceToTheBlocks) {
  EXPECT_EQ(
      text_of("void f() { __shared__ float s[4][N]; }"),
      "void f() { struct zellige_shared_5_s { static const char* zellige_name() { return \"s\"; } float s[4][N]; }; "
      "auto& s = ::zellige::cuda::shared_variable<zellige_shared_5_s>().s;  }");
}

TEST(Rewrite, DynamicSharedMemoryOutsideOfFunctionsIsDeclaredInThoseThatNameIt) {
  const std::string text = text_of("extern __shared__ int s[];\nvoid a() { s[0] = 1; }\nvoid b() { }\n");
  EXPECT_NE(
      text.find("void a() { ::std::remove_reference_t<int>* const s = ::zellige::cuda::dynamic_shared<int>(\"s\");"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("void b() { }"), std::string::npos);
}

TEST(Rewrite, DeviceVariablesAreDeclaredToTheEmulatorAndFunctionsAreNot) {
  const std::string text = text_of("__constant__ float c[9];\n__device__ int f(int x) { return x; }\n");
  EXPECT_NE(text.find("(c, ::zellige::cuda::MemoryKind::constant, \"c\");"), std::string::npos) << text;
  EXPECT_NE(text.find("__device__ int f(int x) { return x; }"), std::string::npos) << text;
}

TEST(Rewrite, MemoryIsNamedByTheVariableThatGetsIt) {
  EXPECT_EQ(text_of("void f() { CHECK(cudaMalloc((void**)&d.x[1], n)); }"),
            "void f() { CHECK(cudaMalloc(::zellige::cuda::named(\"d.x[1]\", (void**)&d.x[1]), n)); }");
}

TEST(Rewrite, InlinePtxBecomesACallWithItsOperands) {
  EXPECT_EQ(text_of("void f() { asm volatile(\"cp.async.ca.shared.global.L2::128B [%0], [%1], %2;\\n\" :: \"r\"(to + "
                    "1), \"l\"(from), \"n\"(16)); }"),
            "void f() { ::zellige::cuda::ptx(\"cp.async.ca.shared.global.L2::128B [%0], [%1], %2;\\n\", "
            "{::zellige::cuda::ptx_operand(to + 1), ::zellige::cuda::ptx_operand(from), "
            "::zellige::cuda::ptx_operand(16)}); }");
  EXPECT_EQ(
      text_of("void f() { asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane)); }"),
      "void f() { ::zellige::cuda::ptx(\"mov.u32 %0, %%laneid;\", {::zellige::cuda::ptx_result(\"=r\", lane)}); }");
  EXPECT_EQ(text_of("void f() { asm volatile(\"\" : \"+f\"(x) :: \"memory\"); }"), "void f() { ((void)0); }");
}

TEST(Rewrite, InlinePtxInAMacroKeepsTheLinesOfTheMacro) {
  EXPECT_EQ(text_of("#define FENCE(n)   \\\n  asm volatile(       \\\n    \"bar.sync \" #n \";\" \\\n    ::: "
                    "\"memory\")\nint x;"),
            "#define FENCE(n)   \\\n  ::zellige::cuda::ptx(\"bar.sync \" #n \";\")\\\n\\\n\nint x;");
}

TEST(Rewrite, InlinePtxTakesOperandsFromMacros) {
  EXPECT_EQ(text_of("#define OUT \"+r\"(d), \"=&f\"(e)\nvoid f() { asm(\"mov.u32 m64%2k\" : OUT : \"C\"(N::text)); }"),
            "#define OUT ::zellige::cuda::ptx_result(\"+r\", d), ::zellige::cuda::ptx_result(\"=&f\", e)\nvoid f() { "
            "::zellige::cuda::ptx(\"mov.u32 m64%2k\", {OUT, ::zellige::cuda::ptx_text(N::text)}); }");
}

TEST(Rewrite, ClusterDimsAreToldToTheLaunches) {
  EXPECT_TRUE(zellige::cuda::rewrite("__global__ void __cluster_dims__(2) k() {}", "k.cu").clusters);
  const auto text = [](const char* source) { return zellige::cuda::rewrite(source, "k.cu", false, true).text; };
  EXPECT_EQ(
      text("__global__ void __cluster_dims__(N, 1, 1) __launch_bounds__(64) k(int* x) { x = 0; } int y;"),
      "__global__ void __cluster_dims__(N, 1, 1) __launch_bounds__(64) k(int* x) { ::zellige::cuda::kernel_starts(N, "
      "1, 1); x = 0; } static const bool zellige_cluster_1 = (::zellige::cuda::uses_clusters = true); int y;");
  EXPECT_EQ(text("__global__ void k() { } __global__ void later();"),
            "__global__ void k() { ::zellige::cuda::kernel_starts(); } __global__ void later();");
}

TEST(Rewrite, DynamicSharedMemoryHasAnyShape) {
  EXPECT_EQ(text_of("__global__ void k() { extern __shared__ half s[][8]; }"),
            "__global__ void k() { auto* const s = ::zellige::cuda::dynamic_shared<half[8]>(\"s\");  }");
  EXPECT_EQ(text_of("__global__ void k() { extern __shared__ Tiles<4> s; }"),
            "__global__ void k() { Tiles<4>& s = *::zellige::cuda::dynamic_shared<Tiles<4>>(\"s\");  }");
}

TEST(Rewrite, LaunchesAreFoundHoweverTheyAreSpaced) {
  EXPECT_EQ(text_of("void f() { k << <1, 2>> >(x); }"), text_of("void f() { k<<<1, 2>>>(x); }"));
}

TEST(Rewrite, LaunchesByConfigurationGetTheKernelsName) {
  EXPECT_EQ(text_of("void f() { cudaLaunchKernelEx(&config, k<float>, x, n); }"),
            "void f() { ::zellige::cuda::launch_ex(\"k<float>\", &config, k<float>, x, n); }");
}

TEST(Rewrite, OtherPtxIsRefusedWithItsInstructionAndLine) {
  const auto refusal = [](const std::string& source) -> std::string {
    try {
      rewrite(source, "k.cu");
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(
      refusal("void f() {\n  asm volatile(\"tcgen05.alloc.cta_group::1.sync.aligned.b32 [%0], 32;\" :: \"r\"(p));\n}"),
      "k.cu:2: asm: the emulator does not run tcgen05.alloc.cta_group::1.sync.aligned.b32");
  EXPECT_EQ(refusal("void f() { asm(\"{ .reg .pred p; setp.ne.b32 p, %0, 0; @p trop; }\" :: \"r\"(x)); }"),
            "k.cu:1: asm: the emulator does not run trop");
  EXPECT_EQ(refusal("void f() { asm(\"add.rz.f32 %0, %1, %2;\" : \"=f\"(x) : \"f\"(y), \"f\"(z)); }"),
            "k.cu:1: asm: the emulator does not run add.rz.f32");
  EXPECT_EQ(refusal("void f() { asm(\"mov.u32 %0, %%pm0;\" : \"=r\"(x)); }"),
            "k.cu:1: asm: the emulator does not run the register %pm0");
  EXPECT_EQ(refusal("#if ON\nvoid f() { asm(\"tcgen05.wait::ld.sync.aligned;\"); }\n#endif\n"), "");
}

TEST(Rewrite, LinesStayWhereTheyAre) {
  const std::string source =
      "void f() {\n  __shared__ float\n    a[4],\n    b;\n  k<<<1,\n      2>>>(\n      x);\n}\n__device__ int\n  v[3] "
      "= {1,\n 2, 3};\nint last;\n";
  const std::string text = text_of(source);
  EXPECT_EQ(std::ranges::count(text, '\n'), std::ranges::count(source, '\n'));
  const auto line_of_last = [](const std::string& t) {
    return std::count(t.begin(), t.begin() + std::ptrdiff_t(t.find("int last")), '\n');
  };
  EXPECT_EQ(line_of_last(text), line_of_last(source));
}

TEST(Rewrite, IncludesAreListedWithTheirPlaces) {
  const Rewritten r = rewrite("#include \"a.cuh\"\n__device__ int v;\n#  include <vector>\n", "k.cu");
  ASSERT_EQ(r.includes.size(), 2u);
  EXPECT_EQ(r.includes[0].name, "a.cuh");
  EXPECT_TRUE(r.includes[0].quoted);
  EXPECT_EQ(r.includes[1].name, "vector");
  EXPECT_EQ(r.includes[1].line, 3);
  EXPECT_EQ(r.text.substr(r.includes[1].at, r.includes[1].end - r.includes[1].at), "<vector>");
}

TEST(Declarators, TakeADeclarationApart) {
  const std::vector<SourceToken> tokens = tokenize("static alignas(16) Pair<int, 2> a[4], *b = nullptr, c{1, 2};");
  const std::vector<Declarator> all = declarators(tokens, 0, tokens.size() - 1);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].type, "Pair<int, 2>");
  EXPECT_EQ(all[0].full, "alignas(16) Pair<int, 2> a[4]");
  EXPECT_EQ(all[1].name, "b");
  EXPECT_EQ(all[2].full, "alignas(16) Pair<int, 2> c{1, 2}");
}

}  // namespace
}  // namespace zellige::cuda
