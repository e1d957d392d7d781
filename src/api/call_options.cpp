#include "api/call_options.hpp"

#include "api/caller_memory.hpp"
#include "graph/error.hpp"

namespace zellige::api {
namespace {

/// Returns the caller's options; the defaults if there are none. Throws Error if the structure cannot be read.
zellige_options known_options(const zellige_options* given) {
  return given ? structure_at(given, "options", "zellige_options") : zellige_options{};
}

constexpr int max_workers = 1024;  // more threads than cores of any machine are a mistake

}  // namespace

CallOptions call_options(const zellige_options* given, std::size_t inputs) {
  const zellige_options o = known_options(given);
  if (o.on < ZELLIGE_ON_AUTO || o.on > ZELLIGE_ON_REFERENCE) fail("on: expected 0 to 3, found {}", o.on);
  if (o.workers < 0 || o.workers > max_workers)
    fail("workers: expected 0, which is one a core, or up to {} threads, found {}", max_workers, o.workers);
  if (o.constant_count < 0 || static_cast<std::size_t>(o.constant_count) > inputs)
    fail("constant_count: expected 0 to {}, the number of the graph's inputs, found {}", inputs, o.constant_count);
  CallOptions made{.on = static_cast<On>(o.on), .compile = {.fuse = o.as_given == 0, .tune = o.tune}};
  if (o.target) made.target = text_at(o.target, "target");
  if (o.tiling) made.tiling = text_at(o.tiling, "tiling");
  for (const char* name : array_at(o.constants, static_cast<std::size_t>(o.constant_count), "constants"))
    made.compile.constants.push_back(text_at(name, fmt::format("constants[{}]", made.compile.constants.size())));
  made.workers = o.workers;
  made.keep = o.keep != 0;
  constexpr auto last_way = static_cast<std::int32_t>(run::Collectives::fused);
  if (o.collectives < 0 || o.collectives > last_way)
    fail("collectives: expected 0 to {}, found {}", last_way, o.collectives);
  made.collectives = static_cast<run::Collectives>(o.collectives);
  if (o.watch)
    made.compile.watch = [watch = o.watch, watcher = o.watcher](const rewrite::Progress& p) {
      return watch(watcher, std::string(p.phase).c_str(), static_cast<std::int64_t>(p.done),
                   static_cast<std::int64_t>(p.of)) != 0;
    };
  return made;
}

}  // namespace zellige::api
