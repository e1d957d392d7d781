// With any names of a graph, its tensors and its tiles, the emitted code compiles and is correct, and the
// manifest keeps the names.
#include "emit/names.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "folder.hpp"
#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "run/run.hpp"
#include "system/process.hpp"
#include "toolchain/host_compiler.hpp"
#include "toolchain/nvrtc.hpp"

namespace zellige {
namespace {

// Keywords, macros, names in the headers, the emitter's own locals, names that differ only in punctuation,
// and names that another name's prefix produces.
const std::vector<std::string>& hard_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    const auto add = [&](const std::string& words) {
      std::istringstream in(words);
      for (std::string word; in >> word;) names.push_back(word);
    };
    add("alignas alignof and asm auto bool break case catch char class const constexpr continue default "
        "delete do double else "
        "enum explicit export extern false float for friend goto if inline int long mutable namespace new "
        "noexcept nullptr "
        "operator or private protected public register return short signed sizeof static struct switch "
        "template this throw "
        "true try typedef typeid typename union unsigned using virtual void volatile while concept requires "
        "co_await");
    add("NULL EOF INT_MAX RAND_MAX errno assert stdin linux unix I M_PI NAN INFINITY min max abs isnan "
        "__LINE__ _Bool __global__");
    add("blockIdx threadIdx gridDim warpSize __shared__ dim3 half_t bfloat16_t float4 uint32_t Int Layout "
        "Shape Stride Vec "
        "Swizzle Fragment FragmentAt Operand zellige emulate std gmem smem global_tile shared_tile multiply "
        "view read write "
        "load store join edge at_most exp sqrt sigmoid square log pow clamp cp_async composition infinity");
    add("tid lane warp bx by bz it ahead stage next slice part old valid launch inputs outputs workspace "
        "stream error prepared "
        "i c k kk j o n r v x at i0 i1 acc3 sum4 op5 r0 x1 t5 main printf malloc exit");
    add("X gX sX pX gx sx px g_x s_x p_x gg_x X_out x_out Y_out a+b a_b a-b a*b a.b a_b_2 a__b _a_b a_b_ 3d "
        "0 + +++ */ // /* ?"
        "?/ "
        "#define #if $ @ a,b a(b) <int> {} ; % %s {0} 'c'");
    for (int i = 0; i < 4; ++i) names.push_back(std::string(199, 'a') + char('a' + i));
    names.push_back(std::string(200, '+'));
    return names;
  }();
  return all;
}

/// One kernel with a loop that reads every name, computes under every name, and stores some: all go through shared memory.
graph::KernelGraph named(const std::vector<std::string>& names, const std::string& graph) {
  graph::Builder b(graph);
  std::vector<graph::TensorHandle> in;
  for (const std::string& name : names) in.push_back(b.input(name, {2, 8}));
  auto out = b.custom({.grid = {1}, .block = {32}, .loop = 2}, [&](graph::BlockBuilder& t) {
    graph::TileHandle sum = t.load(in[0], {.loop = 0});
    for (std::size_t i = 1; i < in.size(); ++i) sum = sum + t.load(in[i], {.loop = 0});
    const graph::TileHandle all = accum(sum * 0.01);
    t.store(all / sqrt(reduction(square(all), 1)), {});
    t.store(reduction(all, 1), {});
  });
  for (graph::TensorHandle t : out) b.output(t, t.index == out[0].index ? "out" : "sout");
  graph::KernelGraph g = b.build();
  auto block = std::make_shared<graph::BlockGraph>(*g.ops[0].block);
  for (std::size_t i = 0; i < block->tensors.size(); ++i)  // tiles too: the same names in another order
    if (i < names.size()) block->tensors[i].name = names[names.size() - 1 - i];
  g.ops[0].block = std::move(block);
  graph::validate(g);
  return g;
}

TEST(EmittedNames, TwoHundredHardNamesCompileAndAreRight) {
  const std::vector<std::string>& names = hard_names();
  ASSERT_GE(names.size(), 200u);
  ASSERT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  const Folder folder;
  const toolchain::Cache cache{folder.path};
  const graph::KernelGraph g = named(names, "new");
  const run::RunResult r = run::run(g, {.on = run::Machine::emulator, .target = "sm_80", .workers = 1}, cache);
  EXPECT_EQ(r.status, run::Status::correct) << r.reason;

  const emit::EmittedProgram p = test::transpile(g, target::find("sm_90a"));
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(p.manifest.tensors[i].name, names[i]);
  bool nvrtc = true;
  try {
    toolchain::nvrtc_version();
  } catch (const Error&) {
    nvrtc = false;
  }
  if (nvrtc) EXPECT_FALSE(toolchain::compile_cubin(p.source, "sm_90a", cache).bytes.empty());
}

