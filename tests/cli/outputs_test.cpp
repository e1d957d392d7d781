// Every option that writes, checked against the rules of run/outputs.hpp.
#include <unistd.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "command.hpp"
#include "graphs.hpp"
#include "system/files.hpp"

namespace {

namespace fs = std::filesystem;
using zellige::system::read_whole;
using zellige::system::write_whole;

struct Writer {
  std::string command, option;     // as --help lists them
  std::vector<std::string> words;  // IN: the graphs; OUT: the file or folder that is named
  std::vector<std::string> files;  // what is written, below OUT; "": OUT itself
  int status = 0;                  // where all is well
};

const Writer writers[] = {
    {"transpile", "--output", {"transpile", "IN", "-o", "OUT"}, {"scaled.cu", "scaled.manifest.json"}},
    {"transpile", "", {"transpile", "IN", "-o", "OUT", "--standalone"}, {"scaled.cu"}},
    {"optimize", "--output", {"optimize", "IN", "-o", "OUT"}, {""}},
    {"run", "--json", {"run", "IN", "--index", "0", "--on", "reference", "--json", "OUT"}, {""}},
    {"run",
     "--dump",
     {"run", "IN", "--index", "0", "--on", "reference", "--dump", "OUT"},
     {"scaled/input_A.npy", "scaled/output_Y.reference.npy"}},
    {"run",
     "",
     {"run", "IN", "--index", "0", "--on", "emulator", "--dump", "OUT"},
     {"scaled/output_Y.npy", "scaled/scaled.cu", "scaled/scaled.manifest.json"}},
    {"layout", "--svg", {"layout", "(4,4):(4,1)", "--svg", "OUT"}, {""}},
    {"layout", "--html", {"layout", "(4,4):(4,1)", "--html", "OUT"}, {""}},
    {"banks", "--svg", {"banks", "32:1", "--access", "32:1", "--svg", "OUT"}, {""}},
    {"banks", "--html", {"banks", "32:1", "--access", "32:1", "--html", "OUT"}, {""}},
    {"equal", "--counterexample", {"equal", "IN", "OTHER", "--counterexample", "OUT"}, {""}, 1},
};

struct Outputs : Command {
  Outputs() {
    write_whole(path("graphs.json"), three_graphs);
    std::string other = three_graphs;  // another operator in the first of them
    write_whole(path("other.json"), other.replace(other.find("\"exp\""), 5, "\"square\""));
  }
  zellige::system::Finished start(const Writer& w, const std::string& out, bool force = false) {
    std::vector<std::string> words = w.words;
    for (std::string& word : words)
      word = word == "IN"      ? path("graphs.json")
             : word == "OTHER" ? path("other.json")
             : word == "OUT"   ? path(out)
                               : word;
    if (force) words.push_back("--force");
    return run(words);
  }
  /// Everything below a folder, with its content.
  std::map<std::string, std::string> all(const std::string& name) const {
    std::map<std::string, std::string> files;
    for (const auto& f : fs::recursive_directory_iterator(path(name)))
      if (f.is_regular_file()) files[f.path().string()] = read_whole(f.path());
    return files;
  }
};

TEST_F(Outputs, EveryOptionThatWritesIsInTheTable) {
  for (const std::string command : {"run", "transpile", "optimize", "layout", "banks", "equal"}) {
    std::set<std::string> listed, known;
    const std::string help = run({command, "--help"}).output;
    const std::regex option("(--[a-z-]+) OUTF");
    for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at) listed.insert((*at)[1]);
    for (const Writer& w : writers)
      if (w.command == command && !w.option.empty()) known.insert(w.option);
    if (command == "layout") known.insert("--png");  // it needs a converter: tests/cli_layout/atom_picture_test.cpp
    EXPECT_EQ(listed, known);
    EXPECT_NE(help.find("--force"), help.npos);
  }
}

