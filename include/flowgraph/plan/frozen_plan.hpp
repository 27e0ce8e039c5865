// A plan as arrays of exactly its size: what a session<model> keeps as static data.
#pragma once
#include "plan.hpp"

namespace flowgraph {

// One element more than needed, because an array can't be empty.
template <plan_counts C>
struct frozen_plan {
#define FLOWGRAPH_ARRAY(row, name) row name[C.name + 1]{};
  FLOWGRAPH_PLAN_TABLES(FLOWGRAPH_ARRAY)
#undef FLOWGRAPH_ARRAY
  plan_fault fault;

  constexpr plan_view view() const {
#define FLOWGRAPH_VIEW(row, name) .name = {name, C.name},
    return {FLOWGRAPH_PLAN_TABLES(FLOWGRAPH_VIEW).fault = fault};
#undef FLOWGRAPH_VIEW
  }
};

// A plan in tables with room to spare: made in one evaluation, before its size is known. Where Room was too small it
// holds only counts.
template <plan_counts Room>
struct roomy_plan {
  frozen_plan<Room> tables;
  plan_counts counts;
  bool complete = false;

  constexpr plan_view view() const {
#define FLOWGRAPH_VIEW(row, name) .name = {tables.name, counts.name},
    return {FLOWGRAPH_PLAN_TABLES(FLOWGRAPH_VIEW).fault = tables.fault};
#undef FLOWGRAPH_VIEW
  }
};

// C has room for all of p.
template <plan_counts C>
constexpr void fill(frozen_plan<C>& f, const plan_view& p) {
#define FLOWGRAPH_COPY(row, name) detail::copy_rows(f.name, p.name);
  FLOWGRAPH_PLAN_TABLES(FLOWGRAPH_COPY)
#undef FLOWGRAPH_COPY
  f.fault = p.fault;
}

// C is the plan's own counts().
template <plan_counts C>
constexpr frozen_plan<C> freeze(const plan_view& p) {
  frozen_plan<C> f;
  fill(f, p);
  return f;
}

// A plan to go on with. Successors are found last: there are none yet.
constexpr plan_data thaw(plan_view p) {
  p.successors = {};
#define FLOWGRAPH_THAW(row, name) .name = detail::vec<row>(p.name),
  return {FLOWGRAPH_PLAN_TABLES(FLOWGRAPH_THAW).fault = p.fault};
#undef FLOWGRAPH_THAW
}

template <plan_counts Room>
constexpr roomy_plan<Room> freeze_roomy(const plan_data& p) {
  roomy_plan<Room> r;
  r.counts = p.counts();
  r.complete = fits(r.counts, Room);
  if (r.complete) fill(r.tables, p.view());
  return r;
}

}  // namespace flowgraph
