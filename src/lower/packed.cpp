#include "lower/packed.hpp"

#include "graph/dtype.hpp"
#include "lower/views.hpp"
#include "selection/layouts.hpp"

namespace zellige::lower {

int load_packed(tile::TilePrograms& whole, tile::TileProgram& program, tile::Node n) {
  const graph::KernelTensor& t = whole.tensors[n.tensor];
  const std::string name = t.name;
  const std::int64_t per = 8 / graph::bits(t.dtype);
  graph::Shape shape = whole.shape(n.tensor), starts = whole.starts(n.tensor);
  graph::Strides strides = t.strides.empty() ? graph::row_major(shape) : t.strides;
  const int along = selection::innermost(shape, strides);
  const auto halved = [&](std::int64_t number, std::string_view what) {
    if (number % per != 0)
      fail("{}: {} of {}, {}: expected a multiple of {}, as {} elements are in a byte along dimension {}, found {}",
           program.name, what, name, graph::name(t.dtype), per, per, along, number);
    return number / per;
  };
  tile::Node unpack{.kind = tile::NodeKind::unpack,
                    .shape = n.shape,
                    .dtype = graph::is_integer(t.dtype) ? graph::DType::int8 : graph::DType::f32,
                    .to_dtype = t.dtype,
                    .dim = along};
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (static_cast<int>(d) != along && shape[d] > 1) strides[d] = halved(strides[d], "a stride");
  tile::Cut& cut = n.view.cuts[static_cast<std::size_t>(along)];
  if (cut.size >= 0)
    fail("{}: the contiguous dimension {} of {}, {}, depends on a size: it has to be a constant", program.name, along,
         name, graph::name(t.dtype));
  shape[along] = halved(shape[along], "the extent");
  starts[along] = halved(starts[along], "the first element");
  n.shape[along] = halved(n.shape[along], "a tile");
  cut.tile = halved(cut.tile, "a tile");
  cut.extent = halved(cut.extent, "the end");
  cut.offset = halved(cut.offset, "the first element");
  const int base = n.tensor;
  n.tensor = add_tensor(whole, graph::DType::int8, shape, strides, name + "_bytes");
  make_view(whole, n.tensor, base, shape, strides, starts);
  whole.tensors[n.tensor].constant = whole.tensors[base].constant;
  n.dtype = graph::DType::int8;
  unpack.in = {program.add(std::move(n))};
  return program.add(std::move(unpack));
}

}  // namespace zellige::lower
