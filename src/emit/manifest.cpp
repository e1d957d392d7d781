#define XXH_INLINE_ALL
#include "emit/manifest.hpp"

#include <xxhash.h>

#include <algorithm>
#include <limits>

#include "graph/error.hpp"
#include "graph/json_text.hpp"
#include "target/target.hpp"

namespace zellige::emit {
namespace {

using graph::Json;

// ---- Writing ----

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
          {"requests", k.requests},
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

// ---- Reading ----

constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max() / 4;

/// A JSON value and the path to it. Accessors throw Error with the path, what they expected and what they found.
class ManifestField {
 public:
  ManifestField(const Json& value, std::string path) : value_(&value), path_(std::move(path)) {}

  bool has(const char* key) const { return object().contains(key); }
  ManifestField operator[](const char* key) const {
    if (!has(key)) fail("{}: expected a field {}, found none", path_, key);
    return {(*value_)[key], fmt::format("{}.{}", path_, key)};
  }
  std::vector<ManifestField> list() const {
    if (!value_->is_array()) wrong("a list");
    std::vector<ManifestField> all;
    for (std::size_t i = 0; i < value_->size(); ++i) all.emplace_back((*value_)[i], fmt::format("{}[{}]", path_, i));
    return all;
  }
  std::int64_t integer(std::int64_t min, std::int64_t greatest = limit) const {
    if (!value_->is_number_integer() || value_->get<std::int64_t>() < min || value_->get<std::int64_t>() > greatest)
      wrong(greatest == limit ? fmt::format("an integer of at least {}", min)
                              : fmt::format("an integer from {} to {}", min, greatest));
    return value_->get<std::int64_t>();
  }
  std::vector<std::int64_t> integers(std::int64_t min) const {
    std::vector<std::int64_t> all;
    for (const ManifestField& f : list()) all.push_back(f.integer(min));
    return all;
  }
  graph::Dim3 extents() const {
    const std::vector<std::int64_t> all = integers(1);
    if (all.size() != 3) wrong("three numbers");
    return {all[0], all[1], all[2]};
  }
  bool truth() const {
    if (!value_->is_boolean()) wrong("true or false");
    return value_->get<bool>();
  }
  std::string text() const {
    if (!value_->is_string()) wrong("a string");
    return value_->get<std::string>();
  }
  /// Returns the enumerator to which `words` maps this field's text. Throws Error, with all words, if none.
  template <class T>
  T one_of(const std::vector<std::pair<std::string_view, T>>& words) const {
    const std::string found = text();
    std::string known;
    for (const auto& [word, value] : words) {
      if (word == found) return value;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", word);
    }
    wrong("one of " + known);
  }
  [[noreturn]] void wrong(const std::string& expected) const { wrong(expected, graph::describe(*value_)); }
  [[noreturn]] void wrong(const std::string& expected, const std::string& found) const {
    fail("{}: expected {}, found {}", path_, expected, found);
  }

