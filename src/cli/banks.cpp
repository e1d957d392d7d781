// Implements `zellige banks`: predicts bank conflicts of accesses to a tensor in shared memory, and finds a
// layout without them.
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "run/outputs.hpp"
#include "view/access.hpp"
#include "view/expression.hpp"
#include "view/layout_picture.hpp"
#include "view/picture.hpp"

namespace zellige::cli {
namespace {

struct BanksArguments {
  std::string expression, type = "f16", svg, html;
  std::vector<std::string> accesses;
  bool json = false, quiet = false, force = false;
};

/// What the command prints: the layout, and per access its conflicts, then the layouts that remove them.
struct BanksReport {
  view::SharedLayout layout;
  std::vector<view::WarpPattern> accesses;
  std::vector<view::Conflicts> conflicts;
  view::Remedies remedies;

  /// Returns whether no access has a bank conflict.
  bool free() const {
    return std::ranges::all_of(conflicts, [](const view::Conflicts& c) { return c.degree <= 1; });
  }
};

std::string plural(long long n, const char* one) { return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s"); }

/// Returns a line about the bank conflicts of one access. If the access is made several times, with different
/// offsets in the layout, the line describes the worst one, and a second line gives the totals.
std::string cost(const view::WarpPattern& a, const view::Conflicts& c) {
  std::string s =
      fmt::format("{}: {}, {} would do; by phase {}; conflict degree {}", a.name, plural(c.worst.total, "wavefront"),
                  c.worst.ideal, fmt::join(c.worst.per_phase, " "), c.degree);
  if (c.instances > 1)
    s += fmt::format("\n  the worst of {} accesses, which take {} of them where {} would do", c.instances, c.wavefronts,
                     c.ideal);
  return s;
}

/// Returns a line about one layout that removes or reduces bank conflicts.
std::string described(const view::Remedy& r) {
  std::string s = fmt::format("{}: {}", r.kind, to_text(r.layout));
  if (!r.hardware.empty()) s += fmt::format(" (the {})", r.hardware);
  s += fmt::format(", {}", r.extra_bytes ? plural(r.extra_bytes, "byte") + " more" : "no more memory");
  s += r.degree <= 1 ? fmt::format(", no conflicts: {}", plural(r.wavefronts, "wavefront"))
                     : fmt::format(", {} where {} would do, conflict degree {}", plural(r.wavefronts, "wavefront"),
                                   r.ideal, r.degree);
  return s;
}

std::vector<view::Picture> pictures(const BanksReport& r) {
  std::vector<view::Picture> all;
  for (std::size_t i = 0; i < r.accesses.size(); ++i) {
    all.push_back(view::bank_picture(r.conflicts[i].addresses, r.layout.text()));
    all.back().facts.push_back(cost(r.accesses[i], r.conflicts[i]));
  }
  return all;
}

std::string text(const BanksReport& r, bool quiet) {
  std::string out = fmt::format("{}: {} of {} bits, {}\n", r.layout.text(), plural(r.layout.elements(), "element"),
                                r.layout.bits(), plural(r.layout.bytes(), "byte"));
  const auto drawn = pictures(r);
  for (std::size_t i = 0; i < r.accesses.size(); ++i) {
    out += "\n" + cost(r.accesses[i], r.conflicts[i]) + "\n";
    for (const view::Grid& g : drawn[i].grids)
      if (!quiet) out += view::text(g);
  }
  out += "\n";
  if (r.free()) return out + "no conflicts: nothing to remedy\n";
  for (std::size_t i = 0; i < r.remedies.all.size(); ++i)
    out += (i == 0 ? "cheapest " : "or ") + described(r.remedies.all[i]) + "\n";
  if (!r.remedies.reason.empty()) out += r.remedies.reason + "\n";
  return out;
}

nlohmann::ordered_json json(const BanksReport& r) {
  using object = nlohmann::ordered_json;
  object out = {{"layout", r.layout.text()}, {"element_bits", r.layout.bits()}, {"bytes", r.layout.bytes()}};
  out["accesses"] = object::array();
  for (std::size_t i = 0; i < r.accesses.size(); ++i) {
    const view::Conflicts& c = r.conflicts[i];
    out["accesses"].push_back(
        {{"access", r.accesses[i].name},
         {"lane_bytes", r.accesses[i].bytes},
         {"wavefronts", c.worst.total},
         {"ideal", c.worst.ideal},
         {"degree", c.worst.degree},
         {"phases", c.worst.per_phase},
         {"addresses", c.addresses.address},
         {"all", {{"accesses", c.instances}, {"wavefronts", c.wavefronts}, {"ideal", c.ideal}, {"degree", c.degree}}}});
  }
  out["remedies"] = object::array();
  if (!r.free())
    for (const view::Remedy& m : r.remedies.all)
      out["remedies"].push_back({{"kind", m.kind},
                                 {"layout", to_text(m.layout)},
                                 {"hardware", m.hardware},
                                 {"extra_bytes", m.extra_bytes},
                                 {"wavefronts", m.wavefronts},
                                 {"ideal", m.ideal},
                                 {"degree", m.degree}});
  out["reason"] = r.free() ? "" : r.remedies.reason;
  return out;
}

int banks(const BanksArguments& a) {
  BanksReport r{
      view::SharedLayout(view::evaluate_expression(a.expression).value, view::element_bits(a.type)), {}, {}, {}};
  for (const std::string& access : a.accesses) {
    r.accesses.push_back(view::parse_access(access, r.layout));
    r.conflicts.push_back(view::conflicts(r.accesses.back(), r.layout));
  }
  if (!r.free()) r.remedies = view::remedies(r.accesses, r.layout);
  run::Outputs outputs({}, a.force);
  if (!a.svg.empty()) {
    if (a.accesses.size() > 1) fail("--svg: one picture is one access; --html draws several");
    outputs.put(a.svg, view::svg(pictures(r)[0]));
  }
  if (!a.html.empty()) outputs.put(a.html, view::html(r.layout.text(), pictures(r)));
  outputs.commit();
  if (a.json)
    say(stdout, "{}\n", json(r).dump());
  else
    say(stdout, "{}", text(r, a.quiet));
  return success;
}

}  // namespace

void add_banks(CLI::App& app, int& status) {
  auto a = std::make_shared<BanksArguments>();
  CLI::App* command = app.add_subcommand(
      "banks", "Predict bank conflicts of accesses to shared memory, and find the swizzle that removes them");
  add_example(command, "zellige banks \"(64,64):(64,1)\" --type f16 --access ldmatrix.x4");
  command->add_option("EXPR", a->expression, "Layout of the tensor in shared memory, as for zellige layout")
      ->required();
  command->add_option("--type", a->type, "Type of its elements: f16, f32, e4m3, ... or bits")->capture_default_str();
  command
      ->add_option("--access", a->accesses,
                   "What a warp does: ldmatrix.x4, stmatrix.x2.trans, st.shared.v4, ld.shared.b32, ... wherever it "
                   "fits; followed by a layout (\"ld.shared.b32 32:32\"), lane l takes the element of that index; or "
                   "any thread-value layout. Repeatable: the remedy serves all accesses")
      ->required()
      ->allow_extra_args(false);
  command->add_option("--svg", a->svg, "Draw lanes and banks into this file")->type_name(output_file);
  command->add_option("--html", a->html, "Draw lanes and banks into this page")->type_name(output_file);
  command->add_flag("--force", a->force, force_help);
  command->add_flag("--json", a->json, "Print one line of JSON");
  command->add_flag("--no-picture", a->quiet, "Print no picture");
  command->callback([a, &status] { status = banks(*a); });
}

}  // namespace zellige::cli
