// Finds the headers <zellige/...> that are embedded in this binary at build time (cmake/embed.cmake), so that
// compiling a program needs no installed files.
//
//   for (const Header* h : closure(program.source)) pass_to_nvrtc(h->path, h->text);
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::toolchain {

struct Header {
  std::string_view path;  // as in an #include: zellige/block.hpp
  std::string_view text;
};

/// Returns all headers that are embedded in this binary, sorted by path.
std::span<const Header> headers();

/// Returns the embedded header with the path `path`, such as zellige/block.hpp; null if there is none.
const Header* find_header(std::string_view path);

/// Returns a preprocessor line without leading blanks and #: "include <cstdio>" for "  # include <cstdio>". Returns ""
/// for other lines.
std::string_view directive(std::string_view line);

/// Returns the embedded header that a line of source code includes; null if it includes none. `from`: path of
/// the file that contains the line, "" for a program's source code.
const Header* included(std::string_view line, std::string_view from);

/// Returns the embedded headers that the source code `text` includes, directly or through other headers,
/// sorted by path. Preprocessor conditions are not evaluated: the includes of all branches count.
std::vector<const Header*> closure(std::string_view text);

/// Returns a program's source code, for `transpile --standalone`, with each <zellige/...> header inlined once. Other includes (<cstdio>,
/// <cuda_runtime.h>) are kept, and so are the emulator's headers (<zellige/emulate/...>) in branches that
/// only the emulator compiles. A header that is included under a condition may be inlined a second time at a
/// later include, so that it is present whichever branch is taken.
std::string standalone(std::string_view source);

}  // namespace zellige::toolchain
