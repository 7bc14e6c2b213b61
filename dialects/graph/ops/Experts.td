//===- Experts.td - dropless mixture of experts ------------*- tablegen -*-===//
//
// Dropless experts (as in MegaBlocks, Gale et al. 2022). The number of rows of an expert is known at run time only. The rows of
// all experts are in one *bounded* dim, the rows of one expert behind those of the expert before. The size of the dim is the
// largest possible number of rows; `counts` holds the number of rows of each expert. Elements behind the last row are padding.
//
//===----------------------------------------------------------------------===//

def Graph_GroupRowsOp : Graph_InferOp<"group_rows", Graph_RowWise> {
  let summary = "lists the rows that each expert computes, ordered by expert";
  let description = [{
    `gate` holds floats [tokens, experts]. A row is a pair of a token and an expert whose gate is not 0. If a token has more
    such experts than `chosen`, only the first `chosen` of them count. The rows of expert 0 come first; the rows of one expert
    are in the order of tokens.

    - `chosen`: the most rows that one token has; at least 1.

    `token` and `expert` (i64) and `weight` (the gate) have one element per row. Their dim is bounded: its size is tokens ·
    min(`chosen`, experts), and elements behind the last row are 0. `counts` (i64) has the number of rows of each expert.

    Sharding: all dims stay whole; the op is created on the local shapes of a rank.

    Gradient: refused.

    Lifespan: created by `group-experts` of `5-localize`. The op stays to the end of `7-emit`, where it becomes one
    instruction of the program; for GPUs `lower-for-gpus` replaces the op by prefix sums and gathers.
    [example: test/dialects/graph/experts.mlir @group_rows]
  }];
  let arguments = (ins Graph_Tensor:$gate, I64Attr:$chosen);
  let results = (outs Graph_Tensor:$token, Graph_Tensor:$expert, Graph_Tensor:$weight, Graph_Tensor:$counts);
  let assemblyFormat = "$gate `chosen` $chosen attr-dict `:` type($gate)";
}

def Graph_GroupedMatmulOp : Graph_InferOp<"grouped_matmul", Graph_Contraction, [
    DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>]> {
  let summary = "multiplies each row by the matrix of its expert";
  let description = [{
    Computes `result[r, :] = rows[r, :] · matrices[e]`, where e is the expert of row r. `rows` is [rows, k], ordered by
    expert, `matrices` is [experts, k, n] and `result` [rows, n]; all hold floats of one type. `counts` (i64, [experts]) has
    the number of rows of each expert. The dim of rows is bounded: elements behind the last row are 0 in the result.

    - `transpose_rhs`: `matrices` is [experts, n, k] rather than [experts, k, n].

    Sharding: `n` may be split. If `k` is split, the result is a partial sum. Rows and experts stay whole. Partial sums of
    `rows` pass. The op is created on the local shapes of a rank.

    Gradient: refused.

    Lifespan: created by `group-experts` of `5-localize`. The op stays to the end of `7-emit`, where it becomes one
    instruction of the program; for GPUs `lower-for-gpus` replaces the op by a batched matmul.
    [example: test/dialects/graph/experts.mlir @grouped_matmul]
  }];
  let arguments = (ins Graph_Tensor:$rows, Graph_Tensor:$matrices, Graph_Tensor:$counts, UnitAttr:$transpose_rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$rows `,` $matrices `by` $counts attr-dict `:` type($rows) `,` type($matrices) `,` type($counts)";
  let hasVerifier = 1;
}
