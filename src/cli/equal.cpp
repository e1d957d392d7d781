// Implements `zellige equal`: decides whether two graphs compute the same results, ignoring rounding.
#include "search/equal.hpp"

#include <fmt/core.h>

#include <limits>
#include <set>

#include "cli/choose.hpp"
#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "graph/collective.hpp"
#include "json/json.hpp"
#include "ranks/over_ranks.hpp"
#include "run/outputs.hpp"
#include "search/describe.hpp"

namespace zellige::cli {
namespace {

using search::Answer;

struct EqualArguments {
  std::string a, b, counterexample;
  int index_a = 0, index_b = -1, trials = 1, ranks = 0;
  std::vector<std::string> shard;
  std::optional<std::uint64_t> seed;
  bool all = false, json = false, small = false, force = false;
};

/// Parses the values of --shard: NAME=DIM, several of them divided by commas.
std::vector<ranks::Shard> shards(const std::vector<std::string>& given) {
  std::vector<ranks::Shard> all;
  for (const std::string& word : given) {
    const std::size_t at = word.rfind('=');
    const std::string dim = at == word.npos ? "" : word.substr(at + 1);
    if (at == 0 || dim.size() != 1 || dim[0] < '0' || dim[0] > '7')
      fail("--shard: expected NAME=DIM, with a dimension of 0 to 7, found {}", word.empty() ? "nothing" : word);
    all.push_back({word.substr(0, at), dim[0] - '0'});
  }
  return all;
}

bool is_over_ranks(const graph::KernelGraph& g) { return g.ranks > 1 || graph::has_collectives(g); }

/// Returns the graph itself, or what a graph over ranks computes of whole inputs: a graph for each rank whose copy of the
/// outputs is computed in another way than those of the ranks before it.
std::vector<graph::KernelGraph> seen_whole(const EqualArguments& a, const graph::KernelGraph& given) {
  if (!is_over_ranks(given)) return {given};
  const graph::KernelGraph g = a.ranks > 0 ? graph::with_ranks(given, a.ranks) : given;
  std::vector<graph::KernelGraph> all;
  std::set<std::string> met;
  for (int r = 0; r < g.ranks; ++r) {
    graph::KernelGraph one = ranks::unsharded(g, shards(a.shard), r);
    if (met.insert(json::to_json(one)).second) all.push_back(std::move(one));
  }
  return all;
}

/// Returns whether the graphs `program` and `other` compute the same results, on every rank of a graph over ranks. Throws
/// Error if `other` is invalid or the two cannot be compared.
search::Equality compare(const EqualArguments& a, const graph::KernelGraph& program, const json::Loaded& other) {
  if (!other.error.empty()) throw Error(other.error);
  if (!is_over_ranks(program) && !is_over_ranks(other.graph) && (a.ranks > 0 || !a.shard.empty()))
    fail("--{}: expected a graph over ranks, found none: neither {} nor {} has ranks", a.ranks > 0 ? "ranks" : "shard",
         program.name, other.name);
  const std::vector<graph::KernelGraph> left = seen_whole(a, program), right = seen_whole(a, other.graph);
  const search::EqualOptions options{.seed = a.seed, .trials = a.trials, .given_sizes = !a.small};
  search::Equality result = search::equal(left[0], right[0], options);
  for (std::size_t i = 1; i < left.size() + right.size() - 1 && result.answer == Answer::equal; ++i) {
    const bool of_left = i < left.size();
    search::Equality e = search::equal(left[of_left ? i : 0], right[of_left ? 0 : i - left.size() + 1], options);
    if (e.answer != Answer::equal) result = std::move(e);
  }
  if (left.size() > 1 || right.size() > 1)
    result.notes.emplace_back("ranks compute their copies of outputs in different ways; each way is compared");
  return result;
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
  command
      ->add_option(
          "--shard", a->shard,
          "Inputs and outputs of which each rank of a graph over ranks has a part, as NAME=DIM,...; the others are "
          "the same on all ranks. Repeatable")
      ->delimiter(',');
  command->add_option("--ranks", a->ranks, "Number of ranks, in place of that of the graph over ranks")
      ->check(integer(1, graph::max_ranks));
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
