// Pages need no other file, are small, and link each tensor of the plan to its row; what is printed fits a terminal.
#include "explain/page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "compiled.hpp"
#include "explain/html.hpp"
#include "explain/text.hpp"

namespace zellige::explain {
namespace {

TEST(Pages, NeedNoOtherFile) {
  for (const char* file : {"layers/llama_decode.json", "layers/plain_attention_causal.json", "gemm.json"}) {
    const std::string page = explain::page(explained(file, "sm_90a", 2).account);
    EXPECT_LT(page.size(), 2u << 20) << file;
    for (const char* other : {"http:", "https:", "src=", "@import", "url("})
      EXPECT_EQ(page.find(other), std::string::npos) << other;
    for (const char* once : {"<main>", "</main>", "</html>"}) EXPECT_EQ(page.find(once), page.rfind(once)) << once;
  }
}

TEST(Pages, EveryLinkHasItsPlace) {
  const std::string page = explain::page(explained("layers/llama_decode.json").account);
  const std::regex link("href=\"#([^\"]+)\"");
  int links = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), link), end; at != end; ++at, ++links)
    EXPECT_NE(page.find("id=\"" + at->str(1) + "\""), std::string::npos) << at->str(1);
  EXPECT_GT(links, 20);
}

TEST(Pages, NamesAreEscaped) {
  Account a = explained("gemm.json").account;
  a.graph = "<script>&\"";
  const std::string page = explain::page(a);
  EXPECT_EQ(page.find("<script>&"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;&amp;&quot;"), std::string::npos);
}

TEST(Pages, OnlyWholeWordsAreLinked) {
  EXPECT_EQ(linked("sA[i] + sAB < sA", {"sA"}, "p-"),
            "<a class=\"id\" data-id=\"sA\" href=\"#p-sA\">sA</a>[i] + sAB &lt; <a class=\"id\" data-id=\"sA\" "
            "href=\"#p-sA\">sA</a>");
}

TEST(Texts, FitATerminal) {
  for (const char* file : {"layers/plain_attention.json", "gemm.json", "layers/residual_rms_norm.json"}) {
    const std::string text = explain::text(explained(file, "sm_90a", 4).account);
    EXPECT_LE(std::ranges::count(text, '\n'), 45) << text;
  }
}

TEST(Texts, TargetsThatWereNotMeasuredAreNamed) {
  EXPECT_NE(text(explained("gemm.json", "sm_80").account)
                .find("the costs of sm_80 are assumed: no GPU of this kind was measured\n"),
            std::string::npos);
}

TEST(Texts, AComparisonHasBothNumbers) {
  Account a = explained("gemm.json").account, b = a;
  b.graph = "other", b.launches[0].us = 3.25, b.us = 3.25;
  const std::string text = comparison(a, b);
  EXPECT_TRUE(
      text.starts_with(fmt::format("{} and other: {:.1f} us and 3.2 us expected, 1 and 1 launches\n", a.graph, a.us)))
      << text;
  b.launches.clear();
  EXPECT_NE(comparison(a, b).find("only the first has " + a.launches[0].name), std::string::npos);
}

}  // namespace
}  // namespace zellige::explain
