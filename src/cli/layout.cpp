// Implements `zellige layout`: evaluates and draws layout expressions. With --jsonl, reads layout operations
// as JSON, one per line, and prints each result as JSON.

#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "run/outputs.hpp"
#include "system/process.hpp"
#include "view/atom_picture.hpp"
#include "view/expression.hpp"
#include "view/layout_picture.hpp"
#include "view/steps.hpp"

namespace zellige::cli {
namespace {

struct LayoutArguments {
  std::string expression, records, svg, html, png, colour = "bank", type, shape;
  bool table = false, list = false, steps = false, force = false;
  bool draws() const { return table || !svg.empty() || !html.empty() || !png.empty(); }
};

/// Returns an SVG as a PNG, by a program of this machine. Throws Error if there is none.
std::string png_of(const std::string& svg) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("zellige-{}", ::getpid());
  std::filesystem::create_directories(folder);
  const std::string from = (folder / "picture.svg").string(), to = (folder / "picture.png").string();
  std::ofstream(from) << svg;
  std::string bytes;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"rsvg-convert", "-o", to, from},
                                                {"inkscape", "--export-filename=" + to, from},
                                                {"cairosvg", "-o", to, from}}) {
    try {
      if (system::run_process(words).status != 0) continue;
    } catch (const Error&) {
      continue;  // this machine does not have it
    }
    std::ifstream in(to, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
    if (!bytes.empty()) break;
  }
  std::filesystem::remove_all(folder);
  if (bytes.empty())
    fail(
        "--png: expected rsvg-convert, inkscape or cairosvg, which make a PNG of an SVG, found none; --svg needs none "
        "of them");
  return bytes;
}

/// Evaluates the layout operations that a stream lists as JSON records, one per line, and prints each result
/// as a line of JSON. Returns the exit status. `name` names the stream in messages.
int answer(std::istream& in, const std::string& name) {
  bool all = true;
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const view::RecordAnswer a = view::answer_record(line);
    all = all && a.readable;
    say(stdout, "{}\n", a.line);
  }
  if (in.bad()) fail("{}: cannot be read", name);
  return all ? success : refused;
}

view::PictureOptions picture_options(const LayoutArguments& a) {
  view::PictureOptions o;
  o.colouring = a.colour == "thread"  ? view::Colouring::thread
                : a.colour == "value" ? view::Colouring::value
                                      : view::Colouring::bank;
  o.element_bits = view::element_bits(a.type.empty() ? "f32" : a.type);
  if (!a.shape.empty()) o.shape = view::evaluate_expression(a.shape).value;
  return o;
}

// Writes the files of a picture, and then prints the lines and the picture's grids.
void write(const LayoutArguments& a, const view::Picture& picture, const std::string& text) {
  // Files are written first, so that printing is the last step that can fail.
  run::Outputs outputs({}, a.force);
  if (!a.svg.empty()) outputs.put(a.svg, view::svg(picture));
  if (!a.html.empty()) outputs.put(a.html, view::html(a.expression, {picture}));
  if (!a.png.empty()) outputs.put(a.png, png_of(view::svg(picture)));
  outputs.commit();
  say(stdout, "{}{}", text, text.ends_with('\n') ? "" : "\n");
  if (a.table)
    for (const view::Grid& g : picture.grids) say(stdout, "{}", view::text(g));
}

// Evaluates the expression, or names an instruction; draws what is asked for.
int show(const LayoutArguments& a) {
  if (view::names_atom(a.expression)) {
    if (a.steps) fail("--steps: {} is an instruction; steps are of operations on layouts", a.expression);
    const view::Picture picture = view::atom_picture(a.expression, a.type.empty() ? 0 : view::element_bits(a.type));
    std::string text = picture.title;
    for (const std::string& fact : picture.facts) text += "\n" + fact;
    write(a, picture, text);
    return success;
  }
  const view::PictureOptions options = picture_options(a);
  if (a.steps) {
    const view::LayoutSteps steps = view::steps(a.expression, options);
    write(a, steps.picture, fmt::format("{}", fmt::join(steps.lines, "\n")));
    return success;
  }
  const view::Result result = view::evaluate_expression(a.expression);
  write(a, a.draws() ? view::layout_picture(result.value, a.expression, options) : view::Picture{}, result.text);
  return success;
}

int layout(const LayoutArguments& a) {
  const int asked = !a.expression.empty() + !a.records.empty() + a.list;
  if (asked != 1) fail("layout: one of EXPR, --jsonl FILE and --list is needed (zellige layout --help)");
  if (a.expression.empty() && (a.draws() || a.steps))
    fail("layout: --table, --svg, --html, --png and --steps draw an EXPR, and none is given");
  if (a.list) {
    say(stdout, "{}", view::list_of_operations());
    return success;
  }
  if (a.records == "-") return answer(std::cin, "stdin");
  if (!a.records.empty()) {
    std::error_code none;
    if (std::filesystem::is_directory(a.records, none)) fail("{}: cannot be read: Is a directory", a.records);
    std::ifstream file(a.records);
    if (!file) fail("{}: cannot be read: {}", a.records, std::strerror(errno));
    return answer(file, a.records);
  }
  return show(a);
}

}  // namespace

void add_layout(CLI::App& app, int& status) {
  auto a = std::make_shared<LayoutArguments>();
  CLI::App* command = app.add_subcommand("layout", "Evaluate and draw layout expressions");
  add_example(command, "zellige layout \"logical_divide((8,8):(8,1), (2,2))\" --table --svg divide.svg");
  command->add_option("EXPR", a->expression,
                      "A layout expression: \"logical_divide((8,8):(8,1), (2,2))\", \"Sw<3,3,3> o (_8,_64):(_64,_1)\", "
                      "\"(8,8):(8,1)(_,3)\", ...; or an instruction by name: SM80_16x8x16_F32F16F16F32_TN, "
                      "\"make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2,1))\"");
  command->add_flag(
      "--table", a->table,
      "Print it as a grid: the first mode down, the second across, one grid per coordinate of the other modes");
  command->add_option("--svg", a->svg, "Draw it into this file")->type_name(output_file);
  command->add_option("--html", a->html, "Draw it into this page, which describes the element under the mouse")
      ->type_name(output_file);
  command->add_option("--png", a->png, "Draw it into this PNG, with rsvg-convert, inkscape or cairosvg")
      ->type_name(output_file);
  command->add_flag(
      "--steps", a->steps,
      "Show how composition, complement, logical_divide, a product or a swizzle finds its result, step by step");
  command
      ->add_option("--color,--colour", a->colour,
                   "What a colour means: bank of shared memory, value (the index modulo 8), or thread (of a "
                   "thread-value layout, the owner of each element)")
      ->check(one_of({"bank", "thread", "value"}))
      ->capture_default_str();
  command->add_option("--type", a->type,
                      "Type of the elements, for their banks: f16, f32, e4m3, ... or bits; default f32, of a copy by "
                      "name what it moves");
  command->add_option("--shape", a->shape, "With --color thread: the shape (M,N) that the layout's indices count");
  command->add_option(
      "--jsonl", a->records,
      "Answer the records {\"id\",\"op\",\"args\"} of a file or of - (stdin), one per line, with {\"id\",\"result\"} "
      "or {\"id\",\"error\"}. Status 2 if one could not be read; a refused operation is an answer");
  command->add_flag("--force", a->force, force_help);
  command->add_flag("--list", a->list, "Print the operations");
  command->callback([a, &status] { status = layout(*a); });
}

}  // namespace zellige::cli
