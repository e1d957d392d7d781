#include "shadow/shared_shadow.hpp"

#include <bit>
#include <cstring>

namespace zellige::shadow {

using What = Clash::What;

void SharedShadow::reset(std::size_t bytes) {
  const std::size_t granules = (bytes + 15) / 16;
  granules_.resize(granules);
  if (granules) std::memset(static_cast<void*>(granules_.data()), 0, granules * sizeof(Cell));
  if (cell_count_ < granules * 8) {
    cell_count_ = granules * 8;
    cells_.reset(new Cell[cell_count_]);  // uninitialized: `split` fills what it exposes
  }
  several_.clear();
  bytes_.clear();
}

SharedShadow::Cell SharedShadow::copy_of(const Cell& of) {
  Cell cell = of;
  if (!of.read_warps.empty() && of.read_epoch == several_times) {
    cell.read_site = std::uint32_t(several_.size());
    several_.push_back(ReadSet(several_[of.read_site]));
  }
  return cell;
}

void SharedShadow::split(std::size_t granule) {
  for (unsigned i = 0; i < 8; ++i) cells_[granule * 8 + i] = i ? copy_of(granules_[granule]) : granules_[granule];
  granules_[granule].split = Split::pairs;
}

void SharedShadow::split_to_bytes(std::size_t granule) {
  if (bytes_.empty()) bytes_.resize(granules_.size() * 16);
  if (granules_[granule].split == Split::none) split(granule);
  for (unsigned i = 0; i < 16; ++i) bytes_[granule * 16 + i] = copy_of(cells_[granule * 8 + i / 2]);
  granules_[granule].split = Split::bytes;
}

template <class Step>
Clash SharedShadow::each(std::size_t at, unsigned bytes, Step step) {
  const std::size_t granule = at / 16;
  Split& how = granules_[granule].split;
  if (bytes == 16 && how == Split::none) return step(granules_[granule]);
  if (bytes == 1 && how != Split::bytes) split_to_bytes(granule);
  if (how == Split::none) split(granule);
  Cell* const cells = how == Split::bytes ? bytes_.data() + at : cells_.get() + at / 2;
  Cell* const end = how == Split::bytes ? cells + bytes : cells_.get() + (at + bytes + 1) / 2;
  Clash first;
  for (Cell* cell = cells; cell < end; ++cell) {
    const Clash clash = step(*cell);
    if (clash && !first) first = clash;
  }
  return first;
}

Clash SharedShadow::unordered_read(const Cell& cell, const Actor& a) const {
  if (cell.read_warps.empty()) return {};
  if (cell.read_epoch != several_times) {
    if (cell.read_epoch < a.minimum) return {};
    Clash found;
    cell.read_warps.all([&](unsigned w) {
      if (cell.read_epoch < a.observed(w)) return true;
      std::uint16_t who = std::uint16_t(w * 32);  // some lane of that warp, if the reader is unknown
      bool named = false;
      for (const std::uint16_t reader : {cell.reader, cell.other_reader}) {
        if (reader == nobody || reader / 32 != w) continue;
        if (!named || a.after(cell.read_epoch, who)) who = reader;
        named = true;
      }
      if (named ? !a.after(cell.read_epoch, who) : w != a.warp) found = {What::read, who, 0, cell.read_site};
      return !found;
    });
    return found;
  }
  const ReadSet& set = several_[cell.read_site];
  for (unsigned w = 0; w < max_warps; ++w) {
    const Reads& r = set[w];
    if (!r.epoch || r.epoch < a.observed(w)) continue;
    if (!a.after(r.epoch, r.reader)) return {What::read, r.reader, 0, r.site};
    if (r.other_reader != nobody && !a.after(r.epoch, r.other_reader)) return {What::read, r.other_reader, 0, r.site};
  }
  return {};
}

void SharedShadow::add_read(Cell& cell, const Actor& a) {
  const WarpSet mine = WarpSet::of(a.warp);
  if (cell.read_warps.empty()) {
    cell.read_epoch = a.epoch, cell.read_site = a.site, cell.read_warps = mine;
    cell.reader = a.thread, cell.other_reader = nobody;
    return;
  }
  if (cell.read_epoch == a.epoch) {
    cell.read_warps.add(mine);
    if (cell.reader != a.thread && cell.other_reader == nobody) cell.other_reader = a.thread;
    return;
  }
  if (cell.read_epoch != several_times) {
    const bool all_before = cell.read_warps.all([&](unsigned w) {
      const bool only_mine = w == a.warp && cell.reader == a.thread && cell.other_reader == nobody;
      return only_mine || cell.read_epoch < a.observed(w);
    });
    if (all_before) {
      cell.read_warps = {};
      return add_read(cell, a);
    }
    ReadSet set{};
    cell.read_warps.all([&](unsigned w) {
      const bool named = cell.reader / 32 == w;
      // The other readers of that warp are not known. Once the warp reads at a later time they do not matter;
      // until then "another thread" is the conservative answer.
      set[w] = {cell.read_epoch, cell.read_site, named ? cell.reader : std::uint16_t(w * 32), nobody};
      if (cell.other_reader != nobody && cell.other_reader / 32 == w) set[w].other_reader = cell.other_reader;
      if (!named && set[w].other_reader == nobody) set[w].other_reader = std::uint16_t(w * 32 + 1);
      return true;
    });
    cell.read_epoch = several_times;
    cell.read_site = std::uint32_t(several_.size());
    several_.push_back(set);
  }
  cell.read_warps.add(mine);
  Reads& r = several_[cell.read_site][a.warp];
  if (r.epoch != a.epoch) {
    // `other_reader` keeps an earlier reader of the same warp, if its read is not ordered before the current read.
    const bool unordered = r.epoch && r.epoch >= a.observed(a.warp) && r.reader != a.thread;
    r = {a.epoch, a.site, a.thread, unordered ? r.reader : nobody};
  } else if (r.reader != a.thread && r.other_reader == nobody) {
    r.other_reader = a.thread;
  }
}

Clash SharedShadow::unordered_write(const Cell& cell, const Actor& a, bool by_proxy) const {
  const auto clash = [&](What what) { return Clash{what, cell.writer, 0, cell.write_site}; };
  if (cell.region == 0) return {};
  if (cell.in_flight) return clash(What::in_flight);
  if (!a.after(cell.write_epoch, cell.writer)) return clash(What::written);
  if (by_proxy && !a.fenced(cell.write_epoch, cell.writer, emulate::Space::shared)) return clash(What::unfenced);
  return {};
}

// Records a write by the asynchronous proxy with time 0. Every later access counts as ordered after time 0, so that
// SharedShadow reports no race of a later access with this write; AsyncShadow checks for these races.
Clash SharedShadow::write_any(std::size_t at, unsigned bytes, const Actor& a, As as, By by) {
  const bool by_proxy = by == By::proxy;
  const Clash clash = each(at, bytes, [&](Cell& cell) {
    const Clash found = first_of(unordered_write(cell, a, by_proxy), unordered_read(cell, a));
    set_writer(cell, a, by_proxy ? 0 : a.epoch, as.region);
    cell.arrangement = as.arrangement;
    cell.in_flight = by == By::cp_async;
    return found;
  });
  if (Cell& whole = granules_[at / 16]; bytes == 16 && whole.split != Split::none) {  // now the smaller cells are equal
    whole = whole.split == Split::bytes ? bytes_[at / 16 * 16] : cells_[at / 16 * 8];
    whole.split = Split::none;
  }
  return clash;
}

Clash SharedShadow::read_any(std::size_t at, unsigned bytes, const Actor& a, As as) {
  return each(at, bytes, [&](Cell& cell) {
    Clash clash = cell.region == 0 ? Clash{What::unwritten} : unordered_write(cell, a, false);
    if (!clash && cell.region != as.region)
      clash = {What::other_tensor, cell.writer, cell.region, cell.write_site};
    else if (!clash && disagrees[as.arrangement] >> cell.arrangement & 1)
      clash = {What::other_layout, cell.writer, cell.arrangement, cell.write_site};
    add_read(cell, a);
    return clash;
  });
}

Clash SharedShadow::add(std::size_t at, unsigned bytes, const Actor& a) {
  return each(at, bytes, [&](Cell& cell) {
    if (cell.region == 0) return Clash{What::unwritten};
    return first_of(unordered_write(cell, a, false), unordered_read(cell, a));
  });
}

// The issuing thread waits for the copy. Accesses between issue and completion have been reported as races.
void SharedShadow::land(std::size_t at, unsigned bytes, const Actor& a, std::uint16_t region) {
  each(at, bytes, [&](Cell& cell) {
    set_writer(cell, a, a.epoch, region);
    cell.in_flight = false;
    return Clash{};
  });
}

Clash SharedShadow::proxy_read_any(std::size_t at, unsigned bytes, const Actor& a) {
  return each(at, bytes,
              [&](Cell& cell) { return cell.region == 0 ? Clash{What::unwritten} : unordered_write(cell, a, true); });
}

const SharedShadow::Cell& SharedShadow::cell_at(std::size_t at) const {
  const Cell& whole = granules_[at / 16];
  return whole.split == Split::none ? whole : whole.split == Split::pairs ? cells_[at / 2] : bytes_[at];
}
Clash SharedShadow::written_as(std::size_t at) const {
  const Cell& cell = cell_at(at);
  return {What::other_tensor, cell.writer, cell.region, cell.write_site};
}
std::uint16_t SharedShadow::region_at(std::size_t at) const { return cell_at(at).region; }
bool SharedShadow::written_by(std::size_t at, std::uint16_t thread, std::uint32_t epoch) const {
  const Cell& cell = cell_at(at);
  return cell.region && cell.writer == thread && cell.write_epoch == epoch;
}

}  // namespace zellige::shadow
