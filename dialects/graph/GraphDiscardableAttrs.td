//===- GraphDiscardableAttrs.td - attributes of dialect graph -*- tablegen -*-===//

#ifndef PCC_DIALECTS_GRAPH_GRAPHDISCARDABLEATTRS
#define PCC_DIALECTS_GRAPH_GRAPHDISCARDABLEATTRS

include "dialects/attributes/DiscardableAttrs.td"

// The model.
def Graph_Model : DiscardableAttr<"graph.model", StringKind, [OnModule], "1-import", "7-emit",
  "File name of the ONNX model, without its directory.">;
def Graph_Root : DiscardableAttr<"graph.root", StringKind, [OnModule], "1-import", "7-emit",
  "Canonical directory to which weight references are relative.">;
def Graph_BoundDims : DiscardableAttr<"graph.bound_dims", NumbersByNameKind, [OnModule], "1-import", "7-emit",
  "Size of each dynamic dim that was bound, by the dim's name.">;
def Graph_BatchDims : DiscardableAttr<"graph.batch_dims", StringsKind, [OnModule], "1-import", "7-emit",
  "Batch dims that `--batch-dim` gives, as VALUE=DIM; `2-prepare` reads them.">;
def Graph_Training : DiscardableAttr<"graph.training", DictionaryKind, [OnModule], "1-import", "7-emit",
  "Options of training: loss, optimizer, rates and lists of weights. Absent for inference.">;
def Graph_Precision : DiscardableAttr<"graph.precision", TypeKind, [OnModule], "1-import", "7-emit",
  "Float type in which the model computes: f32, bf16 or f16. Without it, the model's own types hold.">;
def Graph_Reproducible : DiscardableAttr<"graph.reproducible", UnitKind, [OnModule], "1-import", "7-emit",
  "Sums over the batch and norms of gradients must be bitwise equal however the batch and the stored weights are divided.">;
def Graph_Inputs : DiscardableAttr<"graph.inputs", DictionariesKind, [OnModule], "6-schedule", "7-emit",
  "Attributes of the model's arguments in order, kept when @main becomes one function per stage.">;
def Graph_Outputs : DiscardableAttr<"graph.outputs", DictionariesKind, [OnModule], "6-schedule", "7-emit",
  "Attributes of the model's results in order, kept when @main becomes one function per stage.">;

// Values.
def Graph_Name : DiscardableAttr<"graph.name", StringKind, [OnOp, OnArgument, OnResult], "1-import", "7-emit",
  "Name of the value in the model; on an op, of its first result.">;
def Graph_Dims : DiscardableAttr<"graph.dims", DimNamesKind, [OnArgument], "1-import", "7-emit",
  "Symbol of each dim of an input; empty for a dim that the model fixes.">;
def Graph_BatchDim : DiscardableAttr<"graph.batch_dim", DimKind, [OnArgument, OnResult], "2-prepare", "7-emit",
  "Index of the dim that microbatches divide.">;
def Graph_SequenceDim : DiscardableAttr<"graph.sequence_dim", DimKind, [OnArgument, OnResult], "2-prepare", "7-emit",
  "Index of the dim of positions in a sequence, which `cp` may divide.">;
def Graph_Labels : DiscardableAttr<"graph.labels", UnitKind, [OnArgument], "2-prepare", "7-emit",
  "The input is the labels of the loss.">;

// Ops.
def Graph_Chosen : DiscardableAttr<"graph.chosen", PositiveKind, [], "2-prepare", "7-emit",
  "Most experts for which one token can have a gate other than 0 (top-k routing), on the einsum that sums the outputs of "
  "experts, weighted by gates. The outputs of all other experts for that token may stay uncomputed."> {
  let ops = ["graph.einsum"];
}
def Graph_GradientOf : DiscardableAttr<"graph.gradient_of", SymbolKind, [OnResult], "1-import", "2-prepare",
  "Weight with respect to which the loss is differentiated: on a placeholder that ONNX TrainingInfo reads through "
  "`graph.accumulate`, until the backward pass exists, and on a result of @main that is a gradient."> {
  let ops = ["graph.loss_gradient"];
}
def Graph_Number : DiscardableAttr<"graph.number", CountKind, [OnOp], "2-prepare", "2-prepare",
  "Number by which backward ops name the forward op; `3-place` reads and removes it.">;
def Graph_Mirrors : DiscardableAttr<"graph.mirrors", CountKind, [OnOp], "2-prepare", "2-prepare",
  "`graph.number` of the forward op whose gradient a backward op belongs to; `3-place` puts both on one stage.">;
def Graph_Updates : DiscardableAttr<"graph.updates", SymbolKind, [OnOp], "2-prepare", "2-prepare",
  "Weight that an op of the update changes or whose gradient it processes. Absent if the op concerns all weights.">;
def Graph_Pinned : DiscardableAttr<"graph.pinned", UnitKind, [OnOp], "2-prepare", "2-prepare",
  "A seed names the op's value, so that no rewrite may remove it. Lives within one pass.">;

#endif
