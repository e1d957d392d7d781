// Implements `zellige equal`: decides whether two graphs compute the same results, ignoring rounding.
#include "search/equal.hpp"

#include <fmt/core.h>

#include <limits>

#include "cli/choose.hpp"
#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "json/json.hpp"
#include "run/outputs.hpp"
#include "search/describe.hpp"

namespace zellige::cli {
namespace {

using search::Answer;

struct EqualArguments {
  std::string a, b, counterexample;
  int index_a = 0, index_b = -1, trials = 1;
  std::optional<std::uint64_t> seed;
  bool all = false, json = false, small = false, force = false;
};

/// Returns whether the graphs `program` and `other` compute the same results. Throws Error if `other` is
/// invalid or the two cannot be compared.
search::Equality compare(const EqualArguments& a, const graph::KernelGraph& program, const json::Loaded& other) {
  if (!other.error.empty()) throw Error(other.error);
  return search::equal(program, other.graph, {.seed = a.seed, .trials = a.trials, .given_sizes = !a.small});
}

void print(const EqualArguments& a, const search::Equality& e, const std::string& in_a, const std::string& in_b) {
  if (a.json)
    fmt::print("{}\n", search::to_json(e, in_a, in_b));
  else
    fmt::print("{}", search::describe(e, in_a, in_b));
  std::fflush(stdout);
}

/// Writes the counterexample, if there is one, to the file that the user named.
void keep(const EqualArguments& a, const search::Equality& e, run::Outputs& outputs) {
  if (e.counterexample && !a.counterexample.empty())
    outputs.rewrite(a.counterexample, search::to_json(*e.counterexample));
}

/// Compares every graph of the second file with the graph `program`. Prints a line per graph, including
/// graphs that are invalid or cannot be compared. Returns the exit status.
int compare_all(const EqualArguments& a, const graph::KernelGraph& program, run::Outputs& outputs) {
  int same = 0, different = 0, open = 0, refusals = 0;
  json::GraphFile others(a.b);
  ProgressLine progress;
  while (const std::optional<json::Loaded> other = others.next()) {
    progress.show(same + different + open + refusals, others.count(),
                  fmt::format("{} equal, {} different", same, different));
    try {
      const search::Equality e = compare(a, program, *other);
      (e.answer == Answer::equal ? same : e.answer == Answer::different ? different : open) += 1;
      progress.clear();
      print(a, e, program.name, other->name);
      if (different == 1) keep(a, e, outputs);
    } catch (const Error& error) {
      ++refusals;
      progress.clear();
      if (a.json)
        fmt::print("{}\n", search::to_json(error.what(), program.name, other->name));
      else
        fmt::print("{} and {}: not compared\n  {}\n", program.name, other->name, error.what());
      std::fflush(stdout);
    }
  }
  if (!a.json)
    fmt::print("\n{} graphs: {} equal, {} different, {} undecided, {} not compared\n", others.count(), same, different,
               open, refusals);
  outputs.commit();
  return different ? wrong : open ? undecided : refusals ? refused : success;
}

int equal(const EqualArguments& a) {
  run::Outputs outputs({a.a, a.b}, a.force);
  if (!a.counterexample.empty()) outputs.claim(a.counterexample);
  const graph::KernelGraph program = choose(a.a, a.index_a);
  if (a.all) return compare_all(a, program, outputs);
  json::GraphFile others(a.b);
  const json::Loaded other = choose(others, a.b, a.index_b, "compares");
  const search::Equality e = compare(a, program, other);
  print(a, e, program.name, other.name);
  keep(a, e, outputs);
  outputs.commit();
  return e.answer == Answer::equal ? success : e.answer == Answer::different ? wrong : undecided;
}

}  // namespace

void add_equal(CLI::App& app, int& status) {
  auto a = std::make_shared<EqualArguments>();
  CLI::App* command = app.add_subcommand("equal", "Decide whether two graphs compute the same, rounding ignored");
  command->footer("\nExit status: 0 equal; 1 different; 2 the graphs cannot be compared; 3 undecided.");
  add_example(command, "zellige equal before.json after.json --counterexample different.json");
  command->add_option("A", a->a, "A graph file: Zellige's JSON or Mirage's")->required();
  command->add_option("B", a->b, "The other file; inputs are paired by name, or else by order")->required();
  command->add_option("--index-a", a->index_a, "Number of the graph in A")
      ->check(integer(0, max_index))
      ->capture_default_str();
  auto* index = command->add_option("--index", a->index_b, "Number of the graph in B (default: the first)");
  index->check(integer(0, max_index));
  command->add_flag("--all", a->all, "Every graph of B, one after another")->excludes(index);
  command->add_option("--seed", a->seed, "Seed of the primes and inputs (default: a random one, which is printed)")
      ->check(integer(0, std::numeric_limits<std::uint64_t>::max()));
  command
      ->add_option("--trials", a->trials, "Least number of finite fields that must agree (default: enough for 2^-40)")
      ->check(integer(1, 100));
  command->add_flag("--small", a->small, "Skip the check at the given sizes");
  command
      ->add_option("--counterexample", a->counterexample,
                   "Write the (first) counterexample to this file: graphs, inputs, values")
      ->type_name(output_file);
  command->add_flag("--force", a->force, force_help);
  command->add_flag("--json", a->json, "Print one line of JSON per pair");
  command->callback([a, &status] { status = equal(*a); });
}

}  // namespace zellige::cli
