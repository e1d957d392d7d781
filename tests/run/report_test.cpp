#include "failing.hpp"
#include "folder.hpp"
#include "manifest/manifest.hpp"
#include "run/outputs.hpp"
#include "system/files.hpp"

namespace zellige::run {
namespace {

TEST(Report, LinesStandInTheOrderOfTheGraphs) {
  const Folder folder;
  Outputs outputs({}, false, WrittenFiles(folder / "written"));
  Report report(outputs, folder / "out.jsonl");
  EXPECT_EQ(system::read_whole(folder / "out.jsonl"), "");
  report.add(2, "{\"c\":1}");
  EXPECT_EQ(system::read_whole(folder / "out.jsonl"), "{\"c\":1}\n");
  report.add(0, "{\"a\":1}");
  report.add(1, "{\"b\":1}");
  EXPECT_EQ(system::read_whole(folder / "out.jsonl"), "{\"a\":1}\n{\"b\":1}\n{\"c\":1}\n");
}

TEST(Report, AnUnwritableFileFailsAtOnce) {
  EXPECT_EQ(message_of([] {
              Outputs outputs;
              Report(outputs, "/no/such/folder/out.jsonl");
            }),
            "/no/such/folder/out.jsonl: cannot be written: No such file or directory");
}

// Above 1 MiB lines are appended, in order; lines that wait for a missing one are written at the end, and the
// file's content is recognised as Zellige's.
TEST(Report, ALongOneIsAppendedTo) {
  const Folder folder;
  const auto file = folder / "out.jsonl";
  Outputs outputs({}, false, WrittenFiles(folder / "written"));
  const std::string line(1 << 20, 'x');
  std::string expected;
  {
    Report report(outputs, file);
    for (int i = 0; i < 6; ++i, expected += line + "\n") report.add(i, line);
    report.add(7, "7");
    EXPECT_EQ(system::read_whole(file), expected);
    report.add(6, "6");
    expected += "6\n7\n";
    EXPECT_EQ(system::read_whole(file), expected);
    EXPECT_TRUE(outputs.written().holds(manifest::hash(expected)));
    report.add(9, "9");
  }
  EXPECT_EQ(system::read_whole(file), expected + "9\n");
  EXPECT_TRUE(outputs.written().holds(manifest::hash(expected + "9\n")));
}

TEST(Report, NoneWritesNothing) {
  Outputs outputs;
  Report report(outputs, "");
  report.add(0, "x");
}

TEST(Report, ADeviceGetsEachLine) {
  Outputs outputs;
  Report report(outputs, "/dev/null");
  report.add(0, "x");
  EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
}

}  // namespace
}  // namespace zellige::run
