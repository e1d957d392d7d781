// Checks that a cubin is the one that a manifest was written with, as far as that is possible without a GPU.
//
//   require_belongs(manifest, cubin);  // before Module loads it: the driver itself does not check
#pragma once
#include <string_view>

#include "emit/manifest.hpp"

namespace zellige::run {

/// Throws Error, with both values, if the cubin lacks a kernel of the manifest, is for another target, or has
/// kernels with other parameters, threads or clusters.
void require_interfaces(const emit::Manifest&, std::string_view cubin);

/// Also throws Error if the cubin is not the artefact NAME.cubin that the manifest names: another, truncated
/// or changed file.
void require_belongs(const emit::Manifest&, std::string_view cubin);

/// The cubin's name in the manifest: NAME.cubin.
std::string cubin_name(const emit::Manifest&);

}  // namespace zellige::run
