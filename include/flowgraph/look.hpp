// Looking at graphs, plans and steps: traces, pages, what the passes did. Apart from <flowgraph.hpp>: a program that
// trains needs none of it.
#pragma once
#include <flowgraph/core/compiler.hpp>  // first: is this compiler one that can read the rest?

#include <flowgraph/look/explain.hpp>
#include <flowgraph/look/html.hpp>
#include <flowgraph/look/trace.hpp>
#include <flowgraph/look/watch.hpp>
