#include "run/result.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "json/json_text.hpp"
#include "strings/shown.hpp"

namespace zellige::run {
namespace {

using json::Json;

// Converts a number for JSON, which has no NaN and no infinity: they become strings.
Json number(double v) { return std::isfinite(v) ? Json(v) : Json(std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf"); }
double number(const Json& j) {
  if (j.is_number()) return j.get<double>();
  const std::string text = j.get<std::string>();
  return text == "nan" ? NAN : text == "inf" ? INFINITY : -INFINITY;
}

// Returns a time rounded to three decimals, to keep lines short.
double ms(double v) { return std::round(v * 1e3) / 1e3; }

Json json(const graph::Dim3& d) { return {d.x, d.y, d.z}; }
graph::Dim3 dim3(const Json& j) { return {j.at(0), j.at(1), j.at(2)}; }

Json json(const TensorResult& t) {
  Json j{{"name", t.name},   {"role", t.output ? "output" : "intermediate"}, {"dtype", t.dtype},
         {"shape", t.shape}, {"norm_error", number(t.norm_error)},           {"worst", number(t.worst)},
         {"fault", t.fault}};
  if (t.out_of_tolerance > 0) j["past"] = t.out_of_tolerance;
  if (t.of_error > 0) j["of_error"] = number(t.of_error);
  if (t.tiles > 0) {
    j["tiles"] = t.tiles, j["of_tiles"] = t.of_tiles, j["tile"] = t.tile;
    j["from"] = t.from, j["staged"] = t.staged;
  }
  return j;
}

Json json(const KernelResult& k) {
  Json j{{"name", k.name}, {"grid", json(k.grid)}, {"block", json(k.block)}, {"shared_bytes", k.shared_bytes}};
  if (k.registers >= 0) j["registers"] = k.registers;
  if (k.local_bytes >= 0) j["local_bytes"] = k.local_bytes;
  return j;
}

TensorResult tensor(const Json& j) {
  TensorResult t{j.at("name"),
                 j.at("role") == "output",
                 j.at("dtype"),
                 j.at("shape").get<graph::Shape>(),
                 number(j.at("norm_error")),
                 number(j.at("worst")),
                 j.at("fault"),
                 j.value("past", std::int64_t{0}),
                 j.contains("of_error") ? number(j.at("of_error")) : 0};
  if (j.contains("tiles")) {
    t.tiles = j.at("tiles"), t.of_tiles = j.at("of_tiles"), t.tile = j.at("tile").get<graph::Shape>();
    t.from = j.at("from").get<std::vector<std::string>>(), t.staged = j.at("staged");
  }
  return t;
}

KernelResult kernel(const Json& j) {
  return {j.at("name"),         dim3(j.at("grid")),       dim3(j.at("block")),
          j.at("shared_bytes"), j.value("registers", -1), j.value("local_bytes", -1)};
}

// Returns the median, minimum and 90th percentile of times in microseconds, and all times, as JSON.
Json times(const std::vector<double>& us) {
  Json samples = Json::array();
  for (const double x : us) samples.push_back(ms(x));
  return {{"median", ms(median(us))},
          {"min", ms(percentile(us, 0))},
          {"p90", ms(percentile(us, 0.9))},
          {"samples", samples}};
}

// Returns the largest norm_error of all tensors; NaN if one is NaN.
double worst_norm(const RunResult& r) {
  double maximum = 0;
  // written so that a NaN is kept
  for (const TensorResult& t : r.tensors) maximum = t.norm_error <= maximum ? maximum : t.norm_error;
  return maximum;
}

}  // namespace

std::string_view name(Status s) {
  constexpr std::string_view names[] = {"correct", "borderline", "wrong",    "refused",
                                        "failed",  "reference",  "unchecked"};
  return names[static_cast<int>(s)];
}

double percentile(std::vector<double> v, double p) {
  if (v.empty()) return NAN;
  std::ranges::sort(v);
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(v.size())));
  return v[std::clamp<std::size_t>(rank, 1, v.size()) - 1];
}

double median(std::vector<double> v) {
  if (v.empty()) return NAN;
  std::ranges::sort(v);
  const std::size_t n = v.size();
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

std::string to_json(const RunResult& r) {
  Json j{{"file", r.file},     {"index", r.index},         {"graph", r.graph},         {"target", r.target},
         {"on", r.on},         {"seed", r.seed},           {"check", r.check},         {"status", name(r.status)},
         {"reason", r.reason}, {"tensors", Json::array()}, {"kernels", Json::array()}, {"buffer_size", r.buffer_size}};
  for (const TensorResult& t : r.tensors) j["tensors"].push_back(json(t));
  for (const KernelResult& k : r.kernels) j["kernels"].push_back(json(k));
  j["scales"] = Json::object();
  for (const auto& [key, v] : r.scales) j["scales"][key] = number(v);
  j["counters"] = Json::object();
  for (const auto& [key, v] : r.counters) j["counters"][key] = v;
  j["findings"] = r.findings;
  j["rejected"] = r.rejected;
  if (!r.notes.empty()) j["notes"] = r.notes;
  j["inputs_ms"] = ms(r.inputs_ms);
  j["plan_ms"] = ms(r.plan_ms);
  j["compile_ms"] = ms(r.compile_ms);
  j["compile_cached"] = r.compile_cached;
  j["run_ms"] = ms(r.run_ms);
  j["check_ms"] = ms(r.check_ms);
  const auto put = [&](const char* key, const std::vector<double>& samples) {
    if (!samples.empty()) j[key] = times(samples);
  };
  if (r.times.how != Timing::off) j["timing"] = name(r.times.how), j["sets"] = r.times.sets;
  put("time_us", r.times.samples);
  put("apart_us", r.times.without_overlap);
  put("ordered_us", r.times.ordered);
  for (const Tried& t : r.tried)
    j["tried"].push_back({{"tiling", Json::parse(t.tiling)}, {"expected_us", t.expected}, {"us", t.us}});
  j["kernel"] = r.kernel;
  if (!r.device.empty()) j["device"] = r.device;
  // A message may quote bytes of any file; invalid UTF-8 is replaced.
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RunResult parse_result(std::string_view text) {
  const Json j = Json::parse(text);
  RunResult r;
  r.file = j.at("file");
  r.index = j.at("index");
  r.graph = j.at("graph");
  r.target = j.at("target");
  r.on = j.at("on");
  r.seed = j.at("seed");
  r.check = j.at("check");
  for (const Status s : {Status::correct, Status::borderline, Status::wrong, Status::refused, Status::failed,
                         Status::reference, Status::unchecked})
    if (j.at("status") == name(s)) r.status = s;
  r.reason = j.at("reason");
  for (const Json& t : j.at("tensors")) r.tensors.push_back(tensor(t));
  for (const Json& k : j.at("kernels")) r.kernels.push_back(kernel(k));
  r.buffer_size = j.at("buffer_size");
  for (const auto& [key, v] : j.at("scales").items()) r.scales.emplace_back(key, number(v));
  for (const auto& [key, v] : j.at("counters").items()) r.counters.emplace_back(key, v.get<std::uint64_t>());
  r.findings = j.at("findings");
  r.rejected = j.value("rejected", r.rejected);
  r.notes = j.value("notes", r.notes);
  r.inputs_ms = j.at("inputs_ms");
  r.plan_ms = j.at("plan_ms");
  r.compile_ms = j.at("compile_ms");
  r.compile_cached = j.at("compile_cached");
  r.run_ms = j.at("run_ms");
  r.check_ms = j.at("check_ms");
  const auto take = [&](const char* key, std::vector<double>& samples) {
    if (j.contains(key)) samples = j.at(key).at("samples").get<std::vector<double>>();
  };
  for (const Timing how : {Timing::rotated, Timing::hot})
    if (j.value("timing", "") == name(how)) r.times.how = how, r.times.sets = j.at("sets");
  take("time_us", r.times.samples);
  take("apart_us", r.times.without_overlap);
  take("ordered_us", r.times.ordered);
  if (j.contains("tried"))
    for (const Json& t : j.at("tried")) r.tried.push_back({t.at("tiling").dump(), t.at("expected_us"), t.at("us")});
  r.kernel = j.at("kernel");
  r.device = j.value("device", "");
  return r;
}

std::string describe_sample(const RunResult& r, const TensorResult& t) {
  const double share = static_cast<double>(t.tiles) / static_cast<double>(t.of_tiles);
  return fmt::format("{} by sample: {} of {} tiles of {} ({:.3g}%, seed {}), {} {}", t.name, t.tiles, t.of_tiles,
                     fmt::join(t.tile, "x"), 100 * share, r.seed, t.staged ? "stage by stage from" : "from the inputs",
                     fmt::join(t.from, ", "));
}

std::string summary(const RunResult& r) {
  const std::string label =
      fmt::format("{}[{}]", strings::shown(std::filesystem::path(r.file).stem().string()), r.index);
  std::string line = fmt::format("{:<22} {:<9} {} {}", label, name(r.status), r.on, r.target);
  if (!r.tensors.empty()) line += fmt::format("  error {:.1e}", worst_norm(r));
  if (r.compile_ms > 0)
    line += fmt::format("  compile {:.2f} s{}", r.compile_ms / 1e3, r.compile_cached ? " (cached)" : "");
  if (r.run_ms > 0) line += fmt::format("  run {:.2f} s", r.run_ms / 1e3);
  if (const std::vector<double>& us = r.times.samples; !us.empty())
    line +=
        fmt::format("  time {:.2f} us (min {:.2f}, p90 {:.2f})", median(us), percentile(us, 0), percentile(us, 0.9));
  if (!r.times.without_overlap.empty())
    line += fmt::format(", {:.2f} without overlap, {:.2f} in order", median(r.times.without_overlap),
                        median(r.times.ordered));
  if (r.check_ms >= 100) line += fmt::format("  check {:.1f} s", r.check_ms / 1e3);
  if (!r.reason.empty()) line += "\n    " + r.reason;
  for (const std::string& note : r.notes) line += "\n    note: " + note;
  if (!r.tried.empty())
    line +=
        fmt::format("\n    {} tilings measured: {:.2f} us at best, {:.2f} us of that which was expected to take least",
                    r.tried.size(), std::ranges::min_element(r.tried, {}, &Tried::us)->us, r.tried.front().us);
  for (const TensorResult& t : r.tensors)
    if (t.tiles > 0) line += "\n    " + describe_sample(r, t);
  return line;
}

}  // namespace zellige::run
