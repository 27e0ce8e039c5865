// All that runs on one machine.
#pragma once
#include <flowgraph/define.hpp>
#include <flowgraph/runtime/session.hpp>
#include <flowgraph/runtime/dynamic_session.hpp>
