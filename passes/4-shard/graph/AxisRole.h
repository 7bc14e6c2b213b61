//===- AxisRole.h - roles that decide what a mesh axis may split ----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H
#define PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace pcc::shard {

/// Purpose of a mesh axis. It decides which dims of an op the axis may split.
///
/// The four roles with `Experts` in their names exist only in
/// mixture-of-experts models whose experts are divided among ranks (`--ep`).
/// They distinguish ops inside and outside of the expert region. The expert
/// region consists of the ops that compute the experts, and of ops that only
/// prepare or combine values for the experts (ExpertDims.h).
enum class AxisRole : uint8_t {
  /// Data parallelism: splits the batch of every input that has one. This is
  /// the role of `dp`, and of the time axis `mb` (microbatches).
  Batch,
  /// Context parallelism: splits the sequence, or the heads within attention.
  /// This is the role of `cp`.
  Sequence,
  /// Tensor parallelism, the role of `tp`. Splits every dim except the batch
  /// and the dim that counts stripes (pieces of the sequence; Stripes.h). Must
  /// split the large weights of contractions (ContractionWeights.h).
  Tensor,
  /// The role of every axis that has another name than `dp`, `mb`, `cp` or
  /// `tp`. The axis may split every dim.
  Free,
  /// The role of a sub-axis of the axis `dp` if it divides the batch and also
  /// the experts of a mixture-of-experts layer. For example, 4 experts on 4
  /// ranks give one expert to each rank. The sub-axis must split the expert dim
  /// of expert weights. The expert region is the ops around the experts. Inside
  /// it, the sub-axis may split every dim; outside, only the batch.
  BatchAndExperts,
  /// The role of a sub-axis of the axis `cp` if it divides the sequence and
  /// also the experts of a mixture-of-experts layer. For example, 4 experts on
  /// 4 ranks give one expert to each rank. The sub-axis must split the expert
  /// dim of expert weights. The expert region is the ops around the experts.
  /// Inside it, the sub-axis may split every dim; outside, only the sequence.
  SequenceAndExperts,
  /// The role of a sub-axis of `dp` or `mb` that does not divide experts, in a
  /// model where other sub-axes divide them. The expert region is the ops
  /// around the experts. Inside it, the sub-axis may split every dim except the
  /// one that counts experts. It must not split weights there. Outside, it
  /// splits only the batch.
  BatchOutsideExperts,
  /// The role of a sub-axis of `cp` that does not divide experts, in a model
  /// where other sub-axes divide them. The expert region is the ops around the
  /// experts. Inside it, the sub-axis may split every dim except the one that
  /// counts experts. It must not split weights there. Outside, it splits only
  /// the sequence.
  SequenceOutsideExperts,
  /// The role of an axis while it divides stored tensors: weights, gradients
  /// and optimizer states that each rank stores only in part (ZeRO, FSDP;
  /// StoredWeights.h). Tensors that the axis splits anyway do not change.
  Storage,
};

/// Returns the role of the axis named `axis`: `dp` and `mb` are Batch, `cp` is
/// Sequence, `tp` is Tensor. Every other name is Free.
AxisRole roleOf(llvm::StringRef axis);

/// Returns the role that replaces `role` in a mixture-of-experts model whose
/// experts are divided among ranks. `divides` says whether the axis with this
/// role divides experts:
///
///   role        divides = true       divides = false
///   Batch       BatchAndExperts      BatchOutsideExperts
///   Sequence    SequenceAndExperts   SequenceOutsideExperts
///   any other   role                 role
AxisRole withExperts(AxisRole role, bool divides);

/// Returns whether axes of this role divide experts: true for BatchAndExperts
/// and SequenceAndExperts.
bool dividesExperts(AxisRole role);

/// Returns whether `role` is one of the four roles with `Experts` in their
/// names: BatchAndExperts, SequenceAndExperts, BatchOutsideExperts and
/// SequenceOutsideExperts.
bool knowsExperts(AxisRole role);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H
