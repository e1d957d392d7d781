// The source of sizes in the code of the host: parameters, checks, and numbers that they decide.
#pragma once
#include <string>

#include "manifest/manifest.hpp"

namespace zellige::emit {

/// Returns the source of a number of the manifest, of which `largest` is the value there: 128, or (nT + 63) / 64.
std::string number_text(const manifest::Manifest&, const manifest::SizedField&, std::int64_t largest);

/// Returns the shape of a tensor: (nT, 512).
std::string shape_text(const manifest::Manifest&, int tensor);

/// Returns the parameters of the sizes: "int64_t nT, ", or "" if there are none.
std::string size_parameters(const manifest::Manifest&);
/// Returns them as arguments of a call: "nT, ".
std::string size_arguments(const manifest::Manifest&);

/// Returns the bytes of workspace that a launch needs: 512, or nT <= 16 ? 512 : nT * 256.
std::string workspace_text(const manifest::Manifest&);

/// Returns the condition under which a launch of the program runs a variant: "nT <= 16 && nK % 8 == 0".
std::string variant_condition(const manifest::Manifest& whole, const manifest::Manifest& variant);

/// Returns the condition under which the sizes are none of the program's: "" if there are none.
std::string sizes_wrong(const manifest::Manifest&);
/// Returns lines of C that set `wrong` to a sentence if sizes are none of the program's.
std::string size_checks(const manifest::Manifest&);

/// Returns what the host's code of a program with sizes declares first.
std::string sizes_prologue(const manifest::Manifest&);
/// Returns what is known of a size: "nT: from 1 to 8192, a multiple of 8".
std::string size_comment(const tile::Size&);

}  // namespace zellige::emit
