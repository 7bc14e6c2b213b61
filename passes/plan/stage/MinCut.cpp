//===- MinCut.cpp - minimum cut by maximum flow (Dinic 1970) --------------===//

#include "passes/plan/stage/MinCut.h"

#include <algorithm>
#include <cassert>

namespace pcc::plan {

void MinCut::addEdge(size_t from, size_t to, double capacity) {
  assert(from < edgesOf.size() && to < edgesOf.size() && "unknown node");
  assert(capacity >= 0 && "negative capacity");
  edgesOf[from].push_back(edges.size());
  edges.push_back({to, capacity});
  edgesOf[to].push_back(edges.size());
  // The reverse edge has capacity 0; flow along it only cancels forward flow.
  edges.push_back({from, 0});
}

bool MinCut::findLevels(size_t source, size_t sink) {
  levels.assign(edgesOf.size(), -1);
  levels[source] = 0;
  std::vector<size_t> queue{source};
  for (size_t i = 0; i < queue.size(); ++i)
    for (size_t edge : edgesOf[queue[i]]) {
      const size_t to = edges[edge].to;
      if (edges[edge].residual <= 0 || levels[to] >= 0)
        continue;
      levels[to] = levels[queue[i]] + 1;
      queue.push_back(to);
    }
  return levels[sink] >= 0;
}

/// Searches depth-first for a path from `source` to `sink`. Each edge of the
/// path has residual capacity, and leads from one level (distance from the
/// source) to the next. `next[n]` is the first edge of node n that may still
/// lead to the sink. The search skips the edges before it, until the caller
/// resets `next`.
double MinCut::augment(size_t source, size_t sink) {
  std::vector<size_t> path;
  size_t at = source;
  while (at != sink) {
    size_t &edge = next[at];
    while (edge < edgesOf[at].size() &&
           (edges[edgesOf[at][edge]].residual <= 0 ||
            levels[edges[edgesOf[at][edge]].to] != levels[at] + 1))
      ++edge;
    if (edge < edgesOf[at].size()) {
      path.push_back(edgesOf[at][edge]);
      at = edges[path.back()].to;
      continue;
    }
    if (path.empty())
      return 0;
    at = edges[path.back() ^ 1].to;
    path.pop_back();
    ++next[at];
  }
  double flow = infinite;
  for (size_t edge : path)
    flow = std::min(flow, edges[edge].residual);
  for (size_t edge : path) {
    edges[edge].residual -= flow;
    edges[edge ^ 1].residual += flow;
  }
  return flow;
}

std::vector<bool> MinCut::sourceSide(size_t source, size_t sink) {
  assert(source != sink && "nothing separates a node from itself");
  while (findLevels(source, sink)) {
    next.assign(edgesOf.size(), 0);
    while (augment(source, sink) > 0)
      ;
  }
  // The last call of findLevels has found that no more flow can be sent from
  // the source to the sink. The call has set levels[n] to -1 for each node n to
  // which no more flow can be sent from the source. These nodes are on the
  // sink's side of the cut. All other nodes have a level of at least 0 and are
  // on the source's side.
  std::vector<bool> side(levels.size());
  std::transform(levels.begin(), levels.end(), side.begin(),
                 [](int level) { return level >= 0; });
  edges.clear();
  edgesOf.clear();
  return side;
}

} // namespace pcc::plan
