//===- Indexing.td - gathers and scatters ------------------*- tablegen -*-===//

def Graph_GatherOp : Graph_InferOp<"gather", Graph_Indexing, [
    Graph_Indexed, Graph_MovesElements, Graph_KeepsFinite, Graph_Differentiable]> {
  let summary = "reads slices of a tensor along one dim by indices";
  let description = [{
    Computes a `result` of shape `data.shape[:dim] + indices.shape + data.shape[dim+1:]`: the dim `dim` of `data` is replaced
    by the dims of `indices`, which select slices along it. Indices are i32 or i64. Valid indices are in [-n, n) for a dim of
    n elements; negative ones count from the end. A run ends with an error at an index out of range (`graph.check_indices`).

    - `dim`: number of the gathered dim, from 0.

    Sharding: all dims of `indices` and all other dims of `data` may be split. If the gathered dim is split, each rank reads
    its own slices and gives zeros for all others, so that the result is a partial sum (vocabulary-parallel embedding, Shoeybi
    et al. 2019); the dim stays whole for booleans. If the indices are a constant of one dim, the ranks read through a halo
    instead. Partial sums of `data` pass.

    Gradient: by `data`, by a scatter that adds.

    Lifespan: created by `1-import` and later phases; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/indexing.mlir @gather]
  }];
  let arguments = (ins Graph_Tensor:$data, Graph_Tensor:$indices, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$data `,` $indices `along` $dim attr-dict `:` type($data) `,` type($indices)";
  let hasVerifier = 1;
}

def Graph_GatherElementsOp : Graph_InferOp<"gather_elements", Graph_Indexing, [
    Graph_Indexed, Graph_MovesElements, Graph_KeepsFinite, Graph_Differentiable]> {
  let summary = "reads single elements of a tensor along one dim by indices";
  let description = [{
    Computes `result[i0, …] = data[i0, …, indices[i0, …], …]`, where the index replaces coordinate `dim`. The result has the
    shape of `indices`. `indices` has as many dims as `data`, and no dim other than `dim` is larger than that of `data`.
    Indices are i32 or i64, in [-n, n) for a dim of n elements.

    - `dim`: number of the gathered dim, from 0.

    Sharding: dim `dim` of `indices` and other dims that `data` and `indices` have in the same size may be split. If dim `dim`
    of `data` is split, the result is a partial sum, except for booleans. Partial sums of `data` pass.

    Gradient: by `data`, by a scatter that adds.

    Lifespan: created by `1-import` and later phases; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/indexing.mlir @gather_elements]
  }];
  let arguments = (ins Graph_Tensor:$data, Graph_Tensor:$indices, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$data `,` $indices `along` $dim attr-dict `:` type($data) `,` type($indices)";
  let hasVerifier = 1;
}

def Graph_GatherNdOp : Graph_InferOp<"gather_nd", Graph_Indexing, [
    Graph_Indexed, Graph_MovesElements, Graph_KeepsFinite, Graph_Differentiable]> {
  let summary = "reads slices of a tensor at index tuples";
  let description = [{
    The last dim of `indices` holds tuples of k indices. Each tuple selects a slice of `data`: it gives the coordinates of the
    k dims behind the batch dims. The result has the shape of `indices` without its last dim, followed by the dims of `data`
    that no tuple covers. Indices are i32 or i64, in [-n, n) for a dim of n elements.

    - `batch_dims`: number of leading dims that `data` and `indices` share; 0 by default.

    Sharding: batch dims, the other dims of `indices` except the last one, and the dims of `data` behind the indexed ones may
    be split. Indexed dims stay whole. Partial sums of `data` pass.

    Gradient: by `data`, by a scatter that adds.

    Lifespan: created by `1-import` and later phases; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/indexing.mlir @gather_nd]
  }];
  let arguments = (ins Graph_Tensor:$data, Graph_Tensor:$indices, DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$data `,` $indices attr-dict `:` type($data) `,` type($indices)";
  let hasVerifier = 1;
}

def Graph_ScatterKind : I32EnumAttr<"ScatterKind", "combination of a written element with the old one", [
    I32EnumAttrCase<"Set", 0, "set">, I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Mul", 2, "mul">,
    I32EnumAttrCase<"Max", 3, "max">, I32EnumAttrCase<"Min", 4, "min">]> {
  let description = [{
    Way in which a scatter combines an update with the element that it writes:

    - `set` (`Set`): the update replaces the element.
    - `add` (`Add`): the update is added.
    - `mul` (`Mul`): the update is multiplied.
    - `max` (`Max`): the larger of both remains.
    - `min` (`Min`): the smaller of both remains.
  }];
  let cppNamespace = "::pcc::graph";
}

