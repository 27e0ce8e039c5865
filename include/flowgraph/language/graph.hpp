// What a user builds a graph with: placeholders, variables, constants, names, scopes, devices, control
// dependencies. The same code runs in a constant expression (define.hpp) and at run time.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <flowgraph/graph/device.hpp>
#include "init.hpp"
#include "misuse.hpp"

namespace flowgraph {

// State that outlives a step. Used as a tensor it is its present value; assign and its kin take it as a target.
template <class T, auto... Extents>
struct variable : tensor<T, Extents...> {
  // Mistakes, as in tensor.
#define FLOWGRAPH_OPERATOR(symbol, taken)                                                            \
  template <class X>                                                                                 \
    requires(taken)                                                                                  \
  constexpr const variable& operator symbol(const X&) const {                                        \
    if constexpr (!detail::is_unknown<X>) detail::mistake<problem::variable_changed, variable, X>(); \
    this->graph->fail(problem::already_said, {});                                                    \
    return *this;                                                                                    \
  }
  FLOWGRAPH_OPERATOR(=, (!std::is_base_of_v<variable, X>))
  FLOWGRAPH_OPERATOR(+=, true)
  FLOWGRAPH_OPERATOR(-=, true)
  FLOWGRAPH_OPERATOR(*=, true)
  FLOWGRAPH_OPERATOR(/=, true)
#undef FLOWGRAPH_OPERATOR
};

template <class T>
concept any_variable = any_tensor<T> && requires(const std::remove_cvref_t<T>& v) {
  []<class E, auto... X>(const variable<E, X...>&) {}(v);
};

enum class training : bool { frozen, trainable };

namespace detail {

FLOWGRAPH_CONSTEXPR void check_name(graph_data& g, std::string_view text) {
  const char *c = text.data(), *const end = c + text.size();
  while (c != end && *c != '/' && static_cast<unsigned char>(*c) > ' ') ++c;  // bytes of UTF-8 may be negative
  if (text.empty() || c != end) g.fail(problem::name_syntax, text);
}
FLOWGRAPH_CONSTEXPR void set_name(graph_data& g, std::string_view text, int id) {
  check_name(g, text);
  const int known = g.find_in_scope(text);
  if (known == id) return;
  if (known >= 0) g.fail(problem::name_taken, text);
  g.name(id, text);
}
// Names that follow get this one in front.
FLOWGRAPH_CONSTEXPR void enter_scope(graph_data& g, std::string_view text) {
  check_name(g, text);
  g.enter_scope(text);
}

template <class T, auto... E>
constexpr auto add_variable(graph_data& g, std::string_view name, const initial_value& initial,
                            const vec<std::int64_t>& values, training t, source where) {
  using result = variable<T, canonical<E>()...>;
  static_assert((std::integral<decltype(canonical<E>())> && ...),
                "a variable's extents must be numbers: its memory outlives the feeds that bind names");
  if (g.shares_variables) {
    const int known = g.find_in_scope(name);
    if (known >= 0) {
      const node& n = g.nodes[known];
      g.where = where;
      if (n.op->id != ops::variable::id || n.type != dtype_of<T> || g.shapes[n.shape].hash != result::shape.hash)
        g.fail(problem::parameter_differs, name);
      return result{{&g, known}};
    }
  }
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

// Template arguments of a call, as a fact.
template <auto... Stated>
struct stated;

template <class... X>
inline constexpr bool text_first = false;
template <class A, class... X>
inline constexpr bool text_first<A, X...> = text_argument<A>;
// What stands among extents: where it is text, a named extent is meant.
struct extent_or_text {
  bool is_text = false;
  template <extent_argument E>
  constexpr extent_or_text(E) {}
  template <std::size_t N>
  constexpr extent_or_text(const char (&)[N]) : is_text(true) {}
};

template <class... X>
concept no_text_first = !text_first<X...>;

template <class... X>
inline constexpr bool variable_arguments = false;
template <class A>
inline constexpr bool variable_arguments<A> = text_argument<A>;
template <class A, class B, class... X>
inline constexpr bool variable_arguments<A, B, X...> =
    text_argument<A> && (std::is_convertible_v<B, initial_value> || requires(const B& b) { b.data; });
template <class... X>
concept no_variable_arguments = !variable_arguments<X...>;

template <class... X>
inline constexpr bool something_to_name = false;
template <class A, class B, class... X>
inline constexpr bool something_to_name<A, B, X...> =
    text_argument<A> && (any_tensor<B> || std::is_same_v<B, operation>);
template <class... X>
concept nothing_to_name = !something_to_name<X...>;

}  // namespace detail

#define FLOWGRAPH_ELEMENT_TYPES "an element type is float, double, half, bfloat16, int8, uint8, int32, int64 or bool"
#define FLOWGRAPH_EXTENT_NAMES                                                                        \
  "an extent is a number or a constant of fg::dim, as in inline constexpr fg::dim batch{\"batch\"}; " \
  "placeholder<float, batch, 64>(\"x\")"
#define FLOWGRAPH_PLACEHOLDER_TAKES                                                                             \
  "placeholder takes an element type and extents as template arguments, then a name, as in placeholder<float, " \
  "batch, 64>(\"x\")"
#define FLOWGRAPH_VARIABLE_TAKES                                                                            \
  "variable takes an element type and extents as template arguments, then a name and how it begins, as in " \
  "variable<float, 64, 32>(\"w\", fg::init::glorot_uniform())"
#define FLOWGRAPH_CONSTANT_TAKES                                                                                    \
  "constant takes an element type and extents as template arguments, then a number, as many numbers in braces, or " \
  "an fg::ndarray, as in constant<float, 3>({1, 2, 3})"

class graph {
 public:
  constexpr graph() = default;
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  // A value that the caller of a step feeds.
  template <element T, auto... E>
  constexpr auto placeholder(std::string_view name, caller where = {}) {
    using result = tensor<T, detail::canonical<E>()...>;
    const result t = data_.at_top([&] { return detail::source_node<ops::placeholder, result>(where, data_); });
    set_name(name, t.id);
    return t;
  }

