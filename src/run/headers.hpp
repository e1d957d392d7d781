// The headers <zellige/...> embedded in this binary at build time (cmake/embed.cmake).
//
//   for (const Header* h : closure(program.source)) pass_to_nvrtc(h->path, h->text);
#pragma once
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::run {

struct Header {
  std::string_view path;  // as included: zellige/block.hpp
  std::string_view text;
};

/// All of them, by path.
std::span<const Header> headers();

/// The header with that path, or null.
const Header* find_header(std::string_view path);

/// The embedded header that an #include line of the file at `from` ("" for emitted source code) names, if
/// any.
const Header* included(std::string_view line, std::string_view from);

/// The headers that source code includes, transitively, by path. Conditions are not evaluated: all branches
/// count.
std::vector<const Header*> closure(std::string_view text);

}  // namespace zellige::run
