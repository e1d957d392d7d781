// Writes all files that a command produces for its user.
//
//   Outputs outputs({"graph.json"}, force);
//   outputs.put("out/graph.cu", bytes);                   // checked, and staged under a unique name
//   outputs.put("out/graph.manifest.json", manifest);
//   outputs.commit();                                     // both exist now, or neither
//
// Rejected, each with a message: an output that is an input (the same file under any name), two outputs of
// one run with the same path (also if they differ only in case, which some file systems ignore), and, unless
// forced, a file that Zellige did not write or that was edited since (run/written.hpp). An empty file may be
// overwritten. Symbolic links are followed. A device, a pipe, "-" and this process's own stdout are written
// as streams.
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
  ~Outputs();  // discards what was not committed

  /// Reserves a path that `rewrite` will write later.
  void claim(const std::filesystem::path&);
  /// Replaces a claimed file as a whole.
  void rewrite(const std::filesystem::path&, std::string_view content);

  /// Claims a path and stages its content.
  void put(const std::filesystem::path&, std::string_view content);
  /// Renames all staged files to their paths: all or nothing.
  void commit();

  /// Discards what is staged.
  void drop();

  /// Returns whether a path is written as a stream.
  static bool is_stream(const std::filesystem::path&);
  const Written& written() const { return written_; }

 private:
  using Identity = std::pair<dev_t, ino_t>;
  struct Place {
    std::filesystem::path shown, file;  // the user's name of the path, and the resolved one
    bool stream = false;
  };
  struct Staged {
    Place place;
    std::filesystem::path aside;
    std::string content;                // of a stream
    std::optional<struct stat> before;  // of the existing file when it was checked
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
