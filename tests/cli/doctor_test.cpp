// zellige doctor: its report on a source file; its list of names is that of the headers.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "command.hpp"
#include "port/report.hpp"

namespace {
namespace fs = std::filesystem;
using namespace zellige;

std::string read(const fs::path& file) {
  std::stringstream all;
  all << std::ifstream(file).rdbuf();
  return all.str();
}
void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

/// The folder's headers as they are included, sorted.
std::vector<std::string> headers_of(const fs::path& folder) {
  std::vector<std::string> all;
  for (const auto& e : fs::recursive_directory_iterator(folder)) {
    const std::string extension = e.path().extension().string();
    if (extension == ".hpp" || extension == ".h") all.push_back(e.path().lexically_relative(folder).string());
  }
  std::sort(all.begin(), all.end());
  return all;
}
/// The names that a compiler sees declared after including all of compat/cute: macros make many of them.
port::Declarations declared_with(const std::string& options, const Folder& folder) {
  const fs::path root = ZELLIGE_SOURCE_DIR;
  std::string unit;
  for (const std::string& h : headers_of(root / "compat")) {
    if (h.starts_with("cute/")) unit += "#include <" + h + ">\n";
  }
  write(folder / "all.cpp", unit);
  write(folder / "stand_in" / "cuda.h", "");
  const fs::path out = folder / "all.ii";
  const std::string command = std::string(ZELLIGE_CXX) + " -std=c++20 -E -P " + options +
                              " -DCUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED -DZELLIGE_CUTE_WITHOUT_STREAMS -I " +
                              (folder / "stand_in").string() + " -I " + (root / "compat").string() + " -I " +
                              (root / "include").string() + " " + (folder / "all.cpp").string() + " > " + out.string();
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return port::declared(port::read_source(read(out)), {"zellige", "cute"});
}
std::string list_of_ours(const Folder& folder) {
  const fs::path root = ZELLIGE_SOURCE_DIR;
  std::set<std::string> lines;
  for (const std::string options : {"", "-D__CUDACC__ -D__CUDA_ARCH__=900 -D__CUDA_ARCH_FEAT_SM90_ALL"}) {
    const port::Declarations d = declared_with(options, folder);
    for (const auto& [name, line] : d.names) {
      if (!name.starts_with("algebra::")) lines.insert(name);
    }
    for (const auto& [alias, of] : d.namespaces) lines.insert(alias + " = " + of);
  }
  for (const std::string folder_name : {"compat", "include"}) {
    for (const std::string& h : headers_of(root / folder_name)) {
      const std::string text = read(root / folder_name / h);
      // cutlass/ headers are ours where there is no CUTLASS; of cute/ those without another branch are then empty.
      const bool next = h.starts_with("cute/") && text.find("#include_next <" + h) != std::string::npos;
      const std::string mark = !next ? "" : text.find("#else") == std::string::npos ? " next" : " either";
      if (h.starts_with("cutlass/")) {
        for (const auto& [name, line] : port::declared(port::read_source(text), {"cute", "zellige"}).names)
          lines.insert(name);
      }
      if (!h.starts_with("zellige/") || folder_name == "include") lines.insert("<" + h + ">" + mark);
    }
  }
  std::string text;
  for (const std::string& l : lines) text += l + "\n";
  return text;
}

struct Doctor : Command {};

TEST_F(Doctor, NamesAreThoseThatTheHeadersDeclare) {
#if defined(__clang__)
  GTEST_SKIP() << "the list is of g++; a few details of the headers differ between compilers";
#endif
  const fs::path file = fs::path(ZELLIGE_SOURCE_DIR) / "src/port/cute_names.txt";
  const std::string list = list_of_ours(folder);
  if (std::getenv("ZELLIGE_UPDATE_GOLDENS") != nullptr) std::ofstream(file) << list;
  EXPECT_GT(list.size(), 50000u);
  EXPECT_TRUE(list == read(file)) << "src/port/cute_names.txt is not what the headers declare: run this test with "
                                     "ZELLIGE_UPDATE_GOLDENS=1, and build again";
  EXPECT_TRUE(list == port::cute_names()) << "the library has another list than src/port/cute_names.txt";
}

TEST_F(Doctor, DeclarationsOfASource) {
  const port::Source s = port::read_source(R"__(// struct Comment {};
#include <cute/tensor.hpp>
#  include "mine.hpp"
#define STRUCT struct Macro {
char const* text = "namespace cute { struct Text; }"; char const* raw = R"(namespace cute { struct Raw; })";
struct Outside { int x; };
namespace cute {
template <class T, int N = (1 > 0)> requires(N > 0) struct First : Base<T> { int member; void f() {} };
template <class T> requires requires(T t) { t.x; } inline constexpr auto second(T const& t) { return t; }
struct Fourth; enum class Fifth : int { a, b }; using Sixth = int; template <class T> concept Seventh = true;
inline constexpr int eighth = 3, array_of[] = {1, 2}; static Sixth ninth{4}; extern "C" { void tenth(); }
inline namespace v1 { struct Eleventh {}; } namespace detail::inner { CUTE_ALIGNAS(16) int twelfth(int); }
namespace GMMA = cute::SM90::GMMA; struct alignas(16) Thirteenth {}; Outside operator+(Outside, Outside);
}
namespace other { namespace cute2 { struct Not; } }
)__");
  ASSERT_EQ(s.includes.size(), 2u);
  EXPECT_EQ(s.includes[0].path, "cute/tensor.hpp");
  EXPECT_EQ(s.includes[1].line, 3);
  const port::Declarations d = port::declared(s, {"cute"});
  std::string names;
  for (const auto& [name, line] : d.names) names += name + " ";
  EXPECT_EQ(names,
            "Eleventh Fifth First Fourth Seventh Sixth Thirteenth detail::inner::twelfth eighth ninth second "
            "tenth ");
  EXPECT_EQ(d.names.at("First"), 8);
  EXPECT_EQ(d.find("First::member"), "First");
  EXPECT_EQ(d.find("Firs"), "");
  EXPECT_EQ(d.namespaces.at("GMMA"), "SM90::GMMA");
}

struct Porting : Doctor {
  std::string source = path("kernel.cu"), cutlass = path("cutlass");
  Porting() {
    write(source, R"(#include <vector>
#include <cute/tensor.hpp>
#include <cute/tensro.hpp>
#include <cute/arch/mma_sm100_umma.hpp>
#include <cutlass/gemm/gemm.h>
auto l = cute::make_layout(cute::Shape<cute::_4, cute::_8>{});
auto op = cute::GMMA::MMA_64x64x16_F32F16F16_SS<cute::GMMA::Major::K, cute::SM90::GMMA::Major::K>{};
auto umma = cute::UMMA::only_in_cutlass(cute::make_layuot(3));
// cute::in_a_comment
)");
    write(path("cutlass/cute/config.hpp"), "");
    write(path("cutlass/cute/arch/mma_sm100_umma.hpp"), "namespace cute::UMMA {\n\nint only_in_cutlass(int);\n}\n");
    write(path("cutlass/cutlass/gemm/gemm.h"), "");
    write(path("cutlass/cutlass/version.h"),
          "#define CUTLASS_MAJOR 4\n#define CUTLASS_MINOR 2\n#define CUTLASS_PATCH 1\n");
  }
};
TEST_F(Porting, NamesAreOursOrMissingWithoutCutlass) {
  expect({"doctor", "--cute", source}, 2,
         source + ":2: <cute/tensor.hpp>: ours\n" + source +
             ":3: <cute/tensro.hpp>: missing; the nearest is <cute/tensor.hpp>\n" + source +
             ":4: <cute/arch/mma_sm100_umma.hpp>: ours\n" + source + ":5: <cutlass/gemm/gemm.h>: missing\n" + source +
             ":6: cute::make_layout: ours\n" + source + ":6: cute::Shape: ours\n" + source + ":6: cute::_4: ours\n" +
             source + ":6: cute::_8: ours\n" + source + ":7: cute::SM90::GMMA::MMA_64x64x16_F32F16F16_SS: ours\n" +
             source + ":7: cute::SM90::GMMA::Major: ours\n" + source + ":8: cute::UMMA::only_in_cutlass: missing\n" +
             source + ":8: cute::make_layuot: missing; the nearest is cute::make_layout\n");
}
TEST_F(Porting, NamesOfCutlassAreFoundOnThePath) {
  const auto f = run({"doctor", "--cute", source, "-I", path("nowhere"), "-I", cutlass});
  EXPECT_EQ(f.status, 2);
  for (const std::string& line :
       {cutlass + ": CUTLASS 4.2.1, where Zellige follows 4.7.0\n",
        source + ":4: <cute/arch/mma_sm100_umma.hpp>: CUTLASS's, " + cutlass + "/cute/arch/mma_sm100_umma.hpp\n",
        source + ":5: <cutlass/gemm/gemm.h>: CUTLASS's, " + cutlass + "/cutlass/gemm/gemm.h\n",
        source + ":8: cute::UMMA::only_in_cutlass: CUTLASS's, " + cutlass + "/cute/arch/mma_sm100_umma.hpp:3\n"})
    EXPECT_NE(f.output.find(line), std::string::npos) << line << f.output;
}
TEST_F(Porting, NamesOfANamespaceThatIsUsedAreToldWithoutTheirPrefix) {
  write(source, R"(#include <cute/tensor.hpp>
using namespace cute;
template <class Element> void f(float* p, int size) {
  Tensor t = make_tensor(p, Layout<_4>{}); int rank = size; t.data(); my_own(rank);
}
)");
  expect({"doctor", "--cute", source}, 0,
         source + ":1: <cute/tensor.hpp>: ours\n" + source + ":4: cute::Tensor: ours\n" + source +
             ":4: cute::make_tensor: ours\n" + source + ":4: cute::Layout: ours\n" + source + ":4: cute::_4: ours\n");
}
TEST_F(Porting, JsonHasTheSame) {
  const auto f = run({"doctor", "--cute", source, "-I", cutlass, "--json"});
  EXPECT_EQ(f.status, 2);
  const auto j = nlohmann::json::parse(f.output);
  EXPECT_EQ(j["follows"], "4.7.0");
  EXPECT_EQ(j["cutlass"]["version"], "4.2.1");
  EXPECT_EQ(j["includes"].size(), 4u);
  EXPECT_EQ(j["includes"][1]["is"], "missing");
  EXPECT_EQ(j["names"][6]["what"], "cute::UMMA::only_in_cutlass");
  EXPECT_EQ(j["names"][6]["is"], "cutlass");
  EXPECT_EQ(j["names"][7]["nearest"], "cute::make_layout");
}
TEST_F(Porting, WhatCannotBeReadIsToldInOneLine) {
  expect({"doctor", "--cute", path("none.cu")}, 2,
         "zellige: " + path("none.cu") + ": cannot be read: No such file or directory\n");
  expect({"doctor"}, 2, "zellige: --cute is required (zellige doctor --help shows the usage)\n");
}

}  // namespace
