#include "retile/tiling.hpp"

#include "graph/error.hpp"
#include "json/json_text.hpp"

namespace zellige::retile {
namespace {

using json::Json;

/// Returns the JSON value `j` as an integer. Throws Error if it is no positive integer; the message calls the
/// JSON source `source`, and the value `what`.
std::int64_t positive(const Json& j, std::string_view source, std::string_view what) {
  if (!j.is_number_integer() || j.get<std::int64_t>() < 1)
    fail("{}: {}: expected an integer of at least 1, found {}", source, what, j.dump());
  return j.get<std::int64_t>();
}

/// Returns the three positive integers in field `key` of an entry of the tiling's JSON list. Throws Error
/// unless the field has three positive integers; the message calls the JSON text `source`.
graph::Dim3 extents(const Json& entry, const char* key, std::string_view source) {
  if (!entry.contains(key) || !entry[key].is_array() || entry[key].size() != 3)
    fail("{}: {} of a tiling: expected three numbers, found {}", source, key,
         entry.contains(key) ? entry[key].dump() : "none");
  const Json& j = entry[key];
  return {positive(j[0], source, key), positive(j[1], source, key), positive(j[2], source, key)};
}

/// Throws Error if an entry of the tiling's JSON list has other keys than the known ones. Without this a misspelt flag
/// would be omitted silently.
void only_keys(const Json& entry, const std::vector<std::string_view>& known, std::string_view source) {
  for (const auto& [key, value] : entry.items())
    if (std::ranges::count(known, key) == 0)
      fail("{}: expected one of the keys {} of a tiling, found `{}`", source, fmt::join(known, ", "), key);
}

/// Returns the tile of a standalone matmul from its entry in the tiling's JSON list. Throws Error if a field
/// is missing or invalid; the message calls the JSON text `source`.
MatmulTile product_tile(const Json& entry, std::string_view source) {
  const graph::Dim3 tile = extents(entry, "tile", source);
  only_keys(entry, {"operator", "tile", "threads", "turned"}, source);
  if (!entry.contains("threads")) fail("{}: expected the `threads` of a product's tile, found none", source);
  if (entry.contains("turned") && !entry["turned"].is_boolean())
    fail("{}: turned: expected true or false, found {}", source, entry["turned"].dump());
  return {tile.x, tile.y, tile.z, static_cast<int>(positive(entry["threads"], source, "threads")),
          entry.value("turned", false)};
}

}  // namespace

Tiling tiling_of(const graph::KernelGraph& g) {
  Tiling all;
  for (std::size_t i = 0; i < g.ops.size(); ++i)
    if (const graph::BlockGraph* b = g.ops[i].block.get())
      all.push_back({static_cast<int>(i), b->grid, b->block, b->loop, {}});
  return all;
}

std::string to_json(const Tiling& tiling) {
  Json list = Json::array();
  const auto three = [](const graph::Dim3& d) { return Json{d.x, d.y, d.z}; };
  for (const OpTiling& t : tiling)
    if (const auto& p = t.product) {
      list.push_back({{"operator", t.op}, {"tile", Json{p->m, p->n, p->k}}, {"threads", p->threads}});
      if (p->swap_ab) list.back()["turned"] = true;
    } else {
      list.push_back({{"operator", t.op}, {"grid", three(t.grid)}, {"block", three(t.block)}, {"loop", t.loop}});
    }
  return list.dump();
}

Tiling parse_tiling(std::string_view text, std::string_view source) {
  Json root = Json::parse(text, nullptr, false);
  if (root.is_discarded()) fail("{}: expected JSON, found what is none", source);
  if (root.is_object()) {
    if (!root.contains("tiling")) fail("{}: expected a manifest with a `tiling`, found none", source);
    root = Json(root["tiling"]);
  }
  if (!root.is_array()) fail("{}: expected a list of tilings, found {}", source, root.type_name());
  Tiling all;
  for (const Json& entry : root) {
    if (!entry.is_object() || !entry.contains("operator") || !entry["operator"].is_number_unsigned())
      fail("{}: expected the `operator` that a tiling is of, found {}", source, entry.dump());
    if (entry.contains("tile")) {
      all.push_back({.op = entry["operator"].get<int>(), .product = product_tile(entry, source)});
      continue;
    }
    only_keys(entry, {"operator", "grid", "block", "loop"}, source);
    if (!entry.contains("loop")) fail("{}: expected the `loop` of a tiling, found none", source);
    all.push_back({entry["operator"].get<int>(),
                   extents(entry, "grid", source),
                   extents(entry, "block", source),
                   positive(entry["loop"], source, "loop"),
                   {}});
  }
  return all;
}

bool is_decomposed(std::string_view text, std::string_view source) {
  const Json root = Json::parse(text, nullptr, false);
  if (!root.is_object() || !root.contains("apart")) return false;
  if (!root["apart"].is_boolean()) fail("{}: apart: expected true or false, found {}", source, root["apart"].dump());
  return root["apart"].get<bool>();
}

std::string print(const Tiling& tiling) {
  std::string text;
  for (const OpTiling& t : tiling) {
    text += fmt::format("{}operator {}: ", text.empty() ? "" : "; ", t.op);
    if (const auto& p = t.product)
      text += fmt::format("tile {}x{}x{}, {} threads{}", p->m, p->n, p->k, p->threads,
                          p->swap_ab ? ", A and B swapped" : "");
    else
      text += fmt::format("grid {}x{}x{}, loop {}, {} threads", t.grid.x, t.grid.y, t.grid.z, t.loop, t.block.count());
  }
  return text;
}

}  // namespace zellige::retile