TEST(EmittedNames, OfGraphsCompile) {
  const Folder folder;
  const toolchain::Cache cache{folder.path};
  const auto nvcc = system::find_program("nvcc");  // its host entry: launch_main and the like
  for (const std::string name : {"int", "main", "exp", "3d", "+", "read"}) {
    const emit::EmittedProgram p = test::transpile(named({"x", "gx"}, name), target::find("sm_80"));
    EXPECT_NO_THROW(toolchain::compile_for_emulator(p.source, p.manifest.name, cache)) << name;
    EXPECT_TRUE(std::regex_match(p.manifest.name, std::regex("[A-Za-z][A-Za-z0-9_]*"))) << p.manifest.name;
    if (!nvcc || name > "f") continue;
    std::ofstream(folder / "entry.cu") << p.source;
    const system::Finished built =
        system::run_process({*nvcc, "-std=c++20", "-arch=sm_80", "-I", std::string(ZELLIGE_SOURCE_DIR) + "/include",
                             "-c", (folder / "entry.cu").string(), "-o", (folder / "entry.o").string()});
    EXPECT_EQ(built.status, 0) << name << ": " << built.output;
  }
  const emit::EmittedProgram longest = test::transpile(named({"x"}, std::string(200, 'n')), target::find("sm_80"));
  EXPECT_LE(longest.manifest.kernels[0].name.size(), 80u);
}

const std::regex user_form("[pgsmn](_[A-Za-z0-9]|[A-Z]).*");

/// The rule that all of it rests on: nothing but a user's name has the form of one.
TEST(EmittedNames, NothingElseHasTheirForm) {
  // The emitter's own names: for a graph without names of that form, every such word is an expected one.
  const emit::EmittedProgram p = test::transpile(named({"A", "b"}, "form"), target::find("sm_80"));
  const std::regex word("\\b[A-Za-z_][A-Za-z0-9_]*");
  std::set<std::string> found;
  for (std::sregex_iterator w(p.source.begin(), p.source.end(), word), end; w != end; ++w)
    if (std::regex_match(w->str(), user_form)) found.insert(w->str());
  for (const std::string& w : found)
    EXPECT_TRUE(std::regex_match(w, std::regex("[pgs](A|_b|_out|_sout)|s_s[0-9]+|s_t[0-9]+"))) << w;

  // Macros: of the headers, under the emulator; of CUDA's, where nvcc is.
  const Folder folder;
  const toolchain::Cache cache{folder.path};
  const auto macros = [&](std::vector<std::string> command) {
    const system::Finished all = system::run_process(command);
    if (all.status != 0) return false;
    std::istringstream lines(all.output);
    int count = 0;
    for (std::string define, name; lines >> define >> name; lines.ignore(1 << 20, '\n'), ++count) {
      name = name.substr(0, name.find('('));
      EXPECT_FALSE(std::regex_match(name, user_form)) << name;
      EXPECT_FALSE(std::regex_match(name, std::regex("(launch|ordered|start|emulate|run)_.*|[A-Za-z].*_k[0-9]+")))
          << name;
    }
    return count > 300;
  };
  const auto gxx = system::find_program("g++");
  ASSERT_TRUE(gxx);
  const std::filesystem::path file = folder / "all.cpp";
  std::ofstream(file) << "#include <zellige/block.hpp>\n#include <cmath>\n#include <cstdio>\n#include <unistd.h>\n";
  const std::string include = std::string(ZELLIGE_SOURCE_DIR) + "/include";
  EXPECT_TRUE(macros({*gxx, "-std=gnu++20", "-DZELLIGE_EMULATE", "-I", include, "-E", "-dM", file.string()}));
  if (const auto nvcc = system::find_program("nvcc")) {
    const std::filesystem::path device = folder / "device.cu";
    std::ofstream(device) << "#include <zellige/block.hpp>\n#include <cuda_runtime.h>\n";
    macros({*nvcc, "-std=c++20", "-I", include, "-E", "-Xcompiler", "-dM", device.string()});
  }
}

TEST(EmittedNames, AreUniqueAndRecognisable) {
  emit::Names names;
  EXPECT_EQ(names.pointer("X"), "pX");
  EXPECT_EQ(names.global("x"), "g_x");
  EXPECT_EQ(names.shared("qk"), "s_qk");
  EXPECT_EQ(names.global("a+b"), "g_a_b");
  EXPECT_EQ(names.global("a_b"), "g_a_b_2");
  EXPECT_EQ(names.global("a+b"), "g_a_b");
  EXPECT_EQ(names.global("a_b_2"), "g_a_b_2_2");
  EXPECT_EQ(names.shared("+"), "s_t");
  std::set<std::string> seen;
  for (const std::string& name : hard_names())
    for (const std::string& text : {names.pointer(name), names.global(name), names.shared(name), names.size(name)}) {
      EXPECT_TRUE(seen.insert(text).second) << text << " of " << name << " is another's too";
      EXPECT_TRUE(std::regex_match(text, user_form)) << text;
      EXPECT_EQ(text.find("__"), std::string::npos) << text;
      EXPECT_LE(text.size(), 80u);
    }
}

