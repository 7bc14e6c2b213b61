//===- Layout.td - ops that move elements ------------------*- tablegen -*-===//

def Graph_TransposeOp : Graph_InferOp<"transpose", Graph_Layout, [
    Graph_MovesElements, Graph_IsView, Graph_KeepsElements, Graph_KeepsFinite, Graph_Differentiable]> {
  let summary = "permutes the dims of a tensor";
  let description = [{
    Dim i of the result is dim `perm[i]` of the input. A permutation that changes nothing folds to the operand.

    - `perm`: a permutation of the numbers of the dims, from 0.

    Sharding: every dim may be split. Partial sums pass.

    Gradient: by the operand, by the inverse transpose.

    Lifespan: created by `1-import` and later phases; moved by `7-emit` into a `rank.kernel`, or into a `rank.library_call` if
    the library reads or writes the elements in that order.
    [example: test/dialects/graph/layout.mlir @transpose]
  }];
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$perm);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input $perm attr-dict `:` type($input)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_ReshapeOp : Graph_Op<"reshape", Graph_Layout, [
    Graph_MovesElements, Graph_IsView, Graph_KeepsElements, Graph_KeepsFinite, Graph_Differentiable]> {
  let summary = "changes the shape of a tensor and keeps its elements in row-major order";
  let description = [{
    Operand and result have the same element type and equally many elements. A reshape to the same shape folds to the operand.

    Sharding: both shapes are cut into common factors from the left, and every common factor may be split: [6, 4] and [2, 12]
    have the factors 2, 3 and 4. Dims that have no common factors, such as those of [6, 4] and [4, 6], stay whole. Partial
    sums pass.

    Gradient: by the operand, by the reverse reshape.

    Lifespan: created by `1-import` and later phases. `7-emit` moves the op into a `rank.kernel` or `rank.library_call`
    between other ops. Elsewhere the op stays to the end of `7-emit` and needs no instruction, since operand and result share
    their bytes.
    [example: test/dialects/graph/layout.mlir @reshape]
  }];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_BroadcastOp : Graph_Op<"broadcast", Graph_Layout, [Graph_MovesElements, Graph_KeepsFinite, Graph_Differentiable]> {
  let summary = "repeats dims of size 1 and adds leading dims";
  let description = [{
    Gives the operand the shape of the result as `broadcast_to` of NumPy does: dims are matched from the right, dims of size 1
    are repeated, and missing leading dims are added. A broadcast to the same shape folds to the operand.

    Sharding: every dim of the result may be split; operand dims of size 1 stay whole. Partial sums pass.

    Gradient: by the operand, by a sum over the repeated dims.

    Lifespan: created by `1-import` and later phases; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/layout.mlir @broadcast]
  }];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_SliceOp : Graph_InferOp<"slice", Graph_Layout, [
    Graph_MovesElements, Graph_IsView, Graph_KeepsFinite, Graph_Differentiable]> {
  let summary = "reads a part of a tensor with fixed bounds";
  let description = [{
    Element i of a dim of the result is element `start + i · step` of that dim of the input. The verifier checks that the
    first and the last element of each dim exist. ONNX's Split becomes one slice per part. A slice of all elements folds to
    the operand.

    - `starts`: first element of each dim.
    - `sizes`: number of elements of each dim of the result.
    - `steps`: distance of the elements of each dim; may be negative.

    Sharding: dims that are taken whole may be split. A slice that is one of n equal blocks of a dim may be split within the
    block (fused QKV). All other slices may be split in the result, and each rank reads the elements of its part from other
    ranks. Partial sums pass.

    Gradient: by the operand, by a pad with zeros.

    Lifespan: created by `1-import` and later phases; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/layout.mlir @slice]
  }];
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$steps);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `starts` $starts `sizes` $sizes `steps` $steps attr-dict `:` type($input)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_ConcatOp : Graph_InferOp<"concat", Graph_Layout, [Graph_KeepsFinite, Graph_Differentiable]> {
  let summary = "joins tensors along one dim";
  let description = [{
    The size of dim `dim` of the result is the sum over the operands. All other dims, and the element types, are equal. A
    concat of one operand folds to that operand.

    - `dim`: number of the joined dim, from 0.

    Sharding: all other dims may be split. Dim `dim` may be split too: within each block if all operands have the same size,
    otherwise in the result, where each rank reads the elements of its part from other ranks. Partial sums pass if all
    operands are partial over the same axes.

    Gradient: by all operands, by slices.

    Lifespan: created by `1-import` and later phases; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/layout.mlir @concat]
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$inputs `along` $dim attr-dict `:` type($inputs)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_PadMode : I32EnumAttr<"PadMode", "contents of the added elements of a pad", [
    I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Edge", 1, "edge">,
    I32EnumAttrCase<"Reflect", 2, "reflect">, I32EnumAttrCase<"Wrap", 3, "wrap">]> {
  let description = [{
    Elements that `graph.pad` adds to a dim:

    - `constant` (`Constant`): the operand `value`.
    - `edge` (`Edge`): the first or the last element of the dim.
    - `reflect` (`Reflect`): the dim mirrored at its first and its last element, which are not repeated.
    - `wrap` (`Wrap`): the dim repeated from its other end.
  }];
  let cppNamespace = "::pcc::graph";
}

def Graph_PadOp : Graph_InferOp<"pad", Graph_Window, [Graph_KeepsFinite, Graph_Differentiable]> {
  let summary = "adds elements at both ends of each dim";
  let description = [{
    Adds `low[d]` elements in front of dim d and `high[d]` elements behind it. A negative number removes elements instead,
    down to a dim of 0 elements.

    - `mode`: the contents of added elements; `constant`, `edge`, `reflect` or `wrap`.
    - `low`, `high`: numbers of elements, one per dim.

    `value` is a scalar. The mode `constant` needs it, and no other mode has it.

    Sharding: dims without padding may be split. Padded dims may be split in the result, and each rank reads the elements of
    its part from other ranks; a mode other than `constant` then needs padding shorter than the dim. Partial sums pass unless
    `value` is other than 0.

    Gradient: by the operand, and by `value`.

    Lifespan: created by `1-import` and later phases; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/layout.mlir @pad]
  }];
  let arguments = (ins Graph_PadMode:$mode, Graph_Tensor:$input, Optional<Graph_Tensor>:$value, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$mode $input (`with` $value^ `:` type($value) `,`)? `low` $low `high` $high attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Graph_RotaryOp : Graph_InferOp<"rotary", Graph_Window, [Graph_KeepsFinite, Graph_IsComposite, Graph_Differentiable]> {
  let summary = "applies a rotary position embedding (RoPE) to the last dim";
  let description = [{
    Computes `x · cos + rotate(x) · sin` (Su et al. 2021). The last dim of x is [a, b], and `rotate` makes the op [−b, a]. The
    last dim has an even size. `cos` and `sin` broadcast to x, and all operands hold floats.

    - `interleaved`: the even elements of the last dim are a and the odd ones are b, instead of its two halves.

    Sharding: all dims but the last one may be split; dims of size 1 of `cos` and `sin` stay whole. Partial sums of `input`
    pass.

    Gradient: by all operands.

    Lifespan: created by `1-import` (RotaryEmbedding), or by `recognise-composites` of `2-prepare` from its parts; moved into
    a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/layout.mlir @rotary]
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$cos, Graph_Tensor:$sin, UnitAttr:$interleaved);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `,` $cos `,` $sin (`interleaved` $interleaved^)? attr-dict `:` type($input) `,` type($cos) `,` type($sin)";
  let hasVerifier = 1;
}

def Graph_ResizeMode : I32EnumAttr<"ResizeMode", "interpolation of a resize", [
    I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"Linear", 1, "linear">, I32EnumAttrCase<"Cubic", 2, "cubic">]> {
  let description = [{
    Elements of the operand that `graph.resize` reads along a dim for one element of the result:

    - `nearest` (`Nearest`): the nearest element.
    - `linear` (`Linear`): two elements, weighted by their distance.
    - `cubic` (`Cubic`): four elements, weighted by a cubic polynomial (Keys 1981).
  }];
  let cppNamespace = "::pcc::graph";
}

def Graph_ResizeOp : Graph_Op<"resize", Graph_Window, [Graph_Differentiable]> {
  let summary = "resamples a tensor at another resolution";
  let description = [{
    Computes each element of the result as a weighted sum of elements of the input, separately along each dim. The attributes
    have the meaning and the words of ONNX's Resize. Only the numbers of dims and scales are verified.

    - `mode`: the interpolation; `nearest`, `linear` or `cubic`.
    - `scales`: per dim, the size of the result divided by the size of the input, up to rounding. A dim of equal sizes and
      scale 1 is not resampled.
    - `coordinates`: the position at which an element is sampled; `half_pixel`, `asymmetric`, `align_corners`,
      `pytorch_half_pixel` or `half_pixel_symmetric`.
    - `rounding`: the rounding of a position in mode `nearest`; `round_prefer_floor`, `round_prefer_ceil`, `floor` or `ceil`.
    - `cubic`: coefficient a of the mode `cubic`; -0.75 by default.
    - `exclude_outside`: gives elements outside the input the weight 0 and scales the others to a sum of 1. Without the
      attribute, the element at the edge stands for elements outside.

    Sharding: dims that are not resampled may be split. No partial sum passes.

    Gradient: by the operand.

    Lifespan: created by `1-import`. `form-kernels` of `7-emit` replaces the op by gathers and weighted sums, which become
    part of a `rank.kernel`.
    [example: test/dialects/graph/layout.mlir @resize]
  }];
  let arguments = (ins Graph_ResizeMode:$mode, Graph_Tensor:$input, DenseF64ArrayAttr:$scales, StrAttr:$coordinates,
                       StrAttr:$rounding, DefaultValuedAttr<F64Attr, "-0.75">:$cubic, UnitAttr:$exclude_outside);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$mode $input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}
