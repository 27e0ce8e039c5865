// Any bytes as a file of each format that arrays are read from: refused with file_error, or read. The first byte says
// as which one. docs/CONTRIBUTING.md says how to run it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <flowgraph/data/csv.hpp>
#include <flowgraph/data/lines.hpp>
#include <flowgraph/formats/idx.hpp>
#include <flowgraph/formats/image.hpp>
#include <flowgraph/formats/npz.hpp>

namespace {

namespace fg = flowgraph;

inline constexpr fg::dim rows{"rows"};
inline constexpr fg::dim columns{"columns"};
inline constexpr fg::file_limits little{.bytes = std::size_t{1} << 22};

void require(bool truth) {
  if (!truth) std::abort();
}

// A file without a name, which exists for its bytes alone.
class memory_file {
 public:
  memory_file() : descriptor_(::memfd_create("input", 0)), path_("/proc/self/fd/" + std::to_string(descriptor_)) {
    require(descriptor_ >= 0);
  }
  const std::string& with(std::string_view bytes) const {
    require(::ftruncate(descriptor_, 0) == 0);
    require(::pwrite(descriptor_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    return path_;
  }

 private:
  int descriptor_;
  std::string path_;
};

// Every element that a reader gives is there.
template <class Array>
void touch(const Array& a) {
  double sum = 0;
  for (const auto x : a.span()) sum += static_cast<double>(x);
  volatile double seen = sum;
  (void)seen;
}

template <class... Columns>
void read_csv(const std::string& path) {
  std::size_t seen = 0;
  for ([[maybe_unused]] auto row : fg::csv<Columns...>(path, {.limits = little})) ++seen;
  require(seen <= (std::size_t{1} << 24));
}

using reader = void (*)(const std::string& path);
// In the order of the first byte.
inline constexpr reader readers[] = {
    [](const std::string& path) { touch(fg::read_image<rows, columns, 3>(path, little)); },
    [](const std::string& path) { touch(fg::read_image<columns, rows, 2>(path, little)); },
    [](const std::string& path) { touch(fg::read_npy<float, rows, columns>(path, little)); },
    [](const std::string& path) { touch(fg::read_npy<std::int64_t>(path, little)); },
    [](const std::string& path) {
      const fg::npz archive(path, little);
      for (const std::string& name : archive.names()) try {
          touch(archive.read<float, rows, columns>(name));
        } catch (const fg::file_error&) {
        }
    },
    [](const std::string& path) { touch(fg::read_idx<std::uint8_t, rows, columns, columns>(path, little)); },
    [](const std::string& path) { touch(fg::read_idx<float, rows>(path, little)); },
    [](const std::string& path) { read_csv<fg::ndarray<float, 2>, std::int64_t>(path); },
    [](const std::string& path) { read_csv<fg::half, fg::bfloat16, bool>(path); },
    [](const std::string& path) { read_csv<std::string, std::uint8_t>(path); },
    [](const std::string& path) {
      for ([[maybe_unused]] auto line : fg::lines(path)) {
      }
    },
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const memory_file file;
  if (size == 0) return 0;
  try {
    readers[data[0] % std::size(readers)](file.with({reinterpret_cast<const char*>(data) + 1, size - 1}));
  } catch (const fg::file_error& e) {
    require(e.byte() <= (1ll << 32));
  }
  return 0;
}
