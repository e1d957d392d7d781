// Public names that no other test uses: prefetches by an instruction, parts of tilings, pictures of
// instructions, and refusals of the tables.
#include <zellige/atom/cluster_names.hpp>
#include <zellige/atom/evaluate.hpp>
#include <zellige/atom/picture.hpp>
#include <zellige/atom/prefetch_call.hpp>
#include <zellige/atom/print.hpp>

#include "emulated.hpp"

namespace zellige {
namespace {

alignas(128) float nowhere[32];
auto const global = make_tensor(make_gmem_ptr(nowhere), make_layout(make_shape(64, 32), make_stride(_1{}, 64)));
using Smem = Layout<Shape<_16, _8>>;

enum class PrefetchCase { box, odd_box, bulk, odd_bulk, runs };
template <class Copy, PrefetchCase how>
__global__ void prefetches(Copy const tma, gmem<float const> in) {
  if (threadIdx.x != 0) return;
  if constexpr (how == PrefetchCase::box || how == PrefetchCase::odd_box) {
    auto const x = tma.get_tma_tensor(make_shape(64, 32));
    auto const from = domain_offset(make_coord(how == PrefetchCase::box ? 4 : 3, 0), x);
    prefetch(tma, tma.get_slice(0).partition_S(local_tile(from, Shape<_16, _8>{}, make_coord(1, _))));
  } else {
    auto const rows =
        make_tensor(make_gmem_ptr(in + (how == PrefetchCase::odd_bulk ? 1 : 0)), Layout<Shape<_64, _4>>{});
    if constexpr (how == PrefetchCase::runs) {
      prefetch(Copy_Traits<SM90_BULK_COPY_AUTO>{}, rows);
    } else {
      auto const whole = make_tiled_copy(Copy_Atom<Copy_Traits<SM90_BULK_COPY_G2S, Int<2048>>, float>{}, Layout<_1>{},
                                         Layout<Shape<_64, _1>>{});
      prefetch(whole, whole.get_slice(0).partition_S(rows));
    }
  }
}
template <class Copy, PrefetchCase how>
void run_prefetch(emulate::Launch& l) {
  emulate::call(l, prefetches<Copy, how>);
}
template <PrefetchCase how>
std::string prefetch_report() {
  auto const tma = make_tma_copy(SM90_TMA_LOAD{}, global, Smem{});
  emulate::Buffer in = filled<float>("in", 2048, [](int i) { return float(i); });
  emulate::LaunchConfig config{.grid = {1}, .block = {32}, .shared_bytes = 0, .workers = 1};
  config.parameters.emplace_back(tma, in, false);
  config.parameters.emplace_back(in, false);
  std::string all;
  for (auto const& finding : emulate::run(run_prefetch<remove_cvref_t<decltype(tma)>, how>, config).findings)
    all += finding.message + "\n";
  return all;
}
TEST(Prefetch, ByTheInstructionOfTheCopy) {
  EXPECT_EQ(prefetch_report<PrefetchCase::box>(), "");
  EXPECT_EQ(prefetch_report<PrefetchCase::bulk>(), "");
  EXPECT_EQ(prefetch_report<PrefetchCase::runs>(), "");
  EXPECT_NE(prefetch_report<PrefetchCase::odd_box>().find("in the tma_prefetch of tensor in, coordinate 0 is 19"),
            std::string::npos)
      << prefetch_report<PrefetchCase::odd_box>();
  EXPECT_NE(prefetch_report<PrefetchCase::odd_bulk>().find("prefetches bytes 4..260"), std::string::npos)
      << prefetch_report<PrefetchCase::odd_bulk>();
}
TEST(Prefetch, ByADescriptor) {
  auto const tma = make_tma_copy(SM90_TMA_LOAD_MULTICAST{}, global, Smem{});
  using PrefetchCase = Copy_Traits<SM90_TMA_LOAD::PREFETCH, Int<16 * 8 * 32>>;
  EXPECT_EQ(PrefetchCase(tma).descriptor, tma.get_tma_descriptor());
  EXPECT_EQ(PrefetchCase(nullptr).with(tma.get_tma_descriptor()).descriptor, tma.get_tma_descriptor());
  auto* const changeable = const_cast<TmaDescriptor*>(tma.get_tma_descriptor());
  EXPECT_EQ(PrefetchCase(nullptr).with(changeable).descriptor, tma.get_tma_descriptor());
  EXPECT_EQ(int(size<1>(PrefetchCase::SrcLayout{})), 16 * 8 * 32);
}

TEST(Surface, BasisOfABox) {
  auto const tma = make_tma_copy(SM90_TMA_LOAD{}, global, Smem{});
  auto const modes = composition(make_identity_layout(shape(global)), Shape<_16, _8>{});
  auto const basis = detail::construct_tma_gbasis<float>(global, Smem{}, modes);
  static_assert(is_same_v<remove_cvref_t<decltype(basis)>, typename decltype(tma)::AuxParams::TmaGmemBasis>);
  EXPECT_EQ(to_text(basis), "(_16,_8):(_1@0,_1@1)");
}
TEST(Surface, TileToThreads) {
  using Copy = decltype(make_tiled_copy(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, Layout<Shape<_16, _2>>{},
                                        Layout<Shape<_1, _8>>{}));
  auto const tile = make_layout(make_shape(32, 64), make_stride(64, 1));
  auto const tiled = zipped_divide(tile, typename Copy::Tiler_MN{});
  auto const order = composition(right_inverse(typename Copy::AtomLayoutRef{}), typename Copy::AtomLayoutSrc{});
  EXPECT_EQ(to_text(Copy::tile2thrfrg(tiled, order)), to_text(Copy::tidfrg_S(tile)));
  auto const same = composition(right_inverse(typename Copy::AtomLayoutRef{}), typename Copy::AtomLayoutDst{});
  EXPECT_EQ(to_text(Copy::tile2thrfrg(tiled, same)), to_text(Copy::tidfrg_D(tile)));
  EXPECT_NE(to_text(Copy::tidfrg_S(tile)), to_text(Copy::tidfrg_D(tile)));
}
TEST(Surface, PicturesOfInstructions) {
  using Atom = MMA_Atom<SM80_16x8x8_F32F16F16F32_TN>;
  EXPECT_EQ(svg_text(Atom{}), svg_text(make_tiled_mma(Atom{})));
  EXPECT_EQ(latex_text(Atom{}), latex_text(make_tiled_mma(Atom{})));
  // Thread 5 holds row 1, columns 2 and 3 of C as its first two values.
  EXPECT_NE(latex_text(Atom{}).find("T5 \\\\ V1"), std::string::npos);
}
TEST(Surface, RefusesWhatTheTablesLack) {
  auto const message = [](char const* name) -> std::string {
    try {
      evaluate_atom("mma_traits", {name});
      return "";
    } catch (std::exception const& e) {
      return e.what();
    }
  };
  EXPECT_EQ(message("SM90::GMMA::SPARSE::GMMA_64x8x32_F16F16F16_SS"),
            "SM90::GMMA::SPARSE::GMMA_64x8x32_F16F16F16_SS: sparse instructions are not in the tables; the dense "
            "ones of SM70 to SM90 are");
  EXPECT_EQ(
      message("SM100_MMA_F16BF16_SS"),
      "SM100_MMA_F16BF16_SS: the name lacks its template arguments, as in "
      "SM120_16x8x32_TN<float_e4m3_t,float_e2m1_t,float> or SM100_MMA_F16BF16_SS<half_t,half_t,float,128,256,K,K>");
  EXPECT_EQ(message("SM80_16x8x17_F16F16F16F16_TN"), "there is no instruction SM80_16x8x17_F16F16F16F16_TN");
}

}  // namespace
}  // namespace zellige
