// Reads a manifest from JSON: messages name the field, what was expected and what was found.
#include <algorithm>
#include <limits>

#include "graph/error.hpp"
#include "json/json_text.hpp"
#include "manifest/launch_sizes.hpp"
#include "manifest/manifest.hpp"
#include "manifest/variants.hpp"
#include "target/target.hpp"

namespace zellige::manifest {
namespace {

using json::Json;

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
  bool is_text() const { return value_->is_string(); }
  std::string dump() const { return value_->dump(); }
  const std::string& path() const { return path_; }
  bool truth() const {
    if (!value_->is_boolean()) wrong("true or false");
    return value_->get<bool>();
  }
  std::string text() const {
    if (!value_->is_string()) wrong("a string");
    return value_->get<std::string>();
  }
  /// Returns the enumerator to which `words` maps this field's word. Throws Error, with all words, if none.
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
  [[noreturn]] void wrong(const std::string& expected) const { wrong(expected, json::describe(*value_)); }
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

/// Reads numbers that may be expressions of a manifest's sizes: it has the largest value of each, and keeps the expression.
class NumbersReader {
 public:
  explicit NumbersReader(Manifest& m) : m_(m), largest_(largest(m.sizes)) {
    for (const tile::Size& s : m.sizes) smallest_.push_back(s.low);
  }

  std::int64_t operator()(const ManifestField& f, const SizedField& field, std::int64_t min,
                          std::int64_t greatest = limit) {
    if (!f.is_text() || m_.sizes.empty()) return f.integer(min, greatest);
    const tile::SizeExpression e = expression(f, f.text());
    const std::int64_t maximum = e.at(largest_), minimum = e.at(smallest_);
    if (std::min(maximum, minimum) < 0 || maximum > greatest)
      f.wrong(fmt::format("a number from 0 to {}", greatest), fmt::format("one from {} to {}", minimum, maximum));
    if (!e.is_constant()) m_.sized.emplace(field, e);
    return maximum;
  }
  /// Reads a list whose entry i is the field with `at` i.
  std::vector<std::int64_t> list(const ManifestField& f, SizedField field, std::int64_t min) {
    std::vector<std::int64_t> all;
    for (const ManifestField& entry : f.list()) all.push_back((*this)(entry, field, min)), ++field.at;
    return all;
  }
  tile::SizeExpression expression(const ManifestField& f, const std::string& text) const {
    try {
      return tile::SizeExpression::parse(text, m_.sizes);
    } catch (const Error& e) {
      f.wrong("an expression of the sizes", e.what());
    }
  }

