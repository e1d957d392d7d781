// Where a command writes what its user asked for. Everything a command leaves behind goes through here.
//
//   Outputs outputs({"graph.json"}, force);
//   outputs.put("out/graph.cu", text);                    // checked and staged under a name of its own
//   outputs.put("out/graph.manifest.json", manifest);
//   outputs.commit();                                     // both stand there now, or neither
//
// Refused, each with a sentence: an output that is an input (the same file, by whatever name), two outputs of
// one run in one place (also where they differ only in case, which some file systems do not keep apart), and,
// unless forced, a file that Zellige did not write or that was edited since (run/written.hpp). An empty file
// has nothing to lose. Symbolic links are followed. A device, a pipe, "-" and this process's own stdout are
// written to as streams.
#pragma once
#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/written.hpp"

namespace zellige::run {

class Outputs {
 public:
  /// `inputs`: the files that the command reads; "-" is stdin.
  explicit Outputs(const std::vector<std::string>& inputs = {}, bool force = false,
                   Written written = Written::standard());
  Outputs(const Outputs&) = delete;
  ~Outputs();  // what was not committed never was

  /// Takes a place for what will be written there later by `rewrite`.
  void claim(const std::filesystem::path&);
  /// Writes a claimed file anew, whole.
  void rewrite(const std::filesystem::path&, std::string_view content);

  /// Claims a place and stages its content.
  void put(const std::filesystem::path&, std::string_view content);
  /// Puts everything staged under its name: all or nothing.
  void commit();

  /// Forgets what is staged.
  void drop();

  /// Whether what is written to a path goes by as it comes.
  static bool is_stream(const std::filesystem::path&);
  const Written& written() const { return written_; }

 private:
  using Identity = std::pair<dev_t, ino_t>;
  struct Place {
    std::filesystem::path shown, file;  // as the user names it, and where it is
    bool stream = false;
  };
  struct Staged {
    Place place;
    std::filesystem::path aside;
    std::string content;                // of a stream
    std::optional<struct stat> before;  // of what stood there when it was checked
    enum { waiting, made, exchanged, replaced } state = waiting;
  };

  Place resolve(const std::filesystem::path&) const;
  void check(const Place&, const std::string* digest) const;
  void take(const Place&);
  void stage(const Place&, std::string_view content);
  void put_in_place(Staged&);

  std::vector<std::pair<Identity, std::string>> inputs_;
  bool force_;
  Written written_;
  std::set<std::string> claimed_;
  std::vector<Staged> staged_;
};

}  // namespace zellige::run
