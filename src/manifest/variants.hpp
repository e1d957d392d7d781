// Variants of a program with sizes: each is planned for some of the values, and the host chooses one at each launch.
//
//   variant_at(manifest, {16})      // the first of Manifest::variants whose range has T = 16, else the manifest itself
//   check_variants(manifest)        // throws Error unless each range is among the values that the variant's kernels are proved for
//
// No choice can be of a variant whose kernels do not hold: a range is checked against the variant's own sizes, which are those of its
// proofs, where variants are joined to a program and where a manifest or .ir is read.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "manifest/manifest.hpp"

namespace zellige::manifest {

/// The largest number of programs, the whole one among them, that one program may have.
constexpr std::size_t max_variants = 16;

/// Returns the program itself, then its variants.
std::vector<const Manifest*> programs_of(const Manifest&);

/// Returns the first variant whose range has the values, of the manifest's sizes in order; else the manifest. It allocates nothing.
const Manifest& variant_at(const Manifest&, std::span<const std::int64_t> values);

/// Returns the values of the sizes of a variant, for those of the sizes of the whole program.
std::vector<std::int64_t> values_in(const Manifest& whole, const Manifest& variant,
                                    std::span<const std::int64_t> values);

/// Returns a range in words: "T from 1 to 16, K from 8 to 4096 in steps of 8".
std::string text_of(const tile::SizeList& range);

/// Returns the bytes of workspace that are enough for every launch.
std::int64_t largest_workspace(const Manifest&);

/// Puts the tensors of callers first: inputs, then outputs, in order, so that variants have them at the same indices.
void order_tensors(Manifest&);

/// Throws Error unless each variant's range is within the sizes of the whole program and of its own plan, and its inputs and outputs
/// are those of the whole program at all values of the range: one sentence with the variant and the two values.
void check_variants(const Manifest&);
/// The same for one variant alone, whose tensors may be in any order.
void check_variant(Manifest whole, Manifest variant);

}  // namespace zellige::manifest
