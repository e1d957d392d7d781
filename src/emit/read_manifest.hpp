// Parses a manifest (docs/reference/manifest.md), from which a program is loaded together with its cubin.
#pragma once
#include <string>

#include "emit/manifest.hpp"

namespace zellige::emit {

/// Throws Error with the field and its expected and found values, or if the manifest was edited after it was
/// written; `source` names the manifest in messages.
Manifest parse_manifest(const std::string& text, const std::string& source);

/// The same without checking the hash.
Manifest unsealed_manifest(const std::string& text, const std::string& source);

/// Returns a hand-written manifest with its hash, and with a file that belongs to it among its artefacts.
/// Throws as parse_manifest does.
std::string sealed(const std::string& text, const std::string& source, const Artefact& with);

}  // namespace zellige::emit
