// The sample that the default run takes: each test has an instance in it, and `of` tests take all instances.
#include "../sampled.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace zellige::test {
namespace {

std::vector<std::string> suite(std::size_t tests, std::size_t instances) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < tests; ++t)
    for (std::size_t i = 0; i < instances; ++i) names.push_back(fmt::format("Test{}/{}", t, i));
  return names;
}

TEST(Sampled, HasEveryTestAndOfManyTestsEveryInstance) {
  for (std::size_t tests = 1; tests < 12; ++tests)
    for (std::size_t instances = 2; instances < 14; ++instances)
      for (std::size_t of = 2; of <= std::min<std::size_t>(instances, 9); ++of) {
        const std::vector<std::string> names = suite(tests, instances), left = omitted(names, of);
        std::set<std::string> kinds, taken_instances;
        for (const std::string& name : names) {
          if (std::ranges::find(left, name) != left.end()) continue;
          kinds.insert(name.substr(0, name.find('/')));
          taken_instances.insert(name.substr(name.find('/')));
        }
        EXPECT_EQ(kinds.size(), tests) << instances << " instances, one of " << of;
        if (tests >= of) {
          EXPECT_EQ(taken_instances.size(), instances) << tests << " tests, one of " << of;
        }
        EXPECT_LE(names.size() - left.size(), tests * ((instances + of - 1) / of));
      }
}

TEST(Sampled, IsSpread) {
  EXPECT_EQ(omitted(suite(2, 4), 2), (std::vector<std::string>{"Test0/1", "Test0/3", "Test1/0", "Test1/2"}));
}

template <class F>
std::string message(const F& of) {
  try {
    of();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "nothing";
}

TEST(Sampled, TooFewInstancesAreNamed) {
  EXPECT_EQ(message([] { omitted(suite(1, 2), 3); }), "Test0 has 2 instances: of so few, one of 3 cannot be taken");
}

TEST(Sampled, RowsAreRead) {
  std::istringstream text("# a comment\n\ntest_a | DTypes/Suite | 3\n");
  const std::vector<SampledSuite> rows = sampled_suites(text);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].program + rows[0].suite, "test_aDTypes/Suite");
  EXPECT_EQ(rows[0].of, 3u);
  std::istringstream wrong("\ntest_a | DTypes/Suite | 1\n");
  EXPECT_EQ(message([&] { sampled_suites(wrong); }),
            "line 2: expected PROGRAM | SUITE | OF, with OF from 2 to 9, found test_a | DTypes/Suite | 1");
}

class Kind : public testing::TestWithParam<int> {};
TEST_P(Kind, IsOne) { EXPECT_GE(GetParam(), 0); }
INSTANTIATE_TEST_SUITE_P(Three, Kind, testing::Range(0, 3));

TEST(Sampled, FilterLeavesOutWhatTheRowsSay) {
  EXPECT_EQ(sample_filter("test_a", {{"test_a", "Three/Kind", 2}, {"test_b", "None", 2}}), "*-Three/Kind.IsOne/1");
  EXPECT_EQ(sample_filter("test_a", {}), "*");
  EXPECT_EQ(message([] { sample_filter("test_a", {{"test_a", "Four/Kind", 2}}); }), "test_a has no suite Four/Kind");
}

}  // namespace
}  // namespace zellige::test
