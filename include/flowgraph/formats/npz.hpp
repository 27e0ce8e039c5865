// NumPy's .npz: a ZIP archive of .npy files, stored (numpy.savez) or deflated (numpy.savez_compressed).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <flowgraph/core/other_half.hpp>
#include "npy.hpp"

namespace flowgraph {

namespace detail {

struct zip_entry {
  std::string name;
  std::uint64_t method = 0, crc = 0, packed_size = 0, size = 0, header_at = 0;
};
struct zip_archive {
  std::string file, bytes;
  file_limits limits;
  std::vector<zip_entry> entries;
};

inline namespace FLOWGRAPH_HALF {

// Without ".npy" at the ends of names.
FLOWGRAPH_OTHER_HALF zip_archive load_npz(const file_path& path, const file_limits& limits);
FLOWGRAPH_OTHER_HALF loaded_array array_in(const zip_archive& a, std::string_view name, const wanted_array& wanted);

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

// fg::npz file("data.npz"); auto x = file.read<float, rows, 64>("x"). Throws file_error.
class npz {
 public:
  // limits: of each array that is read.
  explicit npz(const file_path& path, const file_limits& limits = {}) : archive_(detail::load_npz(path, limits)) {}

  // As numpy.load(...).files: without ".npy".
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const detail::zip_entry& e : archive_.entries) all.push_back(e.name);
    return all;
  }

  template <element T, auto... Extents>
  ndarray<T, Extents...> read(std::string_view name) const {
    static_assert(detail::numpy_element<T>, "NumPy has no bfloat16");
    using array = ndarray<T, Extents...>;
    return detail::array_in(archive_, name, detail::wanted_of<array>()).template as<array>();
  }

 private:
  detail::zip_archive archive_;
};

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "npz_code.hpp"
#endif
