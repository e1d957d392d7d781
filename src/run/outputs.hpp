// Writes the files that a command produces for its user: all of them or none, and never over a file that is
// not Zellige's.
//
//   Outputs outputs({"graph.json"}, force);
//   outputs.put("out/graph.cu", bytes);                   // checked, and staged under a unique name
//   outputs.put("out/graph.manifest.json", manifest);
//   outputs.commit();                                     // both exist now, or neither
//
// The following outputs are rejected, each with a message:
// - a file that is also an input of the command, under any name;
// - a path that another output of the command has, also if the two differ only in case, which some file
//   systems ignore;
// - unless forced, an existing file that Zellige did not write, or that was edited since (WrittenFiles).
//   An empty file may be overwritten.
//
// Symbolic links are followed. A device, a pipe, "-" and this process's own stdout are written as streams.
//
// The file of the option --json has one line per graph, in the order of the graphs. It is replaced each time a graph ends,
// so it always has complete lines, and an interrupted run leaves the lines of the finished graphs. A file of more than 1 MiB
// is not replaced, which would take long: a graph's line is appended as soon as those of all earlier graphs have been
// written. A pipe or a device (/dev/stdout) receives lines as graphs end.
#pragma once
#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zellige::run {

/// An incremental 128-bit hash, that of manifest::hash(). Copies share their state.
class Digest {
 public:
  Digest();
  Digest& add(std::string_view);
  std::string hex() const;  // 32 hexadecimal digits, for all that was added so far

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Returns the hash of a file's content; nullopt if it cannot be read.
std::optional<std::string> digest_of(const std::filesystem::path&);

/// The record of the files that Zellige has written, so that a command does not overwrite any other file without --force. It
/// has the hash of each file's content, one per line of the file `written` in the cache's folder. A file whose hash is not in
/// it was written by another program, or edited since. Files are not marked themselves, because .npy and JSON files have no
/// place for a mark that every reader ignores. If the record is lost, --force is needed, which is the safe case.
class WrittenFiles {
 public:
  /// Returns the record in the folder of Cache::standard(). If no environment variable names a folder for the
  /// cache, returns a record that stores nothing.
  static WrittenFiles standard();
  explicit WrittenFiles(std::filesystem::path record) : record_(std::move(record)) {}

  /// Records the hash of a file's content. Does not throw: on failure, overwriting the file needs --force.
  void add(const std::string& digest) const;
  /// Returns true if the hash `digest` is recorded, that is, if Zellige wrote the file and it may be overwritten.
  bool holds(const std::string& digest) const;

 private:
  std::filesystem::path record_;
};

/// The output files of one command. Functions throw Error if a path is rejected or cannot be written.
class Outputs {
 public:
  /// Starts without outputs. `inputs`: the files that the command reads, which are never written; "-" is
  /// stdin. `force`: replace files that Zellige did not write.
  explicit Outputs(const std::vector<std::string>& inputs = {}, bool force = false,
                   WrittenFiles written = WrittenFiles::standard());
  Outputs(const Outputs&) = delete;
  ~Outputs();  // discards files that are not committed

  /// Checks and reserves a path for an output that `rewrite` writes later.
  void claim(const std::filesystem::path&);
  /// Replaces the content of a claimed file; may be called several times.
  void rewrite(const std::filesystem::path&, std::string_view content);

  /// Checks and reserves a path for an output, and writes its content to a temporary file (stages it).
  /// commit() moves the file to the path.
  void put(const std::filesystem::path&, std::string_view content);
  /// Moves all staged files (see put) to their paths. Throws Error if one of them cannot be moved; drop() or
  /// the destructor then restores the files that were replaced.
  void commit();

  /// Discards the staged files; undoes renames of a failed commit.
  void drop();

  /// Returns true if a path is written as a stream, without staging: a device, a pipe, this process's stdout or stderr.
  static bool is_stream(const std::filesystem::path&);
  const WrittenFiles& written() const { return written_; }

 private:
  using Identity = std::pair<dev_t, ino_t>;
  /// The path of an output file.
  struct Place {
    std::filesystem::path shown, file;  // as the user wrote it, and with links resolved
    bool stream = false;
  };
  /// An output that is not committed yet.
  struct Staged {
    Place place;
    /// Path of the staged file, in the same folder.
    std::filesystem::path aside;
    std::string content;  // of a stream: the bytes to write
    // status of the existing file when it was checked; nullopt: there was none
    std::optional<struct stat> before;
    // what commit has done: nothing, created, exchanged with the existing file, or overwritten it
    enum { waiting, made, exchanged, replaced } state = waiting;
  };

  Place resolve(const std::filesystem::path&) const;  // follows links
  void check(const Place&, const std::string* digest) const;
  void take(const Place&);  // throws if another output has the path
  void stage(const Place&, std::string_view content);
  void put_in_place(Staged&);

  std::vector<std::pair<Identity, std::string>> inputs_;
  bool force_;
  WrittenFiles written_;
  std::set<std::string> claimed_;
  std::vector<Staged> staged_;
};

/// The file of --json. Functions throw Error if it cannot be written.
class Report {
 public:
  /// Creates an empty file, so that an unwritable path is reported before any graph runs. "": no report.
  Report(Outputs&, std::filesystem::path file);
  Report(const Report&) = delete;
  ~Report();
  /// Adds the line of the graph with index `order`. Graphs may end in any order.
  void add(int order, const std::string& line);

 private:
  void append(std::string_view text);

  Outputs& outputs_;
  std::filesystem::path file_;
  bool stream_ = false;
  // all lines; once lines are appended, those that wait for an earlier one
  std::map<int, std::string> lines_;
  std::size_t bytes_ = 0;
  int appended_ = -1;  // descriptor for appending; -1: the file is still replaced
  int next_ = 0;       // index of the next line to append
  Digest digest_;      // hash of the file's content
};

}  // namespace zellige::run
