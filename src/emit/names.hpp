// Identifiers of the emitted source: every user-defined name is mapped here.
//
//   Names names;
//   names.pointer("X"), names.global("X"), names.shared("X"), names.map("X")   // pX, gX, sX, mX
//   names.pointer("x"), names.global("a+b"), names.global("a_b")  // p_x, g_a_b, g_a_b_2
//
// Collisions are excluded by form, not by a list. A mapped name is p, g, s or m, then a capital letter or an
// underscore. No keyword of C++ or CUDA, no macro or function of the headers, and nothing that the emitter
// itself declares has that form, and different names have different stems. The functions of a program are
// NAME_k0, NAME_k1, ... part_NAME_k0, ..., emulate_NAME_k0, ..., launch_NAME, ordered_NAME, start_NAME and
// run_NAME. tests/emit/names_test.cpp checks all of this against the headers.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace zellige::emit {

class Names {
 public:
  std::string pointer(const std::string& name) { return form('p', name); }  // a kernel's parameter
  std::string global(const std::string& name) { return form('g', name); }   // a tensor in global memory
  std::string map(const std::string& name) { return form('m', name); }      // its tensor map, a parameter
  std::string shared(const std::string& name) { return form('s', name); }   // a tile in shared memory

  /// Returns whether an identifier has the form of these.
  static bool is_formed(std::string_view identifier);

  static std::string entry(const std::string& program) { return "launch_" + program; }
  static std::string ordered(const std::string& program) { return "ordered_" + program; }
  static std::string start(const std::string& program) {
    return "start_" + program;
  }  // called by both of these
  static std::string function(const std::string& program) { return "run_" + program; }  // of NAME.h
  static std::string part(const std::string& program) { return "part_" + program; }     // of a launch
  static std::string emulated(const std::string& kernel) { return "emulate_" + kernel; }

 private:
  std::string form(char letter, const std::string& name);
  const std::string& stem(const std::string& name);

  std::map<std::string, std::string> stem_;  // by name; all different
  std::set<std::string> taken_;
  std::map<std::string, int> next_;  // by stem: number of its next duplicate
};

/// Makes a name safe in a comment: replaces what would end the comment, and trigraphs (??/ is a backslash).
std::string printable(const std::string& name);

/// Escapes a string for a literal of C, C++ or CUDA in any standard: the literal's value is the string.
std::string in_literal(std::string_view text);

/// Escapes a string for the GNU assembler, with letters, digits, / . - _ and octal escapes only.
std::string in_assembler(std::string_view text);

}  // namespace zellige::emit
