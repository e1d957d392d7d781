// What the default run takes of parameterized tests: tests/suite/sampled.txt names the suites.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

namespace zellige::test {

/// Of each test of this suite every `of`-th instance is taken.
struct SampledSuite {
  std::string program, suite;
  std::size_t of = 1;
};

/// Rows `PROGRAM | SUITE | OF`, between comments; throws std::invalid_argument at anything else.
std::vector<SampledSuite> sampled_suites(std::istream& text);

/// Which of a suite's tests, named TEST/INSTANCE, are omitted. The instances that are taken move by one from test to test, so
/// that `of` tests take all of them. Throws std::invalid_argument if a test has fewer instances than `of`.
std::vector<std::string> omitted(const std::vector<std::string>& names, std::size_t of);

/// The filter that takes the sample of a program, of all tests that it has; throws std::invalid_argument if a row is for none
/// of its suites.
std::string sample_filter(const std::string& program, const std::vector<SampledSuite>& rows);

}  // namespace zellige::test
