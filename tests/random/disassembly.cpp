#include "disassembly.hpp"

#include <unistd.h>

#include <cstdlib>

#include "graph/error.hpp"
#include "system/files.hpp"
#include "system/process.hpp"

namespace zellige::random_graphs {

std::optional<std::vector<int>> odd_by_nvdisasm(const std::string& cubin) {
  static const std::optional<std::string> nvdisasm = [] {
    const char* set = std::getenv("ZELLIGE_NVDISASM");
    return system::find_program(set && *set ? set : "nvdisasm");
  }();
  if (!nvdisasm) return std::nullopt;
  const std::string file = fmt::format("{}/zellige_{}.cubin", P_tmpdir, ::getpid());
  system::write_whole(file, cubin);
  const system::Finished printed = system::run_process({*nvdisasm, "-c", file});
  ::unlink(file.c_str());
  const std::string& text = printed.output;
  if (printed.status != 0) fail("nvdisasm does not take the cubin: {}", text);
  std::vector<int> odd;
  // desc[UR5], but not a product's gdesc[UR5]
  for (std::size_t at = text.find("desc[UR"); at != text.npos; at = text.find("desc[UR", at + 1))
    if (const int number = std::atoi(text.c_str() + at + 7); number % 2 != 0 && (at == 0 || text[at - 1] != 'g'))
      odd.push_back(number);
  return odd;
}

}  // namespace zellige::random_graphs
