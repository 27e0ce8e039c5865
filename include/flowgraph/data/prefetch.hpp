// Elements made ahead of their use, on threads of their own. At most `depth` of them wait at any moment; they come out
// in order, and an exception where its element would have come. Ending early stops and joins the threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <flowgraph/core/handle.hpp>
#include <flowgraph/core/other_half.hpp>
#include "one_pass.hpp"

namespace flowgraph::detail {

// What the threads do: the element of a number into its place. False: there is none, and none behind it. It throws
// nothing, and is called on several threads at once where there are several.
class prefetch_work {
 public:
  virtual bool make(std::size_t number) noexcept = 0;

 protected:
  ~prefetch_work() = default;
};

class prefetch_threads;
using prefetch_handle = handle<prefetch_threads>;

inline namespace FLOWGRAPH_HALF {

// At most depth elements are made and not taken.
FLOWGRAPH_OTHER_HALF prefetch_handle begin_prefetch(prefetch_work& work, std::size_t depth, int threads);
// Stops and joins the threads.
FLOWGRAPH_OTHER_HALF void give_back(prefetch_threads* t) noexcept;
// Until the element of this number is made.
FLOWGRAPH_OTHER_HALF void wait_for_element(prefetch_threads& t, std::size_t number);
// Its place is free.
FLOWGRAPH_OTHER_HALF void take_element(prefetch_threads& t, std::size_t number);

}  // namespace FLOWGRAPH_HALF

template <class P, class Value>
class prefetcher final : prefetch_work {
 public:
  prefetcher(P inner, std::size_t depth, int threads)
      : inner_(std::move(inner)),
        slots_(depth),
        // A sequence can be asked by one thread at a time.
        threads_(begin_prefetch(*this, depth, indexed_pass<P> ? threads : 1)) {}
  prefetcher(const prefetcher&) = delete;
  prefetcher& operator=(const prefetcher&) = delete;

  std::optional<Value> next() {
    if (ended_) return std::nullopt;
    wait_for_element(*threads_, taken_);
    slot here = std::exchange(slots_[taken_ % slots_.size()], slot{});
    ended_ = !here.value;
    take_element(*threads_, taken_++);
    if (here.error) std::rethrow_exception(here.error);
    return std::move(here.value);
  }

 private:
  // Neither value nor error: the end.
  struct slot {
    std::optional<Value> value{};
    std::exception_ptr error{};
  };

  bool make(std::size_t number) noexcept override {
    slot& made = slots_[number % slots_.size()];
    try {
      if constexpr (indexed_pass<P>) {
        const auto i = static_cast<std::int64_t>(number);
        if (i < inner_.size()) made.value.emplace(inner_.at(i));
      } else {
        made.value = inner_.next();
      }
    } catch (...) {
      made.value.reset();
      made.error = std::current_exception();
    }
    return made.value.has_value();
  }

  P inner_;
  std::vector<slot> slots_;
  std::size_t taken_ = 0;
  bool ended_ = false;
  prefetch_handle threads_;  // last: they end before what they use
};

template <class Source>
struct prefetch_source {
  Source from;
  std::size_t depth;
  int threads;

  struct pass {
    std::unique_ptr<prefetcher<pass_of<Source>, value_of<Source>>> worker;

    auto next() { return worker->next(); }
  };
  auto open(std::uint64_t number) const {
    return pass{std::make_unique<prefetcher<pass_of<Source>, value_of<Source>>>(from.open(number), depth, threads)};
  }
};

}  // namespace flowgraph::detail

#if FLOWGRAPH_OTHER_HALF_HERE
#include "prefetch_code.hpp"
#endif
