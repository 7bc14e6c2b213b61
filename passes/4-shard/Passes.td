//===- Passes.td - passes of phase 4-shard -------------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def DecideShardings : Pass<"decide-shardings", "::mlir::func::FuncOp"> {
  let summary = "gives every value a sharding";
  let description = [{
    Hands out the axes of the module's `dist.mesh` one prime part at a time (`tp` of 4 is `tp:(1)2`, then `tp:(2)2`), each where it
    costs the fewest received bytes, then calls, then memory: exactly, by variable elimination over one strategy per op. What an
    axis may split follows from its name; `dist.seeds` pin values; `dist.experts` parts of dp, then cp, divide experts. Writes
    `dist.shardings` and `dist.split` on ops, `dist.sharding` on arguments and results.
    [example: test/passes/4-shard/decide-shardings.mlir @megatron_mlp]
  }];
  let statistics = [Statistic<"numAxes", "axes", "sub-axes handed out">, Statistic<"numSplit", "split", "ops that some axis splits">];
  let dependentDialects = ["::pcc::dist::DistDialect"];
}

def ExpandSplitOps : Pass<"expand-split-ops", "::mlir::func::FuncOp"> {
  let summary = "makes the exchange inside ops whose own dim is split visible as ops";
  let description = [{
    A softmax, norm, scan or selection along a dim that is split (an Inner factor of its rule has axes) becomes ordinary ops that
    compute the same from partial statistics or candidates of each part; they get their sharding here. After this no Inner factor
    has axes. [example: test/passes/4-shard/expand-split-ops.mlir @softmax]
  }];
  let statistics = [Statistic<"numExpanded", "expanded", "ops that were expanded">];
  let dependentDialects = ["::pcc::dist::DistDialect", "::pcc::graph::GraphDialect"];
}

def InsertReshards : Pass<"insert-reshards", "::mlir::func::FuncOp"> {
  let summary = "makes every change of sharding an op";
  let description = [{
    Where a use needs another sharding than its producer gives (`dist.split` tells what an op needs), inserts a `dist.reshard`; one
    for all uses that need the same. [example: test/passes/4-shard/insert-reshards.mlir @one_reshard_for_two_uses]
  }];
  let statistics = [Statistic<"numReshards", "reshards", "reshards inserted">];
  let dependentDialects = ["::pcc::dist::DistDialect"];
}

def ErasePins : Pass<"erase-pins", "::mlir::func::FuncOp"> {
  let summary = "removes the pins that annotations left, which lie as their operands now";
  let description = [{[example: test/passes/4-shard/erase-pins.mlir @pinned_between]}];
  let statistics = [Statistic<"numPins", "pins", "pins removed">];
}

def VerifySharded : Pass<"verify-sharded", "::mlir::func::FuncOp"> {
  let summary = "gate: every value has a sharding that its op's rule allows, and no use needs another";
  let description = [{[example: test/passes/4-shard/verify-sharded.mlir @consistent]}];
  let statistics = [Statistic<"numValues", "values", "values checked">];
}
