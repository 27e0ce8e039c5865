// All that runs on one machine: the language (define.hpp), sessions, arrays.
#pragma once
#include <flowgraph/define.hpp>
#include <flowgraph/dsl/print.hpp>
#include <flowgraph/runtime/dynamic_session.hpp>
#include <flowgraph/runtime/eigen.hpp>
#include <flowgraph/runtime/eval.hpp>
#include <flowgraph/runtime/function.hpp>
#include <flowgraph/runtime/print.hpp>
#include <flowgraph/runtime/session.hpp>
