//===- Sources.td - weights, constants, indices ------------*- tablegen -*-===//

def Graph_ParameterOp : Op<Graph_Dialect, "parameter", !listconcat(Graph_Declaration.traits, [Symbol])> {
  let summary = "declares a weight, or a state that training keeps between steps";
  let description = [{
    Declares a tensor by a symbol of the module. `graph.get_parameter` reads the tensor, and `graph.set_parameter` writes it
    at the end of a training step. `type` is the global type. If the parameter has a `weight`, the verifier checks that its
    transforms give `type`.

    - `weight`: the place of the stored elements. A parameter with neither `weight` nor `fill` has random elements, which each
      rank generates when it starts (`--random-weights`).
    - `fill`: the number that all elements have before the first step. A parameter with `fill` has no `weight`.
    - `state_of`: the weight that an optimizer keeps this state for; absent if the state belongs to the whole training, such
      as the step counter `pcc.step`.
    - `buffer`: marks what the exporter calls a buffer, such as running statistics. Buffers are not trained by default.
    - `trained`: marks a weight that every training step writes. `differentiate` sets the attribute.

    Sharding: a declaration has none; each `graph.get_parameter` says which part of the parameter a rank holds.

    Gradient: training computes gradients by the `graph.get_parameter` ops of parameters that train.

    Lifespan: created by `1-import`, one per initializer that is a weight, and by `2-prepare` for the states of training. The
    op stays to the end of `7-emit`, which makes the op an entry of the programs of the ranks that read or write it.
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

def Graph_GetParameterOp : Graph_Op<"get_parameter", Graph_Source, [
    Graph_IsStored, Graph_GivesFinite, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "reads a parameter";
  let description = [{
    Returns the elements of the parameter that the symbol `parameter` declares. In a training step these are the elements from
    before the step. The verifier checks that the declaration exists.

    Sharding: every dim may be split, also one of size 1. A rank loads its own shard only.

    Gradient: none, since the op has no operand. Gradients of weights end here.

    Lifespan: created by `1-import` and `2-prepare`. `5-localize` changes its type to the shard of a rank. The op stays to the
    end of `7-emit` and needs no instruction.
    [example: test/dialects/graph/sources.mlir @a_weight_is_a_reference]
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$parameter attr-dict `:` type($result)";
}

def Graph_ConstantOp : Graph_Op<"constant", Graph_Source, [
    Graph_IsStored, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "returns a tensor that is known at compile time";
  let description = [{
    Returns `value`, whose type is that of the result. A weight of the model is a `graph.parameter` instead, so that its bytes
    stay out of the IR.

    Sharding: every dim may be split, also one of size 1. All ranks hold all elements, and `5-localize` adds a slice for the
    part of the rank.

    Gradient: none, since the op has no operand.

    Lifespan: created by `1-import` and by any folding or lowering after that. `7-emit` copies a splat constant into each
    `rank.kernel` that reads it. All other constants stay to the end of `7-emit`, and their bytes become part of the program.
    [example: test/dialects/graph/sources.mlir @a_constant]
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Graph_IotaOp : Graph_Op<"iota", Graph_Source, [Graph_GivesFinite]> {
  let summary = "returns the index along one dim for every element";
  let description = [{
    Computes `result[i0, i1, …] = i_dim`, where `dim` numbers the dims from 0.

    Sharding: every dim may be split, also one of size 1. If `dim` is split, `localize-shapes` replaces the op by
    `dist.global_index`, since each rank needs its offset.

    Gradient: none, since the op has no operand.

    Lifespan: created by `1-import` (Range, Trilu) and later phases; copied into each `rank.kernel` that reads it by `7-emit`.
    [example: test/dialects/graph/sources.mlir @an_index]
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

def Graph_SetParameterOp : Op<Graph_Dialect, "set_parameter", !listconcat(Graph_Update.traits, [
    Graph_OwnShardingRule, DeclareOpInterfaceMethods<SymbolUserOpInterface>])> {
  let summary = "writes a weight or a state at the end of a training step";
  let description = [{
    Makes `value` the elements of the parameter in the next step. All reads of the parameter in the same step return the
    elements from before the step. The verifier checks that the parameter is declared, and that it is `trained` or has a
    `fill`.

    Sharding: every dim of `value` may be split, also one of size 1. `value` has the sharding in which the ranks of the stage
    store the parameter. No partial sum may be written.

    Gradient: none, since the op has no result.

    Lifespan: created by `1-import` for updates that an ONNX model brings along (TrainingInfo), otherwise by `apply-optimizer`
    of `2-prepare`. `3-place` clones the op for every stage that reads the parameter. `7-emit` makes the op a copy, or nothing
    if the producer of `value` writes into the parameter.
    [example: test/dialects/graph/sources.mlir @a_step_of_training]
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, Graph_Tensor:$value);
  let assemblyFormat = "$parameter `,` $value attr-dict `:` type($value)";
}

def Graph_LossGradientOp : Graph_Op<"loss_gradient", Graph_Source, [Graph_GivesFinite]> {
  let summary = "returns the gradient of the loss with respect to itself, which is 1";
  let description = [{
    Starts the backward pass: every op that depends on the result belongs to the backward pass. The op is never folded, so
    that this border stays visible. In `2-prepare`, an op with the attribute `graph.gradient_of` is a placeholder for the
    gradient of the named weight.

    Sharding: every dim may be split, also one of size 1.

    Gradient: none, since the op has no operand.

    Lifespan: created by `differentiate` of `2-prepare`, and by `1-import` as a placeholder, which `apply-optimizer` removes.
    `form-library-calls` of `7-emit` replaces the op by a constant.
    [example: test/dialects/graph/sources.mlir @a_step_of_training]
  }];
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Graph_AccumulateOp : Graph_Op<"accumulate", Graph_Update, [Graph_KeepsFinite, SameOperandsAndResultType]> {
  let summary = "turns a value of each microbatch into the value of the whole step";
  let description = [{
    Returns its operand as a value of the step. Every op that depends on the result belongs to the update, which runs once per
    step after all microbatches.

    - `sums`: the microbatches hold partial sums of the value, which are added up. `decide-shardings` sets the attribute.
      Without the attribute, all microbatches give the same value.

    Sharding: every dim may be split, also one of size 1. Partial sums over ranks pass; partial sums over the microbatch axis
    `mb` end here.

    Gradient: refused, since the op is created behind the backward pass.

    Lifespan: created by `apply-optimizer` of `2-prepare`, and by `1-import` for an ONNX TrainingInfo. `split-actions` of
    `6-schedule` replaces the op: with `sums` by an addition to the sum of the microbatches before, otherwise by its operand.
    [example: test/dialects/graph/sources.mlir @a_step_of_training]
  }];
  let arguments = (ins Graph_Tensor:$input, UnitAttr:$sums);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input (`sums` $sums^)? attr-dict `:` type($result)";
}
