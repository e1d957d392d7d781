// Draws a picture of a warp-wide access to shared memory: which bank each lane uses, and which wavefront serves it.
#pragma once
#include "predict/banks.hpp"
#include "view/picture.hpp"

namespace zellige::view {

/// Returns a picture with one grid per phase. Rows are lanes, columns the 32 banks. A cell shows the wavefront (1, 2,
/// ..., a, b, ...) that serves the lane in this bank. Lanes that access the same word share a wavefront.
Picture bank_picture(const predict::BankAccess&, const std::string& title);

}  // namespace zellige::view
