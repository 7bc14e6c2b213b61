//===- AxisRole.h - roles that decide what a mesh axis may split ----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H
#define PCC_PASSES_4_SHARD_GRAPH_AXISROLE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace pcc::shard {

/// Role of a mesh axis. The role decides which dims of an op the axis may
/// split. For example, an axis with the role Batch splits the batch dim.
///
/// Four roles have `Experts` in their names. They are used only for
/// mixture-of-experts models whose experts are divided among ranks (`--ep`). An
/// axis with one of these roles may split more dims inside of the expert region
/// than outside. The expert region consists of the ops that compute the
/// experts, and of ops that only prepare or combine values for the experts
/// (ExpertDims.h).
enum class AxisRole : uint8_t {
  /// Data parallelism: the axis splits the batch dim of every input that has a
  /// batch dim. This is the role of two axes. One is `dp`, whose coordinates
  /// are ranks. The other is `mb`, whose coordinates are microbatches: each
  /// rank computes one microbatch after another.
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
  /// Role of the axis `dp`, or of a part of it, if its ranks divide the experts
  /// of a mixture-of-experts layer. For example, with 4 experts on 4 ranks,
  /// each rank has one expert. The axis (or part) with this role must split the
  /// dim of experts in the weights of the experts. It may split these dims:
  ///
  /// - In the expert region (the ops around the experts): every dim.
  /// - In all other ops: only the batch.
  BatchAndExperts,
  /// Role of the axis `cp`, or of a part of it, if its ranks divide the experts
  /// of a mixture-of-experts layer. For example, with 4 experts on 4 ranks,
  /// each rank has one expert. The axis (or part) with this role must split the
  /// dim of experts in the weights of the experts. It may split these dims:
  ///
  /// - In the expert region (the ops around the experts): every dim.
  /// - In all other ops: only the sequence, or the heads within attention.
  SequenceAndExperts,
  /// Data parallelism along ranks that have the same experts. The role exists
  /// only if the user divides the experts of a mixture-of-experts model
  /// (`--ep`). Each part of the axis `dp` that does not divide experts has this
  /// role. The axis `mb` (microbatches) has it, too. For example, dp of size 4
  /// consists of two parts of size 2. With `--ep 2`, one part divides the
  /// experts into 2. The other part has this role. It may split these dims:
  ///
  /// - In the expert region (the ops around the experts): every dim except the
  ///   dim that counts experts. It must not split a weight there.
  /// - In all other ops: only the batch.
  BatchOutsideExperts,
  /// Context parallelism along ranks that have the same experts. The role
  /// exists only if the user divides the experts of a mixture-of-experts model
  /// (`--ep`). Each part of the axis `cp` that does not divide experts has this
  /// role. For example, the axes are dp of size 2 and cp of size 4. With
  /// `--ep 4`, dp and one part of cp (of size 2) divide the experts into 4. The
  /// other part of cp (of size 2) has this role. It may split these dims:
  ///
  /// - In the expert region (the ops around the experts): every dim except the
  ///   dim that counts experts. It must not split a weight there.
  /// - In all other ops: only the sequence, or the heads within attention.
  SequenceOutsideExperts,
  /// Role of an axis in a second step of the sharding search. In the first
  /// step, the axis has another role, such as Batch. In the second step, it has
  /// this role and divides weights, gradients and optimizer states, so that
  /// each rank stores only a part of each of these tensors (ZeRO, FSDP;
  /// StoredWeights.h). If the axis split a tensor already in the first step,
  /// the second step does not change the tensor.
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
