// The hash by which a manifest detects that it was edited, and the hashes of the files that were written with
// it (docs/reference/manifest.md).
//
//   std::string sealed = seal(std::move(json));          // "hash" is of everything else
//   check_seal(parse_json(sealed, "mlp.manifest.json"), "mlp.manifest.json");
//   manifest.artefacts.push_back(artefact("mlp.cubin", bytes));
//
// A hash detects mistakes: a file that was exchanged, truncated or edited. It is no protection against
// forgery.
#pragma once
#include <string>
#include <string_view>

#include "emit/manifest.hpp"
#include "graph/json_text.hpp"

namespace zellige::emit {

/// XXH128 of a string, 32 digits, as `xxh128sum` prints it.
std::string hash(std::string_view);

/// An entry of Manifest::artefacts for a file that holds these bytes.
Artefact artefact(std::string file, std::string_view bytes);
graph::Json to_json(const Artefact&);

/// Returns the manifest as a string with its `hash` set: the hash is of the manifest as JSON with sorted
/// keys, without blanks, and with `hash` "".
std::string seal(graph::Json manifest);

/// Throws Error with both hashes if a manifest's `hash` does not match.
void check_seal(const graph::Json& manifest, std::string_view source);

}  // namespace zellige::emit
