// Files that --input names, and those that are none.
#include <filesystem>

#include "command.hpp"
#include "graphs.hpp"
#include "run/npy.hpp"
#include "system/files.hpp"
#include "system/process.hpp"

namespace {

using namespace zellige;
using system::write_whole;

struct Inputs : Command {
  Inputs() { write_whole(path("three.json"), three_graphs); }
};

TEST_F(Inputs, AnInputThatDoesNotFitIsRefused) {
  write_whole(path("half.npy"), run::npy(graph::DType::f16, {16, 8}, std::vector<double>(128)));
  write_whole(path("wide.npy"), run::npy(graph::DType::f32, {16, 16}, std::vector<double>(256)));
  write_whole(path("text.npy"), "hello");
  const auto with = [&](const std::vector<std::string>& inputs) {
    std::vector<std::string> words{"run", path("three.json"), "--index", "1", "--on", "emulator"};
    for (const std::string& i : inputs) words.push_back("--input"), words.push_back(i);
    return words;
  };
  const auto refused = [](const std::string& why) {
    return "three[1]               refused   emulator sm_80\n    " + why + "\n";
  };
  expect(with({"A=" + path("half.npy")}), 2,
         refused(path("half.npy") + ": input A of graph product is f16 (16, 16), found f16 (16, 8)"));
  expect(with({"A=" + path("wide.npy")}), 2,
         refused(path("wide.npy") + ": input A of graph product is f16 (16, 16), found f32 (16, 16)"));
  expect(with({"A=" + path("text.npy")}), 2, refused(path("text.npy") + ": is no .npy file of version 1.0"));
  expect(with({"A=" + path("none.npy")}), 2, refused(path("none.npy") + ": cannot be read: No such file or directory"));
  expect(with({"Y=" + path("half.npy")}), 2,
         refused("graph product has no input Y, which --input gives; known inputs are A, B; did you mean A?"));
  expect(with({"A"}), 2, "zellige: --input: expected NAME=FILE.npy, found A\n");
  expect(with({"=" + path("half.npy")}), 2,
         "zellige: --input: expected NAME=FILE.npy, found =" + path("half.npy") + "\n");
  expect(with({"A=x.npy", "A=y.npy"}), 2, "zellige: --input: A is given twice, as x.npy and as y.npy\n");
  std::vector<std::string> over = with({"A=" + path("half.npy")});
  over.insert(over.end(), {"--json", path("half.npy"), "--force"});
  expect(over, 2,
         "zellige: " + path("half.npy") + ": is an input of this command (" + path("half.npy") +
             "), which is never written over; name another output\n");
}

TEST_F(Inputs, AnInputIsReadNoFurtherThanItIsNeeded) {
  const std::string good = run::npy(graph::DType::f16, {16, 16}, std::vector<double>(256));
  const auto refused = [&](const std::string& file, const std::string& why) {
    expect({"run", path("three.json"), "--index", "1", "--on", "emulator", "--input", "A=" + file}, 2,
           "three[1]               refused   emulator sm_80\n    " + file + ": " + why + "\n");
  };
  write_whole(path("long.npy"), good);
  std::filesystem::resize_file(path("long.npy"), std::uintmax_t{1} << 40);
  refused(path("long.npy"), "holds 1099511627648 bytes of elements; its shape (16, 16) needs 256 of 2");
  write_whole(path("huge.npy"), "\x93NUMPY\x01" + std::string(1, '\0') + "\x76" + std::string(1, '\0') +
                                    "{'descr': '<f2', 'fortran_order': False, 'shape': (1099511627776, 16), }" +
                                    std::string(46, ' '));
  std::filesystem::resize_file(path("huge.npy"), std::uintmax_t{1} << 43);
  refused(path("huge.npy"), "input A of graph product is f16 (16, 16), found f16 (1099511627776, 16)");
  refused("/dev/zero", "is no .npy file of version 1.0");
  refused("/dev/null", "is no .npy file of version 1.0");
  refused(folder.path.string(), "cannot be read: Is a directory");
  expect({"run", path("three.json"), "--on", "emulator", "--tiling", "/dev/zero"}, 2,
         "zellige: /dev/zero: expected a manifest or its list of tilings, of at most 67108864 bytes, found "
         "more\n");
  write_whole(path("good.npy"), good);
  const system::Finished endless = zellige::system::run_process(
      {"sh", "-c",
       "mkfifo " + path("pipe") + "; (cat " + path("good.npy") + " /dev/zero > " + path("pipe") + ") & exec " +
           ZELLIGE_EXECUTABLE + " run " + path("three.json") + " --index 1 --on emulator --input A=" + path("pipe")});
  EXPECT_EQ(endless.output, "three[1]               refused   emulator sm_80\n    " + path("pipe") +
                                ": holds more than 512 bytes of elements; its shape (16, 16) needs 256 of 2\n");
}

}  // namespace