TEST_F(Outputs, AreReplacedIfTheyAreAsTheyWereWritten) {
  for (const Writer& w : writers) {
    SCOPED_TRACE(w.command + " " + w.option);
    fs::create_directories(path("out"));
    const std::string out = w.files[0].empty() ? "out/file" : "out";
    ASSERT_EQ(start(w, out).status, w.status);
    const auto first = all("out");
    EXPECT_EQ(start(w, out).status, w.status);
    for (const std::string& file : w.files) {
      const fs::path written = w.files[0].empty() ? path(out) : path(out + "/" + file);
      ASSERT_TRUE(first.contains(written.string())) << written;
      const std::string edited = read_whole(written) + " ";
      write_whole(written, edited);
      const auto before = all("out");
      const auto f = start(w, out);
      EXPECT_EQ(f.status, 2) << f.output;
      EXPECT_NE(f.output.find(written.string() + ": exists, and is not as Zellige wrote it"), f.output.npos)
          << f.output;
      EXPECT_EQ(all("out"), before) << "nothing is written where one file cannot be";
      const auto forced = start(w, out, true);
      EXPECT_EQ(forced.status, w.status) << forced.output;
      EXPECT_NE(read_whole(written), edited);
    }
    fs::remove_all(path("out"));
  }
}

TEST_F(Outputs, NeverLandOnAnInput) {
  for (const Writer& w : writers) {
    if (std::find(w.words.begin(), w.words.end(), "IN") == w.words.end()) continue;
    for (const std::string& file : w.files) {
      for (const bool hard : {false, true}) {
        SCOPED_TRACE(w.command + " " + file);
        const fs::path at = file.empty() ? path("out/file") : path("out/" + file);
        fs::create_directories(at.parent_path());
        hard ? fs::create_hard_link(path("graphs.json"), at) : fs::create_symlink(path("graphs.json"), at);
        const auto f = start(w, file.empty() ? "out/file" : "out", true);
        EXPECT_EQ(f.status, 2) << f.output;
        EXPECT_NE(f.output.find(at.string() + ": is an input of this command"), f.output.npos) << f.output;
        EXPECT_EQ(read_whole(path("graphs.json")), three_graphs);
        fs::remove_all(path("out"));
      }
    }
  }
}

// The very case that was reported: the graph is called as its program is.
TEST_F(Outputs, TheDefaultFolderIsTheGraphsOwn) {
  write_whole(path("scaled.json"), three_graphs);
  const auto here = fs::current_path();
  fs::current_path(folder.path);
  const auto f = run({"transpile", "scaled.json"});
  fs::current_path(here);
  EXPECT_EQ(f.output, "./scaled.cu\n./scaled.manifest.json\n");
  EXPECT_EQ(read_whole(path("scaled.json")), three_graphs);
}

TEST_F(Outputs, TwoOfOneRunInOnePlace) {
  const std::string clash = ": two outputs of this command would go there; name another\n";
  expect({"layout", "4:1", "--svg", path("x"), "--html", path("./x")}, 2, "zellige: " + path("./x") + clash);
  expect({"banks", "32:1", "--access", "32:1", "--svg", path("x"), "--html", path("X")}, 2,
         "zellige: " + path("X") + clash);
  fs::create_directories(path("dump/scaled"));
  const auto f = run({"run", path("graphs.json"), "--index", "0", "--on", "reference", "--json",
                      path("dump/scaled/input_A.npy"), "--dump", path("dump")});
  EXPECT_EQ(f.status, 2);
  EXPECT_NE(f.output.find(path("dump/scaled/input_A.npy") + clash.substr(0, clash.size() - 1)), f.output.npos)
      << f.output;
}

