//===- Passes.td - passes of phase 4-shard -----------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def DecideShardings : Pass<"decide-shardings", "::mlir::func::FuncOp"> {
  let summary = "chooses a sharding for every value";
  let description = [{
    - In: a placed function, the mesh, and requests: seeds (`dist.seeds`, and `dist.sharding` or `dist.pin` from annotations),
      presets (`dist.presets`), experts (`dist.experts`) and weights to store divided (`dist.divided`).
    - Out: `dist.shardings` and `dist.split` on every op, `dist.sharding` on arguments and results, and a `dist.reshard`
      behind a value that a seed names if its op gives another sharding.

    The axes of `dist.mesh` are assigned one after another, in the order that costs least; a small function is then searched
    for a cheaper plan over all axes at once. An axis consists of parts of prime size: `tp` of 4 is `tp:(1)2` and `tp:(2)2`.
    For each part, every op has a strategy: some factor of its sharding rule takes the part, a partial sum passes, or the part
    is not used. The cheapest strategies of all ops are found by variable elimination (Dechter 1999), in wide
    graphs after lower bounds (TRW-S, Kolmogorov 2006) have excluded most of them. Costs are received
    bytes, then calls, then memory; with a cluster file (`dist.cluster`), modelled seconds come first. The role of an axis
    restricts its use: `dp` splits the batch, `cp` the sequence or heads, `tp` anything but the batch. Parts of `dp` and `cp`
    split experts (`dist.experts`). Axes with other names are unrestricted.

    When training, sums over microbatches become partial over `mb` and end in a `graph.accumulate`, whose attribute `sums`
    this pass sets. With `graph.reproducible` sums over the batch are rewritten to binary trees first. The reductions over the
    batch that depend on inputs alone are separated so that they see the whole batch.

    The pass fails if a seed or the role of an axis cannot be met. The result is deterministic.
    [example: test/passes/4-shard/decide-shardings.mlir @megatron_mlp]
  }];
  let statistics = [Statistic<"numAxes", "axes", "parts of mesh axes assigned">,
                    Statistic<"numSplit", "split", "ops that some axis splits">];
  let dependentDialects = ["::pcc::dist::DistDialect"];
}

def ExpandSplitOps : Pass<"expand-split-ops", "::mlir::func::FuncOp"> {
  let summary = "replaces ops that split their own dim by ordinary ops";
  let description = [{
    - In: ops of which some axis splits an Inner factor of their rule (the dim of a softmax, norm, scan, arg-reduce or top-k),
      or attention in a ring or in stripes.
    - Out: ordinary ops that compute the same from partial statistics or from the candidates of each part, with shardings that
      follow from their operands. Only the inner values of the rule are resharded.

    ```
    %y = graph.softmax %x over 1                   [-, 64@t:4]
                                           becomes
    %m = graph.reduce max %x over [1] keep         [-, -] partial max(t:4)
    %d = graph.sub %x, %m                          [-, 64@t:4]
    ...
    ```

    After this pass no Inner factor has axes, so later phases need no expansion of their own.
    [example: test/passes/4-shard/expand-split-ops.mlir @softmax]
  }];
  let statistics = [Statistic<"numExpanded", "expanded", "ops expanded">];
  let dependentDialects = ["::pcc::dist::DistDialect", "::pcc::graph::GraphDialect"];
}

def InsertReshards : Pass<"insert-reshards", "::mlir::func::FuncOp"> {
  let summary = "inserts a reshard for every use that needs another sharding";
  let description = [{
    - In: ops with `dist.split`, from which the sharding that each op needs of its operands follows.
    - Out: a `dist.reshard` in front of the first use, wherever that sharding differs from the one that the producer gives.
      Uses that need the same sharding on one stage share a reshard.

    A reshard may start from the result of another reshard, or from a sharding that several needed ones are slices of; the
    cheapest order is taken. Each reshard carries in its location the ops that it is made for.
    [example: test/passes/4-shard/insert-reshards.mlir @one_reshard_for_two_uses]
  }];
  let statistics = [Statistic<"numReshards", "reshards", "reshards inserted">];
  let dependentDialects = ["::pcc::dist::DistDialect"];
}

def ErasePins : Pass<"erase-pins", "::mlir::func::FuncOp"> {
  let summary = "removes the pins of annotations";
  let description = [{
    - In: `dist.pin` ops whose operand has the requested sharding, which `insert-reshards` guarantees.
    - Out: users of a pin read its operand.

    The pass fails if a pin and its operand have different shardings.
    [example: test/passes/4-shard/erase-pins.mlir @pinned_between]
  }];
  let statistics = [Statistic<"numPins", "pins", "pins removed">];
}

def VerifySharded : Pass<"verify-sharded", "::mlir::func::FuncOp"> {
  let summary = "checks that every value has a sharding that its op and its uses allow";
  let description = [{
    Gate of `4-shard`. The pass changes nothing and checks that

    - every value has a sharding that fits the mesh and its shape;
    - every op has a `dist.split` that fits its sharding rule;
    - operands and results have the shardings that rule and split imply, so that a partial value reaches only ops that let it
      pass;
    - no Inner factor is split, and no pin is left;
    - no result of the function is partial;
    - each copy of a parameter that is read is also updated, and no two stages compute different values for a parameter.

    A failure is a defect of pcc; the exit code is 1.
    [example: test/passes/4-shard/verify-sharded.mlir @consistent]
  }];
  let statistics = [Statistic<"numValues", "values", "values checked">];
}
