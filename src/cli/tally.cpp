#include "cli/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "strings/shown.hpp"

namespace zellige::cli {
namespace {

using Row = Tally::Row;

void add(Row& row, const run::RunResult& r) {
  ++row.graphs;
  ++(r.status == run::Status::correct      ? row.correct
     : r.status == run::Status::borderline ? row.borderline
     : r.status == run::Status::wrong      ? row.wrong
     : r.status == run::Status::refused    ? row.refused
     : r.status == run::Status::failed     ? row.failed
                                           : row.other);
  for (const run::TensorResult& t : r.tensors) {
    if (!(t.norm_error <= row.error)) row.error = t.norm_error;  // propagates NaN
    if (!(t.worst <= row.worst)) row.worst = t.worst;
  }
  if (r.compile_ms > 0) row.compile_s.push_back(r.compile_ms / 1e3);
  row.run_s += r.run_ms / 1e3;
  for (const auto& [name, n] : r.counters) row.counters[name] += n;
}

/// Returns `part` as a percentage of `whole`; NaN if `whole` is 0.
double share(double part, double whole) { return whole > 0 ? 100 * part / whole : NAN; }

// Returns the percentage of bytes loaded from or stored to global memory that moved in 16-byte accesses; NaN
// if there were no accesses.
double wide_share(const Row& row) {
  double wide = 0, all = 0;
  for (const char* kind : {"global_load_", "global_store_", "cp_async_"}) {
    for (const int width : {1, 2, 4, 8, 16}) {
      const auto at = row.counters.find(kind + std::to_string(width));
      if (at == row.counters.end()) continue;
      all += width * static_cast<double>(at->second);
      if (width == 16) wide += width * static_cast<double>(at->second);
    }
  }
  return share(wide, all);
}

// Returns how many percent more wavefronts ldmatrix took than it would have taken without bank conflicts; NaN
// if no ldmatrix ran.
double conflicts(const Row& row) {
  const auto took = row.counters.find("ldmatrix_wavefronts"), ideal = row.counters.find("ldmatrix_wavefronts_ideal");
  if (took == row.counters.end() || ideal == row.counters.end()) return NAN;
  return share(static_cast<double>(took->second) - static_cast<double>(ideal->second),
               static_cast<double>(ideal->second));
}

std::string percent(double v) { return std::isnan(v) ? "-" : fmt::format("{:.1f}%", v); }

/// Returns the line of the table for one file, or for all files.
std::string text(const Row& row) {
  auto seconds = [](double v) { return std::isnan(v) ? std::string("-") : fmt::format("{:.2f}", v); };
  const std::uint64_t mma = row.counters.contains("mma") ? row.counters.at("mma") : 0;
  return fmt::format(
      "{:<18} {:>6} {:>7} {:>6} {:>5} {:>7} {:>6} {:>9.1e} {:>6.2f} {:>8} {:>8} {:>8.1f} {:>9} {:>8} {:>9}\n", row.name,
      row.graphs, row.correct, row.borderline, row.wrong, row.refused, row.failed, row.error, row.worst,
      seconds(run::median(row.compile_s)), seconds(run::percentile(row.compile_s, 1)), row.run_s,
      mma ? fmt::format("{:.2f}M", static_cast<double>(mma) / 1e6) : "-", percent(wide_share(row)),
      percent(conflicts(row)));
}

}  // namespace

void Tally::add(const run::RunResult& r) {
  const std::string name = strings::shown(std::filesystem::path(r.file).stem().string());
  auto row = std::ranges::find(rows_, name, &Row::name);
  if (row == rows_.end()) row = rows_.insert(rows_.end(), Row{.name = name});
  cli::add(*row, r);
  cli::add(all_, r);
}

std::string Tally::text() const {
  std::string table =
      fmt::format("{:<18} {:>6} {:>7} {:>6} {:>5} {:>7} {:>6} {:>9} {:>6} {:>8} {:>8} {:>8} {:>9} {:>8} {:>9}\n",
                  "file", "graphs", "correct", "border", "wrong", "refused", "failed", "error", "/bound", "compile",
                  "max, s", "run, s", "mma", "16-byte", "conflicts");
  for (const Row& row : rows_) table += cli::text(row);
  if (rows_.size() > 1) table += cli::text(all_);
  return table;
}

}  // namespace zellige::cli
