#define XXH_INLINE_ALL
#include "emit/seal.hpp"

#include <xxhash.h>

#include "graph/error.hpp"

namespace zellige::emit {
namespace {

/// Returns the hash of a manifest whose field `hash` is set to "" first. The order of keys does not matter.
std::string hash_of(graph::Json manifest) {
  manifest["hash"] = "";
  return hash(nlohmann::json::parse(manifest.dump()).dump());
}

}  // namespace

std::string hash(std::string_view text) {
  const XXH128_hash_t h = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

Artefact artefact(std::string file, std::string_view bytes) {
  return {std::move(file), static_cast<std::int64_t>(bytes.size()), hash(bytes)};
}

graph::Json to_json(const Artefact& a) { return {{"file", a.file}, {"bytes", a.bytes}, {"hash", a.hash}}; }

std::string seal(graph::Json manifest) {
  manifest["hash"] = hash_of(manifest);
  return manifest.dump(2) + "\n";
}

void check_seal(const graph::Json& manifest, std::string_view source) {
  const std::string declared = manifest.value("hash", ""), found = hash_of(manifest);
  if (declared != found)
    fail(
        "{}: its hash says {}, and that of what it holds is {}: it was edited after it was written; `zellige "
        "transpile` writes it again, and zellige_manifest_seal seals a hand-written one",
        source, declared.empty() ? "nothing" : declared, found);
}

}  // namespace zellige::emit
