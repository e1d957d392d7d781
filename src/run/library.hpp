// A shared library that is loaded on first use, so that the binary runs on machines without it.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace zellige::run {

class Library {
 public:
  /// Loads the first of `names` that exists; throws Error with every name and the loader's reason for the
  /// last.
  static Library open(const std::string& what, const std::vector<std::string>& names);

  /// Loads the library that the environment variable names, and no other: throws Error with the loader's
  /// reason. Returns nothing if it is not set.
  static std::optional<Library> named(const char* variable);

  /// Fills a function pointer; throws Error if the library lacks the symbol.
  template <class F>
  void bind(F*& function, const char* symbol) const {
    function = reinterpret_cast<F*>(address(symbol));
  }
  /// The same; nullptr if the library lacks the symbol.
  template <class F>
  void bind_if_there(F*& function, const char* symbol) const {
    function = reinterpret_cast<F*>(address_if_there(symbol));
  }
  const std::string& path() const { return path_; }

 private:
  void* address(const char* symbol) const;
  void* address_if_there(const char* symbol) const;

  void* handle_ = nullptr;  // never closed: GPU libraries do not support that
  std::string path_;
};

}  // namespace zellige::run
