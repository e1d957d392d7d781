// Draws the bank that each lane of an access uses, and the wavefront that serves it.
#pragma once
#include "plan/banks.hpp"
#include "view/picture.hpp"

namespace zellige::view {

/// One grid per phase: lanes down, the 32 banks across, and in each cell the wavefront (1, 2, ..., a, b, ...)
/// that serves the lane there. Lanes that access the same word share a wavefront.
Picture bank_picture(const plan::BankAccess&, const std::string& title);

}  // namespace zellige::view