def Graph_ScatterElementsOp : Graph_InferOp<"scatter_elements", Graph_Indexing, [
    Graph_Indexed, Graph_KeepsFinite, Graph_Differentiable]> {
  let summary = "writes single elements into a copy of a tensor along one dim";
  let description = [{
    Copies `data` and combines an update with one element of the copy for every index: `updates[i0, …]` is written to
    `result[i0, …, indices[i0, …], …]`, where the index replaces coordinate `dim`. `indices` and `updates` have the same
    shape, which fits `data` as in `graph.gather_elements`. Indices are i32 or i64, in [-n, n) for a dim of n elements.
    Several updates of kind `set` must not write the same element.

    - `kind`: the combination of an update with the old element; `set`, `add`, `mul`, `max` or `min`.
    - `dim`: number of the written dim, from 0.

    Sharding: dim `dim` of `data` may be split, since each rank writes its own elements, and so may other dims that `data` and
    `indices` have in the same size. Partial sums of `updates` pass if the kind is `add` and `data` is zeros.

    Gradient: by `data` and `updates` for the kinds `set` and `add`; refused for `mul`, `max` and `min`.

    Lifespan: created by `1-import` and `differentiate`. The op stays to the end of `7-emit`, where it becomes one instruction
    of the program; for GPUs `lower-for-gpus` replaces the op by reductions.
    [example: test/dialects/graph/indexing.mlir @scatter_elements]
  }];
  let arguments = (ins Graph_ScatterKind:$kind, Graph_Tensor:$data, Graph_Tensor:$indices, Graph_Tensor:$updates, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $data `,` $indices `,` $updates `along` $dim attr-dict `:` type($data) `,` type($indices) `,` type($updates)";
  let hasVerifier = 1;
}

def Graph_ScatterNdOp : Graph_InferOp<"scatter_nd", Graph_Indexing, [Graph_Indexed, Graph_KeepsFinite, Graph_Differentiable]> {
  let summary = "writes slices into a copy of a tensor at index tuples";
  let description = [{
    Copies `data` and combines one slice of `updates` with a slice of the copy for every index tuple. The last dim of
    `indices` holds tuples of k indices, the coordinates of the first k dims of `data`. `updates` has the shape of `indices`
    without its last dim, followed by the other dims of `data`. Indices are i32 or i64, in [-n, n) for a dim of n elements.
    Several updates of kind `set` must not write the same slice.

    - `kind`: the combination of an update with the old element; `set`, `add`, `mul`, `max` or `min`.

    Sharding: all dims of `data` may be split, since each rank writes its own elements. If the kind is `add`, the dims of the
    index tuples may be split too; the result is then a partial sum. Partial sums of `updates` pass if the kind is `add` and
    `data` is zeros.

    Gradient: by `data` and `updates` for the kinds `set` and `add`; refused for `mul`, `max` and `min`.

    Lifespan: created by `1-import`, `differentiate` and `group-experts`. The op stays to the end of `7-emit`, where it
    becomes one instruction of the program; for GPUs `lower-for-gpus` replaces the op by reductions.
    [example: test/dialects/graph/indexing.mlir @scatter_nd]
  }];
  let arguments = (ins Graph_ScatterKind:$kind, Graph_Tensor:$data, Graph_Tensor:$indices, Graph_Tensor:$updates);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $data `,` $indices `,` $updates attr-dict `:` type($data) `,` type($indices) `,` type($updates)";
  let hasVerifier = 1;
}

def Graph_CheckIndicesOp : Op<Graph_Dialect, "check_indices", !listconcat(Graph_Indexing.traits, [Graph_OwnShardingRule])> {
  let summary = "ends the run if an index is out of range";
  let description = [{
    Ends the run with an error (exit code 10) if an element of `indices` is outside of [-n, n), where n is the size of the
    indexed dim. Ops that read the indices may then run before the end, so they never read or write outside of their data.

    - `sizes`: the size of the indexed dim or, if the last dim of `indices` holds tuples, one size per index of a tuple.
    - `from_zero`: also a negative index is out of range, as a label of a loss is.
    - `table`: words for the error message that name the indexed tensor.

    Sharding: every dim may be split; each rank checks its part, without padding. `indices` has the sharding in which the op
    that reads the indices needs them.

    Gradient: none, since the op has no result.

    Lifespan: created by `insert-index-checks` of `5-localize` for ops with the interface IndexedOpInterface, unless the
    indices are known to be in range. `7-emit` makes the op an instruction of the program.
    [example: test/dialects/graph/indexing.mlir @check_indices]
  }];
  let arguments = (ins Graph_Tensor:$indices, DenseI64ArrayAttr:$sizes, StrAttr:$table, UnitAttr:$from_zero);
  let assemblyFormat = "$indices `below` $sizes (`from_zero` $from_zero^)? `of` $table attr-dict `:` type($indices)";
  let hasVerifier = 1;
}

def Graph_OneHotOp : Graph_Op<"one_hot", Graph_Indexing, [Graph_KeepsFinite, Graph_Differentiable]> {
  let summary = "encodes indices as vectors with one distinguished element";
  let description = [{
    Adds a dim of n elements to the shape of `indices`. The result is `on` where the position along that dim equals the index,
    and `off` everywhere else. Indices are i32 or i64, and negative ones count from the end. An index outside [-n, n) gives
    `off` at all positions. `on` and `off` are scalars of the result's element type.

    - `dim`: number of the new dim in the result, from 0.

    Sharding: every dim may be split. No partial sum passes.

    Gradient: by `on` and `off`.

    Lifespan: created by `1-import`; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/indexing.mlir @one_hot]
  }];
  let arguments = (ins Graph_Tensor:$indices, Graph_Tensor:$on, Graph_Tensor:$off, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$indices `,` $on `,` $off `along` $dim attr-dict `:` type($indices) `,` type($on) `,` type($off) `to` type($result)";
  let hasVerifier = 1;
}
