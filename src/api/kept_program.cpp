#include "api/kept_program.hpp"

#include <charconv>

#include "emit/manifest.hpp"
#include "graph/error.hpp"
#include "json/json.hpp"
#include "run/kept.hpp"
#include "target/target.hpp"

namespace zellige::api {
namespace {

constexpr std::string_view kind_of_programs = "program";

/// Returns strings as one string, each after its length.
std::string packed(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& t : texts) all += fmt::format("{}:{}", t.size(), t);
  return all;
}

/// Returns the strings of packed(). Throws Error if `all` is not a result of it.
std::vector<std::string> unpacked(std::string_view all) {
  std::vector<std::string> texts;
  while (!all.empty()) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), size);
    all.remove_prefix(static_cast<std::size_t>(end - all.data()));
    if (error != std::errc{} || all.size() <= size || all[0] != ':') fail("expected texts, found {}", all.size());
    texts.emplace_back(all.substr(1, size));
    all.remove_prefix(1 + size);
  }
  return texts;
}

std::string key_of(const graph::KernelGraph& graph, const CallOptions& o) {
  return packed({json::to_json(graph), std::string(target_of(o).name), o.tiling, packed(o.compile.constants),
                 o.compile.fuse ? "fused" : "as given"});
}

}  // namespace

std::optional<CompiledProgram> kept_program(const graph::KernelGraph& graph, const CallOptions& o,
                                            const run::Cache& cache) {
  const std::optional<std::string> text = run::kept(cache, kind_of_programs, key_of(graph, o));
  if (!text) return std::nullopt;
  try {
    const std::vector<std::string> fields = unpacked(*text);
    if (fields.size() != 5) return std::nullopt;
    CompiledProgram made{{.source = fields[0],
                          .plan = {},
                          .cost = {},
                          .graph = {},
                          .manifest = emit::parse_manifest(fields[1], graph.name)},
                         unpacked(fields[3]),
                         fields[1]};
    made.program.cost.us = std::stod(fields[2]);
    made.program.plan.rejected = unpacked(fields[4]);
    return made;
  } catch (const std::exception&) {  // an entry of this build that cannot be read is planned again
    return std::nullopt;
  }
}

void keep_program(const graph::KernelGraph& graph, const CallOptions& o, const run::Cache& cache,
                  const CompiledProgram& c) {
  run::keep(cache, kind_of_programs, key_of(graph, o),
            packed({c.program.source, emit::to_json(c.program.manifest), fmt::format("{}", c.program.cost.us),
                    packed(c.limits), packed(c.program.plan.rejected)}));
}

}  // namespace zellige::api
