// All that runs on one machine: the language (define.hpp), sessions, arrays.
#pragma once
#include <flowgraph/core/compiler.hpp>  // first: is this compiler one that can read the rest?

// Then this, so that compilers tell of few files between a mistake and the user's line.
#include <flowgraph/define.hpp>

#include <flowgraph/arrays/eigen.hpp>
#include <flowgraph/arrays/print.hpp>
#include <flowgraph/kernels/register_kernel.hpp>
#include <flowgraph/language/print.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/eval.hpp>
#include <flowgraph/session/function.hpp>
#include <flowgraph/session/session.hpp>
