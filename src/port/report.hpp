// Lists the CuTe headers and names that source code uses, and which of them Zellige's compat provides.
//
//   const Report r = report(read_source(source), ours(), {"cutlass/include"});
//   r.uses[0].what is "cute::Layout", r.uses[0].is is Whose::ours
//
// Names without `cute::` count if the source has `using namespace cute` or opens the namespace. Macros,
// members and uses in other headers of the project are ignored.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "port/declarations.hpp"

namespace zellige::port {

enum class Whose { ours, cutlass, missing };

/// One include or name, at its first use.
struct Use {
  std::string what;  // <cute/tensor.hpp>, or cute::Layout
  int line = 0;
  Whose is = Whose::missing;
  std::string where;    // for CUTLASS's: the file, and the line of a name
  std::string nearest;  // for missing ones: the nearest existing one, or ""
};
struct Report {
  std::vector<Use> includes, names;
  std::string cutlass, version;  // CUTLASS's folder on the path, and its version; "" if there is none

  bool complete() const;
};

/// The names and headers that Zellige provides: cute_names.txt.
struct Ours {
  Declarations names;
  std::map<std::string, bool> headers;  // with whether it passes on to CUTLASS's header of the same name
};
Ours ours();
/// The content of cute_names.txt: names, `<header>`, `<header> next`, and `alias = namespace`, one per line.
std::string_view cute_names();
/// The CUTLASS version whose names these are.
constexpr std::string_view followed_version = "4.7.0";

Report report(const Source&, const Ours&, const std::vector<std::filesystem::path>& folders);

}  // namespace zellige::port
