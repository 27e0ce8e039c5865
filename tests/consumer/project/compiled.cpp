// A file that takes the other half of the library to be elsewhere, in a program with one that has it.
#include <flowgraph.hpp>

namespace fg = flowgraph;

static constexpr auto answer = fg::define([](fg::graph& g) { g.name("y", g.placeholder<float>("x") * 2.0f); });

float ask(float x) {
  fg::session<answer> s;
  return s.run<"y">(fg::feed<"x">(x));
}