// Two graphs of one name have one folder below --dump: the second is refused, whichever file it is from.
TEST_F(Outputs, GraphsOfOneNameAreNotDumpedIntoOneAnother) {
  fs::create_directories(path("other"));
  write_whole(path("other/graphs.json"), three_graphs);
  const auto f = run({"run", path("graphs.json"), path("other/graphs.json"), "--index", "0", "--on", "reference",
                      "--dump", path("dump")});
  EXPECT_EQ(f.status, 2);
  EXPECT_NE(f.output.find("graph scaled: --dump would write it to " + path("dump/scaled") + ", where " +
                          path("graphs.json") + "[0] is written; run them separately"),
            f.output.npos)
      << f.output;
}

// Tensors with names that differ only slightly; each has its own file, with its own content.
TEST_F(Outputs, EveryTensorHasItsDump) {
  const std::vector<std::string> names = {"a+b", "a_b", "a.b", "a/b", "A_b", "a%2Bb", "t_1", "t.1", "t.reference", "t"};
  std::string inputs, operators, outputs;
  for (const std::string& n : names) {
    const std::string comma = inputs.empty() ? "" : ",";
    inputs += comma + R"({"name":"i)" + n + R"(","dtype":"f16","shape":[4,4]})";
    operators += comma + R"({"op":"exp","inputs":["i)" + n + R"("],"outputs":[")" + n + R"("]})";
    outputs += comma + "\"" + n + "\"";
  }
  write_whole(path("names.json"), R"({"zellige_graph":1,"name":"names","inputs":[)" + inputs + R"(],"operators":[)" +
                                      operators + R"(],"outputs":[)" + outputs + "]}");
  const auto f = run({"run", path("names.json"), "--on", "reference", "--dump", path("dump")});
  EXPECT_EQ(f.status, 0) << f.output;
  std::set<std::string> folded, contents;
  for (const auto& [file, content] : all("dump")) {
    EXPECT_TRUE(folded.insert(zellige::system::folded(file)).second) << file;
    contents.insert(content);
  }
  EXPECT_EQ(folded.size(), 2 * names.size() + 1) << "and graph.json";
  EXPECT_EQ(contents.size(), 2 * names.size() + 1);
}

TEST_F(Outputs, StandardOutputIsAStream) {
  const auto f = run({"run", path("graphs.json"), "--index", "0", "--on", "reference", "--json", "-"});
  EXPECT_EQ(f.status, 0);
  EXPECT_EQ(f.output.find("{\"file\":"), 0u) << f.output;
  const auto shell = zellige::system::run_process(
      {"sh", "-c", std::string(ZELLIGE_EXECUTABLE) + " layout 4:1 --svg /dev/stdout > " + path("all.txt")});
  EXPECT_EQ(shell.status, 0) << shell.output;
  EXPECT_EQ(read_whole(path("all.txt")).find("<svg"), 0u);
  EXPECT_TRUE(read_whole(path("all.txt")).ends_with("\n4:1\n"));
  EXPECT_EQ(
      zellige::system::run_process({"sh", "-c", std::string(ZELLIGE_EXECUTABLE) + " layout 4:1 > /dev/full"}).output,
      "zellige: stdout: cannot be written: No space left on device\n");
}

