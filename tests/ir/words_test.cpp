// Edits of one word: in printed kernels, every number and every word of every line is changed, one at a time. The edit is refused
// with a position, or the program that is emitted is the same: what may be said otherwise decides nothing.
//
// By default a part of the edits of a few kernels; ZELLIGE_ALL=1 takes all of all goldens. ZELLIGE_EDITS=FOLDER writes the
// edits that are accepted and emit another program.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "all_cases.hpp"
#include "emit/emit.hpp"
#include "ir/ir.hpp"

namespace zellige::ir {
namespace {

namespace fs = std::filesystem;

/// A word of a line: its place, and what kind of word it is ("after vector", "number").
struct Word {
  std::size_t line, begin, end;
};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '\'' || c == '%'; }

/// Returns the words of a line that are no string in quotes.
std::vector<Word> words_of(const std::string& line, std::size_t number) {
  std::vector<Word> all;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == '#') break;
    if (line[i] == '"') {
      for (++i; i < line.size() && line[i] != '"'; ++i) i += line[i] == '\\';
      ++i;
      continue;
    }
    if (!in_word(line[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < line.size() && in_word(line[end])) ++end;
    all.push_back({number, i, end});
    i = end;
  }
  return all;
}

bool is_number(const std::string& word) {
  const std::size_t first = word[0] == '_' ? 1 : 0;
  return first < word.size() && std::all_of(word.begin() + static_cast<std::ptrdiff_t>(first), word.end(),
                                            [](unsigned char c) { return std::isdigit(c); });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Returns the names of values, layouts and tensors in a source.
std::set<std::string> names_of(const std::vector<std::string>& lines) {
  std::set<std::string> names;
  for (std::size_t l = 0; l < lines.size(); ++l)
    for (const Word& w : words_of(lines[l], l)) {
      const std::string word = lines[l].substr(w.begin, w.end - w.begin);
      if ((word[0] == '%' || (word[0] == 't' && word.size() < 4) || word[0] == 's' || word[0] == 'g') &&
          word.size() > 1)
        names.insert(word);
    }
  return names;
}

/// Returns what replaces a word in its edits: other numbers, other names of the source that begin in the same way,
/// nothing.
std::vector<std::string> edits_of(const std::string& word, const std::set<std::string>& names) {
  std::vector<std::string> all{""};
  if (is_number(word)) {
    const std::string blank = word[0] == '_' ? "_" : "";
    const long long n = std::stoll(word.substr(blank.size()));
    std::set<long long> others{n + 1, n - 1, 2 * n, n / 2, 0, 1};
    others.erase(n);
    for (const long long other : others)
      if (other >= 0) all.push_back(blank + std::to_string(other));
    return all;
  }
  for (const std::string& name : names)
    if (name != word && (name[0] == word[0]) &&
        (word[0] == '%' || word[0] == 't' || word[0] == 's' || word[0] == 'g') && all.size() < 5)
      all.push_back(name);
  for (const auto& [a, b] : {std::pair{"f16", "bf16"},
                             {"bf16", "f16"},
                             {"f32", "int32"},
                             {"bx", "by"},
                             {"by", "bx"},
                             {"before", "after"},
                             {"anything", "constants"}})
    if (word == a) all.push_back(b);
  return all;
}

struct Emitted {
  std::string source, manifest;
  bool operator==(const Emitted&) const = default;
};

/// Returns what is emitted, without comments; throws Mistake.
Emitted emitted(const std::string& text) {
  const emit::EmittedProgram program = compile(text, "x.ir").program;
  std::string source;
  for (const std::string& line : lines_of(program.source)) source += line.substr(0, line.find("//")) + "\n";
  manifest::Manifest manifest = program.manifest;
  manifest.tiling = {};
  return {source, to_json(manifest)};
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the first word of a line, and the word before the edited one: what is edited.
std::string kind_of(const std::string& line, const std::vector<Word>& words, std::size_t w) {
  const std::string first = line.substr(words[0].begin, words[0].end - words[0].begin);
  std::size_t before = w;
  while (before > 0 && is_number(line.substr(words[before - 1].begin, words[before - 1].end - words[before - 1].begin)))
    --before;
  const std::string previous =
      before == 0 ? "" : line.substr(words[before - 1].begin, words[before - 1].end - words[before - 1].begin);
  const std::string word = line.substr(words[w].begin, words[w].end - words[w].begin);
  return (first[0] == '%' ? "value" : first) + " | " +
         (previous.empty()     ? ""
          : previous[0] == '%' ? "%"
                               : previous) +
         " | " +
         (is_number(word)  ? "N"
          : word[0] == '%' ? "%"
                           : word);
}

/// Returns whether an edit that is accepted may emit another program that is right: the line says what is computed or where
/// tensors lie, or decides only how fast, how early, or how much room.
bool may_differ(const std::string& kind) {
  static const std::set<std::string> lines{"value", "gmem",       "view",   "input",   "output", "program", "kernel",
                                           "smem",  "wait_group", "commit", "barrier", "arrive", "channel", "size"};
  return lines.contains(kind.substr(0, kind.find(' '))) || kind.find("| over |") != kind.npos;
}

TEST(Words, EditsOfOneWordAreRefusedOrChangeNothing) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(ZELLIGE_SOURCE_DIR "/tests/plan/golden"))
    if (entry.path().extension() == ".ir") files.push_back(entry.path());
  std::ranges::sort(files);
  const char *only = std::getenv("ZELLIGE_FILE"), *folder = std::getenv("ZELLIGE_EDITS");
  const std::size_t step = test::every(37);
  std::size_t refused = 0, same = 0, n = 0;
  std::map<std::string, int> other;
  const auto change = [&](const fs::path& path, const std::string& kind, const std::string& line,
                          const std::string& edit, const std::string& text, const Emitted& right) {
    if (folder) std::ofstream(fmt::format("{}/last.txt", folder)) << line << "\n" << edit << "\n";
    try {
      if (emitted(text) == right) {
        ++same;
        return;
      }
      ++other[kind];
      EXPECT_TRUE(may_differ(kind)) << path.stem() << "\n" << line << "\n" << edit;
      if (!folder) return;
      const std::string name = fmt::format("{}/{}_{}", folder, path.stem().string(), n);
      std::ofstream(name + ".ir") << text;
      std::ofstream(name + ".txt") << kind << "\n- " << line << "\n+ " << edit << "\n";
    } catch (const Mistake& e) {
      ++refused;
      EXPECT_EQ(std::string(e.what()).find("a step needs what no line says"), std::string::npos) << edit;
    } catch (const std::exception& e) {
      ADD_FAILURE() << path.stem() << " " << edit << "\n" << e.what();
    }
  };
  for (const fs::path& path : files) {
    if (only && path.stem() != only) continue;
    const std::string text = text_of(path);
    const Emitted right = emitted(text);
    const std::vector<std::string> lines = lines_of(text);
    const std::set<std::string> names = names_of(lines);
    for (std::size_t l = 0; l < lines.size(); ++l) {
      const std::vector<Word> words = words_of(lines[l], l);
      for (std::size_t w = 0; w < words.size(); ++w)
        for (const std::string& edit :
             edits_of(lines[l].substr(words[w].begin, words[w].end - words[w].begin), names)) {
          if (n++ % step != 0) continue;
          std::vector<std::string> edited = lines;
          edited[l] = lines[l].substr(0, words[w].begin) + edit + lines[l].substr(words[w].end);
          change(path, kind_of(lines[l], words, w), lines[l], edited[l], joined(edited), right);
        }
    }
  }
  EXPECT_GT(refused, 20 * other.size());
  if (folder)
    for (const auto& [kind, count] : other) std::cerr << count << "  " << kind << "\n";
  std::cerr << n << " edits, " << refused << " refused, " << same << " the same\n";
}

}  // namespace
}  // namespace zellige::ir
