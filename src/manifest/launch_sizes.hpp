// The manifest of one launch of a program with sizes: all numbers as these values make them.
//
//   const std::int64_t values[] = {300};                       // of Manifest::sizes, in order
//   const Manifest launch = at_sizes(manifest, values);        // its grids, shapes, workspace and scalars; no sizes
//   set_sizes(launch, manifest, others);                       // the same for other values, without an allocation
#pragma once
#include <span>
#include <vector>

#include "manifest/manifest.hpp"

namespace zellige::manifest {

/// Returns the largest values of the sizes.
std::vector<std::int64_t> largest(const tile::SizeList&);

/// Throws Error, with the value and what it may be, unless each size is in its range and all relations hold.
void check_sizes(const Manifest&, std::span<const std::int64_t> values);

/// Sets all numbers of `launch` that sizes decide; `launch` is what at_sizes() has made of `of` for any values of which variant_at() is
/// the same. Throws Error if one would be negative, or if check_sizes() does.
void set_sizes(Manifest& launch, const Manifest& of, std::span<const std::int64_t> values);

/// Returns the manifest of a launch with these values, which has no sizes: that of the variant which has them in its range
/// (variants.hpp), under the program's own name. Throws as set_sizes() does.
Manifest at_sizes(const Manifest&, std::span<const std::int64_t> values);

/// Returns the bytes of an integer of 4 or 8 bytes.
std::string bytes_of(std::int64_t value, std::size_t bytes);

}  // namespace zellige::manifest
