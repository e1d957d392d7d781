// A warp's matrix instruction on registers, whichever table it is of: PTX on the device, a meeting of the
// warp on the emulator.
//
//   mma_in_registers<SM80_16x8x32_S32U8S8S32_TN>(d, a, b);        d += a b
#pragma once

#include <zellige/atom/fragment_registers.hpp>
#include <zellige/atom/mma_atom.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/atom/mma_body.hpp>
#include <zellige/atom/mma_emulated.hpp>
#endif

namespace zellige {

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
namespace detail {
/// d += a b by the instruction Op, of mma.hpp or of mma_traits/names.hpp.
template <class Op>
ZELLIGE_CALL void mma_in_registers(typename Op::DRegisters& d, typename Op::ARegisters const& a,
                                   typename Op::BRegisters const& b) {
#if defined(ZELLIGE_EMULATE)
  if constexpr (requires { typename Op::Accumulator; }) {
    mma<Op>(d, a, b);
  } else {
    using In = reference::MmaIn<Op>;
    using Out = reference::MmaOut<Op>;
    using Traits = MMA_Traits<Op>;
    mma_met<In, Out, emulate::number_bytes<typename Traits::ValTypeA>,
            emulate::number_bytes<typename Traits::ValTypeD>>(
        d, a, b, [](In const* in, Out* out) { reference::mma_body<Op>(in, out); }, Op::name);
  }
#else
  Op::call(d, a, b);
#endif
}
}  // namespace detail
#endif

}  // namespace zellige
