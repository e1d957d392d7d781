// The headers that this binary carries: <zellige/...>, embedded at build time (cmake/embed.cmake).
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
  std::string_view path;  // as it is included: zellige/block.hpp
  std::string_view text;
};

/// All of them, by path.
std::span<const Header> headers();

/// The one of that path, or null.
const Header* find_header(std::string_view path);

/// What an #include line of the file at `from` ("" for an emitted text) names, if it is one of ours.
const Header* included(std::string_view line, std::string_view from);

/// The headers that a text reaches, by path. Conditions are not evaluated: it is every header that could
/// matter.
std::vector<const Header*> closure(std::string_view text);

}  // namespace zellige::run
