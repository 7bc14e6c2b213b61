//===- DistOps.td - ops: reshards and collectives ----------*- tablegen -*-===//

#ifndef PCC_DIALECTS_DIST_DISTOPS
#define PCC_DIALECTS_DIST_DISTOPS

include "dialects/dist/DistDialect.td"

def Dist_Tensor : StaticShapeTensorOf<[AnyType]>;

/// Base class of the ops of the dialect, none of which has side effects in MLIR's sense.
class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, !listconcat(traits, [Pure])>;

def Dist_ReshardOp : Dist_Op<"reshard"> {
  let summary = "changes the sharding of a tensor";
  let description = [{
    Returns the logical tensor of the operand in the sharding `to`; the operand has the sharding `from`. Before
    `localize-shapes`, operand and result have the same global type. Afterwards both have local types, and the verifier
    recomputes these from `shape` and the two shardings.

    - `from`, `to`: the shardings before and after.
    - `shape`: the global shape. `localize-shapes` sets the attribute, which is absent before.

    Lifespan: created by `4-shard` where a use needs another sharding than the producer gives; removed by
    `reshard-to-collectives` of `5-localize`, which replaces the op by the cheapest sequence of collectives.
    [example: test/passes/5-localize/reshard-to-collectives.mlir @gather_one_axis]
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_ShardingAttr:$from, Dist_ShardingAttr:$to,
                       OptionalAttr<DenseI64ArrayAttr>:$shape);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$input `from` $from `to` $to (`shape` $shape^)? attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}

def Dist_PinOp : Dist_Op<"pin", [SameOperandsAndResultType]> {
  let summary = "requests a sharding of a value for all readers of the result";
  let description = [{
    Readers of the result get the value in the sharding `to`. The producer of the operand may still give another sharding,
    such as a partial sum that is then reduced in between. No pass simplifies across the op. Operand and result have the same
    type.

    - `to`: the requested sharding.
    - `value`: the name of the value in the model.

    Lifespan: created by `1-import` for the multi-device annotations of nodes; removed by `erase-pins` of `4-shard`. A
    `dist.reshard` remains where one is needed.
    [example: test/passes/4-shard/erase-pins.mlir @pinned_between]
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_ShardingAttr:$to, StrAttr:$value);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$input `to` $to `value` $value attr-dict `:` type($result)";
}

// Holds the enumeration of sharding/CollectiveKind.h, which is the only list of the kinds.
def Dist_CollectiveKind : Attr<CPred<"::llvm::isa<::pcc::dist::CollectiveKindAttr>($_self)">, "kind of a collective"> {
  let storageType = "::pcc::dist::CollectiveKindAttr";
  let returnType = "::pcc::dist::CollectiveKind";
  let constBuilderCall = "::pcc::dist::CollectiveKindAttr::get($_builder.getContext(), $0)";
  let description = [{
    Movement or reduction of the shards of a tensor:

    - `slice` (`Slice`): every rank keeps a part of its shard; local.
    - `all_gather` (`AllGather`): every rank of a group gets the shards of all ranks of the group.
    - `all_to_all` (`AllToAll`): every rank sends an equal, disjoint part of its shard to every other rank of the group.
    - `permute` (`Permute`): every rank gets the whole shard of one rank.
    - `exchange` (`Exchange`): pairs of ranks send each other the elements that are missing.
    - `all_reduce` (`AllReduce`): partial values are reduced, and every rank of the group gets the result.
    - `reduce_scatter` (`ReduceScatter`): partial values are reduced, and every rank of the group gets a part of the result.
    - `mask` (`Mask`): makes a replicated value partial; the first rank keeps it, and all others get the neutral element of
      the reduction; local.
  }];
}

def Dist_CollectiveOp : Dist_Op<"collective"> {
  let summary = "moves or reduces the shards of a tensor among ranks";
  let description = [{
    Takes a tensor of global shape `shape` from the sharding `from` to the sharding `to`. Operand and result have the local
    shapes of these shardings, which the verifier recomputes. All kinds but `slice` and `mask` communicate, among the ranks
    that differ along the axes in which `from` and `to` differ.

    - `kind`: the movement or reduction; a reduction needs a partial operand.
    - `from`, `to`, `shape`: the shardings before and after, and the global shape.
    - `received_bytes`: the most bytes that a rank receives in one execution; 0 for local kinds. `explain` and the cost model
      read this number.
    - `value`: the name of the tensor in reports.

    Lifespan: created by `5-localize`. The op stays to the end of `7-emit`, where it becomes one instruction of the program,
    or two that let computation run in between.
    [example: test/passes/5-localize/reshard-to-collectives.mlir @partial_sum_needs_all_reduce]

    An all_gather, or a reduce_scatter of a sum, may have two operands `rows`, which are boolean masks that the run computes.
    Then only the rows that count travel. A row is all that the dims behind the first n dims hold; n is the rank of the second
    mask, and `from` and `to` divide a row alike. One side of the collective is divided over the group, and the other side is
    whole. The first mask has the first n dims of the divided side and a last dim for the members of the group: it says
    whether a row counts for a member. The second mask has the first n dims of the whole side: it says whether a row counts
    for this rank. Both masks agree about a row and a rank. Rows that do not count are undefined in the result of an
    all_gather, and count as 0 in a reduce_scatter.
    [example: test/passes/5-localize/exchange-rows.mlir @experts_take_their_tokens]
  }];
  let arguments = (ins Dist_CollectiveKind:$kind, Dist_Tensor:$input, Dist_ShardingAttr:$from, Dist_ShardingAttr:$to,
                       DenseI64ArrayAttr:$shape, I64Attr:$received_bytes, StrAttr:$value, Variadic<Dist_Tensor>:$rows);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = [{
    custom<CollectiveKind>($kind) $input (`rows` `(` $rows^ `:` type($rows) `)`)? `from` $from `to` $to `shape` $shape `received` $received_bytes `value` $value
    attr-dict `:` type($input) `to` type($result)
  }];
  let hasVerifier = 1;
}

def Dist_GlobalIndexOp : Dist_Op<"global_index"> {
  let summary = "returns the global index of each local element of a dim";
  let description = [{
    The result is a list of i64 with the local length of a dim of `size` elements. Elements that are padding get an index of
    at least `size`.

    - `sharding`: the sharding of the dim, which has one dim.
    - `size`: the number of elements of the dim.

    Lifespan: created by `5-localize` for masks and offsets; copied into each `rank.kernel` that reads it by `7-emit`.
    [example: test/passes/5-localize/localize-shapes.mlir @iota_gets_an_offset]
  }];
  let arguments = (ins Dist_ShardingAttr:$sharding, I64Attr:$size);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$sharding `of` $size attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif
