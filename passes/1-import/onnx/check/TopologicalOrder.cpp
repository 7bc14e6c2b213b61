//===- TopologicalOrder.cpp - topological order of nodes, or a cycle ------===//

#include "passes/1-import/onnx/check/TopologicalOrder.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

using namespace pcc::onnx;

using Producers = std::vector<std::vector<uint32_t>>;

/// Returns whether every node comes after its producers, the nodes whose
/// results it needs.
static bool isOrdered(const Producers &producers) {
  for (uint32_t node = 0; node < producers.size(); ++node)
    for (uint32_t producer : producers[node])
      if (producer >= node)
        return false;
  return true;
}

/// Returns the nodes of one cycle. `done[i]` is true if Kahn's algorithm has
/// placed node i in the order. Each node that is not done has a producer that
/// is not done. The search walks from a node to such a producer, again and
/// again, until it reaches a node for the second time. The nodes between the
/// two visits form a cycle.
static std::vector<uint32_t> findCycle(const Producers &producers,
                                       const std::vector<bool> &done) {
  constexpr uint32_t unseen = UINT32_MAX;
  std::vector<uint32_t> seenAt(producers.size(), unseen);
  std::vector<uint32_t> path;
  auto node = static_cast<uint32_t>(std::find(done.begin(), done.end(), false) -
                                    done.begin());
  while (seenAt[node] == unseen) {
    seenAt[node] = path.size();
    path.push_back(node);
    node = *std::find_if(producers[node].begin(), producers[node].end(),
                         [&](uint32_t producer) { return !done[producer]; });
  }
  path.erase(path.begin(), path.begin() + seenAt[node]);
  std::reverse(path.begin(), path.end());
  // `path` now contains the indices of the nodes that form the cycle. Rotate
  // `path` so that it begins with the smallest index. For example, 5 2 7
  // becomes 2 7 5.
  std::rotate(path.begin(), std::min_element(path.begin(), path.end()),
              path.end());
  return path;
}

/// Sorts by Kahn's algorithm. `missing[i]` counts the producers of node i that
/// have no place in the order yet. A producer counts twice if node i reads two
/// of its results.
TopologicalOrder pcc::onnx::sortTopologically(const Producers &producers) {
  TopologicalOrder result;
  result.order.reserve(producers.size());
  if (isOrdered(producers)) {
    result.order.resize(producers.size());
    std::iota(result.order.begin(), result.order.end(), 0);
    return result;
  }
  std::vector<std::vector<uint32_t>> users(producers.size());
  std::vector<size_t> missing(producers.size());
  std::vector<bool> done(producers.size(), false);
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t node = 0; node < producers.size(); ++node) {
    missing[node] = producers[node].size();
    for (uint32_t producer : producers[node])
      users[producer].push_back(node);
    if (missing[node] == 0)
      ready.push(node);
  }
  while (!ready.empty()) {
    const uint32_t node = ready.top();
    ready.pop();
    done[node] = true;
    result.order.push_back(node);
    for (uint32_t user : users[node])
      if (--missing[user] == 0)
        ready.push(user);
  }
  if (result.order.size() < producers.size()) {
    result.order.clear();
    result.cycle = findCycle(producers, done);
  }
  return result;
}
