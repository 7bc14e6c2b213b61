//===- Layout.td - ops that only move elements ---------------*- tablegen -*-===//

def Graph_TransposeOp : Graph_InferOp<"transpose", [Graph_Differentiable]> {
  let summary = "dim i of the result is dim perm[i] of the input";
  let description = [{[example: test/dialects/graph/layout.mlir @transpose]}];
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$perm);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input $perm attr-dict `:` type($input)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_ReshapeOp : Graph_Op<"reshape", [Graph_Differentiable]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{[example: test/dialects/graph/layout.mlir @reshape]}];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_BroadcastOp : Graph_Op<"broadcast", [Graph_Differentiable]> {
  let summary = "repeats dims of size 1 and adds leading dims, as NumPy's broadcast_to";
  let description = [{[example: test/dialects/graph/layout.mlir @broadcast]}];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_SliceOp : Graph_InferOp<"slice", [Graph_Differentiable]> {
  let summary = "element i of a dim of the result is element start + i·step of the input's";
  let description = [{
    One entry per dim in `starts`, `sizes`, `steps`; a step may be negative. ONNX's Split becomes one slice per part.
    [example: test/dialects/graph/layout.mlir @slice]
  }];
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$steps);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `starts` $starts `sizes` $sizes `steps` $steps attr-dict `:` type($input)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_ConcatOp : Graph_InferOp<"concat", [Graph_Differentiable]> {
  let summary = "joins tensors along a dim";
  let description = [{[example: test/dialects/graph/layout.mlir @concat]}];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$inputs `along` $dim attr-dict `:` type($inputs)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_PadMode : I32EnumAttr<"PadMode", "what padding holds", [
    I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Edge", 1, "edge">,
    I32EnumAttrCase<"Reflect", 2, "reflect">, I32EnumAttrCase<"Wrap", 3, "wrap">]> {
  let cppNamespace = "::pcc::graph";
}

def Graph_PadOp : Graph_InferOp<"pad", [Graph_Differentiable]> {
  let summary = "adds elements before (`low`) and after (`high`) each dim; negative counts cut";
  let description = [{
    `value` (a scalar tensor) fills in mode `constant`. [example: test/dialects/graph/layout.mlir @pad]
  }];
  let arguments = (ins Graph_PadMode:$mode, Graph_Tensor:$input, Optional<Graph_Tensor>:$value, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$mode $input (`with` $value^ `:` type($value) `,`)? `low` $low `high` $high attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Graph_RotaryOp : Graph_InferOp<"rotary", [Graph_Differentiable]> {
  let summary = "rotary position embedding of the last dim";
  let description = [{
    `x·cos + rotate(x)·sin`, where rotate swaps the halves of the last dim and negates the new first one, or with
    `interleaved` does so for even and odd elements. `cos` and `sin` broadcast to x. Recognised in `2-prepare`.
    [example: test/dialects/graph/layout.mlir @rotary]
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$cos, Graph_Tensor:$sin, UnitAttr:$interleaved);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `,` $cos `,` $sin (`interleaved` $interleaved^)? attr-dict `:` type($input) `,` type($cos) `,` type($sin)";
  let hasVerifier = 1;
}

def Graph_ResizeMode : I32EnumAttr<"ResizeMode", "how elements between samples are made", [
    I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"Linear", 1, "linear">, I32EnumAttrCase<"Cubic", 2, "cubic">]> {
  let cppNamespace = "::pcc::graph";
}

def Graph_ResizeOp : Graph_Op<"resize", [Graph_Differentiable]> {
  let summary = "samples a tensor at another resolution";
  let description = [{
    The words of ONNX's Resize: `coordinates` is half_pixel, asymmetric, align_corners, pytorch_half_pixel or
    half_pixel_symmetric; `rounding` round_prefer_floor, round_prefer_ceil, floor or ceil. `scales` per dim.
    [example: test/dialects/graph/layout.mlir @resize]
  }];
  let arguments = (ins Graph_ResizeMode:$mode, Graph_Tensor:$input, DenseF64ArrayAttr:$scales, StrAttr:$coordinates,
                       StrAttr:$rounding, DefaultValuedAttr<F64Attr, "-0.75">:$cubic, UnitAttr:$exclude_outside);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$mode $input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}
