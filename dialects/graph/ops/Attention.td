//===- Attention.td - attention and its gradients ----------*- tablegen -*-===//

/// Base class of attention and its gradients.
class Graph_AttentionBase<string mnemonic, list<Trait> traits = []> :
    Graph_InferOp<mnemonic, Graph_Attention, !listconcat(traits, [
      DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>])> {
  let hasVerifier = 1;
}

def Graph_AttentionOp : Graph_AttentionBase<"attention", [Graph_GivesFinite, Graph_IsComposite, Graph_Differentiable]> {
  let summary = "computes attention: softmax(scale · query keyᵀ + mask) · value";
  let description = [{
    `query` is [B, H, S, D], `key` [B, K, T, D], `value` [B, K, T, E] and `result` [B, H, S, E]; all hold floats. K divides H,
    and query head h uses key head h / (H / K) (grouped-query attention, Ainslie et al. 2023). A row without any visible key
    gives zeros.

    - `mask`: broadcasts to the scores [B, H, S, T]. A boolean mask keeps a score where it is true; a float mask is added.
    - `scale`: factor of the scores.
    - `causal`: query s sees the keys t ≤ s + T − S only, which is t ≤ s if T = S.
    - `softcap`: a number c > 0 replaces each scaled score x by c · tanh(x / c) before the mask is applied; 0 by default,
      which means no cap.

    Sharding: B, H, S and E may be split; H is split as K key heads, then as the query heads of a key head. D and T stay
    whole. Only a ring (Liu et al. 2023) splits T, together with S. Partial sums of `value` pass.

    Gradient: by `query`, `key`, `value` and a float `mask`. Where a fused GPU kernel supports them, the ops
    `graph.attention_query_gradient` and `graph.attention_key_gradient` compute it; otherwise matmuls and a softmax do.

    Lifespan: created by `1-import`, or by `recognise-composites` of `2-prepare` from its parts. `expand-split-ops` of
    `4-shard` expands rings and stripes. `7-emit` moves the op into a `rank.kernel` if a fused GPU kernel supports it
    (FlashAttention, Dao et al. 2022), and otherwise replaces the op by two matmuls and a softmax.
    [example: test/dialects/graph/attention.mlir @attention]
  }];
  let arguments = (ins Graph_Tensor:$query, Graph_Tensor:$key, Graph_Tensor:$value, Optional<Graph_Tensor>:$mask,
                       F64Attr:$scale, UnitAttr:$causal, DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^ `:` type($mask) `,`)? attr-dict `:` type($query) `,` type($key) `,` type($value)
  }];
}

def Graph_AttentionQueryGradientOp : Graph_AttentionBase<"attention_query_gradient"> {
  let summary = "computes the gradient of attention by its queries";
  let description = [{
    With `gradient` dy, the gradient of the result of a `graph.attention`, and with P, the softmax of its masked scores:

    ```
    dP       = dy valueᵀ
    mean     = Σ P dP                    over each row
    result   = scale · (P (dP − mean)) key
    ```

    If there is a `softcap`, its slope is a further factor of P (dP − mean). `top` is the largest score of a row. `share` is 1
    over the sum of exp(score − top), or 0 if no key is visible, so that P = exp(score − top) · share.
    `graph.attention_key_gradient` reads these statistics. Two numbers, rather than the logarithm of the sum, keep the rows of
    P closer to a sum of 1.

    `gradient` is [B, H, S, E] and `result` [B, H, S, D]. `top`, `share` and `mean` are [B, H, S], in f32 for narrower
    queries. All other operands and attributes are those of the `graph.attention`.

    Sharding: B, H and S may be split; D, E and T stay whole. No partial sum passes.

    Gradient: refused.

    Lifespan: created by `differentiate` of `2-prepare` for the target `cuda`, if a fused kernel supports the attention and no
    gradient of the mask is needed; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/attention.mlir @gradients]
  }];
  let arguments = (ins Graph_Tensor:$query, Graph_Tensor:$key, Graph_Tensor:$value, Graph_Tensor:$gradient,
                       Optional<Graph_Tensor>:$mask,
                       F64Attr:$scale, UnitAttr:$causal, DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let results = (outs Graph_Tensor:$result, Graph_Tensor:$top, Graph_Tensor:$share, Graph_Tensor:$mean);
  let assemblyFormat = [{
    $query `,` $key `,` $value `of` $gradient (`mask` $mask^ `:` type($mask) `,`)? attr-dict `:` type($query) `,` type($key) `,`
    type($value) `,` type($gradient)
  }];
}

def Graph_AttentionKeyGradientOp : Graph_AttentionBase<"attention_key_gradient"> {
  let summary = "computes the gradients of attention by its keys and values";
  let description = [{
    With P and dP as in `graph.attention_query_gradient`, which also gives `top`, `share` and `mean`:

    ```
    key_gradient     = scale · (P (dP − mean))ᵀ query
    value_gradient   = Pᵀ dy
    ```

    Both are summed over the query heads that share a key head. If there is a `softcap`, its slope is a further factor of P
    (dP − mean). `key_gradient` has the type of `key`, and `value_gradient` that of `value`. All other operands and attributes
    are those of the `graph.attention`.

    Sharding: B and the K key heads may be split. If S or the query heads of a key head are split, both results are partial
    sums. D, E and T stay whole. No partial sum passes.

    Gradient: refused.

    Lifespan: created by `differentiate` of `2-prepare` together with `graph.attention_query_gradient`; moved into a
    `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/attention.mlir @gradients]
  }];
  let arguments = (ins Graph_Tensor:$query, Graph_Tensor:$key, Graph_Tensor:$value, Graph_Tensor:$gradient,
                       Graph_Tensor:$top, Graph_Tensor:$share, Graph_Tensor:$mean, Optional<Graph_Tensor>:$mask,
                       F64Attr:$scale, UnitAttr:$causal, DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let results = (outs Graph_Tensor:$key_gradient, Graph_Tensor:$value_gradient);
  let assemblyFormat = [{
    $query `,` $key `,` $value `of` $gradient `with` $top `,` $share `,` $mean (`mask` $mask^ `:` type($mask) `,`)? attr-dict `:`
    type($query) `,` type($key) `,` type($value) `,` type($gradient) `,` type($top) `,` type($share) `,` type($mean)
  }];
}
