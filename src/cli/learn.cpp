// Implements `zellige learn`: a course of lessons, whose exercises are marked on the emulator.
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "learn/lesson.hpp"
#include "run/outputs.hpp"
#include "system/files.hpp"

namespace zellige::cli {
namespace {

struct LearnArguments {
  std::string action, file;
  int number = 0;
  bool force = false;
};

int list() {
  for (const learn::Lesson& l : learn::lessons())
    say(stdout, "{:2}  {:<26} docs/learn/{}\n", l.number, l.title, l.page);
  say(stdout, "zellige learn start N writes the exercises of lesson N, zellige learn check N marks them\n");
  return success;
}

int start(const LearnArguments& a, const learn::Lesson& l) {
  const std::string file = a.file.empty() ? learn::file_name(l) : a.file;
  if (std::filesystem::exists(file) && !a.force) fail("{}: exists; --force begins again, without your answers", file);
  run::Outputs outputs({}, a.force);
  outputs.put(file, l.file);
  outputs.commit();
  say(stdout, "{}: the exercises of lesson {}, {}; the lesson is docs/learn/{}\n", file, l.number, l.title, l.page);
  return success;
}

int check(const LearnArguments& a, const learn::Lesson& l) {
  const std::string file = a.file.empty() ? learn::file_name(l) : a.file;
  if (!std::filesystem::is_regular_file(file)) fail("{}: is no file; zellige learn start {} writes it", file, l.number);
  const std::vector<learn::Mark> marks = learn::mark(l, system::read_whole(file), toolchain::Cache::standard());
  int right = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    say(stdout, "exercise {}: {}\n", i + 1, marks[i].right ? "right" : "not yet");
    right += marks[i].right;
    std::string hint = marks[i].hint;
    for (std::size_t at = 0; at < hint.size(); at += 3) {
      hint.insert(at, "  ");
      at = hint.find('\n', at);
      if (at == hint.npos) break;
      at -= 2;
    }
    if (!hint.empty()) say(stdout, "{}\n", hint);
  }
  if (right < static_cast<int>(marks.size())) return wrong;
  if (l.number < static_cast<int>(learn::lessons().size()))
    say(stdout, "lesson {} is done; next: zellige learn start {}\n", l.number, l.number + 1);
  else
    say(stdout, "lesson {} is done, and so is the course\n", l.number);
  return success;
}

int learn(const LearnArguments& a) {
  if (a.action.empty()) return list();
  if (a.number == 0) fail("learn {}: expected a lesson from 1 to {}, found none", a.action, learn::lessons().size());
  const learn::Lesson& l = learn::lesson(a.number);
  return a.action == "start" ? start(a, l) : check(a, l);
}

}  // namespace

void add_learn(CLI::App& app, int& status) {
  auto a = std::make_shared<LearnArguments>();
  CLI::App* command = app.add_subcommand(
      "learn", "List the lessons of a course, from layouts to a GEMM for Hopper, and mark their exercises");
  add_example(command, "zellige learn start 1 && zellige learn check 1");
  command
      ->add_option("ACTION", a->action,
                   "start: write a lesson's exercises; check: mark them. Default: list the lessons")
      ->check(one_of({"start", "check"}));
  command->add_option("N", a->number, "The lesson's number")->check(integer(1, 99));
  command->add_option("FILE", a->file, "The exercises' file. Default: lesson_NN.cu in this folder");
  command->add_flag("--force", a->force, "With start: replace a file that exists");
  command->callback([a, &status] { status = learn(*a); });
}

}  // namespace zellige::cli
