// Finds the names that source code declares in given namespaces, for reporting which CuTe names exist:
// classes, functions, variables and aliases, also those of nested namespaces, but no class members.
//
//   const Source s = read_source("namespace cute { struct A { int b; }; namespace SM90 { void c(); } }");
//   declared(s, {"cute"}).names     // {"A": 1, "SM90::c": 1}: the line of the first declaration of each name
#pragma once
#include <map>
#include <set>
#include <string>

#include "port/source.hpp"

namespace zellige::port {

/// The names that are declared, without the namespace in which they were looked for.
struct Declarations {
  std::map<std::string, int> names;  // name to line of its first declaration
  // Alias of a namespace to that namespace: GMMA to SM90::GMMA.
  std::map<std::string, std::string> namespaces;

  /// Returns the declared name to which a path such as A::b::c refers. For a class member that is the name of
  /// the class. Returns "" if there is none.
  std::string find(std::string path) const;
};

/// Returns the names that the source declares in the namespaces `roots`, without the roots' names in front.
Declarations declared(const Source&, const std::set<std::string>& roots);

}  // namespace zellige::port
