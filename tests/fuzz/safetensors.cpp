// Any bytes as a safetensors file: refused with the reader's own exception, or understood so well that writing down
// what was understood gives the same again. docs/CONTRIBUTING.md says how to run it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <flowgraph/formats/safetensors_header.hpp>

namespace fg = flowgraph;

namespace {

fg::safetensors_header parse(std::string_view file) {
  const auto first = std::as_bytes(std::span(file.substr(0, 8)));
  const std::uint64_t length = fg::detail::safetensors_header_length("input", first, file.size());
  return fg::detail::parse_safetensors_header("input", file.substr(8, length), file.size());
}

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  fg::safetensors_header h;
  try {
    h = parse(file);
  } catch (const fg::file_error& e) {
    require(e.byte() >= 0 && static_cast<std::size_t>(e.byte()) <= size);
    return 0;
  }
  std::string again = fg::detail::safetensors_header_bytes(h.tensors, h.metadata);
  again.append(size - h.data_begin, '\0');
  const fg::safetensors_header copy = parse(again);
  require(copy.metadata == h.metadata && copy.tensors.size() == h.tensors.size());
  for (std::size_t i = 0; i < h.tensors.size(); ++i) {
    const fg::stored_tensor &a = h.tensors[i], &b = copy.tensors[i];
    require(a.name == b.name && a.type == b.type && a.dims == b.dims && a.begin == b.begin && a.end == b.end);
  }
  return 0;
}
