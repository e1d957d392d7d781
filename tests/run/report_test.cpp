#include "run/report.hpp"

#include "failing.hpp"
#include "folder.hpp"
#include "run/files.hpp"

namespace zellige::run {
namespace {

TEST(Report, LinesStandInTheOrderOfTheGraphs) {
  const Folder folder;
  Report report(folder / "out.jsonl");
  EXPECT_EQ(read_whole(folder / "out.jsonl"), "");
  report.add(2, "{\"c\":1}");
  EXPECT_EQ(read_whole(folder / "out.jsonl"), "{\"c\":1}\n");
  report.add(0, "{\"a\":1}");
  report.add(1, "{\"b\":1}");
  EXPECT_EQ(read_whole(folder / "out.jsonl"), "{\"a\":1}\n{\"b\":1}\n{\"c\":1}\n");
}

TEST(Report, AnUnwritableFileFailsAtOnce) {
  EXPECT_EQ(message_of([] { Report("/no/such/folder/out.jsonl"); }),
            "/no/such/folder/out.jsonl: cannot be written: No such file or directory");
}

TEST(Report, NoneWritesNothing) {
  Report report("");
  report.add(0, "x");
}

TEST(Report, ADeviceGetsEachLine) {
  Report report("/dev/null");
  report.add(0, "x");
  EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
}

}  // namespace
}  // namespace zellige::run