 private:
  const Json& object() const {
    if (!value_->is_object()) wrong("an object");
    return *value_;
  }
  const Json* value_;
  std::string path_;
};

graph::DType dtype(const ManifestField& f) {
  std::vector<std::pair<std::string_view, graph::DType>> words;
  for (const graph::DType d : graph::all_dtypes()) words.emplace_back(graph::name(d), d);
  return f.one_of(words);
}

TensorPlace tensor(const ManifestField& f) {
  TensorPlace t;
  t.name = f["name"].text();
  t.role =
      f["role"].one_of<Role>({{"input", Role::input}, {"output", Role::output}, {"intermediate", Role::intermediate}});
  t.dtype = dtype(f["dtype"]);
  t.shape = f["shape"].integers(1);
  t.strides = f["strides"].integers(0);
  if (t.strides.size() != t.shape.size()) f["strides"].wrong(fmt::format("{} numbers, as shape has", t.shape.size()));
  t.bytes = f["bytes"].integer(0);
  if (t.role == Role::intermediate)
    t.offset = f["offset"].integer(0);
  else
    t.position = static_cast<int>(f["position"].integer(0, 1 << 20));
  t.constant = f.has("constant") && f["constant"].truth();
  return t;
}

int named(const std::vector<TensorPlace>& tensors, const ManifestField& f) {
  const std::string name = f.text();
  const auto at = std::ranges::find(tensors, name, &TensorPlace::name);
  if (at == tensors.end()) f.wrong("a tensor's name");
  return static_cast<int>(at - tensors.begin());
}

kernel::TensorMap tensor_map(const ManifestField& f, const TensorPlace& t) {
  kernel::TensorMap map;
  map.dtype = t.dtype;
  map.extent = f["extent"].integers(1), map.stride = f["stride"].integers(0), map.box = f["box"].integers(1);
  if (map.extent.empty() || map.extent.size() > 5) f["extent"].wrong("1 to 5 numbers");
  if (map.stride.size() != map.extent.size()) f["stride"].wrong("the same number of entries as extent");
  if (map.box.size() != map.extent.size()) f["box"].wrong("the same number of entries as extent");
  map.swizzle_bytes = static_cast<int>(f["swizzle"].integer(0, 128));
  constexpr int known[] = {0, 32, 64, 128};
  if (std::ranges::count(known, map.swizzle_bytes) == 0) f["swizzle"].wrong("0, 32, 64 or 128");
  return map;
}

/// Returns the bytes that a string of hexadecimal digits encodes. Throws Error unless there are 1 to 4096 bytes.
std::string bytes(const ManifestField& f) {
  const std::string digits = f.text();
  const auto value = [&](char c) {
    const int at = static_cast<int>(std::string_view("0123456789abcdef").find(c));
    if (at < 0) f.wrong("hexadecimal digits");
    return at;
  };
  if (digits.empty() || digits.size() % 2 || digits.size() > 8192) f.wrong("1 to 4096 bytes, two digits each");
  std::string all;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    all += static_cast<char>(16 * value(digits[i]) + value(digits[i + 1]));
  return all;
}

/// Reads grid, block, shared memory and cluster of a launch into `k`. Throws Error beyond the limits of the target.
void read_launch(const ManifestField& f, const target::Target& t, KernelLaunch& k) {
  constexpr std::int64_t max_cluster = 8;  // every GPU with clusters supports 8 blocks
  const auto limited = [&](const char* key, const graph::Dim3& limit) {
    const graph::Dim3 found = f[key].extents();
    if (found.x > limit.x || found.y > limit.y || found.z > limit.z)
      f[key].wrong(fmt::format("at most ({}, {}, {}), as {} has", limit.x, limit.y, limit.z, t.name),
                   fmt::format("({}, {}, {})", found.x, found.y, found.z));
    return found;
  };
  k.grid = limited("grid", {t.grid_x, t.grid_y, t.grid_z});
  k.block = limited("block", {t.threads_per_block, t.threads_per_block, t.block_z});
  if (const std::int64_t threads = k.block.x * k.block.y * k.block.z; threads > t.threads_per_block)
    f["block"].wrong(fmt::format("at most {} threads, as a block of {} has", t.threads_per_block, t.name),
                     fmt::format("{} ({} x {} x {})", threads, k.block.x, k.block.y, k.block.z));
  k.shared_bytes = f["shared_bytes"].integer(0, t.shared_per_block);
  if (!f.has("cluster")) return;
  const bool has_clusters = t.compute_capability >= 90;
  k.cluster = static_cast<int>(limited("cluster", {has_clusters ? max_cluster : 1, 1, 1}).x);
  if (k.grid.x % k.cluster)
    f["cluster"].wrong(fmt::format("a divisor of the grid's {} blocks along x", k.grid.x),
                       fmt::format("{}", k.cluster));
}

KernelLaunch kernel(const ManifestField& f, const std::vector<TensorPlace>& tensors, const target::Target& t) {
  KernelLaunch k;
  k.name = f["name"].text();
  read_launch(f, t, k);
  k.programmatic = f.has("programmatic") && f["programmatic"].truth();
  const std::vector<ManifestField> arguments = f["arguments"].list();
  for (const ManifestField& argument : arguments) {
    const int at = static_cast<int>(k.tensors.size());
    if (argument.has("bytes")) {
      k.constants[at] = bytes(argument["bytes"]);
      k.tensors.push_back(-1), k.writes.push_back(false);
      continue;
    }
    k.tensors.push_back(named(tensors, argument["tensor"]));
    k.writes.push_back(argument["writes"].truth());
    if (argument.has("tensor_map")) k.maps[at] = tensor_map(argument["tensor_map"], tensors[k.tensors.back()]);
  }
  const std::vector<std::int64_t> sizes = parameter_bytes(k);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (arguments[i].has("size") && arguments[i]["size"].integer(1) != sizes[i])
      arguments[i]["size"].wrong(fmt::format("{}, the bytes of {}", sizes[i],
                                             k.maps.contains(static_cast<int>(i)) ? "a tensor map"
                                             : k.tensors[i] < 0                   ? "its digits"
                                                                                  : "a pointer"));
  return k;
}

Artefact read_artefact(const ManifestField& f) {
  Artefact a{f["file"].text(), f["bytes"].integer(0), f["hash"].text()};
  if (a.hash.size() != 32 || a.hash.find_first_not_of("0123456789abcdef") != a.hash.npos)
    f["hash"].wrong("32 hexadecimal digits");
  return a;
}

/// Throws Error, with the place of field `f`, unless the inputs or outputs have the positions 0, 1, 2, ..., each once.
void check_positions(const Manifest& m, Role role, const ManifestField& f) {
  std::vector<int> found;
  for (const TensorPlace& t : m.tensors)
    if (t.role == role) found.push_back(t.position);
  std::ranges::sort(found);
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] != static_cast<int>(i))
      f.wrong(fmt::format("{} in positions 0 to {}, each once", role == Role::input ? "inputs" : "outputs",
                          found.size() - 1));
}

void check_version(const ManifestField& f, const std::string& source) {
  const std::int64_t version = f["version"].integer(1);
  if (version == 1)
    fail(
        "{}: is a manifest of version 1, which has no hashes; `zellige transpile GRAPH --target {} --emit "
        "cubin` writes it again, of version {}",
        source, f["target"].text(), manifest_version);
  if (version != manifest_version) f["version"].wrong(fmt::format("{}", manifest_version));
}

