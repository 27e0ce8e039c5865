// Runs nodes of a graph whose types only the graph knows: what tests have that read a graph, or its numbers, from
// files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <flowgraph/core/convert.hpp>
#include <flowgraph/graph/graph_data.hpp>
#include <flowgraph/session/engine_here.hpp>
#include <flowgraph/session/library_kernels.hpp>

namespace flowgraph::testing {

namespace fgd = flowgraph::detail;

// Numbers in the memory of an element type.
struct typed_array {
  dtype type;
  std::vector<std::int64_t> dims;
  std::vector<double> memory;  // for its alignment
  std::int64_t count = 1;

  typed_array(dtype t, const std::vector<std::int64_t>& d, const std::vector<double>& values)
      : type(t),
        dims(d),
        memory(values.size() + 1) {
    count = static_cast<std::int64_t>(values.size());
    fgd::with_type(t, [&]<class T>(T) {
      T* to = reinterpret_cast<T*>(memory.data());
      for (const double v : values) *to++ = fgd::convert<T>(v);
    });
  }
  fgd::borrowed borrow() const {
    fgd::borrowed b{memory.data(), type, false, static_cast<int>(dims.size()), {}, count};
    for (std::size_t i = 0; i < dims.size(); ++i) b.dims[i] = dims[i];
    return b;
  }
};

struct fetched_array {
  dtype type = dtype::none;
  std::vector<std::int64_t> dims;
  std::vector<double> values;
};

inline fetched_array fetch(const array_view& v) {
  fetched_array r;
  r.type = v.type;
  for (int i = 0; i < v.rank; ++i) r.dims.push_back(v.dim(i));
  fgd::with_type(v.type, [&]<class T>(T) {
    for (std::int64_t i = 0; i < v.size(); ++i) {
      const T x = v.as<const T>()[i];
      if constexpr (is_floating(fgd::dtype_of<T>) && sizeof(T) == 2)
        r.values.push_back(static_cast<double>(static_cast<float>(x)));
      else
        r.values.push_back(static_cast<double>(x));
    }
  });
  return r;
}

// A step on an engine that is there already. The graph outlives it, and stays as it is.
class planned_run {
 public:
  planned_run(fgd::engine& e, const graph_view& g, const std::vector<int>& fetches, const std::vector<int>& feeds)
      : engine_(e),
        graph_(g),
        step_(fgd::prepare(e, g, slice_of(fetches), slice_of(feeds), fgd::library_kernels())) {}
  std::vector<fetched_array> run(const std::vector<fgd::borrowed>& feeds) {
    std::vector<const fgd::borrowed*> data;
    for (const fgd::borrowed& b : feeds) data.push_back(&b);
    std::vector<fetched_array> result;
    fgd::run(engine_, *step_, graph_, {data.data(), nullptr}, [&](const fgd::step_values& done) {
      for (std::size_t k = 0; k < done.size(); ++k) {
        array_view v = done.view(k);
        std::vector<double> copy(static_cast<std::size_t>(v.size()) + 1);  // large enough for any type, and aligned
        done.copy(k, copy.data());
        v.data = copy.data();
        result.push_back(fetch(v));
      }
    });
    return result;
  }

 private:
  static fgd::slice<int> slice_of(const std::vector<int>& v) { return {v.data(), static_cast<int>(v.size())}; }

  fgd::engine& engine_;
  graph_view graph_;
  std::shared_ptr<fgd::prepared_step> step_;
};

class runner {
 public:
  runner(graph_data& g, const std::vector<int>& fetches, const std::vector<int>& feeds, const session_options& o)
      : engine_(fgd::make_engine(o, g.view(), &fgd::find_resource)),
        run_(*engine_, g.view(), fetches, feeds) {}
  std::vector<fetched_array> run(const std::vector<fgd::borrowed>& feeds) { return run_.run(feeds); }
  fgd::engine& engine() { return *engine_; }

 private:
  fgd::engine_handle engine_;
  planned_run run_;
};

}  // namespace flowgraph::testing