  // Zeros unless an initial value is given. Optimizers update trainable variables.
  template <element T, auto... E>
  constexpr auto variable(std::string_view name, initial_value initial = {}, training t = training::trainable,
                          caller where = {}) {
    return add_variable<T, E...>(name, initial, {}, t, where);
  }
  // Begins with these numbers: fg::init::from(array).
  template <element T, auto... E, class D, class Data>
  constexpr auto variable(std::string_view name, const detail::initial_array<D, Data>& initial,
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
        where, data_, ops::constant::attrs{ops::number_word<T>(value)});
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

  // A name to fetch, feed or look up by. It is given once; a tensor may have several.
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

  // Calls that fit none of these.
  template <detail::nothing_stated = detail::nothing_stated{}, class... X>
  constexpr auto placeholder(const X&... x) {
    static_assert(detail::given<X...>, FLOWGRAPH_PLACEHOLDER_TAKES);
    return detail::unknown_among(data_, x...);
  }
  template <auto Stated, auto... E, class... X>
  constexpr auto placeholder(const X&... x) {
    static_assert(detail::given<detail::stated<Stated, E...>>, FLOWGRAPH_PLACEHOLDER_TAKES);
    return detail::unknown_among(data_, x...);
  }
  template <class T, auto... E, class... X>
    requires(!element<T> || detail::no_text_first<X...>)
  constexpr auto placeholder(const X&... x) {
    if constexpr (!element<T>)
      static_assert(detail::given<T>, FLOWGRAPH_ELEMENT_TYPES);
    else
      static_assert(detail::given<X...>, FLOWGRAPH_PLACEHOLDER_TAKES);
    return detail::unknown_among(data_, x...);
  }
  template <class T, auto... E>
  constexpr auto placeholder(std::string_view, detail::braced) {
    static_assert(detail::given<T>, FLOWGRAPH_PLACEHOLDER_TAKES);
    return detail::unknown_among(data_);
  }
  template <class T, detail::extent_or_text... E, class... X>
    requires(E.is_text || ...)
  constexpr auto placeholder(const X&... x) {
    static_assert(detail::given<T>, FLOWGRAPH_EXTENT_NAMES);
    return detail::unknown_among(data_, x...);
  }
  template <detail::nothing_stated = detail::nothing_stated{}, class... X>
  constexpr auto variable(const X&... x) {
    static_assert(detail::given<X...>, FLOWGRAPH_VARIABLE_TAKES);
    return detail::unknown_among(data_, x...);
  }
  template <auto Stated, auto... E, class... X>
  constexpr auto variable(const X&... x) {
    static_assert(detail::given<detail::stated<Stated, E...>>, FLOWGRAPH_VARIABLE_TAKES);
    return detail::unknown_among(data_, x...);
  }
  template <class T, auto... E, class... X>
    requires(!element<T> || detail::no_variable_arguments<X...>)
  constexpr auto variable(const X&... x) {
    if constexpr (!element<T>)
      static_assert(detail::given<T>, FLOWGRAPH_ELEMENT_TYPES);
    else
      static_assert(detail::given<X...>, FLOWGRAPH_VARIABLE_TAKES);
    return detail::unknown_among(data_, x...);
  }
  template <class T, detail::extent_or_text... E, class... X>
    requires(E.is_text || ...)
  constexpr auto variable(const X&... x) {
    static_assert(detail::given<T>, FLOWGRAPH_EXTENT_NAMES);
    return detail::unknown_among(data_, x...);
  }
  template <class T, auto... E, std::floating_point N, std::size_t Count>
  constexpr auto variable(std::string_view, const N (&)[Count]) {
    static_assert(detail::given<N[Count]>,
                  "numbers that a variable begins with stand in fg::init::from, as in variable<float, 3>(\"w\", "
                  "fg::init::from(std::array{1.f, 2.f, 3.f}))");
    return detail::unknown_among(data_);
  }
  template <class T, auto... E>
  constexpr auto variable(std::string_view, detail::braced) {
    static_assert(detail::given<T>, FLOWGRAPH_VARIABLE_TAKES);
    return detail::unknown_among(data_);
  }
  template <auto Stated, auto... E, class... X>
  constexpr auto constant(const X&... x) {
    static_assert(detail::given<detail::stated<Stated, E...>>, FLOWGRAPH_CONSTANT_TAKES);
    return detail::unknown_among(data_, x...);
  }
  template <class T, auto... E, class X>
    requires(!std::is_convertible_v<X, T> && !std::is_array_v<X>)
  constexpr auto constant(const X& x) {
    static_assert(detail::given<X>, FLOWGRAPH_CONSTANT_TAKES);
    return detail::unknown_among(data_, x);
  }
  template <class... X>
    requires detail::nothing_to_name<X...>
  constexpr auto name(const X&... x) {
    if constexpr (!(detail::is_unknown<X> || ...))
      static_assert(detail::given<X...>,
                    "name takes a text, then a tensor or an operation, as in g.name(\"loss\", loss) and "
                    "g.name(\"train\", fg::adam(0.1).minimize(loss))");
    return detail::unknown_among(data_, x...);
  }

