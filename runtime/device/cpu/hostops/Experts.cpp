//===- Experts.cpp - grouping and products of rows by expert --------------===//
//
// These ops compute mixture-of-experts layers without dropping tokens, like
// MegaBlocks (Gale et al. 2023). The rows of all experts are in one dim of
// fixed size, sorted by expert; `counts` says how many rows each expert has.
// Rows behind the last expert's are padding.
//
//   rows    | expert 0 | expert 1 | … | padding |
//   counts    3          5          …
//
// group_rows lists the rows. Input: gate [tokens, experts]. Outputs, all [rows]
// but the last: token (i64), expert (i64), weight, and counts [experts] (i64),
// with rows = tokens * min(chosen, experts). Integer: chosen, the largest
// number of rows per token.
//
// grouped_matmul multiplies each row by the matrix of its expert. Inputs: rows
// [rows, k], matrices, counts [experts] (i64). Output: [rows, n]. Integer:
// transposed. If it is 0, matrices is [experts, k, n]; if 1, [experts, n, k].
//
// Padding rows are not computed; they are 0 in the outputs.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/HostOps.h"
#include "runtime/device/cpu/WidenedProduct.h"
#include "runtime/tensor/ElementDispatch.h"

#include <algorithm>
#include <cstring>

namespace pcc::runtime {

/// Returns whether `tensor` has elements of type i64 and the shape [size].
static bool isIndexVector(const HostOperand &tensor, int64_t size) {
  return tensor.type == ElementType::I64 &&
         tensor.shape == std::vector<int64_t>{size};
}

//===----------------------------------------------------------------------===//
// group_rows
//===----------------------------------------------------------------------===//

/// Checks a call of group_rows, an op of mixture-of-experts layers that lists
/// pairs of a token and an expert. Returns null if the call is valid, otherwise
/// a description of the fault. Also resizes the workspace to one number per
/// token, which groupRows() needs.
static const char *prepareGroupRows(HostOpCall &call) {
  if (call.inputs.size() != 1 || call.outputs.size() != 4 ||
      call.integers.size() != 1)
    return "needs one input, four outputs and one integer";
  const HostOperand &gate = call.inputs[0], &weight = call.outputs[2];
  const int64_t chosen = call.integers[0];
  if (gate.shape.size() != 2 || !isFloat(gate.type) || chosen < 1)
    return "has gates of another type or shape";
  const int64_t tokens = gate.shape[0], experts = gate.shape[1];
  const int64_t rows = tokens * std::min(chosen, experts);
  if (!isIndexVector(call.outputs[0], rows) ||
      !isIndexVector(call.outputs[1], rows) ||
      !isIndexVector(call.outputs[3], experts) || weight.type != gate.type ||
      weight.shape != std::vector<int64_t>{rows})
    return "has outputs of another type or shape";
  call.workspace.resize(size_t(tokens));
  return nullptr;
}

/// Lists the pairs of a token and an expert in a mixture-of-experts layer,
/// ordered by expert, then by token. The input is a matrix of gates [tokens,
/// experts]. A pair is listed if its gate is not 0. A token gets at most as
/// many pairs as the integer attribute says. For example, let the attribute be
/// 1, and let the gates of token 0 be [0, 0.5], and of token 1 [0.25, 0.75].
/// The op lists token 1 with expert 0, then token 0 with expert 1.
///
/// The outputs are the token, the expert and the gate of each pair, and the
/// number of pairs of each expert. Unused places of the lists are set to 0.
template <typename T> static void groupRows(HostOpCall &call) {
  const T *gate = static_cast<const T *>(call.inputs[0].data);
  const int64_t tokens = call.inputs[0].shape[0];
  const int64_t experts = call.inputs[0].shape[1];
  auto *token = static_cast<int64_t *>(call.outputs[0].data);
  auto *expert = static_cast<int64_t *>(call.outputs[1].data);
  auto *weight = static_cast<T *>(call.outputs[2].data);
  auto *counts = static_cast<int64_t *>(call.outputs[3].data);
  std::vector<int64_t> &free = call.workspace;
  std::fill(free.begin(), free.end(), call.integers[0]);
  int64_t row = 0;
  for (int64_t e = 0; e < experts; ++e) {
    const int64_t first = row;
    for (int64_t t = 0; t < tokens; ++t) {
      const T value = gate[t * experts + e];
      if (static_cast<Computed<T>>(value) == Computed<T>(0) ||
          free[size_t(t)] == 0)
        continue;
      --free[size_t(t)];
      token[row] = t;
      expert[row] = e;
      weight[row++] = value;
    }
    counts[e] = row - first;
  }
  const int64_t rows = call.outputs[0].shape[0];
  std::fill(token + row, token + rows, 0);
  std::fill(expert + row, expert + rows, 0);
  std::memset(static_cast<void *>(weight + row), 0,
              size_t(rows - row) * sizeof(T));
}

static void runGroupRows(HostOpCall &call) {
  dispatch(call.inputs[0].type,
           [&](auto element) { groupRows<decltype(element)>(call); });
}

//===----------------------------------------------------------------------===//
// grouped_matmul
//===----------------------------------------------------------------------===//

/// Checks a call of grouped_matmul. This op belongs to mixture-of-experts
/// layers. It multiplies each input row by the matrix of the expert to which
/// the row belongs. Returns null if the call is valid, otherwise a description
/// of the fault.
///
/// For f16 and bf16, the op computes with WidenedProduct. WidenedProduct
/// converts the matrices to f32 in scratch memory. This function makes the
/// workspace large enough for these floats. The workspace is a vector of 64-bit
/// words, and each word holds two floats.
static const char *prepareGroupedMatmul(HostOpCall &call) {
  if (call.inputs.size() != 3 || call.outputs.size() != 1 ||
      call.integers.size() != 1)
    return "needs rows, matrices, counts, one output and one integer";
  const HostOperand &rows = call.inputs[0], &matrices = call.inputs[1],
                    &out = call.outputs[0];
  if (rows.shape.size() != 2 || matrices.shape.size() != 3 ||
      !isFloat(rows.type) || matrices.type != rows.type ||
      out.type != rows.type ||
      !isIndexVector(call.inputs[2], matrices.shape[0]))
    return "has operands of another type or shape";
  const bool transposed = call.integers[0] != 0;
  const int64_t k = matrices.shape[transposed ? 2 : 1],
                n = matrices.shape[transposed ? 1 : 2];
  if (rows.shape[1] != k || out.shape != std::vector<int64_t>{rows.shape[0], n})
    return "multiplies shapes that do not fit";
  if (sizeOf(rows.type) < sizeof(float))
    call.workspace.resize(
        size_t(WidenedProduct<BFloat16>::scratchSize(rows.shape[0], k) + 1) /
        2);
  return nullptr;
}

namespace {
/// Matrix product c = a b for one expert of a mixture-of-experts layer:
///
/// - a is [m, k]. The m rows of a are the input rows that belong to the expert.
/// - b is [k, n]. The matrix b contains the weights of the expert.
/// - c is [m, n]. The matrix c has one output row for each row of a.
///
/// In memory, a and c are dense row-major matrices, and b may be transposed.
/// The element in row p and column j of b is at the address
/// `b + p * rowStride + j * columnStride`.
template <typename T> struct ExpertProduct {
  int64_t m, n, k;
  const T *a, *b;
  int64_t rowStride, columnStride;
  T *c;
  /// Address of temporary memory for WidenedProduct, which multiplies matrices
  /// of type f16 or bf16. WidenedProduct converts the matrices to f32, and
  /// stores the f32 numbers in this memory. The memory has room for at least
  /// WidenedProduct::scratchSize(m, k) floats. If T is another type, the memory
  /// is not used.
  float *scratch;

  /// Computes the matrix product c = a b: with sgemm for f32, with
  /// WidenedProduct for f16 and bf16, and with loops for all other types.
  void run() const {
    if constexpr (std::is_same_v<T, float>)
      dnnl_sgemm('N', columnStride == 1 ? 'N' : 'T', m, n, k, 1.0f, a, k, b,
                 columnStride == 1 ? n : k, 0.0f, c, n);
    else if constexpr (std::is_same_v<Computed<T>, float>)
      WidenedProduct<T>{m, n, k, a, k, 1, b, rowStride, columnStride, c, n, 1}
          .run(scratch);
    else
      runPlain();
  }

private:
  /// Computes the matrix product c = a b with three nested loops, without a
  /// library. The function sets all elements of c to 0. Then the loops add the
  /// products of the elements of a and b to the elements of c.
  void runPlain() const {
    std::fill(c, c + m * n, T());
    for (int64_t i = 0; i < m; ++i)
      for (int64_t p = 0; p < k; ++p)
        for (int64_t j = 0; j < n; ++j)
          c[i * n + j] = static_cast<T>(
              c[i * n + j] +
              a[i * k + p] * b[p * rowStride + j * columnStride]);
  }
};
} // namespace

/// Multiplies each input row by the matrix of the expert to which the row
/// belongs. The rows are ordered by expert. The input `counts` has the number
/// of rows of each expert. For example, the counts 3 and 5 mean that rows 0 to
/// 2 belong to expert 0, and rows 3 to 7 belong to expert 1.
///
/// The counts are input data, and may be wrong. A count is therefore limited to
/// the number of rows that remain. For example, if there are 6 rows in all, the
/// counts 3 and 5 are used as 3 and 3. A negative count is used as 0. Output
/// rows that belong to no expert are 0.
template <typename T> static void groupedMatmul(HostOpCall &call) {
  const HostOperand &rows = call.inputs[0], &out = call.outputs[0];
  const auto *counts = static_cast<const int64_t *>(call.inputs[2].data);
  const int64_t k = rows.shape[1], n = out.shape[1];
  const bool transposed = call.integers[0] != 0;
  ExpertProduct<T> product{0,
                           n,
                           k,
                           static_cast<const T *>(rows.data),
                           static_cast<const T *>(call.inputs[1].data),
                           transposed ? 1 : n,
                           transposed ? k : 1,
                           static_cast<T *>(out.data),
                           reinterpret_cast<float *>(call.workspace.data())};
  int64_t left = k > 0 ? rows.shape[0] : 0;
  for (int64_t expert = 0; expert < call.inputs[1].shape[0]; ++expert) {
    product.m = std::clamp<int64_t>(counts[expert], 0, left);
    if (product.m > 0 && n > 0)
      product.run();
    product.a += product.m * k;
    product.b += k * n;
    product.c += product.m * n;
    left -= product.m;
  }
  T *end = static_cast<T *>(out.data) + rows.shape[0] * n;
  std::fill(product.c, end, T());
}

static void runGroupedMatmul(HostOpCall &call) {
  dispatch(call.inputs[0].type, [&](auto element) {
    if constexpr (std::is_floating_point_v<Computed<decltype(element)>>)
      groupedMatmul<decltype(element)>(call);
  });
}

static constexpr HostOpRow rows[] = {
    {"group_rows", prepareGroupRows, runGroupRows},
    {"grouped_matmul", prepareGroupedMatmul, runGroupedMatmul}};

std::span<const HostOpRow> expertOps() { return rows; }

} // namespace pcc::runtime
