//===- ElementWise.td - element-wise ops -------------------*- tablegen -*-===//
//
// Operands of binary and ternary ops broadcast as in NumPy: dims are matched from the right, and a dim of size 1 is repeated.
// [example: test/dialects/graph/element-wise.mlir]
//
//===----------------------------------------------------------------------===//

/// Ops of one operand whose result has the type of the operand.
class Graph_UnaryOp<string mnemonic, string what, list<Trait> traits> :
    Graph_Op<mnemonic, Graph_ElementWise, !listconcat(traits, [
      SameOperandsAndResultType, DeclareOpInterfaceMethods<Graph_CostInterface>])> {
  let summary = what;
  let description = [{
    Computes `result[i] = f(input[i])`. Operand and result have the same type, of any shape. `neg`, `abs`, `sign` and `relu`
    are defined for floats and integers, `not` for booleans and integers, and all other ops for floats only. Integers wrap
    around.

    Sharding: every dim may be split. Partial sums pass `neg` and no other op.

    Gradient: by the operand. No gradient flows through `floor`, `ceil`, `round` and `sign`, since their slope is 0 almost
    everywhere, nor through `not`.

    Lifespan: created by `1-import` and later phases; moved by `7-emit` into a `rank.kernel`, or into a `rank.library_call` as
    an activation behind a contraction.
    [example: test/dialects/graph/element-wise.mlir @unary]
  }];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

/// Ops of one operand whose result is a tensor of booleans.
class Graph_TestOp<string mnemonic, string what> : Graph_InferOp<mnemonic, Graph_ElementWise> {
  let summary = what;
  let description = [{
    Computes one boolean per element. Operand and result have the same shape. The result is false for integers and booleans.

    Sharding: every dim may be split. No partial sum passes.

    Gradient: none, since the result is no float.

    Lifespan: created by `1-import` and later phases; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/element-wise.mlir @tests]
  }];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

/// Ops of two operands that broadcast.
class Graph_BinaryOp<string mnemonic, string what, list<Trait> traits = []> :
    Graph_InferOp<mnemonic, Graph_ElementWise, traits> {
  let summary = what;
  let description = [{
    Computes `result[i] = f(lhs[i], rhs[i])`. The operands broadcast as in NumPy: dims are matched from the right, and a dim
    of size 1 is repeated. Operands and result have the same element type. Arithmetic ops are defined for floats and integers,
    `and`, `or` and `xor` for booleans, `bit_and`, `bit_or` and `bit_xor` for integers. Integers wrap around.

    Sharding: every result dim of more than one element may be split; operand dims of size 1 stay whole. Partial sums pass
    `add` and `sub` if both operands are partial over the same axes, and `mul` if only one operand is partial.

    Gradient: arithmetic ops by both operands, summed over the dims along which the operand broadcasts. `max` and `min` give
    each of two equal operands one half. Logical and bitwise ops have none.

    Lifespan: created by `1-import` and later phases; moved by `7-emit` into a `rank.kernel`, or into a `rank.library_call` as
    an addition behind a contraction.
    [example: test/dialects/graph/element-wise.mlir @broadcast]
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def Graph_NegOp : Graph_UnaryOp<"neg", "negates each element", [Graph_KeepsFinite, Graph_OwnShardingRule, Graph_Differentiable]>;
def Graph_AbsOp : Graph_UnaryOp<"abs", "takes the absolute value of each element", [Graph_KeepsFinite, Graph_Differentiable]>;
def Graph_ExpOp : Graph_UnaryOp<"exp", "raises e to the power of each element",
    [Graph_IsExpensive, Graph_LosesDigits, Graph_Differentiable]>;
def Graph_LogOp : Graph_UnaryOp<"log", "takes the natural logarithm of each element",
    [Graph_IsExpensive, Graph_LosesDigits, Graph_Differentiable]>;
def Graph_SqrtOp : Graph_UnaryOp<"sqrt", "takes the square root of each element", [Graph_LosesDigits, Graph_Differentiable]>;
def Graph_ReciprocalOp : Graph_UnaryOp<"reciprocal", "divides 1 by each element", [Graph_LosesDigits, Graph_Differentiable]>;
def Graph_TanhOp : Graph_UnaryOp<"tanh", "takes the hyperbolic tangent of each element",
    [Graph_IsExpensive, Graph_GivesFinite, Graph_Differentiable]>;
def Graph_ErfOp : Graph_UnaryOp<"erf", "applies the Gauss error function to each element",
    [Graph_IsExpensive, Graph_GivesFinite, Graph_Differentiable]>;
def Graph_SigmoidOp : Graph_UnaryOp<"sigmoid", "applies the logistic function 1 / (1 + exp(-x)) to each element",
    [Graph_IsExpensive, Graph_GivesFinite, Graph_Differentiable]>;
def Graph_ReluOp : Graph_UnaryOp<"relu", "replaces each element x by max(x, 0)", [Graph_KeepsFinite, Graph_Differentiable]>;
def Graph_SoftplusOp : Graph_UnaryOp<"softplus", "computes log(1 + exp(x)) for each element x",
    [Graph_IsExpensive, Graph_LosesDigits, Graph_KeepsFinite, Graph_Differentiable]>;
def Graph_SinOp : Graph_UnaryOp<"sin", "takes the sine of each element, in radians",
    [Graph_IsExpensive, Graph_LosesDigits, Graph_GivesFinite, Graph_Differentiable]>;
def Graph_CosOp : Graph_UnaryOp<"cos", "takes the cosine of each element, in radians",
    [Graph_IsExpensive, Graph_LosesDigits, Graph_GivesFinite, Graph_Differentiable]>;
def Graph_TanOp : Graph_UnaryOp<"tan", "takes the tangent of each element, in radians",
    [Graph_IsExpensive, Graph_LosesDigits, Graph_Differentiable]>;
def Graph_AsinOp : Graph_UnaryOp<"asin", "takes the arc sine of each element",
    [Graph_IsExpensive, Graph_LosesDigits, Graph_Differentiable]>;
def Graph_AcosOp : Graph_UnaryOp<"acos", "takes the arc cosine of each element",
    [Graph_IsExpensive, Graph_LosesDigits, Graph_Differentiable]>;
def Graph_AtanOp : Graph_UnaryOp<"atan", "takes the arc tangent of each element",
    [Graph_IsExpensive, Graph_GivesFinite, Graph_Differentiable]>;
def Graph_SinhOp : Graph_UnaryOp<"sinh", "takes the hyperbolic sine of each element",
    [Graph_IsExpensive, Graph_LosesDigits, Graph_Differentiable]>;
def Graph_CoshOp : Graph_UnaryOp<"cosh", "takes the hyperbolic cosine of each element",
    [Graph_IsExpensive, Graph_LosesDigits, Graph_Differentiable]>;
def Graph_AsinhOp : Graph_UnaryOp<"asinh", "takes the inverse hyperbolic sine of each element",
    [Graph_IsExpensive, Graph_KeepsFinite, Graph_Differentiable]>;
def Graph_AcoshOp : Graph_UnaryOp<"acosh", "takes the inverse hyperbolic cosine of each element",
    [Graph_IsExpensive, Graph_LosesDigits, Graph_Differentiable]>;
def Graph_AtanhOp : Graph_UnaryOp<"atanh", "takes the inverse hyperbolic tangent of each element",
    [Graph_IsExpensive, Graph_LosesDigits, Graph_Differentiable]>;
def Graph_FloorOp : Graph_UnaryOp<"floor", "rounds each element down to an integer", [Graph_KeepsFinite, Graph_Differentiable]>;
def Graph_CeilOp : Graph_UnaryOp<"ceil", "rounds each element up to an integer", [Graph_KeepsFinite, Graph_Differentiable]>;
def Graph_RoundOp : Graph_UnaryOp<"round", "rounds each element to the nearest integer, halves to even",
    [Graph_KeepsFinite, Graph_Differentiable]>;
def Graph_SignOp : Graph_UnaryOp<"sign", "replaces each element by its sign: -1, 0 or 1",
    [Graph_KeepsFinite, Graph_Differentiable]>;

def Graph_NotOp : Graph_UnaryOp<"not", "negates booleans and inverts the bits of integers", []>;
def Graph_IsNanOp : Graph_TestOp<"is_nan", "tests whether each element is NaN">;
def Graph_IsInfOp : Graph_TestOp<"is_inf", "tests whether each element is infinite"> {
  let description = [{
    Computes one boolean per element. Operand and result have the same shape. The result is false for integers and booleans.

    - `negative`: whether -infinity counts; true by default.
    - `positive`: whether +infinity counts; true by default.

    Sharding: every dim may be split. No partial sum passes.

    Gradient: none, since the result is no float.

    Lifespan: created by `1-import`; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/element-wise.mlir @tests]
  }];
  let arguments = (ins Graph_Tensor:$input, DefaultValuedAttr<BoolAttr, "true">:$negative,
                       DefaultValuedAttr<BoolAttr, "true">:$positive);
}

def Graph_AddOp : Graph_BinaryOp<"add", "adds two tensors element-wise",
    [Graph_KeepsFinite, Graph_OwnShardingRule, Graph_Differentiable]>;
def Graph_SubOp : Graph_BinaryOp<"sub", "subtracts `rhs` from `lhs` element-wise",
    [Graph_KeepsFinite, Graph_OwnShardingRule, Graph_Differentiable]>;
def Graph_MulOp : Graph_BinaryOp<"mul", "multiplies two tensors element-wise",
    [Graph_KeepsFinite, Graph_OwnShardingRule, Graph_Differentiable]>;
def Graph_DivOp : Graph_BinaryOp<"div", "divides `lhs` by `rhs` element-wise", [Graph_OwnShardingRule, Graph_Differentiable]> {
  let description = [{
    Computes `result[i] = lhs[i] / rhs[i]`. The operands broadcast as in NumPy: dims are matched from the right, and a dim of
    size 1 is repeated. Operands and result have the same element type. Integer quotients are truncated toward zero, and
    integer division by 0 gives 0.

    Sharding: every result dim of more than one element may be split; operand dims of size 1 stay whole. Partial sums pass
    from `lhs`.

    Gradient: by both operands, summed over the dims along which the operand broadcasts.

    Lifespan: created by `1-import` and later phases; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/element-wise.mlir @broadcast]
  }];
}
def Graph_PowOp : Graph_BinaryOp<"pow", "raises `lhs` to the power `rhs` element-wise",
    [Graph_IsExpensive, Graph_LosesDigits, Graph_Differentiable]> {
  let description = [{
    Computes `result[i] = lhs[i] ^ rhs[i]`. The operands broadcast as in NumPy and may have different element types. The
    result has the element type of `lhs`. An integer base with a negative integer exponent gives 0, unless the base is 1 or
    -1.

    Sharding: every result dim of more than one element may be split; operand dims of size 1 stay whole. No partial sum
    passes.

    Gradient: by both operands. The slope by `lhs` is 0 where the exponent is 0, and the slope by `rhs` is 0 where the base is
    0.

    Lifespan: created by `1-import` and later phases; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/element-wise.mlir @broadcast]
  }];
}
def Graph_MaxOp : Graph_BinaryOp<"max", "takes the larger of two elements, or NaN if one is NaN",
    [Graph_KeepsFinite, Graph_Differentiable]>;
def Graph_MinOp : Graph_BinaryOp<"min", "takes the smaller of two elements, or NaN if one is NaN",
    [Graph_KeepsFinite, Graph_Differentiable]>;
def Graph_AndOp : Graph_BinaryOp<"and", "takes the logical conjunction of two tensors element-wise">;
def Graph_OrOp : Graph_BinaryOp<"or", "takes the logical disjunction of two tensors element-wise">;
def Graph_XorOp : Graph_BinaryOp<"xor", "takes the exclusive disjunction of two tensors element-wise">;
def Graph_BitAndOp : Graph_BinaryOp<"bit_and", "combines the bits of two integers by AND">;
def Graph_BitOrOp : Graph_BinaryOp<"bit_or", "combines the bits of two integers by OR">;
def Graph_BitXorOp : Graph_BinaryOp<"bit_xor", "combines the bits of two integers by XOR">;

def Graph_ModOp : Graph_BinaryOp<"mod", "takes the remainder of `lhs` divided by `rhs` element-wise",
    [Graph_IsExpensive, Graph_Differentiable]> {
  let description = [{
    The operands broadcast as in NumPy: dims are matched from the right, and a dim of size 1 is repeated. Operands and result
    have the same element type. The integer remainder of a division by 0 is 0.

    - `truncated`: gives the remainder the sign of `lhs`, as fmod of C does. Without the attribute, the remainder has the sign
      of `rhs`, as `%` of Python does.

    Sharding: every result dim of more than one element may be split; operand dims of size 1 stay whole. No partial sum
    passes.

    Gradient: by both operands; the integer quotient counts as constant.

    Lifespan: created by `1-import`; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/element-wise.mlir @broadcast]
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, UnitAttr:$truncated);
}

def Graph_Predicate : I32EnumAttr<"Predicate", "order relation of two elements", [
    I32EnumAttrCase<"Equal", 0, "eq">, I32EnumAttrCase<"Less", 1, "lt">, I32EnumAttrCase<"LessOrEqual", 2, "le">,
    I32EnumAttrCase<"Greater", 3, "gt">, I32EnumAttrCase<"GreaterOrEqual", 4, "ge">]> {
  let description = [{
    Relation for which `graph.compare` tests `lhs` and `rhs`:

    - `eq` (`Equal`): `lhs` = `rhs`
    - `lt` (`Less`): `lhs` < `rhs`
    - `le` (`LessOrEqual`): `lhs` ≤ `rhs`
    - `gt` (`Greater`): `lhs` > `rhs`
    - `ge` (`GreaterOrEqual`): `lhs` ≥ `rhs`
  }];
  let cppNamespace = "::pcc::graph";
}

def Graph_CompareOp : Graph_InferOp<"compare", Graph_ElementWise> {
  let summary = "tests whether elements of `lhs` and `rhs` are in a relation";
  let description = [{
    Computes the boolean `result[i] = lhs[i] predicate rhs[i]`. The operands broadcast as in NumPy and have the same element
    type.

    - `predicate`: the relation; `eq`, `lt`, `le`, `gt` or `ge`.

    Sharding: every result dim of more than one element may be split; operand dims of size 1 stay whole. No partial sum
    passes.

    Gradient: none, since the result is no float.

    Lifespan: created by `1-import` and later phases; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/element-wise.mlir @tests]
  }];
  let arguments = (ins Graph_Predicate:$predicate, Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def Graph_SelectOp : Graph_InferOp<"select", Graph_ElementWise, [
    Graph_KeepsFinite, Graph_OwnShardingRule, Graph_Differentiable]> {
  let summary = "selects between two tensors element-wise by a condition";
  let description = [{
    Computes `result[i] = condition[i] ? on_true[i] : on_false[i]`. All three operands broadcast as in NumPy. `condition`
    holds booleans; both alternatives have the element type of the result.

    Sharding: every result dim of more than one element may be split; operand dims of size 1 stay whole. Partial sums pass
    from one alternative if the other one is a float tensor of zeros.

    Gradient: by both alternatives.

    Lifespan: created by `1-import` and later phases; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/element-wise.mlir @select]
  }];
  let arguments = (ins Graph_Tensor:$condition, Graph_Tensor:$on_true, Graph_Tensor:$on_false);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($on_true) `,` type($on_false)";
}

def Graph_CastOp : Graph_Op<"cast", Graph_ElementWise, [
    SameOperandsAndResultShape, Graph_KeepsFinite, Graph_OwnShardingRule, Graph_Differentiable]> {
  let summary = "converts each element to another type";
  let description = [{
    Operand and result have the same shape. Floats are truncated toward zero when they become integers. Booleans are true
    where the operand is not 0. An op whose type does not change folds to its operand.

    Sharding: every dim may be split. Partial sums pass a cast between floats that is exact because the result is at least as
    wide.

    Gradient: by the operand if both types are floats.

    Lifespan: created by `1-import` and later phases; moved by `7-emit` into a `rank.kernel`, or into a `rank.library_call` in
    front of a sum over microbatches.
    [example: test/dialects/graph/element-wise.mlir @cast]
  }];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasFolder = 1;
}

def Graph_GeluOp : Graph_UnaryOp<"gelu", "applies the Gaussian error linear unit (GELU) to each element",
    [Graph_IsExpensive, Graph_KeepsFinite, Graph_IsComposite, Graph_Differentiable]> {
  let description = [{
    Computes `0.5 x (1 + erf(slope x))` or, with `tanh`, its approximation `0.5 x (1 + tanh(slope (x + cubic x³)))`. Operand
    and result have the same float type.

    - `tanh`: selects the approximation.
    - `slope`: 1/√2 by default, and √(2/π) with `tanh`.
    - `cubic`: 0.044715 by default; read with `tanh` only.

    `slope` and `cubic` hold the constants of the model if the model wrote them in its own type. Results in f64 then do not
    change; for narrower types the difference is below the rounding.

    Sharding: every dim may be split. No partial sum passes.

    Gradient: by the operand, computed in f32 for narrower types.

    Lifespan: created by `1-import`, or by `recognise-composites` of `2-prepare` from its parts; moved by `7-emit` into a
    `rank.kernel`, or into a `rank.library_call` as an activation behind a contraction.
    [example: test/dialects/graph/element-wise.mlir @unary]
  }];
  let arguments = (ins Graph_Tensor:$input, UnitAttr:$tanh, OptionalAttr<F64Attr>:$slope, OptionalAttr<F64Attr>:$cubic);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input, "bool":$tanh), [{
    build($_builder, $_state, result, input, tanh, ::mlir::FloatAttr(), ::mlir::FloatAttr());
  }]>];
}

def Graph_RandomOp : Graph_InferOp<"random", Graph_ElementWise, [Graph_IsExpensive, Graph_GivesFinite]> {
  let summary = "generates uniform random numbers in [0, 1), each from its own counter";
  let description = [{
    Computes one f32 number per element with Philox 4x32, 10 rounds (Salmon et al. 2011). The counter consists of the element
    of `index` and of `step`, both i64, which broadcast as in NumPy. The number is the upper 24 bits of the first word,
    divided by 2^24. A number thus depends on its counter and the key only, and not on the rank or the order in which it is
    generated.

    - `key`: the key of the generator, an i64. `1-import` derives it from the name of the value and `--seed`.

    Sharding: every result dim of more than one element may be split; operand dims of size 1 stay whole. No partial sum
    passes.

    Gradient: none, since no floats lead to the result.

    Lifespan: created by `1-import` for dropout when the model is trained; moved into a `rank.kernel` by `7-emit`.
    [example: test/dialects/graph/element-wise.mlir @random]
  }];
  let arguments = (ins Graph_Tensor:$index, Graph_Tensor:$step, I64Attr:$key);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$index `,` $step `key` $key attr-dict `:` type($index) `,` type($step)";
}