/// Strings that could end a literal, a comment, a directive or a line.
std::vector<std::string> hostile_texts() {
  std::vector<std::string> all = {"",
                                  "plain",
                                  "\"",
                                  "\\",
                                  "\\\"",
                                  "??/",
                                  "???\?/",
                                  "?\?/\n",
                                  "a\nb\rc",
                                  "\t\x1b[",
                                  "%s{}{0}",
                                  "*/ // /*",
                                  "\\x41\\101",
                                  "\x01"
                                  "7",
                                  "ü\xff",
                                  "$(x)`y`",
                                  "a,b;c#d",
                                  "'",
                                  "\\\n",
                                  "X??/",
                                  "??=\?\?(",
                                  "\x7f\x80"
                                  "9"};
  const std::string evil = R"(");__attribute__((constructor))void f(void){puts("ran");}__asm__(")";
  all.push_back(evil), all.push_back("\\" + evil), all.push_back("??/" + evil);
  std::uint32_t seed = 1;
  for (int i = 0; i < 200; ++i) {
    std::string& text = all.emplace_back();
    for (int n = 0; n < 12; ++n) {
      seed = seed * 1664525 + 1013904223;
      const char* const hard = "?\\\"/\n01x%'";
      text += seed >> 31 ? hard[(seed >> 8) % 10] : static_cast<char>(1 + (seed >> 8) % 255);
    }
  }
  return all;
}

TEST(EmittedNames, ALiteralIsItsTextInEveryStandard) {
  const Folder folder;
  const std::vector<std::string> texts = hostile_texts();
  std::string program = "#include <stdio.h>\nint main(void) {\n";
  for (const std::string& text : texts) {
    program += "// " + emit::printable(text) + "\n";
    program += "  static const char t[] = \"" + emit::in_literal(text) +
               "\"; printf(\"%zu \", sizeof t - 1); fwrite(t, 1, sizeof t - 1, stdout);\n";
    program.insert(program.rfind("  static"), "  {"), program += "  }\n";
  }
  std::ofstream(folder / "all.c") << program << "  return 0;\n}\n";
  std::string expected;
  for (const std::string& text : texts) expected += std::to_string(text.size()) + " " + text;
  for (const std::string standard : {"c99", "c11", "gnu11", "c++11", "c++20", "gnu++20"}) {
    const std::string out = (folder / "all").string();
    const bool cxx = standard.find("++") != standard.npos;
    const system::Finished built =
        system::run_process({"g++", "-x", cxx ? "c++" : "c", "-std=" + standard, "-trigraphs", "-Wall", "-Wextra",
                             "-Werror", (folder / "all.c").string(), "-o", out});
    ASSERT_EQ(built.status, 0) << standard << built.output;
    EXPECT_EQ(system::run_process({out}).output, expected) << standard;
  }
}

TEST(EmittedNames, TheAssemblerIncludesAFileOfAnyName) {
  std::vector<std::string> texts = hostile_texts();
  texts.resize(40);
  for (const std::string& text : texts) {
    if (text.empty() || text.find('/') != text.npos) continue;
    const Folder folder;
    const std::string file = (folder / text).string();
    std::ofstream(file) << "what is included";
    std::ofstream(folder / "a.c") << "__asm__(\".section .rodata\\n.incbin \\\""
                                  << emit::in_literal(emit::in_assembler(file)) << "\\\"\\n\");\n";
    const system::Finished built = system::run_process(
        {"g++", "-x", "c", "-Wall", "-c", (folder / "a.c").string(), "-o", (folder / "a.o").string()});
    ASSERT_EQ(built.status, 0) << built.output;
    EXPECT_EQ(built.output, "");
    std::ifstream object(folder / "a.o", std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(object), {});
    EXPECT_NE(bytes.find("what is included"), bytes.npos) << text;
  }
}

/// The library of a program is made in the cache, wherever that is; what its path says is never run.
TEST(EmittedNames, AFolderOfAnyNameMakesTheSameLibrary) {
  manifest::Manifest m{.name = "none", .target = "sm_80", .tensors = {}, .kernels = {}};
  m.tensors.push_back({.name = "X??/", .shape = {4}, .strides = {1}, .position = 0, .bytes = 8});
  m.kernels.push_back({.name = "k", .grid = {1}, .block = {1}, .tensors = {0}, .writes = {true}, .maps = {}});
  const std::string cubin = "\177ELF and no more";
  const Folder simple;
  const std::string expected = toolchain::shared_object(m, cubin, toolchain::Cache(simple.path));
  const std::string evil = "\");__attribute__((constructor))void f(void){*(int*)0=0;}__asm__(\"";
  for (const std::string& part :
       std::vector<std::string>{evil, "\\" + evil, "??" + evil, "\\\n" + evil, "%s\xff\t {}'#;\\101", "-O0", "@file"}) {
    const Folder folder;
    EXPECT_TRUE(toolchain::shared_object(m, cubin, toolchain::Cache(folder / part)) == expected) << part;
  }
}

TEST(EmittedNames, ACommentEndsWithItsLine) {
  EXPECT_EQ(emit::printable("X??/"), "X?_/");
  EXPECT_EQ(emit::printable("????/"), "?_?_/");
  EXPECT_EQ(emit::printable("a\\"), "a?");
  EXPECT_EQ(emit::printable("\\\\/"), "?_/");
  EXPECT_EQ(emit::printable("a\nb*/"), "a?b*/");
}

}  // namespace
}  // namespace zellige
