// What a user builds a graph with: placeholders, variables, constants, names, scopes, devices, control
// dependencies. The same code runs in a constant expression (define.hpp) and at run time.
#pragma once
#include <cstdint>
#include <string_view>

#include <flowgraph/graph/device.hpp>
#include "init.hpp"
#include "tensor.hpp"

namespace flowgraph {

// State that outlives a step. Used as a tensor it is its present value; assign and its kin take it as a target.
template <class T, auto... Extents>
struct variable : tensor<T, Extents...> {};

template <class T>
concept any_variable = any_tensor<T> && requires(const std::remove_cvref_t<T>& v) {
  []<class E, auto... X>(const variable<E, X...>&) {}(v);
};

enum class training : bool { frozen, trainable };

namespace detail {

constexpr void check_name(graph_data& g, std::string_view text) {
  const char *c = text.data(), *const end = c + text.size();
  while (c != end && *c != '/' && *c > ' ') ++c;
  if (text.empty() || c != end) g.fail(problem::name_syntax, text);
}
constexpr void set_name(graph_data& g, std::string_view text, int id) {
  check_name(g, text);
  g.name(id, text);
}
// Names that follow get this one in front.
constexpr void enter_scope(graph_data& g, std::string_view text) {
  check_name(g, text);
  g.enter_scope(text);
}

template <class T, auto... E>
constexpr auto add_variable(graph_data& g, std::string_view name, const initial_value& initial,
                            const vec<std::int64_t>& values, training t, source where) {
  using result = variable<T, canonical<E>()...>;
  static_assert((std::integral<decltype(canonical<E>())> && ...),
                "a variable's extents must be numbers: its memory outlives the feeds that bind names");
  const auto block = words_of(
      ops::variable::attrs{static_cast<std::int64_t>(initial.kind), initial.a, initial.b, t == training::trainable});
  constexpr int n = attr_words<ops::variable::attrs>;
  const int id = g.at_top([&] { return append_call<ops::variable>(where, result::shape, dtype_of<T>, block.w, n, g); });
  if (!values.empty()) g.words.append(values.data, values.count), g.nodes[id].n_attrs += values.count;
  const problem why = check_initial(initial, dtype_of<T>, result::rank);
  if (why != problem::none) g.fail(why, name);
  set_name(g, name, id);
  return result{{&g, id}};
}

}  // namespace detail

class graph {
 public:
  constexpr graph() = default;
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  // A value that the caller of a step feeds.
  template <class T, auto... E>
  constexpr auto placeholder(std::string_view name, caller where = {}) {
    using result = tensor<T, detail::canonical<E>()...>;
    const result t = data_.at_top([&] { return detail::source_node<ops::placeholder, result>(where, data_); });
    set_name(name, t.id);
    return t;
  }

  // Zeros unless an initial value is given. Optimizers update trainable variables.
  template <class T, auto... E>
  constexpr auto variable(std::string_view name, initial_value initial = {}, training t = training::trainable,
                          caller where = {}) {
    return add_variable<T, E...>(name, initial, {}, t, where);
  }
  // Begins with these numbers: fg::init::from(array).
  template <class T, auto... E, class D>
  constexpr auto variable(std::string_view name, const detail::initial_array<D>& initial,
                          training t = training::trainable, caller where = {}) {
    static_assert(std::is_same_v<T, detail::listed_t<D>>, "a variable begins with numbers of its own element type");
    const detail::vec<std::int64_t> words = detail::literal_words(initial.data);
    const auto v = add_variable<T, E...>(name, {initializer::values}, words, t, where);
    const extents wanted = data_.shape_of(v.id), given = detail::listed_extents(initial.data);
    bool fits = words.size() == (std::int64_t{1} * ... * detail::canonical<E>()) &&
                (given.rank < 0 || given.rank == wanted.rank);
    for (int i = 0; i < given.rank && fits; ++i) fits = given[i] == wanted[i];
    if (!fits) data_.fail(problem::initial_data, name);
    return v;
  }

