// A manifest's text as it was before it was written (docs/reference/manifest.md): what a program is loaded by, with its cubin beside it.
#pragma once
#include <string>

#include "emit/manifest.hpp"

namespace zellige::emit {

/// Fails with the field, what it should be and what it is, and where the manifest was edited after it was written; `source` names the
/// text in messages.
Manifest parse_manifest(const std::string& text, const std::string& source);

/// One that has no hash yet, or another's.
Manifest unsealed_manifest(const std::string& text, const std::string& source);

/// The text of a manifest that was written by hand, with a file that belongs to it among its artefacts, and its hash. Fails as
/// parse_manifest does.
std::string sealed(const std::string& text, const std::string& source, const Artefact& with);

}  // namespace zellige::emit
