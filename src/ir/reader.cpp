#include "ir/reader.hpp"

#include "strings/nearest.hpp"
#include "strings/shown.hpp"

namespace zellige::ir {
namespace {

constexpr std::size_t max_bytes = std::size_t{64} << 20, max_depth = 6;  // of a source

}  // namespace

Reader::Reader(std::string_view text, std::string file) : LineReader(std::move(file)) {
  if (text.size() > max_bytes)
    throw Mistake(file_, {}, fmt::format("the text has {} bytes; it may have {}", text.size(), max_bytes));
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const std::size_t bad = strings::first_not_utf8(line); bad != line.npos)
      throw Mistake(file_, {number, static_cast<int>(bad) + 1},
                    fmt::format("the byte {} is not UTF-8", strings::shown(line.substr(bad, 1))));
    bool quotes = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '"') quotes = !quotes;
      if (line[i] == '\\' && quotes) ++i;
      if (i < line.size() && line[i] == '#' && !quotes) line.resize(i);
    }
    line.resize(line.find_last_not_of(" \r\t") + 1);
    if (line.empty()) continue;
    const std::size_t blanks = line.find_first_not_of(' ');
    lines_.push_back({std::move(line), number, blanks / 2});
    if (blanks % 2 != 0 || lines_.back().text[blanks] == '\t')
      throw Mistake(file_, {number, static_cast<int>(blanks) + 1}, "expected an indentation of two blanks a level");
    if (blanks / 2 > max_depth)
      throw Mistake(
          file_, {number, static_cast<int>(blanks) + 1},
          fmt::format("this line lies {} levels deep; lines lie {} levels deep at most", blanks / 2, max_depth));
  }
  lines_.push_back({"", lines_.empty() ? 1 : lines_.back().number + 1, 0});
  line_ = lines_.data();
}

bool Reader::begins(std::string_view word) {
  if (line_ == &lines_.back() || line_->depth != depth_) {
    if (!word.empty()) tried_.emplace_back(word);
    return false;
  }
  at_ = 2 * depth_;
  return word.empty() || next_word(word);
}

void Reader::close() {
  if (!open_) return;
  if (!rest().empty()) {
    const std::string found(next());
    fail(fmt::format("'{}' is no fact of this line, or stands before one that it follows{}", strings::shown(found),
                     did_you_mean(found, tried_)));
  }
  tried_.clear();
  ++line_, at_ = 0, open_ = false;
}

void Reader::none() {
  std::string words;
  for (const std::string& t : tried_)
    if (words.find(t) == words.npos) words += (words.empty() ? "" : ", ") + t;
  if (line_ == &lines_.back()) fail(fmt::format("the text ends; expected a line that begins with {}", words));
  at_ = 2 * line_->depth;
  const std::string found(next());
  if (line_->depth != depth_ && line_->depth + 1 != depth_)
    fail(fmt::format("a line that begins with '{}' is indented by {} blanks; expected {}", strings::shown(found),
                     2 * line_->depth, 2 * depth_));
  fail(fmt::format("no line that begins with '{}' is expected here{}{}", strings::shown(found),
                   words.empty() ? "" : "; expected " + words, did_you_mean(found, tried_)));
}

Ids Reader::ids(std::string_view word, const std::vector<std::string>&, char) {
  Ids ids{std::string(word), {}};
  const auto [line, at] = std::pair(line_, at_);
  for (; line_ != &lines_.back() && line_->depth >= depth_; ++line_) {
    const std::string& text = line_->text;
    at_ = 2 * depth_;
    if (line_->depth != depth_ || text.compare(at_, word.size() + 1, ids.what + " ") != 0) continue;
    at_ += word.size();
    std::string found;
    name(found);
    if (std::ranges::find(ids.list, found) != ids.list.end())
      at_ -= found.size(), fail(fmt::format("{} {}: another line before has this name", ids.what, found));
    ids.list.push_back(std::move(found));
  }
  line_ = line, at_ = at;
  return ids;
}

void Reader::first_of(const void* of, int key, std::size_t begin) {
  begin = line_->text.find_first_not_of(' ', begin);
  std::string facts = line_->text.substr(begin, at_ - begin);
  facts.resize(facts.find_last_not_of(' ') + 1);
  const auto [at, fresh] = first_.try_emplace({of, key}, facts, line_->number);
  if (!fresh && at->second.first != facts)
    at_ = begin, fail(fmt::format("'{}' differs from '{}' of line {}, which does the same", facts, at->second.first,
                                  at->second.second));
}

}  // namespace zellige::ir
