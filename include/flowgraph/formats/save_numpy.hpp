// fg::save_npy and fg::save_npz: arrays in NumPy's files, byte for byte as numpy.save and numpy.savez write them. A
// file is there whole or not at all.
#pragma once
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <flowgraph/arrays/borrow.hpp>
#include <flowgraph/core/other_half.hpp>
#include "npy.hpp"

namespace flowgraph {

// Anything that can be fed and that NumPy has a type for: all but bfloat16.
template <class D>
concept npy_data = feedable<D> && !detail::npy_code(detail::data_layout_of<std::remove_cvref_t<D>>().type).empty();

// An array for save_npz. What has a name is borrowed, what is moved in is kept.
class npz_array {
 public:
  template <npy_data D>
  npz_array(std::string name, D&& data) : name_(std::move(name)) {
    using held = detail::held_data<std::remove_cvref_t<D>, detail::is_moved_in<D>>;
    auto kept = std::make_shared<const held>(std::forward<D>(data));
    data_ = &kept->data;
    keep_ = std::move(kept);
  }

  const std::string& name() const { return name_; }
  const detail::borrowed& data() const { return *data_; }

 private:
  std::string name_;
  std::shared_ptr<const void> keep_;
  const detail::borrowed* data_;
};

namespace detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void write_npy(const file_path& path, const borrowed& data);
FLOWGRAPH_OTHER_HALF void write_npz(const file_path& path, std::initializer_list<npz_array> arrays);

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

// save_npy("x.npy", x): an fg::ndarray, std::vector, Eigen matrix, number, ... Throws file_error.
template <npy_data D>
void save_npy(const file_path& path, const D& data) {
  detail::write_npy(path, detail::lent<D>(data).data);
}

// save_npz("data.npz", {{"x", images}, {"y", labels}}): stored, not packed. Throws file_error, or argument_error where
// a name is empty, there twice, or too long.
inline void save_npz(const file_path& path, std::initializer_list<npz_array> arrays) {
  detail::write_npz(path, arrays);
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "save_numpy_code.hpp"
#endif
