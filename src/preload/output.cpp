// SPDX-License-Identifier: MIT
#include "preload/output.hpp"

namespace chasqui::preload {

OutputCopy::OutputCopy(const Output& output) : output_(output) {
  std::size_t bytes = 0;
  output.each([&](const TypePacker& packer, void*, MPI_Aint count) {
    bytes += static_cast<std::size_t>(count) * packer.facts.size;
  });
  bytes_.resize(bytes);
  take();
}

void OutputCopy::take() {
  std::byte* to = bytes_.data();
  output_.each([&](const TypePacker& packer, void* from, MPI_Aint count) {
    packer.pack(from, count, to);
    to += static_cast<std::size_t>(count) * packer.facts.size;
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
