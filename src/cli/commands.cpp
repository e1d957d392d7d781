#include "cli/commands.hpp"

#include <fmt/ranges.h>

#include <charconv>

#include "cli/choose.hpp"
#include "strings/nearest.hpp"
#include "target/target.hpp"

namespace zellige::cli {
namespace {

// Returns the subcommand that the user selected, or the application if there is none.
const CLI::App& given(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) return *command;
  return app;
}

/// Returns the names of all options of a command.
std::vector<std::string> options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : o->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// Returns the names of all subcommands.
std::vector<std::string> commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(c->get_name());
  return names;
}

}  // namespace

CLI::Validator integer(std::uint64_t min, std::uint64_t max) {
  return {[=](std::string& text) -> std::string {
            std::uint64_t n = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
            if (error != std::errc{} || end != text.data() + text.size() || n < min || n > max)
              return fmt::format("expected an integer from {} to {}, found {}", min, max,
                                 text.empty() ? "nothing" : text);
            text = std::to_string(n);  // 010 is ten
            return "";
          },
          fmt::format("{} to {}", min, max), "integer"};
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string all = fmt::format("{}", fmt::join(words, ", "));
  return {[=](std::string& text) -> std::string {
            if (std::find(words.begin(), words.end(), text) != words.end()) return "";
            return fmt::format("expected one of {}, found {}{}", all, text, did_you_mean(text, words));
          },
          all, "words"};
}

void add_graph(CLI::App* command, std::string& file, int& index) {
  command->add_option("FILE", file, "A graph file: Zellige's JSON or Mirage's; - is stdin")->required();
  command->add_option("--index", index, "Number of the graph in the file")
      ->check(integer(0, max_index))
      ->capture_default_str();
}

void add_target(CLI::App* command, std::string& target) {
  command->add_option("--target", target, fmt::format("{}", fmt::join(target::names(), ", ")))->capture_default_str();
}

void add_as_given(CLI::App* command, bool& as_given) {
  command->add_flag("--as-given", as_given,
                    "Do not fuse: a kernel per operator. Default: operators are fused as by `optimize`");
}

void add_tiling(CLI::App* command, std::string& tiling) {
  command->add_option(
      "--tiling", tiling,
      "Tile sizes of custom operators: given (as in the graph), chosen (by the cost model, which may also decompose "
      "and re-fuse custom operators), or FILE (replay a manifest). Default: chosen on sm_90a, given elsewhere");
}

void add_constants(CLI::App* command, std::vector<std::string>& names) {
  command
      ->add_option("--constant", names,
                   "An input that no earlier work on the stream writes, such as a weight: kernels may read it before "
                   "that work has ended. Repeatable")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
}

void add_example(CLI::App* command, const std::string& example) {
  command->footer(fmt::format("\nExample:\n  {}\n{}", example, command->get_footer()));
}

std::string mistake(const CLI::App& app, const CLI::ParseError& e) {
  const CLI::App& command = given(app);
  const std::string help = fmt::format("zellige {}--help", &command == &app ? "" : command.get_name() + " ");
  if (e.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
      e.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError)) {
    for (const std::string& word : app.remaining(true)) {
      if (!word.starts_with('-') || word == "-") {
        if (&command == &app)
          return fmt::format("{} is no command{}; zellige --help lists them", word, did_you_mean(word, commands(app)));
        return fmt::format("unexpected argument {} ({} shows the usage)", word, help);
      }
      const std::string name = word.substr(0, word.find('='));
      return fmt::format("{} is no option{} ({} lists them)", name, did_you_mean(name, options(command)), help);
    }
  }
  if (e.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) {
    const std::string what = e.what();
    return fmt::format("{}: expected a value, found none ({} shows the usage)", what.substr(0, what.find(':')), help);
  }
  return fmt::format("{} ({} shows the usage)", e.what(), help);
}

}  // namespace zellige::cli
