// Checks that a cubin belongs to a manifest (the JSON description of a compiled program), as far as that is
// possible without a GPU.
//
//   require_belongs(manifest, cubin);  // before Module loads the cubin: the driver does not check this
#pragma once
#include <string_view>

#include "emit/manifest.hpp"

namespace zellige::run {

/// Checks the kernels in a cubin against a manifest. Throws Error, with the expected and the found value, if the cubin
/// lacks a kernel, is for another target, or has a kernel with other parameters, block size or cluster size.
void require_interfaces(const emit::Manifest&, std::string_view cubin);

/// Throws Error if the cubin is not the NAME.cubin whose size and hash the manifest records, or as require_interfaces.
void require_belongs(const emit::Manifest&, std::string_view cubin);

/// Returns the name of the program's cubin in the manifest: NAME.cubin.
std::string cubin_name(const emit::Manifest&);

}  // namespace zellige::run
