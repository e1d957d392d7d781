// Maps user-defined names of tensors to identifiers of the emitted source that cannot collide with anything.
//
//   Names names;
//   names.pointer("X"), names.global("X"), names.shared("X"), names.map("X")   // pX, gX, sX, mX
//   names.pointer("x"), names.global("a+b"), names.global("a_b")  // p_x, g_a_b, g_a_b_2
//
// The form of the identifiers excludes collisions: p, g, s, m or n, then a stem that begins with a capital
// letter or an underscore. No keyword of C++ or CUDA, no macro or function of the headers and no local name
// of the emitter has this form, and different tensors have different stems. The functions of a program are
// NAME_k0, NAME_k1, ... part_NAME_k0, ..., emulate_NAME_k0, ..., launch_NAME, ordered_NAME, start_NAME and
// run_NAME. tests/emit/names_test.cpp checks all of this against the headers.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace zellige::emit {

/// The identifiers of one emitted source. Equal names give equal identifiers.
class Names {
 public:
  std::string pointer(const std::string& name) { return form('p', name); }  // a parameter of a kernel
  std::string global(const std::string& name) { return form('g', name); }   // a tensor in global memory
  // Returns the identifier of a tensor's TMA descriptor, which is a parameter of a kernel.
  std::string map(const std::string& name) { return form('m', name); }
  std::string shared(const std::string& name) { return form('s', name); }  // a tile in shared memory
  // Returns the identifier of a size that is known at launch: a parameter of kernels and of the host's functions.
  std::string size(const std::string& name) { return form('n', name); }

  /// Returns whether an identifier has the form that pointer(), global(), map(), shared() and size() return.
  static bool is_formed(std::string_view identifier);

  /// Return the names of functions: the host entry, the host entry without overlap of kernels, what these two call, the
  /// C function that NAME.h declares, the device function of one of several tile programs, and what the emulator runs.
  static std::string entry(const std::string& program) { return "launch_" + program; }
  static std::string ordered(const std::string& program) { return "ordered_" + program; }
  static std::string start(const std::string& program) { return "start_" + program; }
  static std::string function(const std::string& program) { return "run_" + program; }
  static std::string part(const std::string& program) { return "part_" + program; }
  static std::string emulated(const std::string& kernel) { return "emulate_" + kernel; }

 private:
  /// Returns an identifier for the tensor `name`. The identifier begins with `letter`.
  std::string form(char letter, const std::string& name);

  std::map<std::string, std::string> stem_;  // by name: what follows the letter in its identifiers; no two are equal
  std::set<std::string> taken_;
  std::map<std::string, int> next_;  // by stem: number that the next duplicate gets
};

/// Returns the name made safe for a comment: characters other than printable ASCII, quotation marks and
/// backslashes become '?', and no two '?' are adjacent (trigraphs).
std::string printable(const std::string& name);

/// Returns the string escaped for a string literal, of the value `text`, in any standard of C, C++ or CUDA.
std::string in_literal(std::string_view text);

/// Returns the string escaped for a string of the GNU assembler. The result consists of letters, digits, / . -
/// _ and octal escapes, which represent all other characters.
std::string in_assembler(std::string_view text);

}  // namespace zellige::emit
