// The state of a CUDA program that runs on the emulator: its memory, its launches, and what was found.
#pragma once
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "cuda/program_memory.hpp"
#include "cuda/report.hpp"
#include "emulate/engine.hpp"
#include "emulate/fiber.hpp"

namespace zellige::cuda {

/// How a program is run.
struct EmulationOptions {
  unsigned schedule = 0;  // order of threads: LaunchConfig::schedule
  double seconds = 60;    // of CPU time that a block may take
  int workers = 1;
  bool counts = false;    // count what accesses cost, by line
  bool exact = false;     // products accumulate as in an H200, bit for bit
  bool progress = false;  // print to stderr how far a launch is
};

/// The running program.
class Session {
 public:
  explicit Session(const EmulationOptions& how) : options(how) {}

  EmulationOptions options;
  std::string files;  // of the program, by newlines: those whose lines findings name
  // where the program is loaded, and the emulator itself, whose tables the program reads
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> images;
  ProgramMemory memory;
  ProgramReport report;
  int error = 0;                                      // cudaGetLastError
  std::map<std::string, std::size_t> allowed_shared;  // bytes of dynamic shared memory, by kernel
  std::vector<Declaration*> shared;                   // shared variables, by offset
  std::size_t static_bytes = 0;                       // of them, with the room between
  const KernelCall* running = nullptr;
  std::size_t dynamic_bytes = 0;  // of the running launch: its dynamic shared memory, and the program's name of it
  std::atomic<const char*> dynamic_name = "";
  std::uint64_t launch = 0;  // number of the running launch, from 1

  /// Takes the program's variables, and places those in shared memory.
  void declare(Declaration* first);
  /// Adds a finding about the host's call at a site.
  void report_host(const std::string& kind, emulate::Site, const std::string& message);
};

/// The session of this process.
Session& session();
/// Makes the session of this process.
void begin_session(const EmulationOptions&);

/// Bytes between variables in shared memory, and after the last, so that an access beyond one hits none.
inline constexpr std::size_t shared_gap = 64, shared_tail = 4096;

/// The exit status of a program that ctrl-C has ended.
inline constexpr int interrupted_status = 130;

/// The emulator's functions, for the program.
const Host& host_table();
void add_memory_calls(Host&);  // memory.cpp
void add_access_calls(Host&);  // access.cpp
void add_kernel_calls(Host&);  // kernel_calls.cpp
void add_launch_calls(Host&);  // launch.cpp
void add_blas_calls(Host&);    // blas.cpp

/// Copies rows of `width` bytes, `to_pitch` and `from_pitch` bytes from one to the next (0: as wide as they are). Reports what is wrong at a
/// site, for the function `call`. Returns a cudaError_t.
int checked_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t height, int kind, const char* call, emulate::Site);

/// Whether this thread runs a kernel.
extern thread_local bool inside_kernel;

}  // namespace zellige::cuda
