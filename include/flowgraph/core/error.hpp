// Run-time errors: one type per kind of mistake, so that a program can catch what it can handle. Every message
// begins with where (the name of a feed, node or file) and ends with what was given.
#pragma once
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <new>
#include <string_view>

#include "problem.hpp"

#ifndef __cpp_exceptions
#error "flowgraph reports mistakes by exceptions, also while the compiler builds a graph: compile with -fexceptions"
#endif

namespace flowgraph {

// Holds its text without std::string: that header alone is a tenth of the time that a file of models takes to parse.
class error : public std::exception {
 public:
  // The message is the parts, one after another.
  error(problem why, std::initializer_list<std::string_view> parts) : error(why, parts, {}) {}
  error(problem why, std::initializer_list<std::string_view> parts, std::initializer_list<std::string_view> rest)
      : why_(why) {
    std::size_t length = 0;
    for (const auto& list : {parts, rest})
      for (const std::string_view part : list) length += part.size();
    char* end = allocate(length);
    for (const auto& list : {parts, rest})
      for (const std::string_view part : list)
        for (const char c : part)
          if (end != nullptr) *end++ = c;
  }
  error(problem why, std::string_view message) : error(why, {message}) {}
  error(const error& other) noexcept : error(other.why_, other.what()) {}
  error& operator=(const error& other) noexcept {
    if (this == &other) return *this;
    delete[] text_;
    text_ = nullptr;
    why_ = other.why_;
    const std::string_view message = other.what();
    char* end = allocate(message.size());
    for (const char c : message)
      if (end != nullptr) *end++ = c;
    return *this;
  }
  ~error() override { delete[] text_; }

  // Without memory for the text, the problem's own sentence.
  const char* what() const noexcept override { return text_ != nullptr ? text_ : sentence(why_).data(); }
  problem why() const noexcept { return why_; }

 private:
  char* allocate(std::size_t length) noexcept {
    text_ = new (std::nothrow) char[length + 1]{};
    return text_;
  }

  problem why_;
  char* text_ = nullptr;
};

// A mistake while a graph is built at run time: what the compiler reports in a constexpr graph.
class graph_error : public error {
  using error::error;
};
// A name that the graph does not have.
class name_error : public error {
  using error::error;
};
// A feed of the wrong type or shape, or a missing one.
class feed_error : public error {
  using error::error;
};
// An argument that makes no sense, such as a learning rate of NaN.
class argument_error : public error {
  using error::error;
};
// A plan that can't be made for the devices at hand.
class plan_error : public error {
  using error::error;
};
// A kernel or a user's function failed while a step ran.
class execution_error : public error {
  using error::error;
};
// The step was stopped from outside: by its std::stop_token, by its session that ended, or by whoever closed the queue
// that it waited for room in.
class cancelled_error : public error {
  using error::error;
};
// The step was not done by its deadline.
class deadline_error : public error {
  using error::error;
};
// A queue was closed before something was put into it.
class closed_error : public error {
  using error::error;
};
// There is nothing left and nothing more will come: of a queue that was closed, of a counter at its limit. A training
// loop that reads to the end catches this one.
class end_of_input : public error {
  using error::error;
};

}  // namespace flowgraph
