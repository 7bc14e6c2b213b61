//===- AxisRole.cpp - roles that decide what a mesh axis may split --------===//

#include "passes/4-shard/graph/AxisRole.h"
#include "llvm/ADT/StringSwitch.h"

using namespace pcc::shard;
using llvm::StringRef;

AxisRole pcc::shard::roleOf(StringRef axis) {
  return llvm::StringSwitch<AxisRole>(axis)
      .Cases({"mb", "dp"}, AxisRole::Batch)
      .Case("cp", AxisRole::Sequence)
      .Case("tp", AxisRole::Tensor)
      .Default(AxisRole::Free);
}

AxisRole pcc::shard::withExperts(AxisRole role, bool divides) {
  // The axes dp and mb have the role Batch, and cp has the role Sequence. If
  // ranks divide experts, each of these two roles is replaced by one of two
  // others: one for axes that divide experts, and one for axes that do not. Any
  // other axis, such as tp, never divides experts, so its role stays.
  if (role == AxisRole::Batch)
    return divides ? AxisRole::BatchAndExperts : AxisRole::BatchOutsideExperts;
  if (role == AxisRole::Sequence)
    return divides ? AxisRole::SequenceAndExperts
                   : AxisRole::SequenceOutsideExperts;
  return role;
}

bool pcc::shard::dividesExperts(AxisRole role) {
  return role == AxisRole::BatchAndExperts ||
         role == AxisRole::SequenceAndExperts;
}

bool pcc::shard::knowsExperts(AxisRole role) {
  return dividesExperts(role) || role == AxisRole::BatchOutsideExperts ||
         role == AxisRole::SequenceOutsideExperts;
}
