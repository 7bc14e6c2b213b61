//===- Reductions.td - reductions, norms, scans, pools -----*- tablegen -*-===//

def Graph_ReduceKind : I32EnumAttr<"ReduceKind", "combination of the elements of a reduction", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Mean", 1, "mean">, I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"Prod", 4, "prod">]> {
  let description = [{
    Combination of the elements that `graph.reduce` or `graph.arg_reduce` reads:

    - `sum` (`Sum`): the sum.
    - `mean` (`Mean`): the sum divided by the number of elements.
    - `max` (`Max`): the largest element; NaN if one is NaN.
    - `min` (`Min`): the smallest element; NaN if one is NaN.
    - `prod` (`Prod`): the product.
  }];
  let cppNamespace = "::pcc::graph";
}

def Graph_ReduceOp : Graph_InferOp<"reduce", Graph_RowWise, [
    DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>, Graph_Differentiable]> {
  let summary = "combines the elements along some dims";
  let description = [{
    Reduces the dims `dims` of the input. The result lacks these dims or, with `keep`, has size 1 in their place.

    - `kind`: the combination; `sum`, `mean`, `max`, `min` or `prod`.
    - `dims`: numbers of the reduced dims, from 0, in ascending order, each once.
    - `keep`: keeps reduced dims with size 1.
    - `divisor`: number of elements that a mean divides by; the number of reduced elements by default. `localize-shapes` sets
      the attribute to the number of elements in the global shape.

    Sharding: dims that are not reduced may be split. If a reduced dim is split, the result is partial of the kind of the
    reduction; a mean gives partial sums. Partial sums of the input pass the kinds `sum` and `mean`.

    Gradient: by the operand. The kinds `max` and `min` divide the gradient among equal elements.

    Lifespan: created by `1-import` and later phases; moved by `7-emit` into a `rank.kernel`, or into a `rank.library_call` as
    the gradient of a bias.
    [example: test/dialects/graph/reductions.mlir @reduce]
  }];
  let arguments = (ins Graph_ReduceKind:$kind, Graph_Tensor:$input, DenseI64ArrayAttr:$dims, UnitAttr:$keep,
                       OptionalAttr<I64Attr>:$divisor);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $input `over` $dims (`keep` $keep^)? (`divisor` $divisor^)? attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Graph_ArgReduceOp : Graph_InferOp<"arg_reduce", Graph_RowWise> {
  let summary = "finds the index of the largest or smallest element along a dim";
  let description = [{
    Returns the index (i64) of the extreme element along `dim`. NaN counts as more extreme than every number. The result lacks
    the dim or, with `keep`, has size 1 in its place.

    - `kind`: `max` or `min`.
    - `dim`: number of the dim, from 0.
    - `keep`: keeps the dim with size 1.
    - `last`: selects the last one of equal elements, rather than the first one.

    Sharding: all other dims may be split. `dim` may be split too: the parts then exchange the extreme element of each row and
    its index. No partial sum passes.

    Gradient: none, since the result is no float.

    Lifespan: created by `1-import`; expanded by `expand-split-ops` of `4-shard` where `dim` is split, otherwise moved into a
    `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/reductions.mlir @arg_reduce]
  }];
  let arguments = (ins Graph_ReduceKind:$kind, Graph_Tensor:$input, I64Attr:$dim, UnitAttr:$keep, UnitAttr:$last);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $input `over` $dim (`keep` $keep^)? (`last` $last^)? attr-dict `:` type($input)";
  let hasVerifier = 1;
}

/// Base class of softmax and its logarithm.
class Graph_SoftmaxLikeOp<string mnemonic, string what, Trait range> : Graph_Op<mnemonic, Graph_RowWise, [
    range, Graph_IsComposite, SameOperandsAndResultType, DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>,
    Graph_Differentiable]> {
  let summary = what;
  let description = [{
    Computes `softmax(x) = exp(x − m) / Σ exp(x − m)` along `dim`, where m is the largest element of the row; `log_softmax`
    gives the logarithm of that. Operand and result have the same type and hold floats.

    - `dim`: number of the dim, from 0.

    Sharding: all other dims may be split. `dim` may be split too: the parts then exchange the largest element and the sum of
    each row (online softmax, Milakov and Gimelshein 2018). No partial sum passes.

    Gradient: by the operand, computed in f32 for narrower types.

    Lifespan: created by `1-import`, by `recognise-composites` of `2-prepare` and by later phases; expanded by
    `expand-split-ops` of `4-shard` where `dim` is split, otherwise moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/reductions.mlir @softmax]
  }];
  let arguments = (ins Graph_Tensor:$input, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `over` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Graph_SoftmaxOp : Graph_SoftmaxLikeOp<"softmax", "computes the softmax along a dim", Graph_GivesFinite>;
def Graph_LogSoftmaxOp :
    Graph_SoftmaxLikeOp<"log_softmax", "computes the logarithm of the softmax along a dim", Graph_KeepsFinite>;

/// Base class of norms over the last dims.
class Graph_NormOp<string mnemonic> : Graph_InferOp<mnemonic, Graph_RowWise, [
    Graph_GivesFinite, Graph_IsComposite, DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>, Graph_Differentiable]> {
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}

def Graph_LayerNormOp : Graph_NormOp<"layer_norm"> {
  let summary = "normalises the last dims to mean 0 and variance 1";
  let description = [{
    Computes `(x − mean) / sqrt(variance + epsilon) · scale + bias`, with mean and variance over the dims from `dim` on (Ba et
    al. 2016). `scale` and `bias` have the shape of these dims. All operands hold floats. Statistics are computed in f32 for
    narrower types.

    - `dim`: first normalised dim, from 0.
    - `epsilon`: number that is added to the variance.

    Sharding: the dims before `dim` may be split. Normalised dims may be split too, with scale and bias alike: the parts then
    exchange two sums per row, first that of the elements, then that of the squares of their distances from the mean, which keeps
    the digits of the variance where the mean is large. No partial sum passes.

    Gradient: by `input`, `scale` and `bias`.

    Lifespan: created by `1-import`, or by `recognise-composites` of `2-prepare` from its parts; expanded by
    `expand-split-ops` of `4-shard` where normalised dims are split, otherwise moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/reductions.mlir @layer_norm]
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$scale, Optional<Graph_Tensor>:$bias, I64Attr:$dim, F64Attr:$epsilon);
  let assemblyFormat = "$input `,` $scale (`,` $bias^)? `from` $dim `epsilon` $epsilon attr-dict `:` type($input) `,` type($scale) (`,` type($bias)^)?";
}

def Graph_RmsNormOp : Graph_NormOp<"rms_norm"> {
  let summary = "divides the last dims by their root mean square";
  let description = [{
    Computes `x / sqrt(mean(x²) + epsilon) · scale`, with the mean over the dims from `dim` on (Zhang and Sennrich 2019).
    `scale` has the shape of these dims. Both operands hold floats. Statistics are computed in f32 for narrower types.

    - `dim`: first normalised dim, from 0.
    - `epsilon`: number that is added to the mean square.

    Sharding: the dims before `dim` may be split. Normalised dims may be split too, with the scale alike: the parts then
    exchange one sum per row. No partial sum passes.

    Gradient: by `input` and `scale`.

    Lifespan: created by `1-import`, or by `recognise-composites` of `2-prepare` from its parts; expanded by
    `expand-split-ops` of `4-shard` where normalised dims are split, otherwise moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/reductions.mlir @rms_norm]
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$scale, I64Attr:$dim, F64Attr:$epsilon);
  let assemblyFormat = "$input `,` $scale `from` $dim `epsilon` $epsilon attr-dict `:` type($input) `,` type($scale)";
}

def Graph_CumSumOp : Graph_Op<"cumsum", Graph_RowWise, [
    Graph_LosesDigits, Graph_KeepsFinite, SameOperandsAndResultType, Graph_Differentiable]> {
  let summary = "computes prefix sums along a dim";
  let description = [{
    Element i along `dim` of the result is the sum of the elements 0 to i of the input. Operand and result have the same type.

    - `dim`: number of the dim, from 0.
    - `exclusive`: leaves out element i itself.
    - `reverse`: sums from the last element down to element i.

    Sharding: all other dims may be split. `dim` may be split too: the parts then gather the sums of all parts. Partial sums
    pass.

    Gradient: by the operand, by prefix sums in the other direction.

    Lifespan: created by `1-import` and `differentiate`. `expand-split-ops` of `4-shard` expands the op where `dim` is split.
    The op stays to the end of `7-emit`, where it becomes one instruction of the program; for GPUs `lower-for-gpus` replaces
    the op by reductions.
    [example: test/dialects/graph/reductions.mlir @cumsum]
  }];
  let arguments = (ins Graph_Tensor:$input, I64Attr:$dim, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `along` $dim (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_TopKOp : Graph_InferOp<"topk", Graph_RowWise, [Graph_KeepsFinite, Graph_Differentiable]> {
  let summary = "finds the k largest or smallest elements along a dim, and their indices";
  let description = [{
    `values` and `indices` (i64) have the shape of the input with `k` elements along `dim`. The elements are sorted, the most
    extreme one first. NaN counts as more extreme than every number. The lower index comes first for equal elements.

    - `k`: number of elements; at most the size of the dim.
    - `dim`: number of the dim, from 0.
    - `largest`: selects the largest elements; true by default.

    Sharding: all other dims may be split. `dim` of the input may be split too: the parts then gather the best k elements of
    each part. No partial sum passes.

    Gradient: by `input`, from `values`.

    Lifespan: created by `1-import`. `expand-split-ops` of `4-shard` expands the op where `dim` is split, to a smaller one.
    The op stays to the end of `7-emit`, where it becomes one instruction of the program; for GPUs `lower-for-gpus` replaces
    the op by a rank sort.
    [example: test/dialects/graph/reductions.mlir @topk]
  }];
  let arguments = (ins Graph_Tensor:$input, I64Attr:$k, I64Attr:$dim, DefaultValuedAttr<BoolAttr, "true">:$largest);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
  let assemblyFormat = "$input `,` $k `along` $dim attr-dict `:` type($input)";
}

def Graph_PoolKind : I32EnumAttr<"PoolKind", "result of a pool for one window", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Average", 1, "average">,
    I32EnumAttrCase<"AverageWithPadding", 2, "average_with_padding">]> {
  let description = [{
    Number that `graph.pool` computes for each window:

    - `max` (`Max`): the largest element.
    - `average` (`Average`): the sum divided by the number of elements inside the input.
    - `average_with_padding` (`AverageWithPadding`): the sum divided by the number of elements of the window.
  }];
  let cppNamespace = "::pcc::graph";
}

def Graph_PoolOp : Graph_InferOp<"pool", Graph_Window, [Graph_Differentiable]> {
  let summary = "computes the maximum or average of windows over the spatial dims";
  let description = [{
    `input` is [N, C, spatial…]. The result has the same N and C, and one element per window. The sizes of its spatial dims
    follow as in `graph.conv`.

    - `kind`: `max`, `average` or `average_with_padding`.
    - `window`: elements of a window, per spatial dim.
    - `strides`: per spatial dim, the elements from one window to the next.
    - `pads`: elements; first the low side of every spatial dim, then the high sides. Padding never is a maximum.
    - `dilations`: per spatial dim, the elements from one tap of a window to the next.

    Sharding: N and C may be split. Spatial dims of the result may be split, and each rank then reads its part and a halo. A
    padded spatial dim stays whole for `average`, whose windows then divide by different numbers. No partial sum passes.

    Gradient: by the operand. A maximum passes its gradient to the first element of the window that equals it.

    Lifespan: created by `1-import`. The op stays to the end of `7-emit`, where it becomes one call of oneDNN; for GPUs
    `lower-for-gpus` replaces the op by a reduction.
    [example: test/dialects/graph/reductions.mlir @pool]
  }];
  let arguments = (ins Graph_PoolKind:$kind, Graph_Tensor:$input, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $input attr-dict `:` type($input)";
}
