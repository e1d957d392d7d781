// Finds the names that source code declares in a namespace: classes, functions, variables, aliases, and those
// of nested namespaces, but no class members.
//
//   declared(read_source("namespace cute { struct A { int b; }; namespace SM90 { void c(); } }"), {"cute"})
//   {"A": 1, "SM90::c": 1}: the line of the first declaration of each
#pragma once
#include <map>
#include <set>
#include <string>

#include "port/source.hpp"

namespace zellige::port {

struct Declarations {
  std::map<std::string, int> names;
  std::map<std::string, std::string> namespaces;  // GMMA -> SM90::GMMA

  /// The declared name to which a path of names refers: for a member, its class. "" if there is none.
  std::string find(std::string path) const;
};

Declarations declared(const Source&, const std::set<std::string>& roots);

}  // namespace zellige::port
