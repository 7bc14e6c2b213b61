//===- AxisRole.h - roles that decide what a mesh axis may split ----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H
#define PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace pcc::shard {

/// The purpose of a mesh axis, which decides the factors that the axis may
/// split (FactorTag in ShardedOp.h). A Sequence axis must split the sequence in
/// every op on tokens that allows it (SequenceOps.h). The four roles that know
/// experts split the batch, or the sequence, outside the expert region
/// (ExpertRegion in ExpertDims.h) and have more choices inside it.
enum class AxisRole : uint8_t {
  /// Data parallelism: splits the batch of every input that has one. This is
  /// the role of `dp`, and of the time axis `mb` (microbatches).
  Batch,
  /// Context parallelism: splits the sequence, or the heads within attention.
  /// This is the role of `cp`.
  Sequence,
  /// Tensor parallelism: splits anything but the batch and stripes, and must
  /// split every contraction weight of some size (ContractionWeights.h). This
  /// is the role of `tp`.
  Tensor,
  /// Splits anything. This is the role of axes that the user named.
  Free,
  /// Like Batch, for the parts of `dp` that also divide the experts. Inside the
  /// expert region they may split anything, and must split the experts of
  /// weights.
  BatchAndExperts,
  /// Like Sequence, for the parts of `cp` that also divide the experts.
  SequenceAndExperts,
  /// Like Batch, for axes and parts of axes that do not divide the experts
  /// while other parts do. Inside the expert region they may split anything but
  /// experts and weights.
  BatchOutsideExperts,
  /// Like Sequence, for axes and parts that do not divide the experts.
  SequenceOutsideExperts,
  /// Splits stored weights, gradients and optimizer state where the axis splits
  /// nothing of them yet (ZeRO, FSDP; StoredWeights.h).
  Storage,
};

/// Returns the role of the axis named `axis`: `dp` and `mb` are Batch, `cp` is
/// Sequence, `tp` is Tensor. Every other name is Free.
AxisRole roleOf(llvm::StringRef axis);

/// Returns the role that replaces `role` when the model's experts are divided.
/// `divides` says whether the axis parts in question divide the experts. Tensor
/// and Free stay as they are.
AxisRole withExperts(AxisRole role, bool divides);

/// Returns whether axes of this role divide experts: true for BatchAndExperts
/// and SequenceAndExperts.
bool dividesExperts(AxisRole role);

/// Returns whether experts restrict axes of this role: true for the two roles
/// of dividesExperts and for the two whose names end in OutsideExperts.
bool knowsExperts(AxisRole role);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H
