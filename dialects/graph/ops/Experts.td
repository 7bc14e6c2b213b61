//===- Experts.td - rows that go to some experts only --------*- tablegen -*-===//
//
// How many rows an expert computes is known only at run time. The rows of all experts lie in one *bounded* dim: its size is the
// most that there can be, `counts` says how many there are of each expert, one expert's behind another's. What lies behind
// the last of them is padding.
//
//===----------------------------------------------------------------------===//

def Graph_GroupRowsOp : Graph_InferOp<"group_rows"> {
  let summary = "the rows that each expert computes, ordered by experts";
  let description = [{
    `gate` is [tokens, experts]. A row is a token and an expert whose gate is not 0; of each token the first `chosen` of them
    count. The rows of the first expert come first, each expert's in the order of tokens. `token`, `expert` and `weight`
    (the gate) have a bounded dim of tokens · min(chosen, experts) and are 0 in its padding; `counts` has the rows of each
    expert. Born in `5-localize`, lives until `7-emit`. [example: test/dialects/graph/experts.mlir @group_rows]
  }];
  let arguments = (ins Graph_Tensor:$gate, I64Attr:$chosen);
  let results = (outs Graph_Tensor:$token, Graph_Tensor:$expert, Graph_Tensor:$weight, Graph_Tensor:$counts);
  let assemblyFormat = "$gate `chosen` $chosen attr-dict `:` type($gate)";
}

def Graph_GroupedMatmulOp : Graph_InferOp<"grouped_matmul", [DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>]> {
  let summary = "each row times the matrix of its expert";
  let description = [{
    `rows` is [rows, k], its first dim bounded by `counts`, `matrices` [experts, k, n], or [experts, n, k] with
    `transpose_rhs`. Padding gives zeros. Born in `5-localize`, lives until `7-emit`.
    [example: test/dialects/graph/experts.mlir @grouped_matmul]
  }];
  let arguments = (ins Graph_Tensor:$rows, Graph_Tensor:$matrices, Graph_Tensor:$counts, UnitAttr:$transpose_rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$rows `,` $matrices `by` $counts attr-dict `:` type($rows) `,` type($matrices) `,` type($counts)";
  let hasVerifier = 1;
}
