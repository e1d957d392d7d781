#include "run/outputs.hpp"

#include <unistd.h>

#include <functional>

#include "failing.hpp"
#include "folder.hpp"
#include "run/dump.hpp"
#include "system/files.hpp"

namespace zellige::run {
namespace {

namespace fs = std::filesystem;

struct Places : testing::Test {
  Places() { fs::create_directories(folder / "out"); }
  std::string path(const std::string& name) const { return (folder / name).string(); }
  WrittenFiles written() const { return WrittenFiles(folder / "written"); }

  /// Writes as a command does that reads input.json.
  std::string write(const std::vector<std::pair<std::string, std::string>>& files, bool force = false) {
    try {
      Outputs outputs({path("input.json")}, force, written());
      for (const auto& [name, text] : files) outputs.put(path(name), text);
      outputs.commit();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  int count(const std::string& name) const {
    int n = 0;
    for ([[maybe_unused]] const auto& f : fs::directory_iterator(path(name))) ++n;
    return n;
  }
  std::string of_others(const std::string& name) const {
    return path(name) +
           ": exists, and is not as Zellige wrote it (another's, or edited since); --force "
           "replaces it";
  }
  std::string input(const std::string& name) const {
    return path(name) + ": is an input of this command (" + path("input.json") +
           "), which is never written over; name another output";
  }

  Folder folder;
};

TEST_F(Places, WhatZelligeWroteIsReplacedAndNothingElse) {
  EXPECT_EQ(write({{"out/a", "one"}}), "");
  EXPECT_EQ(write({{"out/a", "two"}}), "");
  EXPECT_EQ(system::read_whole(path("out/a")), "two");
  // Known by its content, wherever it is and whatever its name or date.
  fs::rename(path("out/a"), path("out/b"));
  EXPECT_EQ(write({{"out/b", "three"}}), "");
  system::write_whole(path("out/b"), "edited");
  EXPECT_EQ(write({{"out/b", "four"}}), of_others("out/b"));
  EXPECT_EQ(system::read_whole(path("out/b")), "edited");
  EXPECT_EQ(write({{"out/b", "four"}}, true), "");
  EXPECT_EQ(system::read_whole(path("out/b")), "four");
  // Without the record nothing is known; the same content again takes nothing away.
  fs::remove(path("written"));
  EXPECT_EQ(write({{"out/b", "five"}}), of_others("out/b"));
  EXPECT_EQ(write({{"out/b", "four"}}), "");
  system::write_whole(path("out/empty"), "");
  EXPECT_EQ(write({{"out/empty", "x"}}), "");
  EXPECT_EQ(count("out"), 2);
}

TEST_F(Places, NoOutputLandsOnAnInput) {
  system::write_whole(path("input.json"), "graph");
  fs::create_symlink("input.json", path("link"));
  fs::create_symlink(path("link"), path("out/link to a link"));
  fs::create_hard_link(path("input.json"), path("out/hard"));
  fs::create_directory_symlink(".", path("here"));
  for (const std::string name : {"input.json", "link", "out/link to a link", "out/hard", "here/input.json"}) {
    for (const bool force : {false, true}) EXPECT_EQ(write({{name, "x"}}, force), input(name));
  }
  EXPECT_EQ(system::read_whole(path("input.json")), "graph");
  EXPECT_EQ(count("out"), 2);
}

TEST_F(Places, TwoOutputsInOnePlaceAreRefused) {
  fs::create_directory_symlink("out", path("same"));
  for (const std::string second : {"out/a", "same/a", "out/../out/a", "out/A"}) {
    EXPECT_EQ(write({{"out/a", "1"}, {second, "2"}}),
              path(second) + ": two outputs of this command would go there; name another");
    EXPECT_EQ(count("out"), 0);
  }
}

TEST_F(Places, LinksAreWrittenThrough) {
  system::write_whole(path("out/empty"), "");
  fs::create_symlink("out/empty", path("link"));
  fs::create_symlink("out/new", path("dangling"));
  EXPECT_EQ(write({{"link", "1"}, {"dangling", "2"}}), "");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(system::read_whole(path("out/empty")), "1");
  EXPECT_EQ(system::read_whole(path("out/new")), "2");
  fs::create_symlink("round", path("round"));
  EXPECT_EQ(write({{"round", "1"}}), path("round") + ": cannot be written: Too many levels of symbolic links");
}

// If one of several outputs fails, none is written, and nothing remains.
TEST_F(Places, AllOrNothing) {
  EXPECT_EQ(write({{"out/mine", "old"}}), "");
  system::write_whole(path("file"), "x");
  fs::create_directories(path("folder"));
  const std::pair<std::string, std::string> bad[] = {
      {"file", of_others("file")},
      {"folder", path("folder") + ": cannot be written: Is a directory"},
      {"folder/", path("folder/") + ": cannot be written: Is a directory"},
      {"no/such", path("no/such") + ": cannot be written: No such file or directory"},
      {"file/below", path("file/below") + ": cannot be written: Not a directory"},
      {std::string(300, 'n'), path(std::string(300, 'n')) + ": cannot be written: File name too long"}};
  for (const auto& [name, message] : bad) {
    EXPECT_EQ(write({{"out/new", "1"}, {"out/mine", "2"}, {name, "3"}}), message);
    EXPECT_EQ(system::read_whole(path("out/mine")), "old");
    EXPECT_EQ(count("out"), 1) << name;
  }
}

// A file that changes between the check and the write is not replaced, and earlier replacements are undone.
TEST_F(Places, WhatComesMeanwhileIsNotReplaced) {
  EXPECT_EQ(write({{"out/mine", "old"}}), "");
  EXPECT_EQ(write({{"out/other", "old"}}), "");
  const std::pair<std::string, std::function<void()>> changes[] = {
      {"new", [&] { fs::create_directory(path("out/new")); }},
      {"new", [&] { system::write_whole(path("out/new"), "somebody's"); }},
      {"other", [&] { system::write_whole(path("out/other"), "somebody's"); }},
      {"other", [&] { fs::remove(path("out/other")); }}};
  for (const auto& [name, change] : changes) {
    EXPECT_EQ(message_of([&] {
                Outputs outputs({}, true, written());
                outputs.put(path("out/mine"), "new");
                outputs.put(path("out/" + name), "1");
                change();
                outputs.commit();
              }),
              path("out/" + name) + ": cannot be written: it changed while this ran");
    EXPECT_EQ(system::read_whole(path("out/mine")), "old");
    fs::remove(path("out/new"));
    EXPECT_EQ(count("out"), fs::exists(path("out/other")) ? 2 : 1);
  }
}

TEST_F(Places, AFullDeviceSaysSo) {
  EXPECT_EQ(message_of([&] {
              Outputs outputs({}, false, written());
              outputs.put("/dev/full", "x");
              outputs.commit();
            }),
            "/dev/full: cannot be written: No space left on device");
}

TEST(DumpNames, NamesDiffer) {
  // No two names give one part of a file name, and none is no name at all.
  std::vector<std::string> all = {"a+b",
                                  "a_b",
                                  "a.b",
                                  "a/b",
                                  "a%2Fb",
                                  "Y",
                                  "Y.reference",
                                  "t_1",
                                  "t.1",
                                  "t/1",
                                  "..",
                                  ".",
                                  "~",
                                  "a~2",
                                  "x",
                                  "con:",
                                  "a*b",
                                  "a?b",
                                  "<a>",
                                  "a|b",
                                  "",
                                  "\\xff",
                                  "t[1]",
                                  "t_",
                                  "t",
                                  std::string(200, 'x'),
                                  std::string(199, 'x')};
  for (int c = 33; c < 127; ++c) all.push_back(fmt::format("n{}n", static_cast<char>(c)));
  std::set<std::string> seen;
  for (const std::string& name : std::set<std::string>(all.begin(), all.end())) {
    const std::string text = file_name(name);
    EXPECT_TRUE(seen.insert(text).second) << name << " and another are " << text;
    EXPECT_LE(text.size(), 200u);
    EXPECT_EQ(text.find_first_of("/\\:*?\"<>|. "), text.npos) << text;
  }
  EXPECT_EQ(file_name("X0"), "X0");
  EXPECT_EQ(file_name("lora[0]"), "lora[0]");
  EXPECT_EQ(file_name("a.b"), "a%2Eb");
}

TEST(DumpNames, AlsoWithoutCase) {
  FileNames names;
  EXPECT_EQ(names("Ab"), "Ab");
  EXPECT_EQ(names("aB"), "aB~2");
  EXPECT_EQ(names("ab"), "ab~3");
  EXPECT_EQ(names("ab~2"), "ab%7E2");
}

}  // namespace
}  // namespace zellige::run
