// fg::variables: variables by name, of all sessions that are given the same ones:
//   auto shared = std::make_shared<fg::variables>();
//   fg::session<model> trains({.variables = shared});
//   fg::session<other> asks({.variables = shared});
// Apart from fg::resources, so that sessions may read one queue and each have weights of its own.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <flowgraph/arrays/borrow.hpp>
#include <flowgraph/arrays/ndarray.hpp>
#include <flowgraph/core/handle.hpp>
#include <flowgraph/core/other_half.hpp>
#include <flowgraph/plan/kernel_args.hpp>

namespace flowgraph {

namespace detail {

template <class Tag = void>
class basic_variable_table;  // engine/state/variable_table.hpp
using variable_table = basic_variable_table<>;

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_LAZY_HALF variable_table* make_variable_table();
FLOWGRAPH_LAZY_HALF void give_back(variable_table* t) noexcept;
FLOWGRAPH_LAZY_HALF std::vector<std::string> names_of(variable_table& t);
FLOWGRAPH_LAZY_HALF bool has_variable(variable_table& t, std::string_view name);
// Copies a value. Throws name_error, or graph_error where it is not of the array's element type and extents.
FLOWGRAPH_LAZY_HALF void copy_variable(variable_table& t, std::string_view name, const array_view& to);
// Throws name_error, or feed_error where the data does not fit.
FLOWGRAPH_LAZY_HALF void write_variable(variable_table& t, std::string_view name, const borrowed& data);

}  // namespace FLOWGRAPH_HALF

}  // namespace detail

// May be used by any number of threads at once.
class variables {
 public:
  template <class Tag = void>
  variables() : table_(detail::make_variable_table()) {}

  // In the order in which sessions brought them.
  template <class Tag = void>
  std::vector<std::string> names() const {
    return detail::names_of(*table_);
  }
  template <class Tag = void>
  bool contains(std::string_view name) const {
    return detail::has_variable(*table_, name);
  }
  // auto w = shared->get<float, 64, 10>("w"): a copy. Waits for steps that are changing it.
  template <class T, auto... E>
  ndarray<T, E...> get(std::string_view name) const {
    ndarray<T, E...> value;
    static_assert(ndarray<T, E...>::is_static, "a variable's extents are numbers");
    detail::copy_variable(*table_, name,
                          {value.data(), value.dims().data(), ndarray<T, E...>::rank, detail::dtype_of<T>});
    return value;
  }
  template <feedable D>
  void set(std::string_view name, const D& data) {
    detail::write_variable(*table_, name, detail::lent<D>(data).data);
  }

  detail::variable_table& table() const { return *table_; }

 private:
  detail::handle<detail::variable_table> table_;
};

}  // namespace flowgraph
