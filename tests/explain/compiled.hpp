// Graphs of the examples, compiled, with their accounts.
#pragma once
#include <fmt/format.h>

#include <map>
#include <string>

#include "explain/account.hpp"
#include "json/json.hpp"
#include "target/target.hpp"

namespace zellige::explain {

struct Explained {
  graph::KernelGraph graph;
  run::Compiled compiled;
  Account account;
};

/// Returns what is explained of a graph of the folder examples; of the tilings that were not taken, at most `alternatives`. A graph
/// is compiled once.
inline const Explained& explained(const std::string& file, const char* target = "sm_90a", int alternatives = 0) {
  static std::map<std::string, Explained> known;
  const std::string key = fmt::format("{} {} {}", file, target, alternatives);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  json::GraphFile in(std::string(ZELLIGE_SOURCE_DIR) + "/examples/" + file);
  graph::KernelGraph graph = in.next().value().graph;
  const target::Target& t = target::find(target);
  run::Compiled made = run::compile(graph, t, {.fuse = true, .plan = run::tiling_options("", t)});
  Account a = account(graph, made, t, alternatives);
  return known.emplace(key, Explained{std::move(graph), std::move(made), std::move(a)}).first->second;
}

}  // namespace zellige::explain
