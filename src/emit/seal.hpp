// Computes the hash by which a manifest detects that it was edited, and the hashes of the files that were
// written together with it (docs/reference/manifest.md).
//
//   std::string sealed = seal(std::move(json));          // "hash" is of everything else
//   check_seal(parse_json(sealed, "mlp.manifest.json"), "mlp.manifest.json");
//   manifest.artefacts.push_back(artefact("mlp.cubin", bytes));
//
// A hash detects accidents: a file that was exchanged, truncated or edited. It does not protect against
// forgery.
#pragma once
#include <string>
#include <string_view>

#include "emit/manifest.hpp"
#include "graph/json_text.hpp"

namespace zellige::emit {

/// Returns the XXH128 hash of a string, 32 hexadecimal digits, as `xxh128sum` prints it.
std::string hash(std::string_view);

/// Returns the entry of Manifest::artefacts for a file with these contents.
Artefact artefact(std::string file, std::string_view bytes);
graph::Json to_json(const Artefact&);

/// Returns the text of the manifest with its `hash` set. The hash is that of the manifest as JSON with
/// sorted keys, without blanks, and with an empty `hash`.
std::string seal(graph::Json manifest);

/// Throws Error with both hashes if the manifest's `hash` is not that of its contents. `source` names the
/// manifest.
void check_seal(const graph::Json& manifest, std::string_view source);

}  // namespace zellige::emit