 private:
  Manifest& m_;
  std::vector<std::int64_t> largest_, smallest_;
};

/// Reads a list of sizes.
tile::SizeList sizes(const ManifestField& f) {
  tile::SizeList all;
  for (const ManifestField& s : f.list()) {
    tile::Size size{.name = s["name"].text(),
                    .low = s["min"].integer(0),
                    .high = s["max"].integer(0),
                    .multiple = s["multiple"].integer(1)};
    if (size.low > size.high || size.low % size.multiple || size.high % size.multiple)
      s.wrong(fmt::format("multiples of {} as min and max, the first not above the other", size.multiple),
              fmt::format("{} and {}", size.low, size.high));
    if (std::ranges::count(all, size.name, &tile::Size::name) > 0) s["name"].wrong("a name that no size before has");
    all.push_back(std::move(size));
  }
  return all;
}

/// Reads the sizes and their relations.
void read_sizes(const ManifestField& f, Manifest& m) {
  if (!f.has("sizes")) return;
  m.sizes = sizes(f["sizes"]);
  if (!f.has("relations")) return;
  const NumbersReader numbers(m);
  for (const ManifestField& r : f["relations"].list()) {
    const std::string text = r.text();
    const std::size_t is = text.find('=');
    if (is == text.npos) r.wrong("two expressions of sizes, as in T2 = T + P");
    m.relations.push_back({numbers.expression(r, text.substr(0, is)), numbers.expression(r, text.substr(is + 1))});
  }
}

/// Reads a tensor, which is the next one of the manifest.
TensorPlace tensor(const ManifestField& f, NumbersReader& numbers, int index) {
  TensorPlace t;
  t.name = f["name"].text();
  t.role =
      f["role"].one_of<Role>({{"input", Role::input}, {"output", Role::output}, {"intermediate", Role::intermediate}});
  t.dtype = dtype(f["dtype"]);
  t.shape = numbers.list(f["shape"], {SizedField::extent, index}, 1);
  t.strides = numbers.list(f["strides"], {SizedField::stride, index}, 0);
  if (t.strides.size() != t.shape.size()) f["strides"].wrong(fmt::format("{} numbers, as shape has", t.shape.size()));
  t.bytes = numbers(f["bytes"], {SizedField::bytes, index}, 0);
  if (t.role == Role::intermediate)
    t.offset = numbers(f["offset"], {SizedField::offset, index}, 0);
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

kernel::TensorMap tensor_map(const ManifestField& f, const TensorPlace& t, NumbersReader& numbers, SizedField field) {
  kernel::TensorMap map;
  map.dtype = t.dtype;
  field.kind = SizedField::map_extent, map.extent = numbers.list(f["extent"], field, 1);
  field.kind = SizedField::map_stride, map.stride = numbers.list(f["stride"], field, 0);
  map.box = f["box"].integers(1);
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
void read_launch(const ManifestField& f, const target::Target& t, NumbersReader& numbers, int index, KernelLaunch& k) {
  constexpr std::int64_t max_cluster = 8;  // every GPU with clusters supports 8 blocks
  const auto limited = [&](const char* key, const graph::Dim3& limit) {
    const bool sized = std::string_view(key) == "grid";
    const std::vector<std::int64_t> all =
        sized ? numbers.list(f[key], {SizedField::grid, index}, 1) : f[key].integers(1);
    if (all.size() != 3) f[key].wrong("three numbers");
    const graph::Dim3 found{all[0], all[1], all[2]};
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

KernelLaunch kernel(const ManifestField& f, const std::vector<TensorPlace>& tensors, const target::Target& t,
                    NumbersReader& numbers, int index) {
  KernelLaunch k;
  k.name = f["name"].text();
  read_launch(f, t, numbers, index, k);
  k.programmatic = f.has("programmatic") && f["programmatic"].truth();
  const std::vector<ManifestField> arguments = f["arguments"].list();
  for (const ManifestField& argument : arguments) {
    const int at = static_cast<int>(k.tensors.size());
    if (argument.has("bytes")) {
      k.constants[at] = bytes(argument["bytes"]);
      k.tensors.push_back(-1), k.writes.push_back(false);
      continue;
    }
    if (argument.has("number")) {
      const std::int64_t width = argument["size"].integer(4, 8);
      if (width != 4 && width != 8) argument["size"].wrong("4 or 8, the bytes of a number");
      const std::int64_t maximum = width == 4 ? std::numeric_limits<std::int32_t>::max() : limit;
      k.constants[at] = bytes_of(numbers(argument["number"], {SizedField::scalar, index, at}, 0, maximum),
                                 static_cast<std::size_t>(width));
      k.tensors.push_back(-1), k.writes.push_back(false);
      continue;
    }
    k.tensors.push_back(named(tensors, argument["tensor"]));
    k.writes.push_back(argument["writes"].truth());
    if (argument.has("tensor_map"))
      k.maps[at] =
          tensor_map(argument["tensor_map"], tensors[k.tensors.back()], numbers, {.of = index, .argument = at});
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
  if (version > manifest_version) f["version"].wrong(fmt::format("2 or {}", manifest_version));
}

/// Reads what a program and a variant have in common.
Manifest read_program(const ManifestField& f) {
  Manifest m;
  m.name = f["name"].text();
  const target::Target& target = target::find(f["target"].text());
  m.target = target.name;
  read_sizes(f, m);
  NumbersReader numbers(m);
  m.buffer_size = numbers(f["buffer_size"], {SizedField::buffer_size}, 0);
  const std::vector<ManifestField> tensors = f["tensors"].list();
  for (const ManifestField& t : tensors) m.tensors.push_back(tensor(t, numbers, static_cast<int>(m.tensors.size())));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].has("memory")) m.tensors[i].memory = named(m.tensors, tensors[i]["memory"]);
  check_positions(m, Role::input, f["tensors"]);
  check_positions(m, Role::output, f["tensors"]);
  for (const ManifestField& k : f["kernels"].list())
    m.kernels.push_back(kernel(k, m.tensors, target, numbers, static_cast<int>(m.kernels.size())));
  m.decomposed = f.has("apart") && f["apart"].truth();
  if (f.has("tiling")) m.tiling = retile::parse_tiling(f["tiling"].dump(), f.path());
  return m;
}

/// Reads the variants of a program, and checks that their ranges hold.
void read_variants(const ManifestField& f, Manifest& m) {
  if (!f.has("variants")) return;
  for (const ManifestField& v : f["variants"].list()) {
    Manifest& variant = m.variants.emplace_back(read_program(v));
    variant.range = sizes(v["range"]);
  }
  check_variants(m);
}

}  // namespace

Manifest unsealed_manifest(const std::string& text, const std::string& source) {
  const Json root = json::parse_json(text, source);
  const ManifestField f(root, source);
  check_version(f, source);
  Manifest m = read_program(f);
  if (f.has("zellige")) m.zellige = f["zellige"].text();
  if (f.has("nvrtc")) m.nvrtc = f["nvrtc"].text();
  if (f.has("artefacts"))
    for (const ManifestField& a : f["artefacts"].list()) m.artefacts.push_back(read_artefact(a));
  read_variants(f, m);
  return m;
}

}  // namespace zellige::manifest
