// zellige layout --jsonl: one record per line in, one answer per line out.
#include "../conformance/records.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "view/expression.hpp"

namespace {

using json = nlohmann::json;

TEST_F(Command, RecordsAreAnsweredInOrder) {
  std::ofstream(path("records.jsonl")) << R"json({"id":"a","op":"size","args":["(4,_8):(8,_1)"]}

{"id":2,"op":"composition","args":["(6,2):(8,2)","4:4"]}
{"op":"print_layout","args":["(2,2):(2,1)"]}
)json";
  expect({"layout", "--jsonl", path("records.jsonl")}, 0,
         "{\"id\":\"a\",\"result\":\"32\"}\n"
         "{\"id\":2,\"error\":\"composition: stride 4 of the right operand does not divide extent 6 of the "
         "mode of the "
         "left operand that it crosses\"}\n"
         "{\"result\":\"(2,2):(2,1)\\n      0   1 \\n    +---+---+\\n 0  | 0 | 1 |\\n    +---+---+\\n 1  | 2 "
         "| 3 |\\n    "
         "+---+---+\\n\"}\n");
}

TEST_F(Command, WhatCannotBeReadIsAnsweredAndGivesStatus2) {
  std::ofstream(path("bad.jsonl")) << R"json({"id":1,"op":"size","args":["(4,8"]}
{"id":2,"op":"siez","args":["4:1"]}
{"id":3,"op":"size"}
{"id":4,"op":"size","args":[4]}
{"id":5,"op":"size","args":["4:1"]}
)json";
  expect({"layout", "--jsonl", path("bad.jsonl")}, 2,
         "{\"id\":1,\"error\":\"\\\"(4,8\\\": ) is expected at character 5\"}\n"
         "{\"id\":2,\"error\":\"operation siez is unknown; did you mean size?\"}\n"
         "{\"id\":3,\"error\":\"a record is {\\\"id\\\", \\\"op\\\": a string, \\\"args\\\": a list of "
         "strings}\"}\n"
         "{\"id\":4,\"error\":\"args: 4 is no string\"}\n"
         "{\"id\":5,\"result\":\"4\"}\n");
  expect({"layout", "--jsonl", path("none.jsonl")}, 2,
         "zellige: " + path("none.jsonl") + ": cannot be read: No such file or directory\n");
  expect({"layout", "4:1", "--list"}, 2,
         "zellige: layout: one of EXPR, --jsonl FILE and --list is needed (zellige layout --help)\n");
}

// Every record of the corpus, under the name of its operation, is answered as the library answers it, which the
// conformance tests hold against CuTe: the checks before it refuse nothing that it knows.
TEST(Records, TheCorpusIsAnswered) {
  const std::filesystem::path corpus = ZELLIGE_SOURCE_DIR "/../shared/conformance";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "no conformance corpus at " << corpus;
  int answered = 0, refused = 0;
  for (const auto& file : std::filesystem::directory_iterator(corpus)) {
    if (file.path().extension() != ".jsonl") continue;
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) {
      const json given = json::parse(line);
      SCOPED_TRACE(line);
      const std::string op = given["op"];
      const std::vector<std::string> args = given["args"];
      if (conformance::named_here(op)) continue;
      const auto [name, operands] = conformance::operation_of(op, args);
      const json record = {{"op", name}, {"args", operands}};
      const auto answer = zellige::view::answer_record(record.dump());
      EXPECT_TRUE(answer.readable) << answer.line;
      const json out = json::parse(answer.line);
      try {
        EXPECT_EQ(out.value("result", answer.line), conformance::evaluate_record(op, args));
        ++answered;
      } catch (const zellige::LayoutError& e) {
        EXPECT_TRUE(out.contains("error"));
        ++refused;
      }
    }
  }
  EXPECT_GT(answered, 2900);
  EXPECT_GT(refused, 100);
}

}  // namespace
