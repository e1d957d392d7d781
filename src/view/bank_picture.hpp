// Which bank each lane of an access asks, and in which wavefront it is served.
#pragma once
#include "plan/banks.hpp"
#include "view/picture.hpp"

namespace zellige::view {

/// A grid for each phase: lanes down, the 32 banks across, and in each cell the wavefront (1, 2, ..., a, b,
/// ...) that serves the lane there. Lanes that ask for the same word share a wavefront.
Picture bank_picture(const plan::BankAccess&, const std::string& title);

}  // namespace zellige::view
