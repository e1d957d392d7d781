#include "system/library.hpp"

#include <dlfcn.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "graph/error.hpp"
#include "strings/shown.hpp"

namespace zellige::system {

Library Library::open(const std::string& what, const std::vector<std::string>& names) {
  Library library;
  std::string reason;
  for (const std::string& name : names) {
    library.path_ = name;
    if ((library.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))) return library;
    reason = dlerror();
  }
  fail("{}: not found; tried {} ({})", what, fmt::join(names, ", "), reason);
}

std::optional<Library> Library::named(const char* variable) {
  const char* path = std::getenv(variable);
  if (!path || !*path) return std::nullopt;
  Library library;
  library.path_ = path;
  library.handle_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library.handle_)
    fail("{} names {}, which cannot be loaded: {}; unset it, or let it name a library that is there", variable,
         strings::shown(path), strings::shown(dlerror()));
  return library;
}

Library::Symbol Library::operator[](const char* name) const {
  const Symbol symbol = find(name);
  if (!symbol.address) fail("{}: has no {}; a newer version is needed", path_, name);
  return symbol;
}

Library::Symbol Library::find(const char* name) const { return {dlsym(handle_, name)}; }

}  // namespace zellige::system
