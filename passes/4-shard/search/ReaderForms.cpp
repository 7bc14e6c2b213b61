//===- ReaderForms.cpp - shardings in which the users of a value need it --===//

#include "passes/4-shard/search/ReaderForms.h"

#include <unordered_map>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

ArrayRef<ReaderForms::ReaderForm> ReaderForms::of(unsigned producer,
                                                  unsigned result) {
  auto [entry, isNew] = known.try_emplace({producer, result});
  std::vector<ReaderForm> &forms = entry->second;
  if (!isNew)
    return forms;
  std::unordered_map<dist::Sharding, size_t, dist::ShardingHash> indexOf;
  for (const ShardedGraph::OperandEdge &edge : graph.users[producer][result]) {
    const Place place{edge.user, edge.operand};
    dist::Sharding sharding =
        dist::placement(graph.ops[edge.user].operandSharding(edge.operand));
    auto [it, isFirst] = indexOf.try_emplace(sharding, forms.size());
    if (isFirst)
      forms.push_back({std::move(sharding), place, std::nullopt});
    else if (ReaderForm &form = forms[it->second];
             !form.next && form.first.user != place.user)
      form.next = place;
  }
  return forms;
}
