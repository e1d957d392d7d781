// Implements `zellige emulate`: runs a CUDA program on the CPU, and reports the faults of its kernels.
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "cuda/program.hpp"
#include "run/outputs.hpp"

namespace zellige::cli {
namespace {

struct EmulateArguments {
  std::string file, sarif, standard = "c++20";
  std::vector<std::string> folders, macros, words;
  unsigned schedule = 0, jobs = 0;
  double seconds = 60;
  bool json = false, counts = false, exact = false, force = false;
};

// Reports what the run has found; returns the exit status. `status`: the program's own. `out`: where JSON goes.
int finish(const EmulateArguments& a, int status, std::FILE* out) {
  const cuda::ProgramReport& report = cuda::session().report;
  if (!a.sarif.empty()) {
    run::Outputs outputs({}, a.force);
    outputs.put(a.sarif, report.sarif(a.file));
    outputs.commit();
  }
  if (a.json) {
    say(out, "{}\n", report.json());
    std::fflush(out);
  } else {
    if (a.counts) say(stderr, "{}", report.costs());
    if (status == cuda::interrupted_status)
      say(stderr, "interrupted; found so far:\n");
    else if (status != 0)
      say(stderr, "the program ended with status {}\n", status);
    say(stderr, "{}\n", report.summary());
  }
  if (status == cuda::interrupted_status) return status;
  return report.findings().empty() && status == 0 ? success : wrong;
}

int emulate(const EmulateArguments& a) {
  const cuda::CompiledSource program =
      cuda::compile({a.file, a.folders, a.macros, a.standard}, toolchain::Cache::standard());
  std::FILE* out = stdout;
  if (a.json) {  // the program's own output goes to stderr
    out = fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  std::vector<std::string> words = a.words;
  words.insert(words.begin(), a.file);
  cuda::run_program(program, words,
                    {a.schedule, a.seconds, int(a.jobs), a.counts || a.json, a.exact, isatty(STDERR_FILENO) != 0},
                    [a, out](int status) -> int {
                      try {
                        return finish(a, status, out);
                      } catch (const std::exception& e) {
                        say(stderr, "zellige: {}\n", e.what());
                        return refused;
                      }
                    });
}

}  // namespace

void add_emulate(CLI::App& app, int& status) {
  auto a = std::make_shared<EmulateArguments>();
  CLI::App* command = app.add_subcommand(
      "emulate", "Run a CUDA program on the CPU, and find races, accesses out of bounds and deadlocks of its kernels");
  add_example(command, "zellige emulate reduce.cu -- 1024");
  command->add_option("FILE", a->file, "The program: a CUDA C++ source with its own main; headers are found beside it")
      ->required();
  command->add_option("ARGS", a->words, "The program's arguments, after --");
  command->add_option("-I", a->folders, "Folder in which headers are looked for. Repeatable")->allow_extra_args(false);
  command->add_option("-D", a->macros, "Macro that the compiler defines, NAME or NAME=VALUE. Repeatable")
      ->allow_extra_args(false);
  command->add_option("--std", a->standard, "C++ standard of the source")
      ->check(one_of({"c++17", "c++20"}))
      ->capture_default_str();
  command
      ->add_option("--schedule", a->schedule,
                   "Order in which threads run: 0 lane by lane, else a random order of this seed")
      ->check(integer(0, 1000000))
      ->capture_default_str();
  command->add_option("--seconds", a->seconds, "CPU time after which a block counts as one that does not end")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--jobs", a->jobs, "Number of blocks that run at once; 0: one per core")
      ->check(integer(0, 256))
      ->capture_default_str();
  command->add_flag("--exact", a->exact, "Accumulate products of tensor cores as an H200 does, bit for bit; slower");
  command->add_flag("--counts", a->counts, "Print accesses with bank conflicts or needless sectors, by line");
  command->add_flag("--json", a->json, "Print one line of JSON; the program's own output goes to stderr");
  command->add_option("--sarif", a->sarif, "Write the findings to this file, in SARIF 2.1.0")->type_name(output_file);
  command->add_flag("--force", a->force, force_help);
  command->callback([a, &status] { status = emulate(*a); });
}

}  // namespace zellige::cli
