// SPDX-License-Identifier: MIT
#include "preload/output.hpp"

namespace chasqui::preload {

OutputCopy::OutputCopy(const Output& output) : output_(output) {
  output.each([&](const TypePacker& packer, void* from, MPI_Aint count) {
    const std::size_t end = bytes_.size();
    bytes_.resize(end + static_cast<std::size_t>(count) * packer.facts.size);
    packer.pack(from, count, bytes_.data() + end);
  });
}

void OutputCopy::restore() const {
  const std::byte* from = bytes_.data();
  output_.each([&](const TypePacker& packer, void* to, MPI_Aint count) {
    packer.unpack(to, count, from);
    from += static_cast<std::size_t>(count) * packer.facts.size;
  });
}

}  // namespace chasqui::preload
