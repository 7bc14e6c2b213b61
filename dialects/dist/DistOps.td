//===- DistOps.td - reshards and collectives -----------------*- tablegen -*-===//

#ifndef PCC_DIALECTS_DIST_DISTOPS
#define PCC_DIALECTS_DIST_DISTOPS

include "dialects/dist/DistDialect.td"

def Dist_Tensor : StaticShapeTensorOf<[AnyType]>;

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, !listconcat(traits, [Pure])>;

def Dist_ReshardOp : Dist_Op<"reshard"> {
  let summary = "gives a tensor another sharding";
  let description = [{
    Born in `4-shard` where a use needs another sharding than its producer gives; gone after `5-localize`, which replaces
    it by the cheapest sequence of collectives. Types are global and equal; between `localize-shapes` and
    `reshard-to-collectives` they are local, and `shape` is the global one.
    [example: test/passes/5-localize/reshard-to-collectives.mlir @gather_one_axis]
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_ShardingAttr:$from, Dist_ShardingAttr:$to,
                       OptionalAttr<DenseI64ArrayAttr>:$shape);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$input `from` $from `to` $to (`shape` $shape^)? attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}

def Dist_PinOp : Dist_Op<"pin", [SameOperandsAndResultType]> {
  let summary = "asks for a sharding where a value is handed on";
  let description = [{
    What reads the result gets the value, called `value` in the model, in this sharding; how the operand is made stays open, so it may well be a partial sum
    that is reduced on the way. Born in `1-import` from the multi-device annotations of nodes, gone after `4-shard`, which
    leaves a reshard where one is needed. Nothing is simplified across it.
    [example: test/passes/4-shard/erase-pins.mlir @pinned_between]
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_ShardingAttr:$to, StrAttr:$value);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$input `to` $to `value` $value attr-dict `:` type($result)";
}

def Dist_CollectiveKind : I32EnumAttr<"CollectiveKind", "how a sharding becomes another", [
    I32EnumAttrCase<"Slice", 0, "slice">, I32EnumAttrCase<"AllGather", 1, "all_gather">,
    I32EnumAttrCase<"AllToAll", 2, "all_to_all">, I32EnumAttrCase<"Permute", 3, "permute">,
    I32EnumAttrCase<"Exchange", 4, "exchange">, I32EnumAttrCase<"AllReduce", 5, "all_reduce">,
    I32EnumAttrCase<"ReduceScatter", 6, "reduce_scatter">, I32EnumAttrCase<"Mask", 7, "mask">]> {
  let cppNamespace = "::pcc::dist";
}

def Dist_CollectiveOp : Dist_Op<"collective"> {
  let summary = "one step that moves or reduces the shards of a tensor";
  let description = [{
    Born in `5-localize`, lives until `7-emit`. `shape` is the global shape; operand and result have the local shapes of `from`
    and `to`, which the verifier recomputes. A `slice` keeps a part of what a rank holds and a `mask` makes a
    replicated value partial; both are local. All others communicate among the ranks that differ along the axes in
    which `from` and `to` differ.
    [example: test/passes/5-localize/reshard-to-collectives.mlir @partial_sum_needs_all_reduce]

    An all_gather, and a reduce_scatter of a sum, may have `rows`, two masks that the run computes: then only rows that count travel. A
    row is what all dims but the first few hold, which `from` and `to` divide alike. One side is divided over the group, the other one
    is whole. The first mask has the first dims of the divided side and one for the members of the group: whether a row counts for that
    member. The second has the first dims of the whole side: whether a row counts for this rank. They say the same of the same row and
    rank. What an all_gather makes of other rows is undefined; a reduce_scatter takes them as 0. `received_bytes` is the most that
    a rank can receive. [example: test/passes/5-localize/exchange-rows.mlir @experts_take_their_tokens]
  }];
  let arguments = (ins Dist_CollectiveKind:$kind, Dist_Tensor:$input, Dist_ShardingAttr:$from, Dist_ShardingAttr:$to,
                       DenseI64ArrayAttr:$shape, I64Attr:$received_bytes, StrAttr:$value, Variadic<Dist_Tensor>:$rows);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = [{
    $kind $input (`rows` `(` $rows^ `:` type($rows) `)`)? `from` $from `to` $to `shape` $shape `received` $received_bytes `value` $value
    attr-dict `:` type($input) `to` type($result)
  }];
  let hasVerifier = 1;
}

def Dist_GlobalIndexOp : Dist_Op<"global_index"> {
  let summary = "the global index of each local element of a dim";
  let description = [{
    For a dim of `size` elements that lies as `sharding` says (one dim); the result has its local length. Elements of
    padding get an index of at least `size`. Born in `5-localize` for masks and offsets, lives until `7-emit`.
    [example: test/passes/5-localize/localize-shapes.mlir @iota_gets_an_offset]
  }];
  let arguments = (ins Dist_ShardingAttr:$sharding, I64Attr:$size);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$sharding `of` $size attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif
