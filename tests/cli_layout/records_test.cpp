// zellige layout --jsonl: records in, answers out, one a line.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command.hpp"
#include "view/record.hpp"

namespace {

using json = nlohmann::json;

TEST_F(Command, RecordsAreAnsweredInOrder) {
  std::ofstream(path("records.jsonl")) << R"({"id":"a","op":"size","args":["(4,_8):(8,_1)"]}

{"id":2,"op":"composition","args":["(6,2):(8,2)","4:4"]}
{"op":"print_layout","args":["(2,2):(2,1)"]}
)";
  expect({"layout", "--jsonl", path("records.jsonl")}, 0,
         "{\"id\":\"a\",\"result\":\"32\"}\n"
         "{\"id\":2,\"error\":\"composition: stride 4 of the right operand does not divide extent 6 of the mode of the "
         "left operand that it continues past\"}\n"
         "{\"result\":\"(2,2):(2,1)\\n      0   1 \\n    +---+---+\\n 0  | 0 | 1 |\\n    +---+---+\\n 1  | 2 | 3 |\\n    "
         "+---+---+\\n\"}\n");
}

TEST_F(Command, WhatCannotBeReadIsAnsweredAndGivesStatus2) {
  std::ofstream(path("bad.jsonl")) << R"({"id":1,"op":"size","args":["(4,8"]}
{"id":2,"op":"siez","args":["4:1"]}
{"id":3,"op":"size"}
{"id":4,"op":"size","args":[4]}
{"id":5,"op":"size","args":["4:1"]}
)";
  expect(
      {"layout", "--jsonl", path("bad.jsonl")}, 2,
      "{\"id\":1,\"error\":\"\\\"(4,8\\\": ) is expected at character 5\"}\n"
      "{\"id\":2,\"error\":\"operation siez is unknown\"}\n"
      "{\"id\":3,\"error\":\"a record is {\\\"id\\\", \\\"op\\\": a text, \\\"args\\\": a list of texts}\"}\n"
      "{\"id\":4,\"error\":\"args: 4 is no text\"}\n"
      "{\"id\":5,\"result\":\"4\"}\n");
  expect({"layout", "--jsonl", path("none.jsonl")}, 2,
         "zellige: " + path("none.jsonl") + ": cannot be read\n");
  expect({"layout", "4:1", "--list"}, 2,
         "zellige: layout: one of EXPR, --jsonl FILE and --list is needed (zellige layout --help)\n");
}

// Every record of the corpus of sections 1 to 11 is answered as CuTe answers it, or refused where it must be.
TEST(Records, TheCorpusIsAnswered) {
  const std::filesystem::path corpus = ZELLIGE_SOURCE_DIR "/../shared/conformance";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "no conformance corpus at " << corpus;
  int right = 0, wrong = 0, unread = 0;
  for (const auto& file : std::filesystem::directory_iterator(corpus)) {
    const std::string name = file.path().stem().string();
    if (file.path().extension() != ".jsonl" || name == "rejected") continue;
    const bool unsound = name.ends_with("_unsound");
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) {
      json record = json::parse(line);
      const std::string operand = record["args"].empty() ? "" : record["args"][0].get<std::string>();
      if (operand.starts_with("SM100") || operand.starts_with("SM120")) continue;  // not in the tables
      const std::string wanted = record.value("result", "");
      record.erase("result");
      const auto answer = zellige::view::answer_record(record.dump());
      const json out = json::parse(answer.line);
      unread += !answer.readable;
      const bool good = unsound ? out.contains("error") : out.value("result", "") == wanted;
      ++(good ? right : wrong);
      if (!good && wrong < 10) ADD_FAILURE() << line << "\n" << answer.line;
    }
  }
  EXPECT_GT(right, 2500);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(unread, 0);
}

}  // namespace
