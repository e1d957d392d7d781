// A manifest's text as it was before it was written (docs/manifest.md): what a program is loaded by, with its cubin beside it.
#pragma once
#include <string>

#include "emit/manifest.hpp"

namespace zellige::emit {

/// Fails with the field, what it should be and what it is; `source` names the text in messages.
Manifest parse_manifest(const std::string& text, const std::string& source);

}  // namespace zellige::emit
