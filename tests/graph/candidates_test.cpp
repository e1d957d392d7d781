#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "json/json.hpp"

namespace zellige::graph {
namespace {

std::string graph(int i) {
  return fmt::format(
      R"({{"zellige_graph":1,"name":"g{}","inputs":[{{"name":"X","dtype":"f16","shape":[4,4]}}],"operators":[)"
      R"({{"op":"exp","inputs":["X"],"outputs":["Y"]}}],"outputs":["Y"]}})",
      i);
}

std::string message(std::string_view text, int before = 0) {
  try {
    json::GraphFile file(text, "json", "stem");
    for (int i = 0; i < before; ++i) EXPECT_TRUE(file.next());
    while (file.next()) {
    }
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

// A file descriptor as a path.
std::string path(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

TEST(Candidates, TheFirstGraphIsThereBeforeTheRest) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string begin = " [\n" + graph(0) + "\n";
  ASSERT_EQ(write(ends[1], begin.data(), begin.size()), static_cast<ssize_t>(begin.size()));
  json::GraphFile file(path(ends[0]));  // would wait for ever if it read on
  EXPECT_EQ(file.next()->name, "g0");
  const std::string end = "," + graph(1) + "]";
  ASSERT_EQ(write(ends[1], end.data(), end.size()), static_cast<ssize_t>(end.size()));
  close(ends[1]);
  EXPECT_EQ(file.next()->name, "g1");
  EXPECT_FALSE(file.next());
  EXPECT_FALSE(file.next());
  EXPECT_EQ(file.count(), 2);
  close(ends[0]);
}

// 64 MiB of graphs pass through a few hundred KiB.
TEST(Candidates, MemoryDoesNotGrowWithTheFile) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  constexpr int count = 300000;
  std::thread writer([&] {
    const auto put = [&](std::string text) {
      for (ssize_t n; !text.empty() && (n = write(ends[1], text.data(), text.size())) > 0;)
        text.erase(0, static_cast<std::size_t>(n));
    };
    put("[" + graph(0));
    for (int i = 1; i < count; ++i) put("," + graph(i));
    put("]");
    close(ends[1]);
  });
  json::GraphFile file(path(ends[0]));
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  EXPECT_TRUE(file.next());
  int passed = 1;
  while (file.skip()) ++passed;
  getrusage(RUSAGE_SELF, &after);
  writer.join();
  close(ends[0]);
  EXPECT_EQ(passed, count);
  EXPECT_GT(file.bytes_read(), std::size_t{40} << 20);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 8 << 10) << "KiB";
}

TEST(Candidates, SkippingAndReadingGiveTheSameGraphs) {
  // Brackets and quotes within strings are not structure.
  const std::string odd = R"({"zellige_graph":1,"name":"]}\"[{\\"})",
                    text = "[" + odd + "," + graph(1) + " ,\n" + odd + "," + graph(3) + "]";
  for (int skipped = 0; skipped <= 4; ++skipped) {
    json::GraphFile file(text, "json", "stem");
    for (int i = 0; i < skipped; ++i) EXPECT_TRUE(file.skip());
    const std::optional<json::Loaded> l = file.next();
    EXPECT_EQ(l.has_value(), skipped < 4);
    if (l) EXPECT_EQ(l->name, skipped % 2 ? fmt::format("g{}", skipped) : fmt::format("stem[{}]", skipped));
  }
}

// If the file is not JSON, the message counts lines and columns from the file's start, and graphs before the
// error were returned.
TEST(Candidates, DamageIsFoundWhereItStands) {
  EXPECT_EQ(message("[" + graph(0) + ",\n" + graph(1) + "\n  x]", 2),
            "json: expected JSON, found a parse error at line 3, column 3: expected ',' or ']' after graph "
            "1, found 'x'");
  EXPECT_EQ(message("[" + graph(0) + ",\n   {\"a\": tru}]", 1)
                .find("json: expected JSON, found a parse error at line 2, column 13: syntax error"),
            0u);
  EXPECT_EQ(message("[" + graph(0) + ",", 1).find("json: expected JSON, found a parse error at line 1, column "), 0u);
  EXPECT_EQ(message("[" + graph(0) + "] x", 1).substr(0, 40), "json: expected JSON, found a parse error");
  EXPECT_NE(message("[" + graph(0), 1), "");
  EXPECT_NE(message(graph(0) + "x"), "");
  EXPECT_NE(message(""), "");
  EXPECT_NE(message("["), "");
  EXPECT_EQ(message("[]"),
            "json: expected a graph (an object with \"zellige_graph\") or a list of graphs, found a list of 0");
  EXPECT_EQ(message("\xef\xbb\xbf " + graph(0)), "") << "a byte order mark is no character";
}

// Each list is read in one walk: with a look at its siblings for each of its values this one takes minutes.
TEST(Candidates, AListOfAMillionIsRead) {
  std::string list = "[{}";
  for (int i = 1; i < 1'000'000; ++i) list += ",{}";
  EXPECT_EQ(message(list + "]"),
            "json: expected a graph (an object with \"zellige_graph\") or a list of graphs, found a list of "
            "1000000");
  std::string keys = "{\"k0\":0";
  for (int i = 1; i < 100'000; ++i) keys += fmt::format(",\"k{}\":0", i);
  EXPECT_EQ(message(keys + "}"), "json: expected at most 1000 keys in an object, found more");
}

TEST(Candidates, AKeyStandsOnceInAnObject) {
  const auto twice = [](const std::string& key, const std::string& place) {
    return "json: expected each key of an object once, found \"" + key + "\" twice" + place;
  };
  EXPECT_EQ(message(R"({"zellige_graph":1,"name":"a","name":"b"})"), twice("name", ""));
  EXPECT_EQ(message(R"({"zellige_graph":1,"operators":[{"op":"exp"},{"op":"exp","inputs":[],"op":"log"}]})"),
            twice("op", " in operators[1]"));
  EXPECT_EQ(message(R"([{"zellige_graph":1,"operators":[{"map":{"x":0,"y":1,"x":1}}]}])"),
            twice("x", " in [0].operators[0].map"));
  EXPECT_EQ(message("[" + graph(0) + R"(,{"a":1,"a":2}])", 1), twice("a", " in [1]"));
  EXPECT_EQ(message(R"([[{"op_type":"kn_input_op","op_type":"x"}]])"), twice("op_type", " in [0][0]"));
  // The same key in two objects is no duplicate.
  EXPECT_EQ(message("[" + graph(0) + "," + graph(0) + "]"), "");
}

}  // namespace
}  // namespace zellige::graph
