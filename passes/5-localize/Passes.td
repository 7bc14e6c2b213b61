//===- Passes.td - passes of phase 5-localize ----------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def LocalizeShapes : Pass<"localize-shapes", "::mlir::func::FuncOp"> {
  let summary = "replaces global shapes by what a rank owns";
  let description = [{
    Every value takes the local shape of its sharding. Ops whose attributes speak of sizes are adapted; where a rank's position
    matters (an index, a table that is split, padding of an uneven dim that would be reduced) a `dist.global_index` tells it, and masks
    keep what is not the rank's own out of the result. [example: test/passes/5-localize/localize-shapes.mlir @iota_gets_an_offset]
  }];
  let statistics = [Statistic<"numLocal", "local", "values that became smaller">, Statistic<"numMasks", "masks", "masks of padding">];
  let dependentDialects = ["::pcc::dist::DistDialect", "::pcc::graph::GraphDialect"];
}

def ReshardToCollectives : Pass<"reshard-to-collectives", "::mlir::func::FuncOp"> {
  let summary = "replaces each reshard by the cheapest sequence of collectives";
  let description = [{
    Asks the planner that priced the reshard in `4-shard`. Relies on `shape`, which localize-shapes has recorded.
    [example: test/passes/5-localize/reshard-to-collectives.mlir @partial_sum_needs_all_reduce]
  }];
  let statistics = [Statistic<"numCollectives", "collectives", "collectives that communicate">,
                    Statistic<"receivedBytes", "bytes", "bytes that a rank receives per microbatch">];
  let dependentDialects = ["::pcc::dist::DistDialect"];
}

def GroupExperts : Pass<"group-experts", "::mlir::func::FuncOp"> {
  let summary = "lets experts compute the rows that chose them, instead of all tokens";
  let description = [{
    Where an einsum is marked `graph.chosen`, few of the values that it sums count. What makes them from the experts' matrices on runs on
    rows instead, each for one token and one expert whose gate is not 0: none is dropped, whatever their number per expert, which only
    the run knows. Relies on local shapes: rows are those of the rank's tokens and experts.
    [example: test/passes/5-localize/group-experts.mlir @two_of_eight]
  }];
  let statistics = [Statistic<"numGrouped", "grouped", "sums of experts that are computed by rows">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def ExchangeRows : Pass<"exchange-rows", "::mlir::func::FuncOp"> {
  let summary = "lets tokens travel only to the ranks whose experts they chose, and back";
  let description = [{
    Where tokens are gathered only for the rows of `graph.group_rows`, and where the sums that experts add up to are scattered over the
    ranks that the tokens came from, most rows do not count. The ranks tell one another which ones do, and the collectives move those
    alone. GPUs move all tokens, as no host looks at what they computed in the middle of a step.
    [example: test/passes/5-localize/exchange-rows.mlir @experts_take_their_tokens]
  }];
  let statistics = [Statistic<"numExchanges", "exchanges", "collectives that move only rows that count">];
  let dependentDialects = ["::pcc::dist::DistDialect", "::pcc::graph::GraphDialect"];
}

def VerifyLocal : Pass<"verify-local", "::mlir::func::FuncOp"> {
  let summary = "gate: no reshard and no global shape is left, and every partial value is reduced once";
  let description = [{
    What is still to be reduced is a type (`PartialCheck`): it begins where ranks divide a dim that is reduced, passes what is linear
    for its kind, and ends in one collective; means divide by all elements. [example: test/passes/5-localize/verify-local.mlir @partial_sums]
  }];
  let statistics = [Statistic<"numOps", "ops", "ops checked">];
}
