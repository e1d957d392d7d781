// Whether a cubin is the one that a manifest was written with, as far as it can be told without a GPU.
//
//   require_belongs(manifest, cubin);     // before Module loads it: the driver takes any cubin, and launches any kernel with anything
#pragma once
#include <string_view>

#include "emit/manifest.hpp"

namespace zellige::run {

/// Throws Error, with both values, where a cubin lacks a kernel of the manifest, is for another target, or has kernels that take other
/// parameters, threads or clusters.
void require_interfaces(const emit::Manifest&, std::string_view cubin);

/// The same, and where the cubin is not the artefact NAME.cubin that the manifest names: another file, cut off, or changed.
void require_belongs(const emit::Manifest&, std::string_view cubin);

/// What the manifest calls its cubin: NAME.cubin.
std::string cubin_name(const emit::Manifest&);

}  // namespace zellige::run
