//===- GraphInterfaces.td - interfaces of the graph ops ----*- tablegen -*-===//

#ifndef PCC_DIALECTS_GRAPH_GRAPHINTERFACES
#define PCC_DIALECTS_GRAPH_GRAPHINTERFACES

include "mlir/IR/OpBase.td"

def Graph_ShardingRuleInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::pcc::graph";
  let description = [{
    Describes how the dims of an op may be split over mesh axes. The rule divides every dim of every operand and result into
    factors (dialects/graph/ShardingRule.h). If a factor is split alike wherever it occurs, each rank runs the op on its
    parts. Every op of the dialect but `graph.parameter` has a rule; dialects/graph/rules implements the rules, one op family
    per file.
  }];
  let methods = [
    InterfaceMethod<"Returns the factors of the op, and the factors of each dim of its operands and results.",
                    "::pcc::graph::ShardingRule", "getShardingRule", (ins)>
  ];
}

def Graph_CostInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::pcc::graph";
  let description = [{
    Estimates the cost of an op from the shapes of its operands and results, which may be global or local.
    The default is one operation per element of the largest result.
  }];
  let methods = [
    InterfaceMethod<"Returns the floating-point operations of the op; a multiply-add counts as two.",
                    "double", "getFlops", (ins), "",
      [{ return ::pcc::graph::elementWiseFlops($_op); }]>
  ];
}

def Graph_GradientInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::pcc::graph";
  let description = [{
    Builds the gradient of one op for reverse-mode differentiation. An op without this interface has no gradient. Training
    fails with an error at such an op if it lies on a path of floats from a trained weight to the loss.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the gradients of the operands from the gradients of the results. Returns one entry per operand; an entry is
      null if no gradient flows to the operand: it is an integer, `builder` does not want it, or the slope is 0 almost
      everywhere. A gradient has the type of its value. `gradients` has one entry per result, which is null if the loss does
      not depend on the result or if the result has no elements. At least one entry is not null, and at least one operand is
      wanted. Emits an error at the op and fails if the op has no gradient with its attributes.}],
                    "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "buildGradients",
                    (ins "::pcc::graph::GradientBuilder &":$builder, "::mlir::ValueRange":$gradients)>
  ];
}

def Graph_IndexedInterface : OpInterface<"IndexedOpInterface"> {
  let cppNamespace = "::pcc::graph";
  let description = [{
    Describes the indices of an op for which the ONNX specification makes indices outside of the data an error.
    `insert-index-checks` of `5-localize` makes a `graph.check_indices` of it. An op that defines a result for such indices,
    as `graph.one_hot` does, lacks the interface.
  }];
  let methods = [
    InterfaceMethod<"Returns the indices.", "::mlir::Value", "getIndices">,
    InterfaceMethod<[{
      Returns the sizes of the indexed dims: one number or, if the last dim of the indices holds tuples, one per index of a
      tuple. An index for a dim of n elements is in [-n, n).}],
                    "::llvm::SmallVector<int64_t>", "getIndexedSizes">
  ];
}

/// Trait of ops whose indices are checked.
def Graph_Indexed : DeclareOpInterfaceMethods<Graph_IndexedInterface, ["getIndexedSizes"]>;

def Graph_AttentionInterface : OpInterface<"AttentionOpInterface"> {
  let cppNamespace = "::pcc::graph";
  let description = [{
    Gives access to the operands and attributes that `graph.attention` and its gradients share. The query is the first
    operand, and the mask is the last one.
  }];
  let methods = [
    InterfaceMethod<"Returns the queries, [B, H, S, D].", "::mlir::Value", "getQuery">,
    InterfaceMethod<"Returns the keys, [B, K, T, D].", "::mlir::Value", "getKey">,
    InterfaceMethod<"Returns the values, [B, K, T, E].", "::mlir::Value", "getValue">,
    InterfaceMethod<"Returns the mask; null if there is none.", "::mlir::Value", "getMask">,
    InterfaceMethod<"Returns the operand range of the mask, to set it.", "::mlir::MutableOperandRange", "getMaskMutable">,
    InterfaceMethod<"Returns the factor of the scores.", "::llvm::APFloat", "getScale">,
    InterfaceMethod<"Returns the cap of the scores; 0 if there is none.", "::llvm::APFloat", "getSoftcap">,
    InterfaceMethod<"Returns whether a query sees only the keys up to its own position.", "bool", "getCausal">,
    InterfaceMethod<"Sets whether a query sees only the keys up to its own position.", "void", "setCausal", (ins "bool":$causal)>
  ];
}

/// Trait of ops that have a gradient. dialects/graph/gradients implements the gradients, one op family per file.
def Graph_Differentiable : DeclareOpInterfaceMethods<Graph_GradientInterface>;

#endif
