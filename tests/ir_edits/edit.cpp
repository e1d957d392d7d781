#include "edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>

namespace zellige::ir_edits {
namespace {

/// A word of a line: what is between blanks and commas.
struct Word {
  std::size_t line, at, size;
};

std::string text_of(const Lines& lines, const Word& w) { return lines[w.line].substr(w.at, w.size); }

/// Returns the words of a line. Those in quotes, which are for messages, are omitted.
std::vector<Word> words_of(const Lines& lines, std::size_t line) {
  const std::string& text = lines[line];
  std::vector<Word> all;
  bool quotes = false;
  int depth = 0;
  std::size_t begin = text.npos;
  const auto end = [&](std::size_t i) {
    if (begin != text.npos) all.push_back({line, begin, i - begin});
    begin = text.npos;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quotes = !quotes, end(i);
    if (quotes || c == '"') continue;
    depth += c == '(' || c == '[' || c == '<'                                    ? 1
             : c == ')' || c == ']' || (c == '>' && i > 0 && text[i - 1] != '-') ? -1
                                                                                 : 0;
    if (depth <= 0 && (c == ' ' || c == ',')) {
      end(i);
    } else if (begin == text.npos) {
      begin = i;
    }
  }
  end(text.size());
  return all;
}

/// Returns the places of the decimal numbers of a line that are in no quotes.
std::vector<Word> numbers_of(const Lines& lines, std::size_t line) {
  const std::string& text = lines[line];
  std::vector<Word> all;
  bool quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quotes = !quotes;
    if (quotes || !std::isdigit(static_cast<unsigned char>(text[i]))) continue;
    const bool in_name = i > 0 && std::isalpha(static_cast<unsigned char>(text[i - 1])) && text[i - 1] != 't';
    const std::size_t begin = i;
    while (i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]))) ++i;
    if (!in_name) all.push_back({line, begin, i - begin});
    --i;
  }
  return all;
}

std::size_t any_line(const Lines& lines, Rng& rng) {
  return static_cast<std::size_t>(rng.between(1, static_cast<std::int64_t>(lines.size()) - 1));
}

bool delete_line(Lines& lines, Rng& rng) {
  lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(any_line(lines, rng)));
  return true;
}

bool duplicate_line(Lines& lines, Rng& rng) {
  const std::size_t i = any_line(lines, rng);
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(i), std::string(lines[i]));
  return true;
}

bool swap_neighbours(Lines& lines, Rng& rng) {
  const std::size_t i = any_line(lines, rng);
  if (i + 1 >= lines.size() || lines[i] == lines[i + 1]) return false;
  std::swap(lines[i], lines[i + 1]);
  return true;
}

std::size_t indentation(const std::string& line) { return line.find_first_not_of(' '); }

/// Exchanges two lines of the same level, or copies one over the other: also of two kernels.
bool exchange_lines(Lines& lines, Rng& rng) {
  const std::size_t i = any_line(lines, rng), j = any_line(lines, rng);
  if (lines[i] == lines[j] || indentation(lines[i]) != indentation(lines[j])) return false;
  rng.chance(50) ? std::swap(lines[i], lines[j]) : void(lines[i] = std::string(lines[j]));
  return true;
}

/// Moves a line to another place of its level, or of a loop around or next to it.
bool move_line(Lines& lines, Rng& rng) {
  const std::size_t from = any_line(lines, rng), to = any_line(lines, rng);
  std::string line = lines[from];
  const std::size_t of = indentation(line), there = indentation(lines[to]);
  if (from == to || of < 4 || there < 4) return false;
  line.replace(0, of, there, ' ');
  lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(from));
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to > from ? to - 1 : to), line);
  return true;
}

bool change_number(Lines& lines, Rng& rng) {
  const std::vector<Word> here = numbers_of(lines, any_line(lines, rng));
  if (here.empty()) return false;
  const Word w = rng.pick(here);
  const std::vector<Word> others = numbers_of(lines, any_line(lines, rng));
  const std::string old = text_of(lines, w);
  const std::int64_t n = old.size() < 18 ? std::stoll(old) : 0;
  const std::vector<std::int64_t> to{
      n + 1, n - 1, 2 * n, n / 2, 0, 1, n + 8, n * 3, -n, 64, std::int64_t{1} << 31, std::int64_t{1} << 62};
  const std::string changed =
      rng.chance(30) && !others.empty()
          ? text_of(lines, rng.pick(others))
          : fmt::format(
                "{}",
                to[static_cast<std::size_t>(rng.below(rng.chance(80) ? 8 : static_cast<std::int64_t>(to.size())))]);
  lines[w.line].replace(w.at, w.size, changed);
  return changed != old;
}

