//===- Topics.cpp - pages of `pcc help TOPIC` -----------------------------===//

#include "tools/pcc/reference/Topics.h"
#include "runtime/engine/options/HelpText.h"

#include <cctype>

using namespace pcc;
using namespace pcc::tool;
using namespace pcc::runtime;

static constexpr char sharding[] =
    R"(Ranks form a mesh with named axes: --tp, --pp, --dp and --cp set their sizes, or --mesh names axes of your own. A sharding tells how the axes divide a tensor. pcc finds a sharding for every tensor, so that ranks receive as few bytes as possible. These options pin some of them:

  pcc model.onnx --tp 2 --dim batch=8 --dim seq=32 --shard '*lm_head.weight=[tp,-]'
  pcc model.onnx --dp 2 --dim batch=8 --dim seq=32 --preset fsdp

A sharding has one entry per dim:

  -         the dim is whole on each rank
  tp        axis tp divides the dim
  dp+tp     two axes divide the dim, the major one first
  3|tp      tp divides each of 3 equal blocks
  tp:2      the first 2 parts of tp divide the dim
  tp:(2)4   4 parts of tp, after the first 2
  ?         pcc chooses

A dim that does not divide evenly is padded, and a note tells it. NAME in --shard is the name of a weight, input, output or value, or a glob: `*` stands for any letters. To see which shardings pcc has chosen, and which alternatives lost:

  pcc explain model.onnx --tp 2 --dim batch=8 --dim seq=32
  pcc explain model.onnx --tp 2 --dim batch=8 --dim seq=32 '*lm_head.weight'
)";

static constexpr char schedules[] =
    R"(With --pp P, the model is cut in P stages, and the batch in M microbatches (--microbatches M). A schedule orders the forward (F) and backward (B) actions of each pipeline rank. Without --train there are only forwards. With --train, --schedule selects one of:

  gpipe         all forwards, then all backwards: most memory
  1f1b          one forward, one backward: memory for P microbatches
  interleaved   1f1b with several stages a rank: shorter idle time
  zb-h1         B is divided in I (input gradient) and W (weight
                gradient); W fills idle time
  zb-v          as zb-h1, with two stages a rank in the form of a V
  naive         one microbatch at a time
  FILE.csv      your own table, a line per pipeline rank:
                0F0,0F1,0B0,0B1 is stage, kind, microbatch

The default is 1f1b. More microbatches mean less idle time; with 1f1b, a step is idle for (P - 1) / (M + P - 1) of its time. --stage-at NAME moves a cut.

  pcc model.onnx --pp 2 --microbatches 4 --train --loss 'cross_entropy(logits, labels)' --dim batch=8 --dim seq=32 --schedule-svg step.svg
  pcc inspect model.pcc --schedule > table.csv
)";

static constexpr char training[] =
    R"(--train makes a step of training of a model: forward, backward and optimizer. --loss tells what to minimize; labels becomes an input of the bundle.

  pcc model.onnx --train --loss 'cross_entropy(logits, labels)' --optimizer adamw --lr 0.001 --dp 2 --preset zero1 --dim batch=8 --dim seq=32

The data is a directory of NAME.npy, one file per input, whose first dim counts steps; or a file of token ids:

  pcc run model.pcc --data data --steps 10 --save ckpt
  pcc run model.pcc --data tokens.bin --tokens u16 --steps 10 --save ckpt

Each step prints a line: step, loss, gradient norm, learning rate. A terminal also shows the speed, the memory and the time that is left. --log-every K prints every K-th step only. --metrics FILE.jsonl has all steps, with more numbers.

A loss that is not finite is told at once, and training goes on. With --check-finite it ends, and the message names the first op and node that made such a value:

  pcc run model.pcc --data data --steps 10 --check-finite

A checkpoint can be resumed by a bundle of the same model with another plan (other --tp, --pp, --dp), and its weights be exported:

  pcc run model.pcc --data data --steps 20 --resume ckpt --save ckpt
  pcc checkpoint export ckpt -o trained.safetensors

