// Parses a manifest (docs/reference/manifest.md), from which a compiled program is loaded together with its
// cubin.
#pragma once
#include <string>

#include "emit/manifest.hpp"

namespace zellige::emit {

/// Returns the manifest in `text`. `source` names it in messages. Throws Error with the field, what it must
/// be and what was found, or if the hash shows that the manifest was edited after it was written.
Manifest parse_manifest(const std::string& text, const std::string& source);

/// As parse_manifest, but without checking the hash: for manifests that are being edited or written by a
/// user.
Manifest unsealed_manifest(const std::string& text, const std::string& source);

/// Returns the text of a user's manifest with its hash set, and with the file `with` added to its artefacts
/// or updated there. Throws Error as parse_manifest does, except for the hash.
std::string sealed(const std::string& text, const std::string& source, const Artefact& with);

}  // namespace zellige::emit
