// expect: a kernel is a template <> struct fg::cpu_kernel<my_op>
// facts: "twice"
// title: An op with a kernel of another signature
#include <flowgraph.hpp>
namespace fg = flowgraph;

struct twice : fg::op<twice, "twice"> {
  static constexpr void infer(fg::inference& f) { f.out(f.in(0), f.type(0)); }
};
// begin
template <>
struct fg::cpu_kernel<twice> {
  using types = fg::type_list<float, double>;
  template <class T>
  static void run(const T* x, T* y);
};

inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 4>("x");
  g.name("y", fg::apply<twice>(x));
});
auto step(fg::session<model>& s, const fg::ndarray<float, 4>& x) { return s.run<"y">(fg::feed<"x">(x)); }
// end
