#include "explain/sass.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "graph/error.hpp"
#include "system/files.hpp"
#include "system/process.hpp"

namespace zellige::explain {

namespace {

constexpr std::size_t max_sass = 800'000;  // characters of all kernels, so that a page stays below 2 MB

}  // namespace

std::optional<std::string> find_nvdisasm() {
  const char* set = std::getenv("ZELLIGE_NVDISASM");
  return system::find_program(set && *set ? set : "nvdisasm");
}

std::map<std::string, std::string> disassembled(const std::string& nvdisasm, const std::string& cubin) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("zellige_{}.cubin", ::getpid());
  system::write_whole(file, cubin);
  const system::Finished printed = system::run_process({nvdisasm, "-c", file.string()});
  std::filesystem::remove(file);
  if (printed.status != 0) fail("{} does not take the cubin: {}", nvdisasm, printed.output);
  return instructions_by_kernel(printed.output);
}

std::map<std::string, std::string> instructions_by_kernel(std::string_view printed) {
  std::map<std::string, std::string> all;
  std::string* kernel = nullptr;
  for (std::size_t at = 0; at < printed.size();) {
    const std::size_t end = std::min(printed.find('\n', at), printed.size());
    const std::string_view line = printed.substr(at, end - at);
    at = end + 1;
    if (const std::size_t section = line.find(".section"); section != line.npos) {
      const std::size_t name = line.find(".text.", section);
      kernel = name == line.npos ? nullptr
                                 : &all[std::string(line.substr(name + 6, line.find_first_of(",\"", name) - name - 6))];
      continue;
    }
    const std::size_t first = line.find_first_not_of(" \t");
    const bool instruction = first != line.npos && line.substr(first).starts_with("/*");
    const bool label = first == 0 && line.starts_with(".L") && line.ends_with(':');
    if (!kernel || (!instruction && !label)) continue;
    kernel->append(line.substr(label ? 0 : first)).push_back('\n');
  }
  return all;
}

void add_sass(Account& a, const std::map<std::string, std::string>& by_kernel) {
  const std::size_t limit = max_sass / std::max<std::size_t>(1, by_kernel.size());
  for (LaunchAccount& l : a.launches)
    for (KernelAccount& k : l.kernels) {
      const auto found = by_kernel.find(k.name);
      if (found == by_kernel.end()) continue;
      k.sass = found->second.substr(0, limit);
      if (found->second.size() > limit) k.sass = k.sass.substr(0, k.sass.rfind('\n') + 1) + "...\n";
    }
}

}  // namespace zellige::explain
