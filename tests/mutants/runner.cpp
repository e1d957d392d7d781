// runner ID...: runs each mutant of the program's kernel in a separate process, and reports the result on one
// line each:  ID <tab> VERDICT <tab> TRIAL <tab> SENTENCE.  The first line has the run time of the unmodified
// kernel.
//
//   found     the emulator has a finding, the sentence
//   numbers   no finding, and the results differ in some bit
//   ended     the process was killed: a crash, or an endless loop
//   nothing   neither, in any trial
//   unreached the mutated place is never executed
//
// runner schedules N: the unmodified kernel, in N orders of its threads: no finding, and the same results.
// runner save FILE, runner against FILE: compares a program that is itself one mutant with the results of
// another.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "trial.hpp"

namespace {

using mutants::Outcome;
using mutants::Trial;

struct Verdict {
  std::string what, trial, sentence;
};

Outcome attempt(const Trial& trial) {
  try {
    return trial.run();
  } catch (const std::exception& e) {
    return {std::string("refused: ") + e.what(), {}};
  }
}

// The child's answer: one letter, then the finding.
std::string in_child(const Trial& trial, const Outcome& right, int id) {
  int ends[2];
  if (pipe(ends)) return "c";
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(30);
    zm::selected = id;
    const Outcome outcome = attempt(trial);
    std::string answer = !outcome.finding.empty()       ? "f" + outcome.finding
                         : outcome.bytes != right.bytes ? "n"
                         : zm::reached                  ? "-"
                                                        : "u";
    if (write(ends[1], answer.data(), answer.size()) < 0) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  std::string answer;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) answer.append(buffer, std::size_t(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (answer.empty()) return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "eit does not end" : "eit crashes";
  return answer;
}

// The strongest verdict of all trials.
Verdict judge(const std::vector<Trial>& trials, const std::vector<Outcome>& right, int id, bool few) {
  Verdict best{"unreached", "", ""};
  const auto rank = [](const std::string& what) {
    return what == "found" ? 4 : what == "ended" ? 3 : what == "numbers" ? 2 : what == "nothing" ? 1 : 0;
  };
  for (std::size_t t = 0; t < trials.size(); ++t) {
    const std::string answer = in_child(trials[t], right[t], id);
    const char* what = answer[0] == 'f'   ? "found"
                       : answer[0] == 'e' ? "ended"
                       : answer[0] == 'n' ? "numbers"
                       : answer[0] == '-' ? "nothing"
                                          : "unreached";
    if (rank(what) <= rank(best.what)) continue;
    best = {what, trials[t].name, answer.substr(1)};
    if (best.what == "found" || (few && best.what != "nothing")) break;
  }
  return best;
}

// The unmodified kernel, in `count` orders of its threads.
int schedules(const std::vector<Trial>& trials, const std::vector<Outcome>& right, int count) {
  int wrong = 0;
  for (std::size_t t = 0; t < trials.size(); ++t)
    for (mutants::schedule() = 1; mutants::schedule() <= unsigned(count); ++mutants::schedule()) {
      const Outcome o = attempt(trials[t]);
      if (o.finding.empty() && o.bytes == right[t].bytes) continue;
      ++wrong;
      std::printf("%u\tschedule\t%s\t%s\n", mutants::schedule(), trials[t].name,
                  o.finding.empty() ? "other results" : o.finding.c_str());
    }
  std::printf("0\tschedules\t%d\t%d wrong\n", count, wrong);
  return wrong != 0;
}

int save(const std::vector<Outcome>& right, const char* path) {
  std::ofstream file(path, std::ios::binary);
  for (const Outcome& o : right) {
    const std::uint64_t size = o.bytes.size();
    file.write(reinterpret_cast<const char*>(&size), sizeof size);
    file.write(reinterpret_cast<const char*>(o.bytes.data()), std::streamsize(size));
  }
  return file ? 0 : 1;
}

// A program that is one mutant itself.
int against(const std::vector<Trial>& trials, const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<Outcome> right(trials.size());
  for (Outcome& o : right) {
    std::uint64_t size = 0;
    file.read(reinterpret_cast<char*>(&size), sizeof size);
    o.bytes.resize(size);
    file.read(reinterpret_cast<char*>(o.bytes.data()), std::streamsize(size));
  }
  zm::reached = true;
  const Verdict v = judge(trials, right, 0, false);
  std::printf("0\t%s\t%s\t%s\n", v.what.c_str(), v.trial.c_str(), v.sentence.c_str());
  return file ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Trial> trials = mutants::trials();
  const std::string what = argc == 3 ? argv[1] : "";
  if (what == "against") return against(trials, argv[2]);
  std::vector<Outcome> right;
  const auto start = std::chrono::steady_clock::now();
  for (const Trial& t : trials) {
    right.push_back(attempt(t));
    if (right.back().finding.empty()) continue;
    std::printf("0\talarm\t%s\t%s\n", t.name, right.back().finding.c_str());
    return 1;
  }
  if (what == "save") return save(right, argv[2]);
  if (what == "schedules") return schedules(trials, right, std::atoi(argv[2]));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("0\tright\t%zu trials\t%.2f s\n", trials.size(), took.count());
  bool few = false;  // wrong numbers suffice after "few"
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "few") {
      few = true;
      continue;
    }
    const int id = std::atoi(argv[i]);
    const Verdict v = judge(trials, right, id, few);
    std::printf("%d\t%s\t%s\t%s\n", id, v.what.c_str(), v.trial.c_str(), v.sentence.c_str());
    std::fflush(stdout);
  }
}
