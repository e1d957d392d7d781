#include "run/host_compiler.hpp"

#include <charconv>
#include <cstdlib>

#include "graph/error.hpp"
#include "run/files.hpp"
#include "run/headers.hpp"
#include "run/process.hpp"
#include "run/timing.hpp"

namespace zellige::run {
namespace {

struct Compiler {
  std::string path, version;
};

/// Returns the host C++ compiler with its version, found once. Throws Error if there is none; `who` needs it, in words.
const Compiler& compiler(const std::string& who = "emulator") {
  static const Compiler found = [&] {
    const char* own = std::getenv("ZELLIGE_CXX");
    const std::string name = own && *own ? own : "g++";
    const auto path = find_program(name);
    if (!path)
      fail("{}: no C++ compiler {}{}; install g++ 12 or newer, or set ZELLIGE_CXX", who, name,
           name.find('/') == name.npos ? " on PATH" : "");
    const Finished version = run_process({*path, "--version"});
    if (version.status != 0) fail("{}: {} --version fails: {}", who, *path, version.output);
    return Compiler{fs::absolute(*path).string(), version.output};
  }();
  return found;
}

// Returns the compiler's options. -O1 inlines accessors and takes half of -O2's time. Frame pointers and line
// tables let the emulator report source lines. The compiler fills a local variable with a pattern before its
// constructor runs. The emulator's constructors read the pattern to detect what nothing has written
// (zellige/emulate/registers.hpp). Without -fno-lifetime-dse, g++ may remove the pattern as a dead store.
std::vector<std::string> flags() {
  std::vector<std::string> all = {"-std=c++20",
                                  "-O1",
                                  "-g1",
                                  "-fno-omit-frame-pointer",
                                  "-fPIC",
                                  "-w",
                                  "-shared",
                                  "-DZELLIGE_EMULATE",
                                  "-ftrivial-auto-var-init=pattern"};
  // With unique symbols, a library would never be unloaded.
  if (compiler().version.find("clang") == std::string::npos)
    all.insert(all.end(), {"-fno-lifetime-dse", "-fno-gnu-unique"});
  return all;
}

// Writes `content` to the file `below_root` in the cache's folder, unless it is there already. Returns the file's path.
fs::path ensure(const Cache& cache, const fs::path& below_root, std::string_view content) {
  const fs::path file = cache.folder(below_root.parent_path()) / below_root.filename();
  std::error_code none;
  if (fs::file_size(file, none) != content.size() || none || read_whole(file) != content)
    write_whole(file, content, 0600);
  return file;
}

// Returns the first five lines of a compiler's log that report errors; returns a short log unchanged.
std::string shortened(const std::string& log) {
  if (log.size() < 2000) return log;
  std::string errors;
  int shown = 0, left = 0;
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = std::min(log.find('\n', at), log.size());
    const std::string_view line = std::string_view(log).substr(at, end - at);
    at = end + 1;
    if (line.find("error: ") == line.npos) continue;
    if (++shown > 5)
      ++left;
    else
      errors.append(line.substr(0, 400)).push_back('\n');
  }
  if (shown == 0) return log.substr(0, 2000);
  return left ? errors + fmt::format("... and {} errors more\n", left) : errors;
}

}  // namespace

std::string host_compiler(const std::string& who) { return compiler(who).path; }

fs::path header_folder(const Cache& cache) {
  static const std::string hash = [] {
    Key key;
    for (const Header& h : headers()) key.add(h.path).add(h.text);
    return key.hex();
  }();
  const fs::path folder = fs::path("headers") / hash;
  for (const Header& h : headers()) ensure(cache, folder / h.path, h.text);
  return cache.root() / folder;
}

fs::path source_file(const std::string& source, const std::string& name, const Cache& cache) {
  return ensure(cache, fs::path("sources") / Key{}.add(source).hex() / (name + ".cu"), source);
}

HostLibrary compile_for_emulator(const std::string& source, const std::string& name, const Cache& cache) {
  const Compiler& c = compiler();
  Key key;
  key.add("emulator").add(c.path).add(c.version).add(name).add(source);
  for (const std::string& f : flags()) key.add(f);
  for (const Header* h : closure(source)) key.add(h->path).add(h->text);

  HostLibrary library;
  if (const auto took = cache.read(key, "ms"))
    std::from_chars(took->data(), took->data() + took->size(), library.compile_ms);
  if (const auto hit = cache.find(key, "so", &library.note)) {
    library.file = *hit;
    library.cached = true;
    return library;
  }
  const auto start = SteadyClock::now();
  const fs::path made = cache.scratch("so");
  std::vector<std::string> command = flags();
  command.insert(command.begin(), c.path);
  // Returns a path relative to the cache's folder, in which g++ runs: g++ writes file names unescaped into
  // assembler code, and so special characters in the cache's path do no harm.
  const auto below = [&](const fs::path& file) { return file.lexically_relative(cache.root()).string(); };
  command.insert(command.end(), {"-I", below(header_folder(cache)), "-x", "c++",
                                 below(source_file(source, name, cache)), "-o", below(made)});
  const Finished finished = run_process(command, cache.root().string());
  if (finished.status != 0) {
    std::error_code ignored;
    fs::remove(made, ignored);
    if (const std::string_view what = short_of(finished); !what.empty())
      fail(
          "emulator: this machine has too little {} for {} to compile {}.cu ({}); give it more, or less to do at "
          "once:\n{}",
          what, c.path, name, ended(finished.status), shortened(finished.output));
    fault("emulator: {} does not compile {}.cu ({}):\n{}", c.path, name, ended(finished.status),
          shortened(finished.output));
  }
  library.file = cache.adopt(key, "so", made);
  library.compile_ms = ms_since(start);
  cache.store(key, "ms", std::to_string(library.compile_ms));
  return library;
}

}  // namespace zellige::run
