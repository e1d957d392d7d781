#include "cli/sizes.hpp"

#include <algorithm>
#include <charconv>

#include "strings/shown.hpp"

namespace zellige::cli {
namespace {

CLI::Option* add_size(CLI::App* command, std::vector<std::string>& words, const std::string& help, const char* form) {
  return command->add_option("--size", words, help)->type_name(form)->expected(1)->take_all();
}

/// Returns NAME and the integers after it, at most `most`, of NAME=INTEGER:INTEGER:... Throws Error, which shows `form`, for other words.
graph::NamedSize parsed(const std::string& word, std::string_view form, std::size_t maximum) {
  const std::size_t at = word.find('=');
  std::vector<std::int64_t> numbers;
  bool good = at != word.npos && at > 0;
  for (std::size_t from = good ? at + 1 : word.size() + 1; good && from <= word.size();) {
    const std::size_t end = std::min(word.find(':', from), word.size());
    std::int64_t& n = numbers.emplace_back();
    const auto [stop, error] = std::from_chars(word.data() + from, word.data() + end, n);
    good = error == std::errc{} && stop == word.data() + end && end > from;
    from = end + 1;
  }
  if (!good || numbers.size() > maximum)
    fail("--size: expected {}, found {}", form, word.empty() ? "nothing" : strings::shown(word));
  graph::NamedSize s{.name = word.substr(0, at), .min = numbers[0], .max = numbers[0]};
  if (numbers.size() > 1) s.max = numbers[1];
  if (numbers.size() > 2) s.multiple = numbers[2];
  return s;
}

std::vector<graph::NamedSize> parsed(const std::vector<std::string>& words, std::string_view form,
                                     std::size_t maximum) {
  std::vector<graph::NamedSize> all;
  for (const std::string& word : words) {
    graph::NamedSize s = parsed(word, form, maximum);
    if (std::ranges::count(all, s.name, &graph::NamedSize::name) > 0)
      fail("--size: {} is given twice", strings::shown(s.name));
    all.push_back(std::move(s));
  }
  return all;
}

}  // namespace

void add_size_values(CLI::App* command, std::vector<std::string>& words) {
  add_size(command, words,
           "The value of a size that the graph leaves open. Default: its greatest typical value, else its greatest. "
           "Repeatable",
           "NAME=VALUE");
}

void add_size_ranges(CLI::App* command, std::vector<std::string>& words) {
  add_size(command, words,
           "Compile for fewer values of a size that the graph leaves open: the multiples of MULTIPLE from MIN to MAX; "
           "NAME=VALUE for one value. Repeatable",
           "NAME=MIN:MAX[:MULTIPLE]");
}

graph::SizeValues size_values(const std::vector<std::string>& words) {
  graph::SizeValues values;
  for (const graph::NamedSize& s : parsed(words, "NAME=VALUE", 1)) values[s.name] = s.min;
  return values;
}

std::vector<graph::NamedSize> size_ranges(const std::vector<std::string>& words) {
  return parsed(words, "NAME=MIN:MAX[:MULTIPLE] or NAME=VALUE", 3);
}

}  // namespace zellige::cli
