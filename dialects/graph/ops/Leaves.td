//===- Leaves.td - weights, constants and indices ------------*- tablegen -*-===//

def Graph_ParameterOp : Op<Graph_Dialect, "parameter", [Symbol]> {
  let summary = "declares a weight of the model";
  let description = [{
    Born in `1-import`, one per initializer, with the initializer's name; becomes an entry of a rank's program in
    `7-emit`. `type` is the logical tensor after the weight's transforms. A parameter without `weight` is generated at run
    time (`--random-weights`). `buffer` marks what the exporter calls a buffer: it is never trained.
    [example: test/dialects/graph/leaves.mlir @a_weight_is_a_reference]
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Graph_Tensor>:$type, OptionalAttr<Graph_WeightAttr>:$weight,
                       UnitAttr:$buffer);
  let assemblyFormat = "$sym_name `:` $type (`=` $weight^)? (`buffer` $buffer^)? attr-dict";
  let hasVerifier = 1;
}

def Graph_GetParameterOp : Graph_Op<"get_parameter", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "reads a weight";
  let description = [{
    Born in `1-import`; its type becomes the rank's shard in `5-localize`.
    [example: test/dialects/graph/leaves.mlir @a_weight_is_a_reference]
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$parameter attr-dict `:` type($result)";
}

def Graph_ConstantOp : Graph_Op<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a small tensor known at compile time";
  let description = [{
    Born in `1-import` or by folding; its bytes are part of the program. Never a weight.
    [example: test/dialects/graph/leaves.mlir @a_constant]
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Graph_IotaOp : Graph_Op<"iota"> {
  let summary = "the index along one dim";
  let description = [{
    `result[i0, …] = i_dim`. Born in `1-import` (Range, Trilu) and `2-prepare`. When `dim` is split, `5-localize` uses
    `dist.global_index` instead. [example: test/dialects/graph/leaves.mlir @an_index]
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}