/// Returns the words that follow, in the source, the word `before`.
std::vector<std::string> following(const Lines& lines, const std::string& before) {
  std::vector<std::string> all;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const std::vector<Word> words = words_of(lines, line);
    for (std::size_t i = 1; i < words.size(); ++i)
      if (text_of(lines, words[i - 1]) == before) all.push_back(text_of(lines, words[i]));
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Replaces a word by another one that follows the same word elsewhere; `everywhere`: wherever the two are.
bool other_word(Lines& lines, Rng& rng, bool everywhere) {
  const std::vector<Word> words = words_of(lines, any_line(lines, rng));
  if (words.size() < 2) return false;
  const std::size_t i = static_cast<std::size_t>(rng.between(1, static_cast<std::int64_t>(words.size()) - 1));
  const std::string before = text_of(lines, words[i - 1]), old = text_of(lines, words[i]);
  std::vector<std::string> others = following(lines, before);
  std::erase(others, old);
  if (others.empty()) return false;
  const std::string changed = rng.pick(others);
  if (!everywhere) {
    lines[words[i].line].replace(words[i].at, words[i].size, changed);
    return true;
  }
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const std::vector<Word> here = words_of(lines, line);
    for (std::size_t k = here.size(); k-- > 1;)
      if (text_of(lines, here[k]) == old && text_of(lines, here[k - 1]) == before)
        lines[line].replace(here[k].at, here[k].size, changed);
  }
  return true;
}

bool change_word(Lines& lines, Rng& rng) { return other_word(lines, rng, false); }
bool change_word_everywhere(Lines& lines, Rng& rng) { return other_word(lines, rng, true); }

bool delete_word(Lines& lines, Rng& rng) {
  const std::vector<Word> words = words_of(lines, any_line(lines, rng));
  if (words.size() < 2) return false;
  const std::size_t i = static_cast<std::size_t>(rng.between(1, static_cast<std::int64_t>(words.size()) - 1));
  const bool pair = i + 1 < words.size() && rng.chance(50);  // a fact with its value
  const std::size_t end = pair ? words[i + 1].at + words[i + 1].size : words[i].at + words[i].size;
  std::string& line = lines[words[i].line];
  line.erase(words[i].at, end - words[i].at);
  if (line[words[i].at - 1] == ' ') line.erase(words[i].at - 1, 1);
  return true;
}

/// Replaces a layout, or a tuple, by another one of the source, or changes a number at all its places in the line.
bool change_layout(Lines& lines, Rng& rng) {
  const auto is_layout = [&](const Word& w) { return text_of(lines, w).find("):(") != std::string::npos; };
  std::vector<Word> here = words_of(lines, any_line(lines, rng)), there = words_of(lines, any_line(lines, rng));
  std::erase_if(here, std::not_fn(is_layout)), std::erase_if(there, std::not_fn(is_layout));
  if (here.empty() || there.empty()) return false;
  const Word to = rng.pick(here);
  const std::string other = text_of(lines, rng.pick(there)), old = text_of(lines, to);
  lines[to.line].replace(to.at, to.size, other);
  return other != old;
}

/// A flag, and the words which it may follow; "": any.
struct Flag {
  const char *line, *following, *flag;
};
constexpr Flag flags[] = {
    {"copy", "through", "multicast"},
    {"async_work", "through", "peeled"},
    {"async_work", "through", "pipelined"},
    {"work", "\"", "to_cluster"},
    {"loop", "to", "bounded"},
    {"loop", "to", "whole"},
    {"smem", "stage_step", "operand"},
    {"view", "to", "predicated"},
    {"view", "to", "of_part"},
    {"copy", "by", "anywhere"},
    {"work", "bytes", "anywhere"},
    {"work", "reads", "own"},
    {"work", "writes", "own"},
    {"copy", "writes", "own"},
    {"copy", "reads", "own"},
    {"%", ")", "carried"},
    {"kernel", "threads", "split_k"},
    {"kernel", "threads", "programmatic"},
    {"kernel", "loop", "same_launch"},
    {"gmem", ":", "constant"},
    {"kernel", "threads", "cluster 2"},
    {"copy", "through", "ahead 1"},
    {"work", "\"", "ahead 1"},
    {"channel", "of", "stages 2"},
    {"smem", "part_step", "stages 2"},
    {"smem", "of", "partials 2"},
    {"gmem", ":", "memory"},
};

