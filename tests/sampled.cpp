#include "sampled.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <istream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace zellige::test {

std::vector<SampledSuite> sampled_suites(std::istream& text) {
  std::vector<SampledSuite> all;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    SampledSuite row;
    std::string first, second, rest;
    if (!(words >> row.program >> first >> row.suite >> second >> row.of) || words >> rest || first != "|" ||
        second != "|" || row.of < 2 || row.of > 9)
      throw std::invalid_argument(
          fmt::format("line {}: expected PROGRAM | SUITE | OF, with OF from 2 to 9, found {}", number, line));
    all.push_back(row);
  }
  return all;
}

std::vector<std::string> omitted(const std::vector<std::string>& names, std::size_t of) {
  std::map<std::string, std::size_t> place;      // of a test among the tests
  std::map<std::string, std::size_t> instances;  // of a test, seen so far
  std::vector<std::string> left;
  for (const std::string& name : names) {
    const std::string test = name.substr(0, name.find('/'));
    const std::size_t number = place.try_emplace(test, place.size()).first->second;
    if ((number + instances[test]++) % of != 0) left.push_back(name);
  }
  for (const auto& [test, count] : instances)
    if (count < of)
      throw std::invalid_argument(
          fmt::format("{} has {} instances: of so few, one of {} cannot be taken", test, count, of));
  return left;
}

std::string sample_filter(const std::string& program, const std::vector<SampledSuite>& rows) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  std::string filter = "*";
  for (const SampledSuite& row : rows) {
    if (row.program != program) continue;
    std::vector<std::string> names;
    for (int s = 0; s < all.total_test_suite_count(); ++s) {
      const testing::TestSuite& suite = *all.GetTestSuite(s);
      if (row.suite != suite.name()) continue;
      for (int t = 0; t < suite.total_test_count(); ++t) names.push_back(suite.GetTestInfo(t)->name());
    }
    if (names.empty()) throw std::invalid_argument(fmt::format("{} has no suite {}", program, row.suite));
    for (const std::string& name : omitted(names, row.of))
      filter += fmt::format("{}{}.{}", filter == "*" ? "-" : ":", row.suite, name);
  }
  return filter;
}

}  // namespace zellige::test
