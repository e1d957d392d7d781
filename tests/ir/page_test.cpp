// The pages show kernels as they are printed, and the glossary has every word of such a source.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "graph/dtype.hpp"
#include "ir/ir.hpp"
#include "json/json.hpp"
#include "run/compile.hpp"

namespace zellige::ir {
namespace {

const std::string root = ZELLIGE_SOURCE_DIR;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the part of the page between `begin` and the next `end`.
std::string between(const std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t at = text.find(begin);
  if (at == text.npos) return "";
  const std::size_t from = at + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

/// Returns the kernel that the page shows.
std::string shown(const std::string& page) { return between(page, "<!-- kernel -->\n```text\n", "```\n<!-- end -->"); }

/// Returns what `zellige transpile FILE --emit ir` writes, with the given tilings or those of the planner.
std::string printed(const std::string& file, const char* target_name, const char* tiling) {
  const target::Target& target = target::find(target_name);
  const bool fuse = *tiling == '\0';
  return print(
      run::compile(json::load(root + file).front(), target, {.fuse = fuse, .plan = run::tiling_options(tiling, target)})
          .program);
}

const std::string& decode_layer() {
  static const std::string text = printed("/examples/layers/llama_decode.json", "sm_90a", "");
  return text;
}

TEST(Page, ShowsAKernelAsItIsPrinted) {
  EXPECT_EQ(shown(read_file(root + "/docs/reference/kernel-ir.md")), printed("/examples/gemm.json", "sm_80", "given"));
}

TEST(Page, ShowsAKernelOfADecodeLayerAsItIsPrinted) {
  const std::string begin = "kernel llama_decode_k3", end = "kernel llama_decode_k4";
  EXPECT_EQ(shown(read_file(root + "/docs/explanation/architecture.md")), begin + between(decode_layer(), begin, end));
}

/// Returns the number with commas between thousands.
std::string grouped(std::string digits) {
  for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, ",");
  return digits;
}

// Each sentence has, in place of #, the number that the kernel's source has where the expression finds it.
TEST(Page, ReadsAloudTheNumbersOfTheKernel) {
  const std::string page = read_file(root + "/docs/explanation/architecture.md"), kernel = shown(page),
                    reading = between(page, "\nRead aloud:\n", "\n## ");
  const std::pair<const char*, const char*> sentences[] = {
      {R"(grid \((\d+),)", "Kernel 3 has # blocks"},
      {R"(threads (\d+))", "blocks of # threads"},
      {R"(loop (\d+) threads)", "A block runs # iterations"},
      {R"(shared_bytes (\d+))", "it has # bytes of shared memory"},
      {R"(registers (\d+))", "a thread about # registers"},
      {R"(%0 = load \w+ : bf16 \(1,(\d+)\))", "a block loads # elements of the row t19"},
      {R"(%1 = load \w+ : bf16 \(\d+,(\d+)\))", "for them # columns of the weights"},
      {R"(%1 = load \w+ : bf16 \(\d+,(\d+)\))", "the columns from # bx on"},
      {R"(%4 = load \w+ : bf16 \(1,(\d+)\))", "it loads its # elements of x"},
      {R"(%4 = load \w+ : bf16 \(1,(\d+)\))", "The # elements of x"},
      {R"(layout t0 \(1,(\d+)\))", "The accumulators of the # columns"},
      {R"(layout t3 \(\d+,\d+\) \(128,\(8,(\d+)\))", "A thread copies # times 8 elements of the weights"},
      {R"("s2" [^\n]* part_step (\d+))", "partial results of # bytes"},
  };
  for (const auto& [place, sentence] : sentences) {
    std::smatch number;
    ASSERT_TRUE(std::regex_search(kernel, number, std::regex(place))) << place;
    std::string expected = sentence;
    expected.replace(expected.find('#'), 1, grouped(number[1]));
    EXPECT_NE(reading.find(expected), std::string::npos) << expected;
  }
}

/// Returns the words of a source: without what is in quotes, names of instructions, and numbers.
std::set<std::string> words_of(const std::string& text) {
  static const std::regex left_out(
      R"("(\\.|[^"\\])*"|#[^\n]*|\b(SM\d|Unpacked|[A-Z][a-z]+[A-Z])[\w:]*(<\w+>)?|\b_\d+\b|-?\binf\b)"),
      word(R"([A-Za-z_]\w*)");
  const std::string rest = std::regex_replace(text, left_out, " ");
  std::set<std::string> words;
  for (auto m = std::sregex_iterator(rest.begin(), rest.end(), word); m != std::sregex_iterator(); ++m)
    if (const auto before = static_cast<std::size_t>(m->position());
        before == 0 || !std::isdigit(static_cast<unsigned char>(rest[before - 1])))
      words.insert(m->str());
  return words;
}

/// Returns the identifiers of a source, which its lines introduce, and its layouts' names.
std::set<std::string> identifiers_of(const std::string& text) {
  static const std::regex introduces(
      R"((?:^|\n) *(?:program|kernel|gmem|smem|channel|agent|layout) (\w+)(?: "[^\n]*" for (\w+))?)");
  std::set<std::string> names;
  for (auto m = std::sregex_iterator(text.begin(), text.end(), introduces); m != std::sregex_iterator(); ++m)
    names.insert({m->str(1), m->str(2)});
  return names;
}

/// Returns the words that the glossary explains, and those of graphs that it refers to: operators and dtypes.
std::set<std::string> glossary() {
  std::set<std::string> words;
  std::ifstream page(root + "/docs/reference/glossary.md");
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("| ")) words.merge(words_of(between(line, "| ", " |")));
  for (const graph::OpKind op : graph::all_ops()) words.insert(word_of(op));
  for (const graph::DType dtype : graph::all_dtypes()) words.insert(std::string(graph::name(dtype)));
  return words;
}

void expect_explained(const std::set<std::string>& words, const std::set<std::string>& identifiers,
                      const std::string& where) {
  static const std::set<std::string> known = glossary();
  for (const std::string& word : words)
    EXPECT_TRUE(known.contains(word) || identifiers.contains(word)) << where << ": the glossary lacks " << word;
}

TEST(Glossary, HasEveryWordOfADecodeLayer) {
  const std::string& text = decode_layer();
  EXPECT_GE(words_of(text).size(), 100u);
  expect_explained(words_of(text), identifiers_of(text), "examples/layers/llama_decode.json");
}

TEST(Glossary, HasEveryWordOfTheGoldenPlans) {
  for (const auto& entry : std::filesystem::directory_iterator(root + "/tests/plan/golden"))
    if (const std::string path = entry.path().string(); path.ends_with(".ir"))
      expect_explained(words_of(read_file(path)), identifiers_of(read_file(path)), path);
}

/// Words in the code spans of the reading of the decode layer.
TEST(Glossary, HasEveryWordThatIsReadAloud) {
  const std::string page = read_file(root + "/docs/explanation/architecture.md"),
                    reading = between(page, "\nRead aloud:\n", "\n## ");
  ASSERT_NE(reading, "");
  static const std::regex span("`([^`]+)`");
  for (auto m = std::sregex_iterator(reading.begin(), reading.end(), span); m != std::sregex_iterator(); ++m)
    if (m->str().find('/') == std::string::npos)  // no file's name
      expect_explained(words_of(m->str(1)), identifiers_of(shown(page)), m->str());
}

}  // namespace
}  // namespace zellige::ir
