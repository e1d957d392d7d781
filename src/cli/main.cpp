
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "ir/position.hpp"
#include "kernel/rejections.hpp"

int main(int argc, char** argv) {
  using namespace zellige::cli;
  know_words(argc, argv);
  CLI::App app("Compiles tensor graphs to verified CUDA kernels, and evaluates layouts.\n", "zellige");
  app.set_version_flag("--version", "zellige " ZELLIGE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "\nzellige COMMAND --help shows the options of a command.\n"
      "Exit status: 0 done, and nothing is wrong; 1 a result is wrong, or Zellige failed; 2 the input or "
      "the machine is at fault; 3 undecided (equal only).");
  int status = refused;
  for (const auto add : {add_run, add_transpile, add_emit, add_optimize, add_layout, add_banks, add_equal, add_cache,
                         add_doctor, add_emulate, add_explain, add_learn})
    add(app, status);
  try {
    app.parse(argc, argv);
    // A full disk must be reported: standard output is a result, too.
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
      say(stderr, "zellige: stdout: cannot be written: {}\n", std::strerror(errno));
      return refused;
    }
    return status;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help and --version
    say(stderr, "zellige: {}\n", mistake(app, e));
  } catch (const zellige::ir::Mistake& e) {
    say(stderr, "{}\n", e.what());  // which begins with the file's name, as a compiler's messages do
  } catch (const zellige::Rejected& e) {
    say(stderr, "zellige: {}\n", zellige::kernel::told(e));
    return wrong;
  } catch (const zellige::Fault& e) {
    say(stderr, "zellige: {}\n", e.what());
    return wrong;
  } catch (const std::filesystem::filesystem_error& e) {
    const std::string path = e.path1().string();
    say(stderr, "zellige: {}{}{}\n", path, path.empty() ? "" : ": ", e.code().message());
  } catch (const std::bad_alloc&) {
    say(stderr, "zellige: this takes more memory than the machine has left\n");
  } catch (const std::system_error& e) {
    say(stderr, "zellige: {}\n", e.code().message());
  } catch (const std::exception& e) {
    say(stderr, "zellige: {}\n", e.what());
  }
  return refused;
}
