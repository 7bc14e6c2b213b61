//===- Contractions.td - matmul, einsum, convolutions ------*- tablegen -*-===//

def Graph_MatmulOp : Graph_InferOp<"matmul", Graph_Contraction, [
    DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>, Graph_Differentiable]> {
  let summary = "multiplies batches of matrices";
  let description = [{
    Computes `result[…, m, n] = Σ_k lhs[…, m, k] · rhs[…, k, n]`. Both operands have at least two dims and the same element
    type. Leading dims are batch dims, which broadcast as in NumPy.

    - `transpose_lhs`: the last two dims of `lhs` are [k, m] rather than [m, k].
    - `transpose_rhs`: the last two dims of `rhs` are [n, k] rather than [k, n].

    Sharding: batch dims, `m` and `n` may be split. If `k` is split, the result is a partial sum. Partial sums of one operand
    pass if the other operand is not partial.

    Gradient: by both operands, by further matmuls, or by an einsum for an operand that broadcasts along batch dims.

    Lifespan: created by `1-import` (MatMul, Gemm) and later phases. The op becomes one call of oneDNN or cuBLASLt in
    `7-emit`, alone or inside a `rank.library_call`; a matmul of integers becomes element-wise products and a sum.
    [example: test/dialects/graph/contractions.mlir @matmul]
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
  let hasVerifier = 1;
}

def Graph_EinsumOp : Graph_InferOp<"einsum", Graph_Contraction, [
    DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>, Graph_Differentiable]> {
  let summary = "multiplies tensors and sums over named dims (Einstein summation)";
  let description = [{
    Multiplies all operands and sums over the letters that the result lacks. All operands have the element type of the result.

    - `equation`: one term per operand, then the term of the result, such as `ab,bc->ca`. A term has one letter per dim and no
      letter twice. Every letter of the result is in some operand. `1-import` expands ellipses and repeated letters.

    Sharding: letters of the result may be split. If another letter is split, the result is a partial sum. Partial sums of one
    operand pass if no other operand is partial.

    Gradient: by all operands, by further einsums.

    Lifespan: created by `1-import` and later phases. `recognise-composites` may mark the op with `graph.chosen`, and
    `group-experts` then replaces the op. `form-library-calls` of `7-emit` turns the op into matmuls with transposes, reshapes
    and reductions, or into einsums of two operands that sum over at most one letter.
    [example: test/dialects/graph/contractions.mlir @einsum]
  }];
  let arguments = (ins StrAttr:$equation, Variadic<Graph_Tensor>:$inputs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$equation $inputs attr-dict `:` type($inputs)";
  let hasVerifier = 1;
}

/// Base class of convolutions.
class Graph_ConvolutionOp<string mnemonic, list<Trait> traits = []> : Graph_InferOp<mnemonic, Graph_Contraction, traits> {
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}

def Graph_ConvOp : Graph_ConvolutionOp<"conv", [
    DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>, Graph_Differentiable]> {
  let summary = "convolves an image with filters";
  let description = [{
    `input` is [N, C, spatial…], `filter` [O, C / group, window…] and `result` [N, O, spatial…]; all hold floats. A spatial
    dim of `input` with `size` elements becomes `floor((size + low + high − (window − 1) · dilation − 1) / stride) + 1`
    elements. The bias of ONNX's Conv becomes a separate `graph.add`.

    - `strides`: per spatial dim, the elements from one window to the next.
    - `pads`: elements of zeros; first the low side of every spatial dim, then the high sides.
    - `dilations`: per spatial dim, the elements from one tap of a window to the next.
    - `group`: number of groups of channels that are convolved independently; 1 by default.

    Sharding: the batch, the groups and the output channels may be split. If the input channels of a group are split, the
    result is a partial sum. Spatial dims of the result may be split, and each rank then reads its part and a halo (GSPMD, Xu
    et al. 2021). Partial sums of one operand pass if the other operand is not partial.

    Gradient: by both operands.

    Lifespan: created by `1-import` and by `differentiate`. On processors the op becomes one call of oneDNN in `7-emit`, alone
    or inside a `rank.library_call`. For GPUs `lower-for-gpus` turns the op into a matmul of gathered columns (im2col), or
    into a sum of products for a depthwise convolution.
    [example: test/dialects/graph/contractions.mlir @conv]
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$filter, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, DefaultValuedAttr<I64Attr, "1">:$group);
  let assemblyFormat = "$input `,` $filter attr-dict `:` type($input) `,` type($filter)";
}

def Graph_ConvTransposeOp : Graph_ConvolutionOp<"conv_transpose", [
    DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>, Graph_Differentiable]> {
  let summary = "applies the transpose of a convolution to an image";
  let description = [{
    `input` is [N, C, spatial…], `filter` [C, O / group, window…] and `result` [N, O, spatial…]; all hold floats. A spatial
    dim of `input` with `size` elements becomes `(size − 1) · stride + (window − 1) · dilation + 1 − low − high + output_pad`
    elements.

    - `strides`, `pads`, `dilations`, `group`: those of the convolution whose transpose the op is; see `graph.conv`.
    - `output_pads`: elements that are added to the high side of every spatial dim of the result.

    Sharding: the batch, the groups and the output channels may be split. If the input channels of a group are split, the
    result is a partial sum. Spatial dims stay whole. Partial sums of one operand pass if the other operand is not partial.

    Gradient: by both operands.

    Lifespan: created by `1-import`, and by `differentiate` for convolutions and average pools. On processors the op becomes
    one call of oneDNN in `7-emit`, alone or inside a `rank.library_call`. For GPUs `lower-for-gpus` turns the op into
    matmuls.
    [example: test/dialects/graph/contractions.mlir @conv_transpose]
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$filter, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$output_pads, DefaultValuedAttr<I64Attr, "1">:$group);
  let assemblyFormat = "$input `,` $filter attr-dict `:` type($input) `,` type($filter)";
}
