//===- Leaves.td - weights, constants and indices ------------*- tablegen -*-===//

def Graph_ParameterOp : Op<Graph_Dialect, "parameter", [Symbol]> {
  let summary = "declares a weight of the model";
  let description = [{
    Born in `1-import`, one per initializer, with the initializer's name; becomes an entry of a rank's program in
    `7-emit`. `type` is the logical tensor after the weight's transforms. A parameter without `weight` is generated at run
    time (`--random-weights`). `buffer` marks what the exporter calls a buffer: it is never trained.
    A weight that is `trained` is written by a `graph.set_parameter` in every step. What an optimizer keeps between steps is
    a parameter as well, which begins with `fill` everywhere; `state_of` says of which weight, and nothing if it is the
    state of the whole training (its step).
    [example: test/dialects/graph/sources.mlir @a_weight_is_a_reference]
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Graph_Tensor>:$type, OptionalAttr<Graph_WeightAttr>:$weight,
                       UnitAttr:$buffer, UnitAttr:$trained, OptionalAttr<F64Attr>:$fill,
                       OptionalAttr<FlatSymbolRefAttr>:$state_of);
  let assemblyFormat = [{
    $sym_name `:` $type (`=` $weight^)? (`fill` $fill^)? (`of` $state_of^)? (`buffer` $buffer^)? (`trained` $trained^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::mlir::StringAttr":$name, "::mlir::RankedTensorType":$type, CArg<"::pcc::graph::WeightAttr", "{}">:$weight), [{
    build($_builder, $_state, name, ::mlir::TypeAttr::get(type), weight, ::mlir::UnitAttr(), ::mlir::UnitAttr(),
          ::mlir::FloatAttr(), ::mlir::FlatSymbolRefAttr());
  }]>];
  let hasVerifier = 1;
}

def Graph_GetParameterOp : Graph_Op<"get_parameter", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "reads a weight";
  let description = [{
    Born in `1-import`; its type becomes the rank's shard in `5-localize`.
    [example: test/dialects/graph/sources.mlir @a_weight_is_a_reference]
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$parameter attr-dict `:` type($result)";
}

def Graph_ConstantOp : Graph_Op<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a small tensor known at compile time";
  let description = [{
    Born in `1-import` or by folding; its bytes are part of the program. Never a weight.
    [example: test/dialects/graph/sources.mlir @a_constant]
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
    `dist.global_index` instead. [example: test/dialects/graph/sources.mlir @an_index]
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

def Graph_SetParameterOp : Op<Graph_Dialect, "set_parameter", [
    DeclareOpInterfaceMethods<Graph_ShardingRuleInterface>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "writes a weight, or the state of an optimizer, at the end of a step";
  let description = [{
    What reads the parameter in the same step has its value from before. Born in `2-prepare`; lies as the parameter does.
    [example: test/dialects/graph/sources.mlir @a_step_of_training]
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, Graph_Tensor:$value);
  let assemblyFormat = "$parameter `,` $value attr-dict `:` type($value)";
}

def Graph_LossGradientOp : Graph_Op<"loss_gradient"> {
  let summary = "1, the gradient of the loss by itself: where the backward pass begins";
  let description = [{
    What depends on it belongs to the backward pass. Nothing folds it.
    [example: test/dialects/graph/sources.mlir @a_step_of_training]
  }];
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Graph_AccumulateOp : Graph_Op<"accumulate", [SameOperandsAndResultType]> {
  let summary = "the value of the whole step: what depends on it runs once, after all microbatches";
  let description = [{
    The identity of the logical tensor. Where microbatches give partial sums of it (`sums`, set by `4-shard`), they add up;
    else all of them give the same. [example: test/dialects/graph/sources.mlir @a_step_of_training]
  }];
  let arguments = (ins Graph_Tensor:$input, UnitAttr:$sums);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input (`sums` $sums^)? attr-dict `:` type($result)";
}
