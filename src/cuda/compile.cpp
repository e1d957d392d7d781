// Compiles a CUDA program with the host's C++ compiler. The compiler's instrumentation calls the emulator at each access
// (-fsanitize=thread, bounds, alignment; their run-time libraries are not linked).
#include <algorithm>

#include "cuda/program.hpp"
#include "graph/error.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "toolchain/headers.hpp"
#include "toolchain/host_compiler.hpp"

namespace zellige::cuda {

namespace {

namespace fs = std::filesystem;

// Returns the compiler's options. Without scalar replacement of aggregates, g++ leaves an access to a float4 one access of
// 16 bytes; clang has no such option.
std::vector<std::string> options(const ProgramSource& p, const std::string& compiler) {
  std::vector<std::string> all = {"-std=gnu++" + p.standard.substr(p.standard.find("++") + 2),
                                  "-O1",
                                  "-g1",
                                  "-w",
                                  "-fPIC",
                                  "-fno-omit-frame-pointer",
                                  "-fno-optimize-sibling-calls",
                                  "-fsanitize=thread",
                                  "-fsanitize=bounds,alignment"};
  if (fs::path(compiler).filename().string().find("clang") == std::string::npos)
    all.insert(all.end(), {"-fno-tree-sra", "-fno-gnu-unique", "--param=tsan-instrument-func-entry-exit=0",
                           "--param=tsan-distinguish-volatile=1"});
  else
    all.insert(all.end(), {"-mllvm", "-tsan-instrument-func-entry-exit=0", "-mllvm", "-tsan-distinguish-volatile=1"});
  for (const std::string& m : p.macros) all.push_back("-D" + m);
  return all;
}

// Returns the object file of what the instrumentation calls, which is the same for all programs.
fs::path hooks(const std::string& compiler, const fs::path& headers, const toolchain::Cache& cache) {
  toolchain::Key key;
  key.add("cuda hooks").add(compiler).add(headers.string());
  if (const auto hit = cache.find(key, "o")) return *hit;
  const fs::path source = cache.folder(fs::path("cuda") / key.hex()) / "hooks.cpp";
  const toolchain::Scratch object(cache, "o");
  system::write_whole(source, "#include \"zellige/cuda/hooks.hpp\"\n", 0600);
  const system::Finished done = system::run_process(
      {compiler, "-std=c++20", "-O2", "-fno-builtin", "-w", "-fPIC", "-fno-omit-frame-pointer",
       "-fno-optimize-sibling-calls", "-I", headers.string(), "-c", source.string(), "-o", object.path.string()});
  if (done.status != 0) fail("emulate: {} does not compile the emulator's hooks:\n{}", compiler, done.output);
  return cache.store(key, "o", system::read_whole(object.path));
}

// Throws Error with a compiler's messages.
[[noreturn]] void refuse(const ProgramSource& p, const system::Finished& finished) {
  const std::string& log = finished.output;
  if (const std::size_t at = log.find("fatal error: "); at != log.npos && log.find("No such file", at) != log.npos) {
    const std::size_t line = log.rfind('\n', at) == log.npos ? 0 : log.rfind('\n', at) + 1;
    const std::string name = log.substr(at + 13, log.find(':', at + 13) - at - 13);
    fail("{}#include of {}: the emulator has no such header; -I names the folders of yours",
         log.substr(line, at - line), name);
  }
  fail("emulate: the compiler refuses {} ({}):\n{}", p.source.string(), system::ended(finished.status),
       log.size() > 4000 ? log.substr(0, 4000) + "..." : log);
}

}  // namespace

CompiledSource compile(const ProgramSource& p, const toolchain::Cache& cache) {
  const std::string compiler = toolchain::host_compiler("emulate");
  const fs::path headers = toolchain::header_folder(cache);
  std::vector<std::string> folders = p.folders;
  folders.push_back(headers.string());
  const std::vector<TranslatedFile> files = translate(p.source, folders);
  toolchain::Key key;
  key.add("cuda").add(compiler).add(headers.string());
  for (const std::string& o : options(p, compiler)) key.add(o);
  for (const std::string& f : p.folders) key.add(f);
  for (const TranslatedFile& f : files) key.add(f.name).add(f.text);
  std::string names;
  for (const TranslatedFile& f : files) names += (names.empty() ? "" : "\n") + f.from;
  if (const auto hit = cache.find(key, "so")) return {*hit, names};

  const fs::path folder = cache.folder(fs::path("cuda") / key.hex());
  for (const TranslatedFile& f : files) system::write_whole(folder / f.name, f.text, 0600);
  const toolchain::Scratch object(cache, "o"), library(cache, "so");
  std::vector<std::string> command = options(p, compiler);
  command.insert(command.end(), {"-I", headers.string()});
  const std::string prelude = "zellige/cuda/prelude.hpp";
  // Macros of the command line may change what the prelude says.
  const std::string precompiled =
      p.macros.empty() ? toolchain::precompiled("#include \"" + prelude + "\"\n", command, cache) : "";
  command.insert(command.end(), {"-I", p.source.parent_path().empty() ? "." : p.source.parent_path().string()});
  for (const std::string& f : p.folders) command.insert(command.end(), {"-I", f});
  command.insert(command.end(), {"-x", "c++", "-c", (folder / files[0].name).string(), "-o", object.path.string()});
  const auto run_after = [&](const std::string& header) {
    std::vector<std::string> all = {compiler, "-include", header};
    all.insert(all.end(), command.begin(), command.end());
    return system::run_process(all);
  };
  if (precompiled.empty() || run_after(precompiled).status != 0)
    if (const system::Finished compiled = run_after(prelude); compiled.status != 0) refuse(p, compiled);
  const system::Finished linked =
      system::run_process({compiler, "-shared", "-Wl,-Bsymbolic", object.path.string(), "-x", "none",
                           hooks(compiler, headers, cache).string(), "-o", library.path.string()});
  if (linked.status != 0) refuse(p, linked);
  return {cache.store(key, "so", system::read_whole(library.path)), names};
}

}  // namespace zellige::cuda
