//===- AxisRole.h - roles that decide what a mesh axis may split ----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H
#define PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace pcc::shard {

/// The purpose of a mesh axis. The role decides which factors (dims of an op,
/// or parts of dims) the axis may split; FactorTag in ShardedOp.h lists them.
///
/// The four roles with `Experts` in their names exist only in models whose
/// experts are divided among ranks. Their axes split the batch or the sequence.
/// In the expert region (the ops around the experts; ExpertDims.h), they may
/// split other dims as well.
enum class AxisRole : uint8_t {
  /// Data parallelism: splits the batch of every input that has one. This is
  /// the role of `dp`, and of the time axis `mb` (microbatches).
  Batch,
  /// Context parallelism: splits the sequence, or the heads within attention.
  /// This is the role of `cp`.
  Sequence,
  /// Tensor parallelism: splits anything but the batch and stripes (pieces of
  /// the sequence; Stripes.h). Must split the large weights of contractions
  /// (ContractionWeights.h). This is the role of `tp`.
  Tensor,
  /// Splits anything. This is the role of axes that the user named in `--mesh`.
  Free,
  /// The role of the sub-axes of `dp` that also divide experts. They split the
  /// batch, as role Batch does. Inside of the expert region (the ops around the
  /// experts), they may split anything, and they must split the experts of
  /// weights.
  BatchAndExperts,
  /// The role of the sub-axes of `cp` that also divide experts. They split the
  /// sequence, as role Sequence does. Inside of the expert region (the ops
  /// around the experts), they may split anything, and they must split the
  /// experts of weights.
  SequenceAndExperts,
  /// The role of an axis (or sub-axis) for the batch that does not divide
  /// experts, while another axis does. It splits the batch, as role Batch does.
  /// Inside of the expert region (the ops around the experts), it may split
  /// anything but experts and weights.
  BatchOutsideExperts,
  /// The role of an axis (or sub-axis) for the sequence that does not divide
  /// experts, while another axis does. It splits the sequence, as role Sequence
  /// does. Inside of the expert region (the ops around the experts), it may
  /// split anything but experts and weights.
  SequenceOutsideExperts,
  /// Splits each weight, gradient and optimizer state that is stored divided
  /// (ZeRO, FSDP; StoredWeights.h), unless the axis splits that tensor already.
  Storage,
};

/// Returns the role of the axis named `axis`: `dp` and `mb` are Batch, `cp` is
/// Sequence, `tp` is Tensor. Every other name is Free.
AxisRole roleOf(llvm::StringRef axis);

/// Returns the role that replaces `role` if the experts of the model are
/// divided. `divides` is true for an axis that divides the experts. Roles other
/// than Batch and Sequence stay as they are.
///
///   role       divides              does not divide
///   Batch      BatchAndExperts      BatchOutsideExperts
///   Sequence   SequenceAndExperts   SequenceOutsideExperts
AxisRole withExperts(AxisRole role, bool divides);

/// Returns whether axes of this role divide experts: true for BatchAndExperts
/// and SequenceAndExperts.
bool dividesExperts(AxisRole role);

/// Returns whether the role exists only in models with divided experts. It is
/// true for BatchAndExperts, SequenceAndExperts, BatchOutsideExperts and
/// SequenceOutsideExperts.
bool knowsExperts(AxisRole role);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H