Presets zero1, zero2 and zero3 shard optimizer state, gradients and weights over dp. --recompute trades time for memory. --dtype bf16 computes in bf16 and keeps trained weights in f32.
)";

static constexpr char clusters[] =
    R"(A cluster tells pcc how fast devices and links are. pcc compares shardings and cuts of stages by the seconds that they would take there. Without --cluster, and with --cluster bytes, pcc counts received bytes, then calls.

  pcc model.onnx --tp 2 --dim batch=8 --dim seq=32 --cluster h100-dgx
  pcc --list-clusters

A cluster is a built-in name or a file (TOML), which may leave out every field:

  pcc model.onnx --tp 2 --dim batch=8 --dim seq=32 --cluster cluster.toml

  nodes = 2
  devices_per_node = 8
  host_ram_gb = 2048          # gb is GiB
  gemm_eff = [[1e9, 0.25]]    # flops of a matmul, part of the peak

  [[links]]                   # one level of the network
  level = "nvlink"
  span = 8                    # ranks that it connects
  alpha_us = 8                # latency
  beta_gbps = 370             # 10^9 bytes a second

  [device]
  mem_gb = 80
  mem_gbps = 3350
  launch_us = 4
  peak_tflops = { bf16 = 989, fp32 = 67 }

  [collectives.all_reduce]
  8 = [[65536, 4.1]]          # 8 ranks: bytes of the tensor, bus bandwidth
)";

namespace {
/// A page of `pcc help`. The text of the exit codes is generated.
struct Topic {
  const char *name;
  const char *summary;
  const char *text;
};
} // namespace

static constexpr Topic topics[] = {
    {"sharding", "how tensors are divided, and how to pin it", sharding},
    {"schedules", "pipelines: stages, microbatches and their order", schedules},
    {"training", "losses, data, checkpoints, presets", training},
    {"clusters", "names and files of --cluster", clusters},
    {"exit-codes", "what the exit code of each command means", nullptr},
};

static constexpr ExitCodeRow exitCodeRows[] = {
#include "tools/pcc/reference/ExitCodes.inc"
};

std::vector<ExitCodeRow> tool::exitCodes() {
  return {std::begin(exitCodeRows), std::end(exitCodeRows)};
}

/// Returns the words of a name: "WrongUsage" is "wrong usage".
static std::string wordsOf(std::string_view name) {
  std::string words;
  for (char letter : name) {
    if (std::isupper((unsigned char)letter) && !words.empty())
      words += ' ';
    words += char(std::tolower((unsigned char)letter));
  }
  return words;
}

std::string tool::exitCodeSummary() {
  std::string text;
  for (const ExitCodeRow &row : exitCodeRows)
    text += (text.empty() ? "exit codes: " : ", ") + std::to_string(row.code) +
            " " + wordsOf(row.name);
  return text + "; 'pcc help exit-codes' tells more\n";
}

/// Returns the exit codes with their meanings.
static std::string exitCodeText(size_t width) {
  std::vector<PageEntry> entries;
  for (const ExitCodeRow &row : exitCodeRows)
    entries.push_back({.names = {std::to_string(row.code)},
                       .value = wordsOf(row.name),
                       .meaning = row.meaning});
  return wrapped("An error is one line on stderr, `pcc: error: ...`, with "
                 "`note:` lines after it. Each command ends with one of these "
                 "codes, or with 128 + N if signal N ends it.",
                 width) +
         "\n" + listOf(entries, width);
}

std::vector<std::string> tool::topicNames() {
  std::vector<std::string> names;
  for (const Topic &topic : topics)
    names.emplace_back(topic.name);
  return names;
}

std::string tool::topicSummary(std::string_view name) {
  for (const Topic &topic : topics)
    if (name == topic.name)
      return topic.summary;
  return "";
}

std::optional<std::string> tool::topicText(std::string_view name,
                                           size_t width) {
  for (const Topic &topic : topics)
    if (name == topic.name)
      return topic.text ? wrapped(topic.text, width) : exitCodeText(width);
  return std::nullopt;
}