/// Adds or takes away a flag.
bool toggle_flag(Lines& lines, Rng& rng) {
  const Flag& flag = flags[rng.below(std::size(flags))];
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].compare(indentation(lines[i]), std::string_view(flag.line).size(), flag.line) == 0) of.push_back(i);
  if (of.empty()) return false;
  std::string& line = lines[rng.pick(of)];
  if (const std::size_t at = line.find(fmt::format(" {}", flag.flag)); at != line.npos) {
    line.erase(at, std::string_view(flag.flag).size() + 1);
    return true;
  }
  const std::size_t at = line.rfind(flag.following);
  if (at == line.npos) return false;
  std::size_t end = at + std::string_view(flag.following).size();
  if (std::isalpha(static_cast<unsigned char>(*flag.following))) end = std::min(line.find(' ', end + 1), line.size());
  std::string add = flag.flag;
  if (add == "memory") {
    const auto inputs = following(lines, "input");
    if (inputs.empty()) return false;
    add += " " + rng.pick(inputs);
  }
  line.insert(end, " " + add);
  return true;
}

/// Changes what a step claims to access: another stage or tensor, one access less or more.
bool change_access(Lines& lines, Rng& rng) {
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].find(" reads ") != std::string::npos || lines[i].find(" writes ") != std::string::npos)
      of.push_back(i);
  if (of.empty()) return false;
  std::string& line = lines[rng.pick(of)];
  const std::size_t reads = line.find(" reads "), writes = line.find(" writes ");
  const std::size_t list = reads == line.npos || (writes != line.npos && rng.chance(50)) ? writes : reads;
  const std::size_t begin = line.find(' ', list + 1) + 1;
  const std::size_t end = std::min({line.find(" writes ", begin), line.find(" global ", begin), line.size()});
  std::string accesses = line.substr(begin, end - begin);
  switch (rng.below(6)) {
    case 0:
      accesses += accesses.ends_with(" own") ? "" : " own";
      break;
    case 1:
      if (const std::size_t at = accesses.find(" own"); at != accesses.npos) accesses.erase(at, 4);
      break;
    case 2:
      if (const std::size_t at = accesses.find(','); at != accesses.npos) accesses.erase(at);
      break;
    case 3:
      if (const std::size_t at = accesses.find("[i"); at != accesses.npos)
        accesses.replace(at, 2, fmt::format("[(i+{})", rng.between(1, 3)));
      break;
    case 4:
      if (const std::size_t at = accesses.find("[(i+"); at != accesses.npos)
        accesses.replace(at + 4, 1, fmt::format("{}", rng.between(0, 4)));
      break;
    default:
      line.erase(list, end - list);
      return true;
  }
  const bool changed = line.compare(begin, end - begin, accesses) != 0;
  line.replace(begin, end - begin, accesses);
  return changed;
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{{"delete line", delete_line},
                                     {"duplicate line", duplicate_line},
                                     {"swap neighbours", swap_neighbours},
                                     {"exchange lines", exchange_lines},
                                     {"move line", move_line},
                                     {"number", change_number},
                                     {"number", change_number},
                                     {"number", change_number},
                                     {"word", change_word},
                                     {"word", change_word},
                                     {"word everywhere", change_word_everywhere},
                                     {"word everywhere", change_word_everywhere},
                                     {"delete word", delete_word},
                                     {"layout", change_layout},
                                     {"flag", toggle_flag},
                                     {"access", change_access}};
  return all;
}

Lines lines_of(const std::string& text) {
  Lines lines;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  return lines;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

Edited edited(const std::string& text, std::uint64_t seed, Part part) {
  Rng rng(seed);
  Lines before = lines_of(text), lines, after;
  if (part == Part::tile) {
    std::vector<std::size_t> tiles;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (before[i] == "  tile") tiles.push_back(i + 1);
    const auto first = before.begin() + static_cast<std::ptrdiff_t>(rng.pick(tiles));
    const auto last = std::find_if(first, before.end(), [](const std::string& l) { return !l.starts_with("    "); });
    lines = {first, last}, after = {last, before.end()};
    before.erase(first, before.end());
  } else {
    lines.swap(before);
  }
  std::string what;
  for (int left = rng.chance(85) ? 1 : rng.chance(70) ? 2 : 3; left > 0;) {
    const Kind& kind = rng.pick(kinds());
    if (!kind.edit(lines, rng)) continue;
    what += (what.empty() ? "" : ", ") + std::string(kind.name);
    --left;
  }
  return {joined(before) + joined(lines) + joined(after), what};
}

}  // namespace zellige::ir_edits
