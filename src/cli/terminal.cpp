#include "cli/terminal.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>

namespace zellige::cli {
namespace {

/// Words of the command line that contain a newline, longest first, because one may be a substring of another.
std::set<std::string, decltype([](const std::string& a, const std::string& b) {
           return a.size() != b.size() ? a.size() > b.size() : a < b;
         })>
    words;

}  // namespace

void know_words(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    for (std::size_t at = 0; at < word.size() && word.find('\n', at) != word.npos;) {
      if (word.find_first_not_of('\n', at) != word.npos) words.insert(word.substr(at));
      at = std::min(word.find('=', at), word.size() - 1) + 1;  // --option=FILE, NAME=FILE
    }
  }
}

std::string printed(std::string message) {
  for (const std::string& word : words)
    for (std::size_t at = 0; (at = message.find(word, at)) != message.npos;) {
      const std::string as = strings::shown(word);
      message.replace(at, word.size(), as);
      at += as.size();
    }
  return strings::shown_lines(message);
}

void tell(const std::string& graph, const kernel::Rejections& rejected) {
  if (!rejected.empty()) say(stderr, "zellige: {}: {}\n", graph, kernel::told(rejected));
}

ProgressLine::ProgressLine() : terminal_(::isatty(2)), start_(Clock::now()), next_(start_ + std::chrono::seconds(2)) {}

void ProgressLine::show(int done, int started, const std::string& text) {
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
  std::string line = fmt::format("[{}/{}] {}:{:02}  {}", done, started, seconds / 60, seconds % 60, text);
  if (terminal_) {
    if (line.size() > 100) line = line.substr(0, 97) + "...";
    fmt::print(stderr, "\r\033[K");
    say(stderr, "{}", line);
    shown_ = true;
  } else {
    say(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

rewrite::Watch watch(ProgressLine& progress, const std::string& graph) {
  return [&progress, graph](const rewrite::Progress& p) {
    progress.show(static_cast<int>(p.done), static_cast<int>(p.of), fmt::format("{}: {}", graph, p.phase));
    return true;
  };
}

}  // namespace zellige::cli
