// Parses a manifest (docs/reference/manifest.md), from which a compiled program is loaded together with its cubin.
#pragma once
#include <string>

#include "emit/manifest.hpp"

namespace zellige::emit {

/// Returns the manifest in `text`; `source` is its name in messages. Throws Error if a field is missing or
/// invalid (the message has the field, what was expected and what was found), or if the hash shows that the
/// manifest was edited after it was written.
Manifest parse_manifest(const std::string& text, const std::string& source);

/// Returns the manifest in `text` without a check of its hash, for manifests that a user writes or edits.
Manifest unsealed_manifest(const std::string& text, const std::string& source);

/// Returns the manifest `text` with the file `with` added to its artefacts (or replaced there) and with its
/// hash set. Throws Error if a field is missing or invalid; a wrong hash in `text` is no error. `source` is the
/// manifest's name in messages.
std::string sealed(const std::string& text, const std::string& source, const Artefact& with);

}  // namespace zellige::emit
