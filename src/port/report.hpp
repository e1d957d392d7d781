// Lists the CuTe headers and names that source code uses, and says which of them Zellige's compat headers
// provide, which only CUTLASS provides, and which do not exist.
//
//   const Report r = report(read_source(source), ours(), /*include path=*/{"cutlass/include"});
//   r.names[0].what      // "cute::Layout"
//   r.names[0].is        // Whose::ours: Zellige provides it
//
// Names without `cute::` count if the source has `using namespace cute` or opens the namespace. Macros, class
// members, and uses in other headers of the project are ignored.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "port/source.hpp"

namespace zellige::port {

/// Who provides a header or name: Zellige, CUTLASS alone, or nobody.
enum class Whose { ours, cutlass, missing };

/// A header or name that the source uses, at its first use.
struct SourceUse {
  std::string what;  // <cute/tensor.hpp>, or cute::Layout
  int line = 0;
  Whose is = Whose::missing;
  std::string where;    // if CUTLASS provides it: the file, and for a name the line
  std::string nearest;  // if it is missing: the most similar one that exists, or ""
};
/// What a source uses, in the order of its lines.
struct PortReport {
  std::vector<SourceUse> includes, names;
  // The CUTLASS folder on the include path, and its version; "" if there is none.
  std::string cutlass, version;

  /// Returns whether all headers and names exist, in Zellige or in CUTLASS.
  bool complete() const;
};

/// Whose a header of compat is: Zellige's; CUTLASS's of the same name, without which it is empty; or CUTLASS's where there
/// is one, else Zellige's.
enum class HeaderOf { zellige, cutlass, either };

/// The names and headers that Zellige provides, from cute_names.txt.
struct Ours {
  Declarations names;
  std::map<std::string, HeaderOf> headers;
};
/// Returns the names and headers that Zellige's compat headers provide.
Ours ours();
/// Returns the content of cute_names.txt, one entry per line: a name, `<header>`, `<header> next` (a header that is
/// CUTLASS's), `<header> either`, or `alias = namespace`.
std::string_view cute_names();
/// The CUTLASS version whose names Zellige follows.
constexpr std::string_view followed_version = "4.7.0";

/// Returns the CuTe headers and names that a source uses. `folders`: the include path, where CUTLASS is looked for.
PortReport report(const Source&, const Ours&, const std::vector<std::filesystem::path>& folders);

}  // namespace zellige::port
