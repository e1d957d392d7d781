// Included by the generated units of the compile-time API for instructions and
// tilings.
#pragma once
#include <zellige/atom/byte_matrix.hpp>
#include <zellige/atom/gmma_descriptor.hpp>
#include <zellige/atom/gmma_names_ext.hpp>
#include <zellige/atom/narrow_mma_call.hpp>
#include <zellige/atom/print.hpp>
#include <zellige/atom/tma_copy.hpp>
#include <zellige/atom/tmem_copy.hpp>
#include <zellige/atom/umma.hpp>

#include "answer.hpp"

using namespace zellige;

/// A fragment as a TiledMMA makes it, and as a TiledCopy counts it.
template <class Copy, class X>
std::string retile_text(Copy const& copy, X const& mine) {
  auto const fragment = make_fragment_like(mine.layout().shape());
  return to_text(fragment) + "\n" + to_text(copy.retile(fragment));
}

template <class T, class L>
auto global_tensor(L const& layout) {
  alignas(128) static char bytes[256];
  return make_tensor(make_gmem_ptr(reinterpret_cast<T*>(bytes)), layout);
}
template <class T, class L>
auto shared_tensor(L const& layout) {
  alignas(1024) static char bytes[1024];
  return make_tensor(make_smem_ptr(reinterpret_cast<T*>(bytes)), layout);
}

template <class Op, class X, class S, class Tiler, class Cluster>
std::string tma_copy_text(Op const& op, X const& global, S const& shared, Tiler const& tiler, Cluster const& cluster) {
  auto const tma = make_tma_copy(op, global, shared, tiler, cluster);
  using Tma = remove_cvref_t<decltype(tma)>;
  std::string text = "Tiler_MN: " + to_text(typename Tma::Tiler_MN{}) +
                     "\nTiledLayout_TV: " + to_text(typename Tma::TiledLayout_TV{}) +
                     "\nTmaGmemBasis: " + to_text(typename Tma::AuxParams::TmaGmemBasis{}) +
                     "\nTmaTensor: " + to_text(tma.get_tma_tensor(shape(global))) + "\nglobalDim: ";
  long long extent[5], stride[5];
  fill_tma_gmem_shape_stride(tma, global, extent, stride);
  for (long long e : extent) text += std::to_string(e) + ' ';
  text += "\nglobalStride: ";
  for (long long s : stride) text += std::to_string(s) + ' ';
  return text;
}
template <class Op, class X, class S, class Tiler, class Cluster, class Crd, class Cta>
std::string tma_copy_partition_text(Op const& op, X const& global, S const& shared, Tiler const& tiler,
                                    Cluster const& cluster, Crd const& crd, Cta const& cta) {
  auto const tma = make_tma_copy(op, global, shared, tiler, cluster);
  auto const tile = local_tile(tma.get_tma_tensor(shape(global)), tiler, crd);
  auto const mine = tma.get_slice(cta);
  auto const memory = shared_tensor<typename X::value_type>(shared);
  return "gA: " + to_text(tile) + "\ntAgA: " + to_text(mine.partition_S(tile)) +
         "\ntAsA: " + to_text(mine.partition_D(memory).layout());
}
template <class Op, class X, class S, class Tiler, class Cluster, class Crd, class Cta>
std::string tma_atom_partition_text(Op const& op, X const& global, S const& shared, Tiler const& tiler,
                                    Cluster const& cluster, Crd const& crd, Cta const& cta) {
  auto const tma = make_tma_atom(op, global, shared, tiler, cluster);
  auto const tile = local_tile(tma.get_tma_tensor(shape(global)), tiler, crd);
  auto const memory = shared_tensor<typename X::value_type>(shared);
  auto const both = tma_partition(tma, cta, make_layout(cluster), group_modes<0, 2>(memory), group_modes<0, 2>(tile));
  return "tAgA: " + to_text(get<0>(both)) + "\ntAsA: " + to_text(get<1>(both).layout());
}
template <SM90::GMMA::Major major, class T, class L, class Block>
std::string gmma_desc_text(L const& tile, Block const& block) {
  auto const d = SM90::GMMA::make_gmma_desc<major>(local_tile(shared_tensor<T>(tile), block, make_coord(0, 0)));
  auto const& b = d.bitfield;
  return "layout_type=" + std::to_string(b.layout_type_) + " lbo=" + std::to_string(b.leading_byte_offset_) +
         " sbo=" + std::to_string(b.stride_byte_offset_) + " base_offset=" + std::to_string(b.base_offset_);
}
