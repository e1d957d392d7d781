// Loads a shared library at run time, so that Zellige's binary runs on machines without it.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace zellige::system {

/// A loaded shared library, never unloaded.
class Library {
 public:
  /// Loads the first library of `names` that can be loaded. If there is none, throws Error with all names and
  /// the loader's reason for the last one. `what`: the library in words, for the message.
  static Library open(const std::string& what, const std::vector<std::string>& names);

  /// Loads the library that an environment variable names. Returns nullopt if the variable is not set; throws
  /// Error with the loader's reason if the library cannot be loaded.
  static std::optional<Library> named(const char* variable);

  /// The address of a symbol, which converts to any function pointer.
  struct Symbol {
    void* address;
    template <class F>
    operator F*() const {
      return reinterpret_cast<F*>(address);
    }
  };
  /// Returns the symbol with this name. Throws Error if the library lacks it.
  Symbol operator[](const char* name) const;
  /// Returns the symbol with this name; nullptr if the library lacks it.
  Symbol find(const char* name) const;
  const std::string& path() const { return path_; }

 private:
  void* handle_ = nullptr;  // GPU libraries do not support being closed
  std::string path_;
};

}  // namespace zellige::system
