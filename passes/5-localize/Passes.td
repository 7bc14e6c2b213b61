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

def VerifyLocal : Pass<"verify-local", "::mlir::func::FuncOp"> {
  let summary = "gate: no reshard and no global shape is left";
  let description = [{[example: test/passes/5-localize/verify-local.mlir @local]}];
  let statistics = [Statistic<"numOps", "ops", "ops checked">];
}
