#define XXH_INLINE_ALL
#include "manifest/manifest.hpp"

#include <xxhash.h>

#include "graph/error.hpp"
#include "json/json_text.hpp"

namespace zellige::manifest {
namespace {

using json::Json;

/// Returns the bytes as hexadecimal digits, two per byte.
std::string digits(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

/// Returns the estimated time of a kernel as JSON, with all quantities from which cost::time_of computes it:
/// bench/fit_price.py computes it again.
Json cost_json(const cost::KernelCost& k) {
  return {{"us", k.us},
          {"launched", k.launched},
          {"first_kernel", k.first_kernel},
          {"blocks_each", k.blocks_each},
          {"most", k.blocks_of_busiest},
          {"waves", k.waves},
          {"warp_specialized", k.warp_specialized},
          {"stalls", k.stalls},
          {"matmuls", k.matmuls},
          {"chained", k.chained},
          {"dram_bytes", k.dram_bytes},
          {"dram_runs", k.dram_runs},
          {"received_bytes", k.received_bytes},
          {"narrow_copies", k.narrow_copies},
          {"anywhere", k.anywhere},
          {"requests", k.requests},
          {"spills", k.spills},
          {"multicasts", k.multicasts},
          {"l2_bytes", k.l2_bytes},
          {"served_bytes", k.served_bytes},
          {"wavefronts", k.wavefronts},
          {"tensor_cycles", k.tensor_cycles},
          {"slots", k.slots},
          {"trips", k.trip_count},
          {"in_flight", k.in_flight},
          {"chain", k.chain},
          {"warps", k.warps},
          {"barriers", k.barriers},
          {"rounds", k.rounds},
          {"tiles", k.tiles},
          {"values", k.values},
          {"exchanged_bytes", k.exchanged_bytes}};
}

/// Returns numbers of a manifest as JSON: an integer, or what sizes make it, as an expression.
class NumbersText {
 public:
  explicit NumbersText(const Manifest& m) : m_(m) {}
  Json operator()(const SizedField& field, std::int64_t largest) const {
    const auto sized = m_.sized.find(field);
    return sized == m_.sized.end() ? Json(largest) : Json(sized->second.text(m_.sizes));
  }
  /// Returns a list whose entry i is the field with `at` i.
  Json list(SizedField field, const std::vector<std::int64_t>& largest) const {
    Json all = Json::array();
    for (field.at = 0; field.at < static_cast<int>(largest.size()); ++field.at)
      all.push_back((*this)(field, largest[static_cast<std::size_t>(field.at)]));
    return all;
  }
  bool sized(const SizedField& field) const { return m_.sized.contains(field); }

 private:
  const Manifest& m_;
};

Json to_json(const tile::SizeList& sizes) {
  Json all = Json::array();
  for (const tile::Size& s : sizes)
    all.push_back({{"name", s.name}, {"min", s.low}, {"max", s.high}, {"multiple", s.multiple}});
  return all;
}

/// Returns the sizes and their relations; nothing if there are no sizes.
void write_sizes(const Manifest& m, Json& root) {
  if (m.sizes.empty()) return;
  root["sizes"] = to_json(m.sizes);
  root["relations"] = Json::array();
  for (const SizeRelation& r : m.relations)
    root["relations"].push_back(fmt::format("{} = {}", r.left.text(m.sizes), r.right.text(m.sizes)));
}

/// Returns a launch as JSON.
Json kernel_json(const Manifest& m, int index) {
  const KernelLaunch& k = m.kernels[static_cast<std::size_t>(index)];
  const NumbersText numbers(m);
  Json j;
  j["name"] = k.name;
  j["grid"] = numbers.list({SizedField::grid, index}, {k.grid.x, k.grid.y, k.grid.z});
  j["block"] = {k.block.x, k.block.y, k.block.z};
  j["shared_bytes"] = k.shared_bytes;
  if (k.cluster > 1) j["cluster"] = {k.cluster, 1, 1};
  if (k.programmatic) j["programmatic"] = true;
  j["arguments"] = Json::array();
  const std::vector<std::int64_t> sizes = parameter_bytes(k);
  for (std::size_t i = 0; i < k.tensors.size(); ++i) {
    const SizedField scalar{SizedField::scalar, index, static_cast<int>(i)};
    if (const auto constant = k.constants.find(scalar.argument); constant != k.constants.end())
      j["arguments"].push_back(numbers.sized(scalar) ? Json{{"number", numbers(scalar, 0)}}
                                                     : Json{{"bytes", digits(constant->second)}});
    else
      j["arguments"].push_back({{"tensor", m.tensors[k.tensors[i]].name}, {"writes", static_cast<bool>(k.writes[i])}});
    j["arguments"].back()["size"] = sizes[i];
  }
  for (const auto& [argument, map] : k.maps)
    j["arguments"][argument]["tensor_map"] = {
        {"extent", numbers.list({SizedField::map_extent, index, argument}, map.extent)},
        {"stride", numbers.list({SizedField::map_stride, index, argument}, map.stride)},
        {"box", map.box},
        {"swizzle", map.swizzle_bytes}};
  j["price"] = cost_json(k.cost);
  return j;
}

Json to_json(const Artefact& a) { return {{"file", a.file}, {"bytes", a.bytes}, {"hash", a.hash}}; }

/// Returns the hash of a manifest whose field `hash` is set to "" first. The order of keys does not matter.
std::string hash_of(Json manifest) {
  manifest["hash"] = "";
  return hash(nlohmann::json::parse(manifest.dump()).dump());
}

/// Returns the source of the manifest with its field `hash` set. The hash is computed from the manifest as JSON
/// with sorted keys, without blanks, and with an empty `hash`.
std::string seal(Json manifest) {
  manifest["hash"] = hash_of(manifest);
  return manifest.dump(2) + "\n";
}

/// Throws Error, with the stored and the computed hash, if the manifest's field `hash` does not match its
/// contents. `source` is the manifest's name in the message.
void check_seal(const Json& manifest, std::string_view source) {
  const std::string declared = manifest.value("hash", ""), found = hash_of(manifest);
  if (declared != found)
    fail(
        "{}: its hash says {}, and that of what it holds is {}: it was edited after it was written; `zellige "
        "transpile` writes it again, and zellige_manifest_seal seals a hand-written one",
        source, declared.empty() ? "nothing" : declared, found);
}

}  // namespace

std::string hash(std::string_view text) {
  const XXH128_hash_t h = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

Artefact artefact(std::string file, std::string_view bytes) {
  return {std::move(file), static_cast<std::int64_t>(bytes.size()), hash(bytes)};
}

std::string_view name(Role role) {
  return role == Role::input ? "input" : role == Role::output ? "output" : "intermediate";
}

std::vector<std::int64_t> parameter_bytes(const KernelLaunch& k) {
  constexpr std::int64_t pointer = 8, descriptor = 128;
  std::vector<std::int64_t> all(k.tensors.size(), pointer);
  for (const auto& [at, map] : k.maps) all[at] = descriptor;
  for (const auto& [at, bytes] : k.constants) all[at] = static_cast<std::int64_t>(bytes.size());
  return all;
}

namespace {

/// Adds to `root` the memory, tensors and kernels of a program or a variant.
void write_program(const Manifest& m, Json& root) {
  const NumbersText numbers(m);
  root["tensors"] = Json::array();
  for (const TensorPlace& t : m.tensors) {
    const int index = static_cast<int>(&t - m.tensors.data());
    Json j;
    j["name"] = t.name;
    j["role"] = name(t.role);
    if (t.position >= 0) j["position"] = t.position;
    if (t.constant) j["constant"] = true;
    j["dtype"] = graph::name(t.dtype);
    j["shape"] = numbers.list({SizedField::extent, index}, t.shape);
    j["strides"] = numbers.list({SizedField::stride, index}, t.strides);
    j["bytes"] = numbers({SizedField::bytes, index}, t.bytes);
    if (!numbers.sized({SizedField::bytes, index}))
      j["padding"] = t.bytes - graph::bytes_of(graph::size(t.shape), t.dtype);
    if (t.offset >= 0) j["offset"] = numbers({SizedField::offset, index}, t.offset);
    if (t.memory >= 0) j["memory"] = m.tensors[t.memory].name;
    root["tensors"].push_back(std::move(j));
  }
  root["kernels"] = Json::array();
  for (int k = 0; k < static_cast<int>(m.kernels.size()); ++k) root["kernels"].push_back(kernel_json(m, k));
}

/// Adds to `root` the name, sizes, bytes of workspace and tilings of a program or a variant.
void write_head(const Manifest& m, Json& root) {
  root["name"] = m.name;
  root["target"] = m.target;
  if (!m.range.empty()) root["range"] = to_json(m.range);
  write_sizes(m, root);
  root["buffer_size"] = NumbersText(m)({SizedField::buffer_size}, m.buffer_size);
  if (m.decomposed) root["apart"] = true;
  root["tiling"] = Json::parse(retile::to_json(m.tiling));
}

}  // namespace

std::string to_json(const Manifest& m) {
  Json root;
  root["version"] = manifest_version;
  root["hash"] = "";
  root["zellige"] = m.zellige.empty() ? ZELLIGE_VERSION : m.zellige;
  if (!m.nvrtc.empty()) root["nvrtc"] = m.nvrtc;
  write_head(m, root);
  root["artefacts"] = Json::array();
  for (const Artefact& a : m.artefacts) root["artefacts"].push_back(to_json(a));
  write_program(m, root);
  for (const Manifest& v : m.variants) {
    Json& variant = root["variants"].emplace_back();
    write_head(v, variant), write_program(v, variant);
  }
  return seal(std::move(root));
}

Manifest parse_manifest(const std::string& text, const std::string& source) {
  Manifest m = unsealed_manifest(text, source);
  check_seal(json::parse_json(text, source), source);
  return m;
}

std::string sealed(const std::string& text, const std::string& source, const Artefact& with) {
  Json root = json::parse_json(text, source), artefacts = Json::array();
  for (const Artefact& a : unsealed_manifest(text, source).artefacts)
    if (a.file != with.file) artefacts.push_back(to_json(a));
  artefacts.push_back(to_json(with));
  root["artefacts"] = std::move(artefacts);
  return seal(std::move(root));
}

}  // namespace zellige::manifest
