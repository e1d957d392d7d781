#include "cli/terminal.hpp"

#include <algorithm>
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
      const std::string as = graph::shown(word);
      message.replace(at, word.size(), as);
      at += as.size();
    }
  return graph::shown_lines(message);
}

void tell(const std::string& graph, const kernel::Rejections& rejected) {
  if (!rejected.empty()) say(stderr, "zellige: {}: {}\n", graph, kernel::told(rejected));
}

}  // namespace zellige::cli
