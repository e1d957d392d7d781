// Loads a shared library at run time, so that Zellige's binary runs on machines without it.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace zellige::run {

/// A loaded shared library, never unloaded.
class Library {
 public:
  /// Loads the first library of `names` that can be loaded. If there is none, throws Error with all names and
  /// the loader's reason for the last one. `what`: the library in words, for the message.
  static Library open(const std::string& what, const std::vector<std::string>& names);

  /// Loads the library that an environment variable names. Returns nullopt if the variable is not set; throws
  /// Error with the loader's reason if the library cannot be loaded.
  static std::optional<Library> named(const char* variable);

  /// Sets a function pointer to a symbol of the library. Throws Error if the library lacks it.
  template <class F>
  void bind(F*& function, const char* symbol) const {
    function = reinterpret_cast<F*>(address(symbol));
  }
  /// Sets a function pointer to a symbol of the library, or to nullptr if the library lacks it.
  template <class F>
  void bind_if_there(F*& function, const char* symbol) const {
    function = reinterpret_cast<F*>(address_if_there(symbol));
  }
  const std::string& path() const { return path_; }

 private:
  void* address(const char* symbol) const;
  void* address_if_there(const char* symbol) const;

  void* handle_ = nullptr;  // GPU libraries do not support being closed
  std::string path_;
};

}  // namespace zellige::run
