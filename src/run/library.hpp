// A shared library that is looked for when it is first needed, so that the binary runs on machines without
// it.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace zellige::run {

class Library {
 public:
  /// The first of `names` that loads; fails with every name and the loader's reason for the last.
  static Library open(const std::string& what, const std::vector<std::string>& names);

  /// The one that the environment's `variable` names, and no other: fails with the loader's reason. Nothing where it is not set.
  static std::optional<Library> named(const char* variable);

  /// Fills a function pointer; fails if the library lacks the symbol.
  template <class F>
  void bind(F*& function, const char* symbol) const {
    function = reinterpret_cast<F*>(address(symbol));
  }
  /// The same; nullptr if the library lacks it.
  template <class F>
  void bind_if_there(F*& function, const char* symbol) const {
    function = reinterpret_cast<F*>(address_if_there(symbol));
  }
  const std::string& path() const { return path_; }

 private:
  void* address(const char* symbol) const;
  void* address_if_there(const char* symbol) const;

  void* handle_ = nullptr;  // never closed: the libraries of a GPU do not like it
  std::string path_;
};

}  // namespace zellige::run