/// Returns the manifest that a JSON object represents, without checking its hash.
Manifest fields_of(const Json& root, const std::string& text, const std::string& source) {
  const ManifestField f(root, source);
  check_version(f, source);
  Manifest m;
  m.name = f["name"].text();
  const target::Target& target = target::find(f["target"].text());
  m.target = target.name;
  m.buffer_size = f["buffer_size"].integer(0);
  if (f.has("zellige")) m.zellige = f["zellige"].text();
  if (f.has("nvrtc")) m.nvrtc = f["nvrtc"].text();
  if (f.has("artefacts"))
    for (const ManifestField& a : f["artefacts"].list()) m.artefacts.push_back(read_artefact(a));
  const std::vector<ManifestField> tensors = f["tensors"].list();
  for (const ManifestField& t : tensors) m.tensors.push_back(tensor(t));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].has("memory")) m.tensors[i].memory = named(m.tensors, tensors[i]["memory"]);
  check_positions(m, Role::input, f["tensors"]);
  check_positions(m, Role::output, f["tensors"]);
  for (const ManifestField& k : f["kernels"].list()) m.kernels.push_back(kernel(k, m.tensors, target));
  m.decomposed = f.has("apart") && f["apart"].truth();
  if (root.contains("tiling")) m.tiling = retile::parse_tiling(text, source);
  return m;
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

std::string to_json(const Manifest& m) {
  Json root;
  root["version"] = manifest_version;
  root["hash"] = "";
  root["zellige"] = m.zellige.empty() ? ZELLIGE_VERSION : m.zellige;
  if (!m.nvrtc.empty()) root["nvrtc"] = m.nvrtc;
  root["name"] = m.name;
  root["target"] = m.target;
  root["buffer_size"] = m.buffer_size;
  if (m.decomposed) root["apart"] = true;
  root["tiling"] = Json::parse(retile::to_json(m.tiling));
  root["artefacts"] = Json::array();
  for (const Artefact& a : m.artefacts) root["artefacts"].push_back(to_json(a));
  root["tensors"] = Json::array();
  for (const TensorPlace& t : m.tensors) {
    Json j;
    j["name"] = t.name;
    j["role"] = name(t.role);
    if (t.position >= 0) j["position"] = t.position;
    if (t.constant) j["constant"] = true;
    j["dtype"] = graph::name(t.dtype);
    j["shape"] = t.shape;
    j["strides"] = t.strides;
    j["bytes"] = t.bytes;
    j["padding"] = t.bytes - graph::bytes_of(graph::size(t.shape), t.dtype);
    if (t.offset >= 0) j["offset"] = t.offset;
    if (t.memory >= 0) j["memory"] = m.tensors[t.memory].name;
    root["tensors"].push_back(std::move(j));
  }
  root["kernels"] = Json::array();
  for (const KernelLaunch& k : m.kernels) {
    Json j;
    j["name"] = k.name;
    j["grid"] = {k.grid.x, k.grid.y, k.grid.z};
    j["block"] = {k.block.x, k.block.y, k.block.z};
    j["shared_bytes"] = k.shared_bytes;
    if (k.cluster > 1) j["cluster"] = {k.cluster, 1, 1};
    if (k.programmatic) j["programmatic"] = true;
    j["arguments"] = Json::array();
    const std::vector<std::int64_t> sizes = parameter_bytes(k);
    for (std::size_t i = 0; i < k.tensors.size(); ++i) {
      if (const auto constant = k.constants.find(static_cast<int>(i)); constant != k.constants.end())
        j["arguments"].push_back({{"bytes", digits(constant->second)}});
      else
        j["arguments"].push_back(
            {{"tensor", m.tensors[k.tensors[i]].name}, {"writes", static_cast<bool>(k.writes[i])}});
      j["arguments"].back()["size"] = sizes[i];
    }
    for (const auto& [argument, map] : k.maps)
      j["arguments"][argument]["tensor_map"] = {
          {"extent", map.extent}, {"stride", map.stride}, {"box", map.box}, {"swizzle", map.swizzle_bytes}};
    j["price"] = cost_json(k.cost);
    root["kernels"].push_back(std::move(j));
  }
  return seal(std::move(root));
}

Manifest parse_manifest(const std::string& text, const std::string& source) {
  const Json root = graph::parse_json(text, source);
  Manifest m = fields_of(root, text, source);
  check_seal(root, source);
  return m;
}

Manifest unsealed_manifest(const std::string& text, const std::string& source) {
  return fields_of(graph::parse_json(text, source), text, source);
}

std::string sealed(const std::string& text, const std::string& source, const Artefact& with) {
  Json root = graph::parse_json(text, source), artefacts = Json::array();
  for (const Artefact& a : fields_of(root, text, source).artefacts)
    if (a.file != with.file) artefacts.push_back(to_json(a));
  artefacts.push_back(to_json(with));
  root["artefacts"] = std::move(artefacts);
  return seal(std::move(root));
}

}  // namespace zellige::emit
