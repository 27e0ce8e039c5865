// fg::resources: queues, mutexes and barriers by name, of all sessions that are given the same ones:
//   auto shared = std::make_shared<fg::resources>();
//   fg::session<producer> a({.resources = shared});
//   fg::session<consumer> b({.resources = shared});
#pragma once
#include <concepts>
#include <memory>

#include <flowgraph/core/other_half.hpp>

namespace flowgraph {

namespace detail {

template <class Tag = void>
class basic_resource_table;  // engine/resources/resources.hpp
using resource_table = basic_resource_table<>;

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_LAZY_HALF resource_table* make_resource_table();
FLOWGRAPH_LAZY_HALF void end_resource_table(resource_table* t) noexcept;

}  // namespace FLOWGRAPH_HALF

struct free_resource_table {
  template <std::same_as<resource_table> Table>
  void operator()(Table* t) const noexcept {
    end_resource_table(t);
  }
};

}  // namespace detail

// May be used by any number of threads at once.
class resources {
 public:
  template <class Tag = void>
  resources() : table_(detail::make_resource_table()) {}
  detail::resource_table& table() const { return *table_; }

 private:
  std::unique_ptr<detail::resource_table, detail::free_resource_table> table_;
};

}  // namespace flowgraph
