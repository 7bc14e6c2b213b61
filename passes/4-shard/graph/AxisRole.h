//===- AxisRole.h - roles that decide what a mesh axis may split ----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H
#define PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace pcc::shard {

/// Use of a mesh axis (data, context, tensor or expert parallelism). It decides
/// which dims of an op the axis may split. The roles with `Experts` in their
/// names exist only if ranks divide the experts of a mixture-of-experts model
/// (`--ep`). They allow more dims in the expert region: the ops that compute
/// experts, or prepare or combine values for them (ExpertDims.h).
enum class AxisRole : uint8_t {
  /// Data parallelism (axis `dp`) or micro-batches (axis `mb`): splits the
  /// batch dim of every input that has one.
  Batch,
  /// Context parallelism (axis `cp`): splits the sequence, or the heads within
  /// attention.
  Sequence,
  /// Tensor parallelism (axis `tp`): may split every dim except the batch and
  /// the stripes of the sequence (Stripes.h). It must split the large weights
  /// of matmuls and convolutions (ContractionWeights.h).
  Tensor,
  /// Any axis whose name is not `dp`, `mb`, `cp` or `tp`. The axis may split
  /// every dim.
  Free,
  /// Sub-axis of `dp`, or all of it, along which ranks divide the experts. It
  /// must split the expert dim of the experts' weights. It may split every dim
  /// in the expert region, and only the batch elsewhere.
  BatchAndExperts,
  /// Sub-axis of `cp`, or all of it, along which ranks divide the experts. It
  /// must split the expert dim of the experts' weights. It may split every dim
  /// in the expert region, and only the sequence or attention heads elsewhere.
  SequenceAndExperts,
  /// Axis `mb`, or a sub-axis of `dp` along which ranks have the same experts.
  /// In the expert region, it may split every dim except the expert dim, but no
  /// dim of a weight. Elsewhere, it may split only the batch.
  BatchOutsideExperts,
  /// Sub-axis of `cp` along which ranks have the same experts. In the expert
  /// region, it may split every dim except the expert dim, but no dim of a
  /// weight. Elsewhere, it may split only the sequence or attention heads.
  SequenceOutsideExperts,
  /// Use of any axis in the second step of the sharding search, which decides
  /// how ranks store weights, gradients and optimizer states (ZeRO, FSDP;
  /// StoredWeights.h). A tensor that the axis already splits does not change.
  Storage,
};

/// Returns the role (kind of parallelism) of the mesh axis with the name
/// `axis`: Batch for dp and mb, Sequence for cp, Tensor for tp, and Free for
/// any other name.
AxisRole roleOf(llvm::StringRef axis);

/// Converts the role (kind of parallelism) of an axis for a model whose experts
/// are divided over ranks. `divides` says whether the axis itself divides the
/// experts. If so, Batch becomes BatchAndExperts, and Sequence becomes
/// SequenceAndExperts. If not, they become BatchOutsideExperts and
/// SequenceOutsideExperts. Returns any other role unchanged.
AxisRole withExperts(AxisRole role, bool divides);

/// Returns whether mesh axes with this kind of parallelism divide experts: true
/// for BatchAndExperts and SequenceAndExperts.
bool dividesExperts(AxisRole role);

/// Returns whether `role` is one of the four roles with `Experts` in their
/// names: BatchAndExperts, SequenceAndExperts, BatchOutsideExperts and
/// SequenceOutsideExperts.
bool knowsExperts(AxisRole role);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H
