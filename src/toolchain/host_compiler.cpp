#include "toolchain/host_compiler.hpp"

#include <charconv>
#include <cstdlib>
#include <mutex>

#include "emit/host_text.hpp"
#include "graph/error.hpp"
#include "system/elapsed.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "toolchain/headers.hpp"

namespace zellige::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr const char* emulator = "emulator";  // in messages

struct Compiler {
  std::string path, version;
};

/// Returns the host C++ compiler with its version, found once. Throws Error if there is none; `who` needs it, in words.
const Compiler& compiler(const std::string& who) {
  static const Compiler found = [&] {
    const char* own = std::getenv("ZELLIGE_CXX");
    const std::string name = own && *own ? own : "g++";
    const auto path = system::find_program(name);
    if (!path)
      fail("{}: no C++ compiler {}{}; install g++ 12 or newer, or set ZELLIGE_CXX", who, name,
           name.find('/') == name.npos ? " on PATH" : "");
    const system::Finished version = system::run_process({*path, "--version"});
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
  std::vector<std::string> all{"-std=c++20", "-O1", "-g1"};
  all.insert(all.end(),
             {"-fno-omit-frame-pointer", "-fPIC", "-w", "-DZELLIGE_EMULATE", "-ftrivial-auto-var-init=pattern"});
  // With unique symbols, a library would never be unloaded.
  if (compiler(emulator).version.find("clang") == std::string::npos)
    all.insert(all.end(), {"-fno-lifetime-dse", "-fno-gnu-unique"});
  return all;
}

// The headers that most emitted sources include. Parsing them is a third of the time that a source takes.
constexpr const char* common_headers =
    "#include <zellige/block/tile.hpp>\n"
    "#include <zellige/block/reduce.hpp>\n"
    "#include <zellige/block/multiply.hpp>\n"
    "#include <zellige/block/multiply_outer.hpp>\n"
    "#include <zellige/block/warpgroups.hpp>\n"
    "#include <zellige/block/store_matrix.hpp>\n"
    "#include <zellige/block/load_anywhere.hpp>\n"
    "#include <zellige/block/strided_tile.hpp>\n"
    "#include <zellige/block/log_sum.hpp>\n"
    "#include <zellige/atom/griddepcontrol.hpp>\n";
constexpr std::uintmax_t max_bytes_precompiled = 150'000'000;  // in addition to the one that is made

// Writes `content` to the file `below_root` in the cache's folder, unless it is there already. Returns the file's path.
fs::path ensure(const Cache& cache, const fs::path& below_root, std::string_view content) {
  const fs::path file = cache.folder(below_root.parent_path()) / below_root.filename();
  std::error_code none;
  if (fs::file_size(file, none) != content.size() || none || system::read_whole(file) != content)
    system::write_whole(file, content, 0600);
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

/// Returns a path relative to the cache's folder, in which compilers run. So special characters in the cache's path do no
/// harm, as g++ writes file names unescaped into assembler code, and the path is not in a shared object.
std::string below(const Cache& cache, const fs::path& file) { return file.lexically_relative(cache.root()).string(); }

/// Runs the compiler with these options. Throws Error if the machine has too little memory or disk space, and Fault if the
/// compiler fails, or prints something if it `must_be_silent`. In messages `who` compiles `what`.
void run_compiler(const std::string& who, const std::string& what, std::vector<std::string> options, const Cache& cache,
                  bool must_be_silent) {
  const std::string& path = compiler(who).path;
  options.insert(options.begin(), path);
  const system::Finished f = system::run_process(options, cache.root().string());
  if (f.status == 0 && (f.output.empty() || !must_be_silent)) return;
  if (const std::string_view lacks = system::short_of(f); !lacks.empty())
    fail("{}: this machine has too little {} for {} to compile {} ({}); give it more, or less to do at once:\n{}", who,
         lacks, path, what, system::ended(f.status), shortened(f.output));
  fault("{}: {} does not compile {} ({}):\n{}", who, path, what, system::ended(f.status), shortened(f.output));
}

// Returns whether the compiler takes these options. Messages are dropped: the caller tries again without a precompiled header.
bool compiles(std::vector<std::string> options, const Cache& cache) {
  options.insert(options.begin(), compiler(emulator).path);
  return system::run_process(options, cache.root().string()).status == 0;
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
  const Compiler& c = compiler(emulator);
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
  const auto start = system::SteadyClock::now();
  const Scratch made(cache, "so");
  std::vector<std::string> options = flags();
  options.insert(options.end(), {"-I", below(cache, header_folder(cache))});
  const std::string common = precompiled(common_headers, options, cache);
  options.insert(options.end(), {"-shared", "-x", "c++", below(cache, source_file(source, name, cache)), "-o",
                                 below(cache, made.path)});
  std::vector<std::string> shorter = options;
  shorter.insert(shorter.begin(), {"-include", below(cache, common)});
  if (common.empty() || !compiles(shorter, cache)) run_compiler(emulator, name + ".cu", options, cache, false);
  library.file = cache.store(key, "so", system::read_whole(made.path));
  library.compile_ms = system::ms_since(start);
  cache.store(key, "ms", std::to_string(library.compile_ms));
  return library;
}

std::string precompiled(const std::string& headers, const std::vector<std::string>& options, const Cache& cache) {
  static std::mutex one;
  const Compiler& c = compiler(emulator);
  if (c.version.find("clang") != std::string::npos) return "";
  Key key;
  key.add("precompiled").add(c.path).add(c.version).add(headers);
  for (const std::string& o : options) key.add(o);
  const auto without_extension = [](fs::path file) { return file.replace_extension().string(); };
  const std::lock_guard lock(one);
  const std::string asked =
      cache.read(key, "asked").value_or("0");  // how often, before it was made; "never": it cannot be
  if (asked == "never") return "";
  if (const auto made = cache.find(key, "gch")) return without_extension(*made);
  if (asked != "2") {
    cache.store(key, "asked", asked == "0" ? "1" : "2");
    return "";
  }
  const Scratch source(cache, "hpp"), made(cache, "gch");
  system::write_whole(source.path, headers, 0600);
  std::vector<std::string> command = options;
  command.insert(command.begin(), c.path);
  command.insert(command.end(), {"-x", "c++-header", source.path.string(), "-o", made.path.string()});
  if (system::run_process(command, cache.root().string()).status != 0) {
    cache.store(key, "asked", "never");
    return "";
  }
  cache.trim("gch", max_bytes_precompiled);
  return without_extension(cache.store(key, "gch", system::read_whole(made.path)));
}

std::string shared_object(const manifest::Manifest& m, const std::string& cubin, const Cache& cache) {
  const Scratch kernels(cache, "cubin"), text(cache, "c"), made(cache, "so");
  system::write_whole(kernels.path, cubin, 0600);
  system::write_whole(text.path, emit::c_library(m, below(cache, kernels.path)), 0600);
  // Links the C library only; by default g++ would add those of C++. -s strips the name of the source file,
  // which differs from call to call.
  run_compiler("shared object of " + m.name, "it",
               {"-x", "c", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden", "-shared",
                "-Wl,-soname," + m.name + ".so", "-Wl,--build-id=none", "-s", "-nodefaultlibs", below(cache, text.path),
                "-o", below(cache, made.path), "-lc"},
               cache, true);
  return system::read_whole(made.path);
}

}  // namespace zellige::toolchain