// Missing permissions, for a user who is not root.
TEST_F(Outputs, NoPermission) {
  std::vector<std::string> as_user;
  if (geteuid() == 0) {
    if (!zellige::system::find_program("setpriv")) GTEST_SKIP() << "this is root, and there is no setpriv";
    as_user = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  }
  fs::create_directories(path("locked"));
  write_whole(path("closed.json"), three_graphs);
  write_whole(path("fixed"), "");
  for (const auto& [name, mode] : {std::pair{"locked", 0555}, {"closed.json", 0000}, {"fixed", 0444}}) {
    fs::permissions(path(name), static_cast<fs::perms>(mode));
    if (geteuid() == 0) ASSERT_EQ(chown(path(name).c_str(), 65534, 65534), 0);
  }
  if (geteuid() == 0) ASSERT_EQ(chown(folder.path.c_str(), 65534, 65534), 0);
  if (geteuid() == 0) ASSERT_EQ(chmod(folder.path.c_str(), 0755), 0);
  const auto refused = [&](std::vector<std::string> words, const std::string& message) {
    words.insert(words.begin(), ZELLIGE_EXECUTABLE);
    words.insert(words.begin(), as_user.begin(), as_user.end());
    const auto f = zellige::system::run_process(words);
    EXPECT_EQ(f.status, 2);
    EXPECT_EQ(f.output, "zellige: " + message + "\n");
  };
  const std::string denied = ": cannot be written: Permission denied";
  for (const std::string at : {"locked/x", "fixed"}) {
    refused({"layout", "4:1", "--svg", path(at)}, path(at) + denied);
    refused({"layout", "4:1", "--html", path(at), "--force"}, path(at) + denied);
    refused({"run", path("graphs.json"), "--index", "0", "--on", "reference", "--json", path(at)}, path(at) + denied);
  }
  refused({"transpile", path("graphs.json"), "-o", path("locked")}, path("locked/scaled.cu") + denied);
  refused({"transpile", path("graphs.json"), "-o", path("locked/new")},
          path("locked/new") + ": cannot create the folder: Permission denied");
  refused({"run", path("graphs.json"), "--index", "0", "--on", "reference", "--dump", path("locked/new")},
          path("locked/new") + ": cannot create the folder: Permission denied");
  const std::string unread = path("closed.json") + ": expected a graph file that can be read, found: Permission denied";
  refused({"transpile", path("closed.json")}, unread);
  refused({"run", path("closed.json"), "--on", "reference"}, unread);
  refused({"layout", "--jsonl", path("closed.json")}, path("closed.json") + ": cannot be read: Permission denied");
}

TEST_F(Outputs, NoTemporaryFolderIsOneSentence) {
  setenv("TMPDIR", path("none").c_str(), 1);
  const auto f = run({"run", path("graphs.json"), "--index", "0", "--on", "emulator", "--no-cache"});
  unsetenv("TMPDIR");
  EXPECT_EQ(f.status, 2);
  EXPECT_EQ(f.output, "zellige: " + path("none") + ": is no folder for temporary files; set TMPDIR to one\n");
}

// One sentence for whatever is wrong with a path, for every option that reads or writes one.
TEST_F(Outputs, BadPathsAreOneSentence) {
  write_whole(path("file"), "in the way");
  fs::create_directories(path("folder"));
  std::vector<std::vector<std::string>> uses;
  const auto use = [&](const std::vector<std::string>& words, const std::string& bad) {
    uses.push_back(words);
    for (std::string& word : uses.back())
      word = word == "IN" ? path("graphs.json") : word == "OUT" || word == "READ" ? bad : word;
  };
  for (const std::string bad : {path("no/such"), path("file/below"), path("folder"), std::string("/dev/full"),
                                path("file"), path(std::string(300, 'n')), std::string("/proc/nothing/here")}) {
    for (const Writer& w : writers) {
      const bool to_folder = !w.files[0].empty();
      if (to_folder && (bad == path("no/such") || bad == path("folder"))) continue;  // these are good
      use(w.words, bad);
    }
    if (bad == path("file") || bad == "/dev/full") continue;
    use({"run", "READ", "--on", "reference"}, bad);
    use({"transpile", "READ", "-o", path("unused")}, bad);
    use({"layout", "--jsonl", "READ"}, bad);
  }
  for (const auto& words : uses) {
    const auto f = run(words);
    std::string command;
    for (const std::string& word : words) command += word + " ";
    SCOPED_TRACE(command + "\n" + f.output);
    EXPECT_EQ(f.status, 2);
    EXPECT_EQ(std::count(f.output.begin(), f.output.end(), '\n'), 1);
    EXPECT_EQ(f.output.find("zellige: "), 0u);
    for (const char* never : {"filesystem error", "exception", "what()", "terminate"})
      EXPECT_EQ(f.output.find(never), f.output.npos);
  }
}

}  // namespace
