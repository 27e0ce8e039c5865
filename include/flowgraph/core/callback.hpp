// A function that is called while its caller waits, passed on as two pointers: what std::function is for functions that
// are kept. Lets what is no template call what is one.
#pragma once
#include <type_traits>
#include <utility>

namespace flowgraph::detail {

template <class Signature>
class callback;

template <class Result, class... Argument>
class callback<Result(Argument...)> {
 public:
  // f outlives this.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, callback> && std::is_invocable_r_v<Result, F&, Argument...>)
  callback(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, Argument... a) -> Result {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Argument>(a)...);
        }) {}

  Result operator()(Argument... a) const { return call_(object_, std::forward<Argument>(a)...); }

 private:
  void* object_;
  Result (*call_)(void*, Argument...);
};

}  // namespace flowgraph::detail
