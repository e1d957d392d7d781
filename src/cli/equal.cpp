// zellige equal: do two graphs compute the same, rounding ignored?
#include "search/equal.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "graph/load.hpp"
#include "run/files.hpp"
#include "search/describe.hpp"

namespace zellige::cli {
namespace {

using search::Answer;

struct Arguments {
  std::string a, b, counterexample;
  int index_a = 0, index_b = -1, trials = 4;
  std::uint64_t seed = 1;
  bool all = false, json = false, small = false;
};

const graph::Loaded& choose(const std::vector<graph::Loaded>& graphs, const std::string& file, int index) {
  const int count = static_cast<int>(graphs.size());
  if (index >= count)
    fail("{}: graph {} is out of range; the file holds {} graph{}, counted from 0", file, index, count,
         count == 1 ? "" : "s");
  return graphs[static_cast<std::size_t>(index)];
}

search::Equality compare(const Arguments& a, const graph::KernelGraph& program, const graph::Loaded& other) {
  if (!other.error.empty()) throw Error(other.error);
  return search::equal(program, other.graph, {.seed = a.seed, .trials = a.trials, .given_sizes = !a.small});
}

void print(const Arguments& a, const search::Equality& e, const std::string& in_a, const std::string& in_b) {
  if (a.json)
    fmt::print("{}\n", search::to_json(e, in_a, in_b));
  else
    fmt::print("{}", search::describe(e, in_a, in_b));
  std::fflush(stdout);
}

/// Every graph of B. One that was refused, or that cannot be compared, is undecided.
int compare_all(const Arguments& a, const graph::KernelGraph& program,
                const std::vector<graph::Loaded>& others) {
  int same = 0, different = 0, undecided = 0;
  Progress progress(static_cast<int>(others.size()));
  for (const graph::Loaded& other : others) {
    progress.show(same + different + undecided, fmt::format("{} equal, {} different", same, different));
    search::Equality e;
    try {
      e = compare(a, program, other);
    } catch (const Error& error) {
      e.why = error.what();
    }
    (e.answer == Answer::equal ? same : e.answer == Answer::different ? different : undecided) += 1;
    progress.clear();
    print(a, e, program.name, other.name);
    if (e.counterexample && different == 1 && !a.counterexample.empty())
      run::write_whole(a.counterexample, search::to_json(*e.counterexample));
  }
  if (!a.json)
    fmt::print("\n{} graphs: {} equal, {} different, {} undecided\n", others.size(), same, different,
               undecided);
  return different ? wrong : undecided ? refused : success;
}

int equal(const Arguments& a) {
  const auto first = graph::load_each(a.a), second = graph::load_each(a.b);
  const graph::Loaded& program = choose(first, a.a, a.index_a);
  if (!program.error.empty()) throw Error(program.error);
  if (second.empty()) fail("{}: holds no graphs", a.b);
  if (!a.all && a.index_b < 0 && second.size() > 1)
    fmt::print(stderr, "{}: the first of its {} graphs; --all compares all of them, --index N another\n", a.b,
               second.size());
  if (a.all) return compare_all(a, program.graph, second);
  const graph::Loaded& other = choose(second, a.b, std::max(a.index_b, 0));
  const search::Equality e = compare(a, program.graph, other);
  print(a, e, program.name, other.name);
  if (e.counterexample && !a.counterexample.empty())
    run::write_whole(a.counterexample, search::to_json(*e.counterexample));
  return e.answer == Answer::equal ? success : e.answer == Answer::different ? wrong : refused;
}

}  // namespace

Entry add_equal(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("equal", "Tell whether two graphs compute the same, rounding ignored");
  command->footer("\nExit status: 0 equal; 1 different; 2 undecided, or the graphs cannot be compared.");
  command->add_option("A", a->a, "A graph file: Zellige's JSON or Mirage's")->required();
  command->add_option("B", a->b, "Another; its inputs are A's, by name or else by order")->required();
  command->add_option("--index-a", a->index_a, "Which graph of A")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  auto* index = command->add_option("--index", a->index_b, "Which graph of B (default: the first)");
  index->check(CLI::NonNegativeNumber);
  command->add_flag("--all", a->all, "Every graph of B, one after another")->excludes(index);
  command->add_option("--seed", a->seed, "Of the primes and inputs drawn")->capture_default_str();
  command->add_option("--trials", a->trials, "Finite fields that must agree")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  command->add_flag("--small", a->small, "Leave out the check at the given sizes, in float64");
  command->add_option("--counterexample", a->counterexample,
                      "Write the (first) counterexample to this file: graphs, inputs, values");
  command->add_flag("--json", a->json, "Print one line of JSON a pair");
  return {command, [a] { return equal(*a); }};
}

}  // namespace zellige::cli
