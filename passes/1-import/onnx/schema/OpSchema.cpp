//===- OpSchema.cpp - what ONNX says of each version of each op -----------===//

#include "passes/1-import/onnx/schema/OpSchema.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace pcc::onnx {

/// Table of the definitions of all ONNX ops. One row is the definition of one
/// op from one opset version on. Each opset version that changes the definition
/// of an op has its own row. Example: Gather has the versions 1, 11 and 13, and
/// therefore three rows. The rows are sorted by domain, then by the name of the
/// op, and then by the opset version.
static constexpr OpSchema kSchemas[] = {
#include "passes/1-import/onnx/schema/OpSchemas.inc"
};

const OpSchema *findSchema(const Node &node) {
  const auto wanted = std::tuple(node.domain, node.opType, node.opset);
  const auto *after =
      std::upper_bound(std::begin(kSchemas), std::end(kSchemas), wanted,
                       [](const auto &key, const OpSchema &row) {
                         return key < std::tuple(row.domain, row.op, row.since);
                       });
  if (after == std::begin(kSchemas))
    return nullptr;
  const OpSchema &row = *std::prev(after);
  return row.domain == node.domain && row.op == node.opType ? &row : nullptr;
}

int64_t newestOpset(std::string_view domain) {
  int64_t newest = 0;
  for (const OpSchema &row : kSchemas)
    if (row.domain == domain)
      newest = std::max(newest, row.since);
  return newest;
}

std::string_view nextEntry(std::string_view &list, char separator) {
  const size_t end = std::min(list.find(separator), list.size());
  const std::string_view entry = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return entry;
}

} // namespace pcc::onnx
