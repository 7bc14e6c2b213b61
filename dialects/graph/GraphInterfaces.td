//===- GraphInterfaces.td - what every graph op can tell -----*- tablegen -*-===//

#ifndef PCC_DIALECTS_GRAPH_GRAPHINTERFACES
#define PCC_DIALECTS_GRAPH_GRAPHINTERFACES

include "mlir/IR/OpBase.td"

def Graph_ShardingRuleInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::pcc::graph";
  let description = [{How an op's dims are tied together by factors: what may be split without changing the op.}];
  let methods = [
    InterfaceMethod<"the factors of this op, and the factors of each dim of each operand and result",
                    "::pcc::graph::ShardingRule", "getShardingRule", (ins)>
  ];
}

def Graph_CostInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::pcc::graph";
  let description = [{What an op costs, from its (global or local) shapes.}];
  let methods = [
    InterfaceMethod<"floating-point operations; a multiply-add is two", "double", "getFlops", (ins), "",
      [{ return ::pcc::graph::elementWiseFlops($_op); }]>
  ];
}

def Graph_GradientInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::pcc::graph";
  let description = [{
    Reverse-mode differentiation of one op. An op without this interface has no gradient: where one were needed, training
    is refused.
  }];
  let methods = [
    InterfaceMethod<[{
      The gradients of the operands, from those of the results: one entry per operand, null where none flows to it (an
      integer, an operand that `builder` does not want, a function that is flat almost everywhere). A gradient has the
      type of its value. `gradients` has an entry per result, null where nothing depends on it or it has no elements; at
      least one is there, and at least one operand is wanted. Fails, with an error at the op, where its attributes ask for
      what has no gradient.}],
                    "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "buildGradients",
                    (ins "::pcc::graph::GradientBuilder &":$builder, "::mlir::ValueRange":$gradients)>
  ];
}

def Graph_AttentionInterface : OpInterface<"AttentionOpInterface"> {
  let cppNamespace = "::pcc::graph";
  let description = [{
    What attention and its gradients have in common: whose scores they weigh. The query is the first operand, the mask the
    last.
  }];
  let methods = [
    InterfaceMethod<"[B, H, S, D]", "::mlir::Value", "getQuery">,
    InterfaceMethod<"[B, K, T, D]", "::mlir::Value", "getKey">,
    InterfaceMethod<"[B, K, T, E]", "::mlir::Value", "getValue">,
    InterfaceMethod<"null where there is none", "::mlir::Value", "getMask">,
    InterfaceMethod<"to set it", "::mlir::MutableOperandRange", "getMaskMutable">,
    InterfaceMethod<"of scores", "::llvm::APFloat", "getScale">,
    InterfaceMethod<"0: none", "::llvm::APFloat", "getSoftcap">,
    InterfaceMethod<"whether a query sees only the keys before it", "bool", "getCausal">,
    InterfaceMethod<"says whether", "void", "setCausal", (ins "bool":$causal)>
  ];
}

/// Of ops that can be differentiated; `gradients/` says how, one family per file.
def Graph_Differentiable : DeclareOpInterfaceMethods<Graph_GradientInterface>;

#endif
