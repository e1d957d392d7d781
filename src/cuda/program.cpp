#include "cuda/program.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "graph/error.hpp"

namespace zellige::cuda {

namespace {

std::function<int(int)> at_end;

// Called when the process exits, after the program's own handlers: ends it with the status of the run.
void end_process(int status_of_program, void*) {
  if (!at_end) return;
  std::fflush(stdout);
  const int status = at_end(status_of_program);
  std::fflush(stdout);
  std::fflush(stderr);
  _exit(status);
}

// Notes where the library with this address is loaded.
void find_image(const void* address) {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* of) {
        std::uintptr_t begin = ~std::uintptr_t(0), end = 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD) continue;
          begin = std::min<std::uintptr_t>(begin, info->dlpi_addr + part.p_vaddr);
          end = std::max<std::uintptr_t>(end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
        }
        const auto at = reinterpret_cast<std::uintptr_t>(of);
        if (at < begin || at >= end) return 0;
        session().images.emplace_back(begin, end);
        return 1;
      },
      const_cast<void*>(address));
}

// Handles ctrl-C: the first one ends the running launch, and the program after it; the second one ends the process.
void on_interrupt(int) {
  if (emulate::is_interrupted()) _exit(interrupted_status);
  emulate::interrupt();
}

}  // namespace

void run_program(const CompiledSource& program, std::vector<std::string> arguments, const EmulationOptions& options,
                 std::function<int(int)> ended) {
  begin_session(options);
  at_end = std::move(ended);
  on_exit(end_process, nullptr);
  std::signal(SIGINT, on_interrupt);
  void* const loaded = dlopen(program.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loaded) {
    at_end = nullptr;
    const std::string why = dlerror();
    constexpr std::string_view missing = "undefined symbol: ";
    if (const std::size_t at = why.find(missing); at != std::string::npos)
      fail("emulate: {} calls {}, which neither it nor the emulator has", arguments.front(),
           why.substr(at + missing.size()));
    fail("emulate: the compiled program cannot be loaded: {}", why);
  }
  const auto start = reinterpret_cast<Declaration* (*)(const Host*)>(dlsym(loaded, "zellige_cuda_start"));
  const auto main = reinterpret_cast<int (*)(int, char**, char**)>(dlsym(loaded, "main"));
  const auto call =
      reinterpret_cast<int (*)(int (*)(int, char**, char**), int, char**, char**)>(dlsym(loaded, "zellige_cuda_main"));
  if (!start || !call || !main) {
    at_end = nullptr;
    fail("emulate: {} has no main", arguments.front());
  }
  session().files = program.files;
  find_image(reinterpret_cast<const void*>(start));
  find_image(&host_table());
  session().declare(start(&host_table()));
  std::vector<char*> words;
  for (std::string& a : arguments) words.push_back(a.data());
  words.push_back(nullptr);
  std::exit(call(main, int(arguments.size()), words.data(), environ));
}

}  // namespace zellige::cuda
