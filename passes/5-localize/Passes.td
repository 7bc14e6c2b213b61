//===- Passes.td - passes of phase 5-localize --------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def InsertIndexChecks : Pass<"insert-index-checks", "::mlir::func::FuncOp"> {
  let summary = "checks indices before the ops that read them";
  let description = [{
    - In: a function of global shapes in which every value has a sharding.
    - Out: a `graph.check_indices` before each op with indices for which the ONNX specification makes indices out of range an
      error: gathers, scatters, and the reads of losses by labels. Indices are left unchecked if they are in range for certain,
      as positions, results of topk and arithmetic on them may be, or if an earlier op has checked the same ones.

    The pass runs before `localize-shapes`, which makes indices relative to the part that a rank holds.
    [example: test/passes/5-localize/insert-index-checks.mlir @ids_of_an_embedding]
  }];
  let statistics = [Statistic<"numChecks", "checks", "tensors of indices that are checked">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def LocalizeShapes : Pass<"localize-shapes", "::mlir::func::FuncOp"> {
  let summary = "replaces global shapes by the shapes that one rank holds";
  let description = [{
    - In: a function of global shapes in which every value has a sharding.
    - Out: the same ops on local shapes, with the global types of arguments and results in `dist.global` and the global shape
      of each reshard in `shape`. `dist.split`, `dist.through` and `dist.windows` are removed, since they refer to global
      shapes.

    The function is walked in program order: values above the current op are local, values below it are global. Most ops
    change their types only. Ops whose attributes depend on sizes or on the position of the rank are rewritten:

    - an iota, a one_hot, a split causal attention and a split gather or scatter get a `dist.global_index`;
    - slices, pads, concats, convolutions and pools lose the part that a windowed read (halo) has done already;
    - a mean keeps the global number of elements in `divisor`, and a split constant gets a slice;
    - a `graph.set_parameter` records the written copy in `dist.placement`;
    - the padding of an uneven dim that is reduced is masked by the neutral element of the reduction.

    `reshard-to-collectives` must run next, since that pass needs the recorded global shapes.
    [example: test/passes/5-localize/localize-shapes.mlir @iota_gets_an_offset]
  }];
  let statistics = [Statistic<"numLocal", "local", "values with another shape than the global one">,
                    Statistic<"numMasks", "masks", "operands whose padding is masked">];
  let dependentDialects = ["::pcc::dist::DistDialect", "::pcc::graph::GraphDialect"];
}

def ReshardToCollectives : Pass<"reshard-to-collectives", "::mlir::func::FuncOp"> {
  let summary = "replaces each reshard by the cheapest sequence of collectives";
  let description = [{
    - In: `dist.reshard` ops with `shape`, which `localize-shapes` has set.
    - Out: the `dist.collective` ops that the planner of `4-shard` chose for the same shardings, prices (`dist.cluster`,
      `dist.target`) and mesh. The result of a reshard keeps its sharding and its name.

    ```
    dist.reshard %x from [8@tp:2, -] to [-, -]     becomes     dist.collective all_gather %x ...
    ```

    The pass fails if the planner finds no sequence.
    [example: test/passes/5-localize/reshard-to-collectives.mlir @partial_sum_needs_all_reduce]
  }];
  let statistics = [Statistic<"numCollectives", "collectives", "collectives that communicate">,
                    Statistic<"receivedBytes", "bytes", "bytes that a rank receives per microbatch">];
  let dependentDialects = ["::pcc::dist::DistDialect"];
}

def GroupExperts : Pass<"group-experts", "::mlir::func::FuncOp"> {
  let summary = "computes each expert on the tokens that chose it, instead of on all tokens";
  let description = [{
    - In: an einsum with the attribute `graph.chosen`, which sums the outputs of experts with gates.
    - Out: `graph.group_rows`, products of those rows by `graph.grouped_matmul`, and a scatter that adds the rows to their
      tokens (dropless experts; MegaBlocks, Gale et al. 2023).

    The ops above the sum run on rows as well, as far as they do not mix rows; at least one of them must multiply tokens by
    matrices of experts. No row is dropped: how many an expert has is known at run time only, so the dim of rows is bounded
    (tokens · min(chosen, experts)).

    ```
    gate [T, E], outputs [E, T, H]     becomes     rows [T · k, H], which grouped_matmul makes
    einsum "te,eth->th"                            scatter_nd add %zeros, %token, %rows
    ```

    The pass runs on local shapes: rows are those of the rank's tokens and experts.
    [example: test/passes/5-localize/group-experts.mlir @two_of_eight]
  }];
  let statistics = [Statistic<"numGrouped", "grouped", "sums over experts computed by rows">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def ExchangeRows : Pass<"exchange-rows", "::mlir::func::FuncOp"> {
  let summary = "sends tokens only to the ranks whose experts they chose";
  let description = [{
    - In: an all_gather that dispatches the tokens of a `graph.group_rows`, and the reduce_scatter that combines its results.
    - Out: the same collectives with the masks `rows`, so that only the rows that count travel, and the all-to-all that
      exchanges the masks, one byte per token and rank.

    The reduce_scatter must be a sum that starts from zeros, and the result of the all_gather must be read only to gather
    these rows. The collectives stay as they are if masks would save no bytes in the reduce_scatter.

    The pass does nothing for the target `cuda`: the sizes of the messages are known on the device only, and the host of a GPU
    has queued the step before.
    [example: test/passes/5-localize/exchange-rows.mlir @experts_take_their_tokens]
  }];
  let statistics = [Statistic<"numExchanges", "exchanges", "collectives that move only the rows that count">];
  let dependentDialects = ["::pcc::dist::DistDialect", "::pcc::graph::GraphDialect"];
}

def VerifyLocal : Pass<"verify-local", "::mlir::func::FuncOp"> {
  let summary = "checks that no reshard is left and that every partial value is reduced once";
  let description = [{
    Gate of `5-localize`. The pass changes nothing and checks that

    - no `dist.reshard` is left, every value has the shape of its shard, and every value that is written to a weight has a
      sharding;
    - operands and results of an op are split alike along each of its loop dims, apart from groups of convolutions;
    - every partial value is reduced exactly once, by a collective of its kind, before an op that is not linear in it, and
      starts where an op reduces a split dim;
    - a mean over a split dim divides by the global number of elements.

    A failure is a defect of pcc; the exit code is 1.
    [example: test/passes/5-localize/verify-local.mlir @partial_sums]
  }];
  let statistics = [Statistic<"numOps", "ops", "ops checked">];
}
