// What a shape rule sees and says. An op's rule is written once, as `infer(inference&)`, on values: the type of a
// handle, the diagnostic of a wrong call and the nodes that gradients append all follow from that one function.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include <flowgraph/core/dtype.hpp>
#include <flowgraph/core/problem.hpp>
#include <flowgraph/core/symbols.hpp>
#include <flowgraph/core/vec.hpp>
#include "op_def.hpp"

namespace flowgraph {

// Attributes are structs of std::int64_t and double members only, so that they are words in the graph.
struct no_attrs {};

namespace detail {

template <class A>
inline constexpr int attr_words = std::is_empty_v<A> ? 0 : static_cast<int>(sizeof(A) / sizeof(std::int64_t));

template <int N>
struct word_block {
  std::int64_t w[N > 0 ? N : 1];
};

template <class A>
constexpr A attrs_from_words(const std::int64_t* words) {
  if constexpr (std::is_empty_v<A>) {
    return A{};
  } else {
    word_block<attr_words<A>> block{};
    for (int i = 0; i < attr_words<A>; ++i) block.w[i] = words[i];
    return std::bit_cast<A>(block);
  }
}

template <class A>
constexpr auto words_of(const A& a) {
  if constexpr (std::is_empty_v<A>)
    return word_block<0>{};
  else
    return std::bit_cast<word_block<attr_words<A>>>(a);
}

}  // namespace detail

// whole - part >= least, of extents that have no numbers yet.
struct room_needed {
  extent whole;
  extent part;
  std::int64_t least;
  problem otherwise;
};

class inference {
 public:
  static constexpr int max_operands = 16;
  static constexpr int max_outputs = 8;

  constexpr explicit inference(flowgraph::symbols& s) : symbols(s) {}

  flowgraph::symbols& symbols;

  // The caller's side.
  constexpr void operand(const extents& shape, dtype type) {
    if (n_in_ == max_operands) return;
    in_[n_in_] = shape;
    in_types_[n_in_++] = type;
  }
  constexpr void attributes(const std::int64_t* words) { words_ = words; }
  constexpr void collect(detail::vec<room_needed>& rooms) { rooms_ = &rooms; }
  constexpr void declare(const extents& shape, dtype type) {
    declared_ = shape;
    declared_type_ = type;
  }

  // The rule's side: operands, in the order of the call.
  constexpr int operands() const { return n_in_; }
  constexpr const extents& in(int i) const { return in_[i]; }
  constexpr dtype type(int i) const { return in_types_[i]; }
  template <class A>
  constexpr A attrs() const {
    return detail::attrs_from_words<A>(words_);
  }
  // The same as they are in the graph, for an op that has as many as it needs.
  constexpr const std::int64_t* words() const { return words_; }

  // What the caller asked the result to be: the shape of a placeholder or reshape, the type of a cast.
  constexpr const extents& declared() const { return declared_; }
  constexpr dtype declared_type() const { return declared_type_; }

  // One call for each result, in order; none: the op is an operation.
  constexpr void out(const extents& shape, dtype type) {
    out_[n_out_] = shape;
    out_types_[n_out_++] = type;
  }
  // The first complaint stands. The rule goes on and gives its best guess of a result, so that one mistake is one
  // error.
  constexpr void require(bool condition, problem otherwise) {
    if (!condition && why_ == problem::none) why_ = otherwise;
  }
  constexpr bool failed() const { return why_ != problem::none; }
  // whole - part must be at least this much. Where that depends on a name, every step that binds it is checked, of ops
  // that have trait::bounded.
  constexpr void require_room(extent whole, extent part, std::int64_t least, problem otherwise) {
    std::int64_t room = 0;
    if (symbols.known_difference(whole, part, room))
      require(room >= least, otherwise);
    else if (rooms_ != nullptr)
      rooms_->push({whole, part, least, otherwise});
  }

  constexpr problem why() const { return why_; }
  constexpr int outputs() const { return n_out_; }
  constexpr const extents& out(int i) const { return out_[i]; }
  constexpr dtype out_type(int i) const { return out_types_[i]; }

 private:
  const std::int64_t* words_ = nullptr;
  detail::vec<room_needed>* rooms_ = nullptr;
  int n_in_ = 0;
  int n_out_ = 0;
  problem why_ = problem::none;
  dtype declared_type_ = dtype::none;
  extents declared_;
  extents in_[max_operands];
  dtype in_types_[max_operands]{};
  extents out_[max_outputs];
  dtype out_types_[max_outputs]{};
};

}  // namespace flowgraph
