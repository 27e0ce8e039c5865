// The typed handle: element type and extents in its type, two words of data. Concepts and queries on it for
// users' own generic code.
#pragma once
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <flowgraph/core/diagnostics.hpp>
#include <flowgraph/core/dim.hpp>
#include <flowgraph/ops/binary.hpp>

namespace flowgraph {

template <class T, auto... Extents>
struct tensor;

// A node without a value: an update, a group.
struct operation {
  graph_data* graph = nullptr;
  int id = -1;
};

namespace detail {

// A shape as types carry it: numbers, and texts of named extents packed into one buffer. Its hash is the one the
// graph's shape table uses.
struct shape_text {
  static constexpr int max_chars = 160;

  int rank = 0;
  extent number[max_rank]{};  // -1: named
  int begin[max_rank]{};
  int length[max_rank]{};
  char chars[max_chars]{};
  int used = 0;
  std::uint64_t hash = 0;

  constexpr void push(extent n) {
    if (rank < max_rank) number[rank++] = n;
  }
  constexpr void push(std::string_view name) {
    if (rank == max_rank) return;
    number[rank] = -1;
    begin[rank] = used;
    length[rank++] = static_cast<int>(name.size());
    for (const char c : name)
      if (used < max_chars) chars[used++] = c;
  }
  constexpr std::string_view name(int i) const { return text_view(chars + begin[i], length[i]); }
  constexpr void finish() {
    hash = graph_data::shape_seed(rank);
    for (int i = 0; i < rank; ++i)
      hash = mix(hash, number[i] >= 0 ? static_cast<std::uint64_t>(number[i]) : detail::hash(name(i)));
  }
  constexpr extents in(symbols& s) const {
    extents e;
    for (int i = 0; i < rank; ++i) e.push(number[i] >= 0 ? number[i] : s.intern(name(i)));
    return e;
  }
};

template <auto... E>
constexpr shape_text make_shape_text() {
  shape_text s;
  (
      [&s] {
        if constexpr (std::integral<decltype(E)>)
          s.push(static_cast<extent>(E));
        else
          s.push(E.view());
      }(),
      ...);
  s.finish();
  return s;
}

// The same for all element types.
template <auto... E>
inline constexpr shape_text shape_text_of = make_shape_text<E...>();

// Extent I of a type that has a shape, as a tensor's template argument.
template <class Shaped, int I>
consteval auto extent_argument_of() {
  constexpr const shape_text& s = Shaped::shape;
  if constexpr (s.number[I] >= 0) {
    return canonical<s.number[I]>();
  } else {
    char copy[static_cast<std::size_t>(s.length[I]) + 1]{};
    for (int i = 0; i < s.length[I]; ++i) copy[i] = s.chars[s.begin[I] + i];
    return dim<static_cast<std::size_t>(s.length[I]) + 1>(copy);
  }
}

// Result<T, extents of Shaped...>
template <template <class, auto...> class Result, class T, class Shaped,
          class Indices = std::make_integer_sequence<int, Shaped::shape.rank>>
struct shaped;
template <template <class, auto...> class Result, class T, class Shaped, int... I>
struct shaped<Result, T, Shaped, std::integer_sequence<int, I...>> {
  using type = Result<T, extent_argument_of<Shaped, I>()...>;
};

constexpr int shape_id(graph_data& g, const shape_text& s) {
  const int found = g.find_shape(s.hash);
  return found >= 0 ? found : g.intern_shape(s.in(g.symbols));
}

// The tensor a handle is: variable<T, E...> is a tensor<T, E...>.
template <class T, auto... E>
tensor<T, E...> tensor_cast(const tensor<T, E...>&);

}  // namespace detail

// Anything that is or derives from a tensor handle.
template <class T>
concept any_tensor = requires(const std::remove_cvref_t<T>& t) { detail::tensor_cast(t); };

template <any_tensor T>
using tensor_t = decltype(detail::tensor_cast(std::declval<const std::remove_cvref_t<T>&>()));

template <any_tensor T>
using element_t = typename tensor_t<T>::element_type;

template <any_tensor T>
inline constexpr int rank_v = tensor_t<T>::rank;

// Extent I of a tensor's type, counted from the back if negative: int or fg::dim.
template <int I, any_tensor T>
inline constexpr auto extent_v = detail::extent_argument_of<tensor_t<T>, (I < 0 ? I + tensor_t<T>::rank : I)>();

template <class T>
concept floating_tensor = any_tensor<T> && is_floating(detail::dtype_of<element_t<T>>);
template <class T>
concept matrix = any_tensor<T> && rank_v<T> == 2;
template <class T>
concept scalar_tensor = any_tensor<T> && rank_v<T> == 0;

// A plain C++ number next to a tensor.
template <class T>
concept number =
    (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

namespace detail {

// A handle with the line that mentioned it: operators can't have default arguments, but the conversion to this can.
template <class Tensor>
struct located {
  Tensor handle;
  source where;
  constexpr located(Tensor t, caller w = {}) : handle(t), where(w) {}
};

// What a rule says of a call, as a type can carry it.
struct outcome {
  problem why = problem::none;
  dtype type = dtype::none;
  int outputs = 0;
  shape_text shape;
};

template <class Op, auto Attrs, class Declared, int Output, class... In>
constexpr outcome ask_rule() {
  symbols s;
  inference f(s);
  (f.operand(In::shape.in(s), dtype_of<typename In::element_type>), ...);
  if constexpr (!std::is_void_v<Declared>) f.declare(Declared::shape.in(s), dtype_of<typename Declared::element_type>);
  const auto words = words_of(Attrs);
  f.attributes(words.w);
  Op::infer(f);
  outcome o;
  o.why = f.why();
  o.outputs = f.outputs();
  if (o.outputs > Output) {
    o.type = f.out_type(Output);
    const extents& e = f.out(Output);
    for (int i = 0; i < e.rank; ++i) {
      if (e[i] >= 0)
        o.shape.push(e[i]);
      else
        o.shape.push(s.text(e[i]));
    }
    o.shape.finish();
  }
  return o;
}

template <class Op, auto Attrs, class Declared, int Output, class... In>
struct typed_rule {
  static constexpr outcome result = ask_rule<Op, Attrs, Declared, Output, In...>();
  static constexpr const shape_text& shape = result.shape;
};

template <class Rule, bool HasValue = (Rule::result.outputs > 0)>
struct handle_of {
  using type = typename shaped<tensor, type_of<Rule::result.type>, Rule>::type;
};
template <class Rule>
struct handle_of<Rule, false> {
  using type = operation;
};

// Appends one node to the graph that the operands share.
template <class Op, class... In>
constexpr int append_call(source where, const shape_text& shape, dtype type, const std::int64_t* words, int n_words,
                          graph_data& g, const In&... in) {
  const int ids[] = {in.id..., 0};
  g.where = where;
  if (((in.graph != &g) || ...)) g.fail(problem::different_graphs, Op::name);
  return g.append(op_def_of<Op>, shape_id(g, shape), type, ids, static_cast<int>(sizeof...(In)), words, n_words);
}

// Calls Op on tensors: the rule decides the type of the result, or the diagnostic. Declared: the result's type
// where the caller states it. Attributes that matter to the shape are template arguments.
template <class Op, auto Attrs = no_attrs{}, class Declared = void, class First, class... Rest>
constexpr auto call(source where, First first, Rest... rest) {
  using rule = typed_rule<Op, Attrs, Declared, 0, First, Rest...>;
  using result = typename handle_of<rule>::type;
  if constexpr (rule::result.why != problem::none) {
    if constexpr (std::is_void_v<Declared>)
      mistake<rule::result.why, First, Rest...>();
    else
      mistake<rule::result.why, First, Rest..., required<Declared>>();
    return result{first.graph, first.id};
  } else {
    const auto words = words_of(Attrs);
    return result{first.graph, append_call<Op>(where, rule::result.shape, rule::result.type, words.w,
                                               attr_words<decltype(Attrs)>, *first.graph, first, rest...)};
  }
}

// As call, with attributes that are only known when the graph is built and that no shape depends on.
template <class Op, class Declared = void, class First, class... Rest>
constexpr auto call_with(source where, const typename Op::attrs& attributes, First first, Rest... rest) {
  using rule = typed_rule<Op, typename Op::attrs{}, Declared, 0, First, Rest...>;
  using result = typename handle_of<rule>::type;
  if constexpr (rule::result.why != problem::none) {
    mistake<rule::result.why, First, Rest...>();
    return result{first.graph, first.id};
  } else {
    const auto words = words_of(attributes);
    return result{first.graph, append_call<Op>(where, rule::result.shape, rule::result.type, words.w,
                                               attr_words<typename Op::attrs>, *first.graph, first, rest...)};
  }
}

// A node without operands: placeholders, constants, random numbers.
template <class Op, class Result, class Attrs = no_attrs>
constexpr Result source_node(source where, graph_data& g, const Attrs& attributes = {}) {
  const auto words = words_of(attributes);
  return {&g, append_call<Op>(where, Result::shape, dtype_of<typename Result::element_type>, words.w, attr_words<Attrs>,
                              g)};
}

// A C++ number as a scalar tensor of T.
template <class T, number N>
constexpr auto literal_tensor(source where, graph_data& g, N value) {
  if constexpr (!is_floating(dtype_of<T>) && (std::is_floating_point_v<N> || is_floating(dtype_of<N>)))
    mistake<problem::literal_does_not_fit, tensor<T>, N>();
  return source_node<ops::constant, tensor<T>>(where, g, ops::constant::attrs{ops::number_word<T>(value)});
}

}  // namespace detail

struct unknown_tensor;  // misuse.hpp

#define FLOWGRAPH_OPERATOR(symbol, op)                                                                       \
  template <class U, auto... F>                                                                              \
  friend constexpr auto operator symbol(detail::located<tensor> a, tensor<U, F...> b) {                      \
    return detail::call<ops::op>(a.where, a.handle, b);                                                      \
  }                                                                                                          \
  template <number N>                                                                                        \
  friend constexpr auto operator symbol(detail::located<tensor> a, N b) {                                    \
    return detail::call<ops::op>(a.where, a.handle, detail::literal_tensor<T>(a.where, *a.handle.graph, b)); \
  }                                                                                                          \
  template <number N>                                                                                        \
  friend constexpr auto operator symbol(N a, detail::located<tensor> b) {                                    \
    const auto scalar = detail::literal_tensor<T>(b.where, *b.handle.graph, a);                              \
    return detail::call<ops::op>(b.where, scalar, b.handle);                                                 \
  }
#define FLOWGRAPH_UNARY_OPERATOR(symbol, op) \
  friend constexpr auto operator symbol(detail::located<tensor> a) { return detail::call<ops::op>(a.where, a.handle); }

template <class T, auto... Extents>
struct tensor {
  static_assert(element<T>, "an element type is float, double, half, bfloat16, int8, uint8, int32, int64 or bool");
  static_assert(sizeof...(Extents) <= max_rank, "a tensor has at most 8 axes");

  using element_type = T;
  static constexpr int rank = static_cast<int>(sizeof...(Extents));
  static constexpr const detail::shape_text& shape = detail::shape_text_of<Extents...>;

  graph_data* graph = nullptr;
  int id = -1;

  constexpr explicit operator ref() const { return {graph, id}; }

  // Mistakes, which are templates so that they are said where they are made.
  template <class U, auto... F>
    requires(!std::is_same_v<tensor<U, F...>, tensor>)
  constexpr operator tensor<U, F...>() const {
    detail::mistake<problem::tensor_converted, tensor, required<tensor<U, F...>>>();
    return {graph, id};
  }
  template <std::same_as<bool> B>
  constexpr explicit operator B() const {
    detail::mistake<problem::tensor_as_condition, tensor>();
    return false;  // which ends a loop
  }

  template <class I, class Unknown = unknown_tensor>
  constexpr Unknown operator[](const I&) const {
    detail::mistake<problem::tensor_subscript, tensor, I>();
    graph->fail(problem::already_said, {});
    Unknown u;
    u.graph = graph, u.id = id;
    return u;
  }

  FLOWGRAPH_OPERATOR(+, add)
  FLOWGRAPH_OPERATOR(-, sub)
  FLOWGRAPH_OPERATOR(*, mul)
  FLOWGRAPH_OPERATOR(/, div)
  FLOWGRAPH_OPERATOR(%, mod)
  FLOWGRAPH_OPERATOR(<, less)
  FLOWGRAPH_OPERATOR(<=, less_equal)
  FLOWGRAPH_OPERATOR(>, greater)
  FLOWGRAPH_OPERATOR(>=, greater_equal)
  FLOWGRAPH_OPERATOR(&&, logical_and)
  FLOWGRAPH_OPERATOR(||, logical_or)
  FLOWGRAPH_UNARY_OPERATOR(-, neg)
  // An exact match: its other candidate is the language's own, behind the conversion above. The line is its operand's.
  friend constexpr auto operator!(const tensor& a) {
    return detail::call<ops::logical_not>(a.graph->origins[a.id].where, a);
  }
};

#undef FLOWGRAPH_OPERATOR
#undef FLOWGRAPH_UNARY_OPERATOR

}  // namespace flowgraph
