// Event files for TensorBoard, compiled once.
#include <flowgraph/look/summary_writer_code.hpp>