  // The four below hold until the returned guard ends: auto s = g.scope("layer1");
  // Names get the scope in front: "layer1/w".
  [[nodiscard]] constexpr auto scope(std::string_view text, caller where = {}) {
    data_.where = where;
    const int outer = data_.scope;
    detail::enter_scope(data_, text);
    return restore{&data_.scope, outer};
  }
  // A variable, or a layer's parameter, of a name that is there already is that variable, of the same type and extents:
  // one description of a network for training and inference, two towers with the same weights.
  [[nodiscard]] constexpr auto share_variables() {
    const int outer = data_.shares_variables;
    data_.shares_variables = 1;
    return restore{&data_.shares_variables, outer};
  }
  // Nodes ask for this device, or for any device that a partial name matches.
  [[nodiscard]] constexpr auto device(std::string_view text, caller where = {}) {
    data_.where = where;
    if (!parse_device(text).ok) data_.fail(problem::device_syntax, text);
    const int outer = data_.device;
    data_.device = data_.intern_text(text);
    return restore{&data_.device, outer};
  }
  // Nodes go where this one is: a variable's moving average, and what updates it.
  template <class T, auto... E>
  [[nodiscard]] constexpr auto device(const tensor<T, E...>& beside) {
    const int outer = data_.device;
    data_.device = data_.intern_text(colocation(beside.id).view());
    return restore{&data_.device, outer};
  }
  // Nodes run after these tensors and operations.
  template <class... Nodes>
  [[nodiscard]] constexpr auto control_dependencies(const Nodes&... nodes) {
    if constexpr (((any_tensor<Nodes> || std::is_same_v<Nodes, operation>)&&...)) {
      (data_.push_control(nodes.id), ...);
      return release{&data_, static_cast<int>(sizeof...(Nodes))};
    } else {
      if constexpr (!(detail::is_unknown<Nodes> || ...))
        static_assert(detail::given<Nodes...>, "control_dependencies takes tensors and operations");
      detail::unknown_among(data_, nodes...);
      return release{&data_, 0};
    }
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

#undef FLOWGRAPH_ELEMENT_TYPES
#undef FLOWGRAPH_EXTENT_NAMES
#undef FLOWGRAPH_PLACEHOLDER_TAKES
#undef FLOWGRAPH_VARIABLE_TAKES
#undef FLOWGRAPH_CONSTANT_TAKES

}  // namespace flowgraph
