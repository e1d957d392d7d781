// Which of CuTe's headers and names a source uses, and whose they are with Zellige's compat on the path.
//
//   const Report r = report(read_source(text), ours(), {"cutlass/include"});
//   r.uses[0].what is "cute::Layout", r.uses[0].is is Whose::ours
//
// Names that are used without `cute::` count where the source says `using namespace cute` or opens the namespace. Macros,
// members and what other headers of the project use are not looked at.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "port/declarations.hpp"

namespace zellige::port {

enum class Whose { ours, cutlass, missing };

/// One include, or one name, where it is used first.
struct Use {
  std::string what;  // <cute/tensor.hpp>, or cute::Layout
  int line = 0;
  Whose is = Whose::missing;
  std::string where;    // of CUTLASS's: the file, and the line of a name
  std::string nearest;  // of what is missing: the nearest that there is, or ""
};
struct Report {
  std::vector<Use> includes, names;
  std::string cutlass, version;  // CUTLASS's folder on the path, and its version; "" if there is none

  bool complete() const;
};

/// What Zellige has: cute_names.txt.
struct Ours {
  Declarations names;
  std::map<std::string, bool> headers;  // and whether one passes on to CUTLASS's of the same name
};
Ours ours();
/// The text of cute_names.txt: names, `<header>`, `<header> next`, and `alias = namespace`, one a line.
std::string_view cute_names();
/// The CUTLASS whose names these are.
constexpr std::string_view followed_version = "4.7.0";

Report report(const Source&, const Ours&, const std::vector<std::filesystem::path>& folders);

}  // namespace zellige::port
