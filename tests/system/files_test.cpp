#include "system/files.hpp"

#include <unistd.h>

#include "../run/failing.hpp"
#include "../run/folder.hpp"
#include "system/process.hpp"

namespace zellige::system {
namespace {

TEST(Files, WholeFileOrNone) {
  const Folder folder;
  const auto file = folder / "out.txt";
  write_whole(file, "first");
  write_whole(file, "second, and longer");
  EXPECT_EQ(read_whole(file), "second, and longer");
  int files = 0;
  for ([[maybe_unused]] const auto& f : std::filesystem::directory_iterator(folder.path)) ++files;
  EXPECT_EQ(files, 1);
}

TEST(Files, FailuresNameThePathAndTheReason) {
  const Folder folder;
  const std::string missing = (folder / "no/such/file").string();
  EXPECT_EQ(message_of([&] { write_whole(missing, "x"); }), missing + ": cannot be written: No such file or directory");
  EXPECT_EQ(message_of([&] { read_whole(missing); }), missing + ": cannot be read: No such file or directory");
  EXPECT_EQ(message_of([&] { write_whole(folder.path, "x"); }),
            folder.path.string() + ": cannot be written: Is a directory");
  write_whole(folder / "file", "x");
  EXPECT_EQ(message_of([&] { create_folders(folder / "file/below"); }),
            (folder / "file/below").string() + ": cannot create the folder: Not a directory");
}

TEST(Files, AFullDiskLeavesTheOldFile) {
  // /dev/full takes no bytes; it is no regular file, so it is written to in place.
  EXPECT_EQ(message_of([&] { write_whole("/dev/full", "x"); }),
            "/dev/full: cannot be written: No space left on device");
}

TEST(Process, OutputAndStatus) {
  const Finished good = run_process({"sh", "-c", "echo out; echo err >&2"});
  EXPECT_EQ(good.status, 0);
  EXPECT_EQ(good.output, "out\nerr\n");
  EXPECT_EQ(run_process({"sh", "-c", "exit 7"}).status, 7);
  EXPECT_EQ(run_process({"sh", "-c", "kill -9 $$"}).status, 137);
  EXPECT_EQ(message_of([] { run_process({"/no/such/program"}); }),
            "/no/such/program: cannot be started: No such file or directory");
}

TEST(Process, ProgramsAreFoundOnPath) {
  EXPECT_TRUE(find_program("sh"));
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_FALSE(find_program("no-such-program-anywhere"));
  EXPECT_FALSE(find_program("/etc/passwd"));
}

}  // namespace
}  // namespace zellige::system