  // One number for every element; without extents a scalar.
  template <element T, auto... E>
  constexpr auto constant(T value, caller where = {}) {
    return detail::source_node<ops::constant, tensor<T, detail::canonical<E>()...>>(
        where, data_, ops::constant::attrs{static_cast<double>(value)});
  }
  // Element by element, row by row.
  template <class T, auto... E, std::size_t N>
  constexpr auto constant(const T (&values)[N], caller where = {}) {
    using result = tensor<T, detail::canonical<E>()...>;
    static_assert((std::integral<decltype(detail::canonical<E>())> && ...), "a constant's extents must be numbers");
    static_assert(N == (std::size_t{1} * ... * static_cast<std::size_t>(detail::canonical<E>())),
                  "constant: there must be as many values as the shape has elements");
    return add_literal<result>(where, detail::literal_words(values));
  }
  // Of an fg::ndarray's extents, which must be numbers.
  template <class Array>
    requires requires { Array::shape.number[0]; }
  constexpr auto constant(const Array& values, caller where = {}) {
    using result = typename detail::shaped<tensor, typename Array::value_type, Array>::type;
    static_assert(Array::is_static, "a constant's extents must be numbers");
    return add_literal<result>(where, detail::literal_words(values));
  }

  // A name to fetch, feed or look up by. A name that is taken gets "_1", "_2", ... behind it.
  template <any_tensor T>
  constexpr T name(std::string_view text, T t, caller where = {}) {
    data_.where = where;
    set_name(text, t.id);
    return t;
  }
  constexpr operation name(std::string_view text, operation o, caller where = {}) {
    data_.where = where;
    set_name(text, o.id);
    return o;
  }

  // The three below hold until the returned guard ends: auto s = g.scope("layer1");
  // Names get the scope in front: "layer1/w".
  [[nodiscard]] constexpr auto scope(std::string_view text, caller where = {}) {
    data_.where = where;
    const int outer = data_.scope;
    detail::enter_scope(data_, text);
    return restore{&data_.scope, outer};
  }
  // Nodes ask for this device, or for any device that a partial name matches.
  [[nodiscard]] constexpr auto device(std::string_view text, caller where = {}) {
    data_.where = where;
    if (!parse_device(text).ok) data_.fail(problem::device_syntax, text);
    const int outer = data_.device;
    data_.device = data_.intern_text(text);
    return restore{&data_.device, outer};
  }
  // Nodes run after these tensors and operations.
  template <class... Nodes>
  [[nodiscard]] constexpr auto control_dependencies(const Nodes&... nodes) {
    (data_.push_control(nodes.id), ...);
    return release{&data_, static_cast<int>(sizeof...(Nodes))};
  }

  constexpr graph_data& data() { return data_; }
  constexpr graph_view view() const { return data_.view(); }

 private:
  struct restore {
    int* target;
    int value;
    constexpr restore(int* t, int v) : target(t), value(v) {}
    restore(const restore&) = delete;
    restore& operator=(const restore&) = delete;
    constexpr ~restore() { *target = value; }
  };
  struct release {
    graph_data* data;
    int count;
    constexpr release(graph_data* d, int n) : data(d), count(n) {}
    release(const release&) = delete;
    release& operator=(const release&) = delete;
    constexpr ~release() { data->pop_controls(count); }
  };

  template <class T, auto... E>
  constexpr auto add_variable(std::string_view name, const initial_value& initial,
                              const detail::vec<std::int64_t>& values, training t, source where) {
    return detail::add_variable<T, E...>(data_, name, initial, values, t, where);
  }
  template <class Result>
  constexpr Result add_literal(source where, const detail::vec<std::int64_t>& words) {
    return {&data_,
            detail::append_call<ops::literal>(where, Result::shape, detail::dtype_of<typename Result::element_type>,
                                              words.begin(), words.size(), data_)};
  }

  constexpr void set_name(std::string_view text, int id) { detail::set_name(data_, text, id); }

  graph_data data_;
};

}  // namespace flowgraph
