// Integer expressions of emitted code: the printed expression means what was computed. Random expressions are
// built as values and as numbers at the same time; the printed expression, read with C++'s precedence, must
// give the number.
#include "emit/index.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <random>

#include "emit/source_lines.hpp"

namespace zellige::emit {
namespace {

/// Evaluates what Index prints: + - * / %, brackets, names and at_most(index, last).
class Reader {
 public:
  Reader(std::string text, const std::map<std::string, std::int64_t>& values)
      : text_(std::move(text)), values_(values) {}

  std::int64_t all() {
    const std::int64_t v = sum();
    EXPECT_EQ(at_, text_.size()) << text_;
    return v;
  }

 private:
  bool take(std::string_view s) {
    if (text_.compare(at_, s.size(), s) != 0) return false;
    at_ += s.size();
    return true;
  }
  std::int64_t sum() {
    std::int64_t v = product();
    while (true) {
      if (take(" + "))
        v += product();
      else if (take(" - "))
        v -= product();
      else
        return v;
    }
  }
  std::int64_t product() {
    std::int64_t v = primary();
    while (true) {
      if (take(" * "))
        v *= primary();
      else if (take(" / "))
        v /= primary();
      else if (take(" % "))
        v %= primary();
      else
        return v;
    }
  }
  std::int64_t primary() {
    if (take("-")) return -primary();
    if (take("at_most(")) {
      const std::int64_t v = sum();
      EXPECT_TRUE(take(", ")) << text_;
      const std::int64_t last = sum();
      EXPECT_TRUE(take(")")) << text_;
      return std::min(v, last);
    }
    if (take("(")) {
      const std::int64_t v = sum();
      EXPECT_TRUE(take(")")) << text_;
      return v;
    }
    std::string word;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_]))) word += text_[at_++];
    EXPECT_FALSE(word.empty()) << text_ << " at " << at_;
    if (word.empty()) return 0;
    return std::isdigit(static_cast<unsigned char>(word[0])) ? std::stoll(word) : values_.at(word);
  }

  std::string text_;
  std::size_t at_ = 0;
  const std::map<std::string, std::int64_t>& values_;
};

TEST(Index, PrintsWhatItIs) {
  const Index c = Index::named("c"), i = Index::named("i");
  EXPECT_EQ((c + i * 128).str(), "c + i * 128");
  EXPECT_EQ((digit(c, 8, 4, false) * 2).str(), "(c / 8 % 4) * 2");
  EXPECT_EQ(digit(c, 8, 4, true).str(), "c / 8");
  EXPECT_EQ(digit(c + i * 2, 1, 4, false).str(), "(c + i * 2) % 4");
  EXPECT_EQ(((c * 4 + i) * 64 + 5).str(), "(c * 4 + i) * 64 + 5");
  EXPECT_EQ((5 - (c + i)).str(), "5 - c - i");
  EXPECT_EQ((c - 32 + 32).str(), "c");
  EXPECT_EQ((c - c + 3).str(), "3");
  EXPECT_EQ((Index(0) - c).str(), "-c");
  EXPECT_EQ((c * 0).str(), "0");
  EXPECT_EQ(at_most(c + 1, 31).str(), "at_most(c + 1, 31)");
  EXPECT_EQ(at_most(Index(40), 31).str(), "31");
  EXPECT_TRUE((c + 0).is_name());
  EXPECT_FALSE((c + 1).is_name());
  EXPECT_EQ(text({{c, 3}, {i + 1, 9 - c}}), "c < 3 && i + 1 < 9 - c");
  EXPECT_EQ(text({}), "");
}

TEST(Index, OfOneTripIsNoLoop) {
  EXPECT_EQ(counted("i", 4).head, "for (int i = 0; i < 4; ++i) ");
  EXPECT_EQ(counted("i", 4).at.str(), "i");
  EXPECT_EQ(counted("i", 1).head, "");
  EXPECT_EQ(counted("i", 1).at.str(), "0");
}

TEST(Index, RandomExpressionsMeanTheirText) {
  std::mt19937 random(1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const std::map<std::string, std::int64_t> values{{"a", 7}, {"b", 1000}, {"c", 123}};
  for (int round = 0; round < 20000; ++round) {
    struct Both {
      Index index;
      std::int64_t number;
    };
    std::vector<Both> have{{3, 3}, {0, 0}};
    for (const auto& [name, v] : values) have.push_back({Index::named(name), v});
    for (int step = 0; step < 6; ++step) {
      const Both x = have[below(static_cast<int>(have.size()))], y = have[below(static_cast<int>(have.size()))];
      const int k = below(9) - 2, extent = 2 + below(6);
      switch (below(5)) {
        case 0:
          have.push_back({x.index + y.index, x.number + y.number});
          break;
        case 1:
          have.push_back({x.index - y.index, x.number - y.number});
          break;
        case 2:
          have.push_back({x.index * k, x.number * k});
          break;
        case 3:
          have.push_back({at_most(x.index, k), std::min<std::int64_t>(x.number, k)});
          break;
        default:
          have.push_back({digit(x.index, extent, 4, false), x.number / extent % 4});
      }
    }
    const Both& last = have.back();
    ASSERT_EQ(Reader(last.index.str(), values).all(), last.number) << last.index.str();
    if (last.index.is_constant()) EXPECT_EQ(last.index.str(), std::to_string(last.number));
  }
}

}  // namespace
}  // namespace zellige::emit
