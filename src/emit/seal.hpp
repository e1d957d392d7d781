// Computes two kinds of hashes: that of a manifest, which is stored in it and shows later edits, and those of
// the files that were written together with the manifest (docs/reference/manifest.md).
//
//   std::string sealed = seal(std::move(json));          // sets the field "hash", over all other fields
//   check_seal(parse_json(sealed, "mlp.manifest.json"), "mlp.manifest.json");
//   manifest.artefacts.push_back(artefact("mlp.cubin", bytes));
//
// A hash detects accidents: a file that was exchanged, truncated or edited. It does not protect against forgery.
#pragma once
#include <string>
#include <string_view>

#include "emit/manifest.hpp"
#include "graph/json_text.hpp"

namespace zellige::emit {

/// Returns the XXH128 hash of a string, 32 hexadecimal digits, as `xxh128sum` prints it.
std::string hash(std::string_view);

/// Returns an entry for Manifest::artefacts: the name `file`, and the size and hash of its contents `bytes`.
Artefact artefact(std::string file, std::string_view bytes);
graph::Json to_json(const Artefact&);

/// Returns the source of the manifest with its field `hash` set. The hash is computed from the manifest as JSON
/// with sorted keys, without blanks, and with an empty `hash`.
std::string seal(graph::Json manifest);

/// Throws Error, with the stored and the computed hash, if the manifest's field `hash` does not match its
/// contents. `source` is the manifest's name in the message.
void check_seal(const graph::Json& manifest, std::string_view source);

}  // namespace zellige::emit
