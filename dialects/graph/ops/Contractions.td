//===- Contractions.td - sums of products --------------------*- tablegen -*-===//

def Graph_MatmulOp : Graph_InferOp<"matmul", [
    DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>, Graph_Differentiable]> {
  let summary = "batched matrix product";
  let description = [{
    `result[…, m, n] = Σ_k lhs[…, m, k] · rhs[…, k, n]`; both operands have at least two dims, leading dims broadcast.
    `transpose_lhs` / `transpose_rhs`: the operand's last two dims are stored swapped. Born in `1-import` from MatMul,
    Gemm and friends. [example: test/dialects/graph/contractions.mlir @matmul]
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
  let hasVerifier = 1;
}

def Graph_EinsumOp : Graph_InferOp<"einsum", [
    DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>, Graph_Differentiable]> {
  let summary = "Einstein summation";
  let description = [{
    Letters name dims; a letter that the result lacks is summed over. No ellipsis and no repeated letter within one
    tensor: `1-import` expands both. [example: test/dialects/graph/contractions.mlir @einsum]
  }];
  let arguments = (ins StrAttr:$equation, Variadic<Graph_Tensor>:$inputs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$equation $inputs attr-dict `:` type($inputs)";
  let hasVerifier = 1;
}

class Graph_WindowOp<string mnemonic, list<Trait> traits = []> : Graph_InferOp<mnemonic, traits> {
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}

def Graph_ConvOp : Graph_WindowOp<"conv", [
    DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>, Graph_Differentiable]> {
  let summary = "convolution of N,C,spatial… with O,C/group,spatial… filters";
  let description = [{
    `pads` lists the low then the high padding of every spatial dim (zeros). The bias is added by a separate
    `graph.add`. [example: test/dialects/graph/contractions.mlir @conv]
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$filter, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, DefaultValuedAttr<I64Attr, "1">:$group);
  let assemblyFormat = "$input `,` $filter attr-dict `:` type($input) `,` type($filter)";
}

def Graph_ConvTransposeOp : Graph_WindowOp<"conv_transpose", [
    DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>, Graph_Differentiable]> {
  let summary = "transposed convolution of N,C,spatial… with C,O/group,spatial… filters";
  let description = [{
    `output_pads` is added to the high side of every spatial dim of the result.
    [example: test/dialects/graph/contractions.mlir @conv_transpose]
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$filter, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$output_pads, DefaultValuedAttr<I64Attr, "1">:$group);
  let assemblyFormat = "$input `,` $filter attr-dict `:` type($input) `,` type($filter)";
}
