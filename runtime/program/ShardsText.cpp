//===- ShardsText.cpp - page of the shards that ranks hold ----------------===//

#include "runtime/program/ShardsText.h"
#include "runtime/base/TextTable.h"
#include "runtime/program/ShardPicture.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <unistd.h>

namespace pcc::runtime {

using Json = nlohmann::ordered_json;

namespace {
/// One or more tensors that one picture of their shards can show. The tensors
/// have equal types, shapes and shardings, and each rank holds the same
/// elements of each tensor.
struct Picture {
  /// The first of the tensors, with the index ranges that each rank holds.
  HeldTensor tensor;
  /// Sharding in the spelling of --shard, such as "[-, 3|tp]".
  std::string sharding;
  /// Names of the tensors after the first one.
  std::vector<std::string> others = {};
};
} // namespace

/// Converts the index ranges of all dims from JSON. For example, [[[0, 8]],
/// [[0, 4], [8, 12]]] means the rows 0 to 7, and the columns 0 to 3 and 8 to
/// 11.
static std::vector<dist::Runs> runsOf(const Json &dims) {
  std::vector<dist::Runs> all;
  for (const Json &dim : dims) {
    dist::Runs &runs = all.emplace_back();
    for (const Json &run : dim)
      runs.push_back({run.at(0).get<int64_t>(), run.at(1).get<int64_t>()});
  }
  return all;
}

/// Returns one Picture for each tensor in `ranks`, in the order of the program.
/// The Picture has the index ranges of all ranks that hold the tensor. A tensor
/// that ranks hold in two different shardings gives two Pictures.
static std::vector<Picture> tensorsOf(const Json &ranks) {
  std::vector<Picture> tensors;
  std::map<std::string, size_t> numbers;
  for (const Json &rank : ranks)
    for (const char *list : {"parameters", "inputs", "outputs"})
      for (const Json &entry : rank.at(list)) {
        const auto name = entry.at("name").get<std::string>();
        const auto sharding = entry.at("sharding").get<std::string>();
        const auto [found, isNew] =
            numbers.insert({list + name + sharding, tensors.size()});
        if (isNew)
          tensors.push_back({{name, entry.at("dtype").get<std::string>(),
                              entry.at("shape").get<std::vector<int64_t>>()},
                             sharding});
        tensors[found->second].tensor.parts[rank.at("rank").get<int64_t>()] =
            runsOf(entry.at("runs"));
      }
  return tensors;
}

/// Returns the pictures of all tensors in `ranks`. Tensors whose pictures would
/// be equal share one Picture.
static std::vector<Picture> picturesOf(const Json &ranks) {
  std::vector<Picture> pictures;
  for (Picture &made : tensorsOf(ranks)) {
    const auto equal = std::find_if(
        pictures.begin(), pictures.end(), [&](const Picture &other) {
          return other.sharding == made.sharding &&
                 other.tensor.dtype == made.tensor.dtype &&
                 other.tensor.shape == made.tensor.shape &&
                 other.tensor.parts == made.tensor.parts;
        });
    if (equal == pictures.end())
      pictures.push_back(std::move(made));
    else
      equal->others.push_back(made.tensor.name);
  }
  return pictures;
}

/// Returns "likewise a, b and 2 more"; empty without names.
static std::string likewiseText(const std::vector<std::string> &names) {
  constexpr size_t mostNamed = 3;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), mostNamed); ++i)
    text += (i ? ", " : "likewise ") + names[i];
  return text +
         (names.size() > mostNamed
              ? " and " + std::to_string(names.size() - mostNamed) + " more"
              : "");
}

static std::string pictureText(const Picture &picture) {
  const std::string likewise = likewiseText(picture.others);
  return titleOf(picture.tensor) + "  " + picture.sharding + "\n" +
         (likewise.empty() ? "" : likewise + "\n") +
         shardPicture(picture.tensor);
}

/// Returns a table of the tensors in `rest`, which are listed by name instead
/// of drawn as pictures. The table has at most `mostRows` rows.
static std::string restText(std::span<const Picture> rest, size_t mostRows) {
  TextTable table{{"tensors", "and", "sharding", "held by"}, {}};
  for (const Picture &picture : rest.first(std::min(rest.size(), mostRows))) {
    std::vector<int64_t> ranks;
    for (const auto &[rank, part] : picture.tensor.parts)
      ranks.push_back(rank);
    const size_t more = picture.others.size();
    table.rows.push_back({titleOf(picture.tensor),
                          more ? std::to_string(more) + " more" : "",
                          picture.sharding, rankListText(ranks)});
  }
  return "\n" + alignedText(table, tableWidth(STDOUT_FILENO)) +
         (rest.size() > mostRows
              ? "and " + std::to_string(rest.size() - mostRows) +
                    " more; a narrower GLOB draws them\n"
              : "");
}

static size_t numLines(const std::string &text) {
  return size_t(std::count(text.begin(), text.end(), '\n'));
}

std::string shardsText(const Json &ranks) {
  constexpr size_t mostLines = 40, fewestRows = 4;
  const std::vector<Picture> pictures = picturesOf(ranks);
  std::string text;
  size_t next = 0;
  for (; next < pictures.size(); ++next) {
    const std::string drawn = (next ? "\n" : "") + pictureText(pictures[next]);
    const bool isLast = next + 1 == pictures.size();
    // If this is not the last picture, leave space for the table of restText().
    // The table needs 3 lines (an empty line, the titles, and a last line), and
    // has room for at least `fewestRows` rows.
    const size_t reserved = isLast ? 0 : 3 + fewestRows;
    if (next && numLines(text) + numLines(drawn) + reserved > mostLines)
      break;
    text += drawn;
  }
  if (next == pictures.size())
    return text;
  const size_t left = mostLines - std::min(mostLines, numLines(text) + 3);
  return text + restText(std::span(pictures).subspan(next),
                         std::max(left, fewestRows));
}

} // namespace pcc::runtime
