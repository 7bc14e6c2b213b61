//===- Reductions.td - reductions, norms, scans and pools ----*- tablegen -*-===//

def Graph_ReduceKind : I32EnumAttr<"ReduceKind", "how elements are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Mean", 1, "mean">, I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"Prod", 4, "prod">]> {
  let cppNamespace = "::pcc::graph";
}

def Graph_ReduceOp : Graph_InferOp<"reduce", [
    DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>, Graph_Differentiable]> {
  let summary = "combines the elements of some dims";
  let description = [{
    `dims` are sorted. With `keep` reduced dims stay with size 1. `divisor` of a mean is the number of elements that it
    divides by when that is not what the operand's shape says: `5-localize` sets it to the logical count.
    [example: test/dialects/graph/reductions.mlir @reduce]
  }];
  let arguments = (ins Graph_ReduceKind:$kind, Graph_Tensor:$input, DenseI64ArrayAttr:$dims, UnitAttr:$keep,
                       OptionalAttr<I64Attr>:$divisor);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $input `over` $dims (`keep` $keep^)? (`divisor` $divisor^)? attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Graph_ArgReduceOp : Graph_InferOp<"arg_reduce"> {
  let summary = "the index (i64) of the largest or smallest element along a dim; the first one, with `last` the last";
  let description = [{[example: test/dialects/graph/reductions.mlir @arg_reduce]}];
  let arguments = (ins Graph_ReduceKind:$kind, Graph_Tensor:$input, I64Attr:$dim, UnitAttr:$keep, UnitAttr:$last);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $input `over` $dim (`keep` $keep^)? (`last` $last^)? attr-dict `:` type($input)";
  let hasVerifier = 1;
}

class Graph_SoftmaxLikeOp<string mnemonic, string what> : Graph_Op<mnemonic, [SameOperandsAndResultType,
    DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>, Graph_Differentiable]> {
  let summary = what;
  let description = [{The maximum is subtracted first. [example: test/dialects/graph/reductions.mlir @softmax]}];
  let arguments = (ins Graph_Tensor:$input, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `over` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Graph_SoftmaxOp : Graph_SoftmaxLikeOp<"softmax", "exp(x) over its sum along a dim">;
def Graph_LogSoftmaxOp : Graph_SoftmaxLikeOp<"log_softmax", "the logarithm of softmax along a dim">;

class Graph_NormOp<string mnemonic> : Graph_InferOp<mnemonic, [
    DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>, Graph_Differentiable]> {
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}

def Graph_LayerNormOp : Graph_NormOp<"layer_norm"> {
  let summary = "(x − mean) / sqrt(variance + epsilon) over the dims from `dim` on, times scale, plus bias";
  let description = [{
    Scale and bias have the shape of the normalised dims. Statistics are computed in f32 for narrower types.
    [example: test/dialects/graph/reductions.mlir @layer_norm]
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$scale, Optional<Graph_Tensor>:$bias, I64Attr:$dim, F64Attr:$epsilon);
  let assemblyFormat = "$input `,` $scale (`,` $bias^)? `from` $dim `epsilon` $epsilon attr-dict `:` type($input) `,` type($scale) (`,` type($bias)^)?";
}

def Graph_RmsNormOp : Graph_NormOp<"rms_norm"> {
  let summary = "x / sqrt(mean(x²) + epsilon) over the dims from `dim` on, times scale";
  let description = [{Statistics are computed in f32 for narrower types. [example: test/dialects/graph/reductions.mlir @rms_norm]}];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$scale, I64Attr:$dim, F64Attr:$epsilon);
  let assemblyFormat = "$input `,` $scale `from` $dim `epsilon` $epsilon attr-dict `:` type($input) `,` type($scale)";
}

def Graph_CumSumOp : Graph_Op<"cumsum", [SameOperandsAndResultType, Graph_Differentiable]> {
  let summary = "running sums along a dim";
  let description = [{[example: test/dialects/graph/reductions.mlir @cumsum]}];
  let arguments = (ins Graph_Tensor:$input, I64Attr:$dim, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `along` $dim (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_TopKOp : Graph_InferOp<"topk", [Graph_Differentiable]> {
  let summary = "the k largest or smallest elements along a dim, sorted, and their indices (i64)";
  let description = [{Equal elements: the lower index first. [example: test/dialects/graph/reductions.mlir @topk]}];
  let arguments = (ins Graph_Tensor:$input, I64Attr:$k, I64Attr:$dim, DefaultValuedAttr<BoolAttr, "true">:$largest);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
  let assemblyFormat = "$input `,` $k `along` $dim attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Graph_PoolKind : I32EnumAttr<"PoolKind", "what a pool computes", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Average", 1, "average">,
    I32EnumAttrCase<"AverageWithPadding", 2, "average_with_padding">]> {
  let cppNamespace = "::pcc::graph";
}

def Graph_PoolOp : Graph_InferOp<"pool", [Graph_Differentiable]> {
  let summary = "maximum or average of windows over the spatial dims of N,C,spatial…";
  let description = [{
    `pads` lists low then high padding per spatial dim. `average` divides by the elements inside the input,
    `average_with_padding` by the elements of the window within the padded input. The high pads already hold what
    ONNX's ceil_mode adds: `overhang` says per spatial dim how much of the high pad that is (never counted).
    [example: test/dialects/graph/reductions.mlir @pool]
  }];
  let arguments = (ins Graph_PoolKind:$kind, Graph_Tensor:$input, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$overhang);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $input attr-dict `:` type($input)";
  let hasVerifier = 1;
}
