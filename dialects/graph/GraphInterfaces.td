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

#endif
