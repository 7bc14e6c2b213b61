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
  /// Tensor parallelism. This is the role of `tp`. The axis may split every dim
  /// except the batch dim and the dim that counts stripes. A stripe is a
  /// contiguous piece of the sequence (Stripes.h). The axis must split the
  /// large weights of matmuls and convolutions (ContractionWeights.h).
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
  /// Role of the axis `dp`, or of a part of it, whose ranks all have the same
  /// experts. The role requires that `--ep` divides the experts of a
  /// mixture-of-experts model. The axis `mb` of microbatches then has this
  /// role, too. For example, let half of an axis dp of size 4 divide the
  /// experts (`--ep 2`). The other half has this role. In the expert region
  /// (the ops around the experts), the axis may split every dim except the dim
  /// of experts, but splits no weights. In all other ops, it may split only the
  /// batch.
  BatchOutsideExperts,
  /// Role of the axis `cp`, or of a part of it, whose ranks all have the same
  /// experts. The role requires that `--ep` divides the experts of a
  /// mixture-of-experts model. For example, let dp and half of an axis cp
  /// divide the experts. The other half of cp has this role. In the expert
  /// region (the ops around the experts), the axis may split every dim except
  /// the dim of experts, but splits no weights. In all other ops, it may split
  /// only the sequence, or the heads within attention.
  SequenceOutsideExperts,
  /// Role of an axis in the second step of the sharding search. The first step
  /// decides how ranks compute. In the first step, the axis has another role,
  /// such as Batch. The second step decides how ranks store tensors. The axis
  /// then splits weights, gradients or optimizer states, so that each rank
  /// stores only a part of each tensor (ZeRO, FSDP; StoredWeights.h). For
  /// example, if dp has size 8, each rank stores 1/8 of a weight. If the axis
  /// already splits a tensor after the first step, the second step does not
  /// change the tensor.
  Storage,
};

/// Returns the role of the mesh axis with the name `axis`:
///
///   name        role       the axis may split
///   dp, mb      Batch      the batch
///   cp          Sequence   the sequence, and the heads within attention
///   tp          Tensor     most dims, such as those of weights
///   any other   Free       every dim
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
