// All that runs on one machine: the language (define.hpp), sessions, arrays.
#pragma once
#include <flowgraph/arrays/eigen.hpp>
#include <flowgraph/arrays/print.hpp>
#include <flowgraph/define.hpp>
#include <flowgraph/language/print.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/eval.hpp>
#include <flowgraph/session/function.hpp>
#include <flowgraph/session/session.hpp>
