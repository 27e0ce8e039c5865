// fg::resources: queues, mutexes and barriers by name, of all sessions that are given the same ones:
//   auto shared = std::make_shared<fg::resources>();
//   fg::session<producer> a({.resources = shared});
//   fg::session<consumer> b({.resources = shared});
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

#include <flowgraph/core/handle.hpp>
#include <flowgraph/core/other_half.hpp>
#include <flowgraph/core/vec.hpp>

namespace flowgraph {

class resources;

namespace detail {

class resource;  // a queue, mutex or barrier

// How many elements somebody asks of a queue.
enum class taking { one, many, up_to };

// Gives the one of a name; all: made where there are none yet. op, words: how it was declared. Apart from the engine,
// so that sessions of graphs without resources have no code for them.
using resource_finder = std::shared_ptr<resource> (*)(std::shared_ptr<resources>& all, std::string_view name,
                                                      std::uint64_t op, slice<std::int64_t> words, std::uint64_t seed);

template <class Tag = void>
class basic_resource_table;  // engine/resources/resources.hpp
using resource_table = basic_resource_table<>;

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_LAZY_HALF resource_table* make_resource_table();
FLOWGRAPH_LAZY_HALF void give_back(resource_table* t) noexcept;

}  // namespace FLOWGRAPH_HALF

}  // namespace detail

// May be used by any number of threads at once.
class resources {
 public:
  template <class Tag = void>
  resources() : table_(detail::make_resource_table()) {}
  detail::resource_table& table() const { return *table_; }

 private:
  detail::handle<detail::resource_table> table_;
};

}  // namespace flowgraph
