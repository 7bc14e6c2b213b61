//===- TransformerSpec.h - sizes of a transformer without a file ----------===//

#ifndef PCC_PASSES_1_IMPORT_TRANSFORMER_TRANSFORMERSPEC_H
#define PCC_PASSES_1_IMPORT_TRANSFORMER_TRANSFORMERSPEC_H

#include "status/StatusOr.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pcc {

/// Sizes of a decoder that predicts the next token (`--transformer`).
struct TransformerSpec {
  int64_t layers = 0;
  /// Size of the vector of a token.
  int64_t hidden = 0;
  /// Heads of queries, and of keys and values. `heads` is a multiple of
  /// `kvHeads`.
  int64_t heads = 0, kvHeads = 0;
  /// Size of one head.
  int64_t headDim = 0;
  /// Inner size of the feed-forward network, or of each expert.
  int64_t ffn = 0;
  int64_t vocab = 0;
  /// Tokens of one sequence.
  int64_t seq = 0;
  /// Number of experts of each layer; 0 for a feed-forward network without
  /// experts. Each token is computed by `topk` experts.
  int64_t experts = 0, topk = 0;
  /// Whether the layers are those of Llama: a gated feed-forward network
  /// (SwiGLU), norms by the root mean square, rotary positions, no biases.
  /// Otherwise they are those of GPT-2: GELU, layer norms, learned positions.
  bool isGated = false;
  /// Whether the last product uses the table of tokens as its weight.
  bool isTied = false;
};

/// Returns why pcc cannot make such a transformer for `batch` sequences: one of
/// its tensors has more than 2^48 elements, or its attention compares more than
/// 2^56 pairs of tokens. Returns an empty text if it can.
std::string describeTooLarge(const TransformerSpec &spec, int64_t batch);

/// Parses sizes such as "layers=2,hidden=64,heads=4,ffn=256,vocab=500,seq=32".
/// Optional are kv_heads (default: heads), head_dim (default: hidden / heads),
/// experts, topk (default: 1), gated and tied. Returns an error with exit code
/// 2 if a name is unknown, given twice or missing, or if a size does not fit.
StatusOr<TransformerSpec> parseTransformer(std::string_view text);

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_TRANSFORMER_TRANSFORMERSPEC_H
