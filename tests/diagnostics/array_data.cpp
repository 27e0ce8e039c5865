// expect: array: the data must have the element type and the extents of the array
// facts: float.*\[2\]\[3\]
// facts: ndarray<float, 2, 4>
// title: An array of data that does not fit
#include <flowgraph.hpp>
namespace fg = flowgraph;

int main() {
  // begin
  float rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
  fg::ndarray<float, 2, 4> a(rows);
  // end
}
