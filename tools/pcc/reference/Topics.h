//===- Topics.h - pages of `pcc help TOPIC` -------------------------------===//

#ifndef PCC_TOOLS_PCC_REFERENCE_TOPICS_H
#define PCC_TOOLS_PCC_REFERENCE_TOPICS_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pcc::tool {

/// Returns the names of all topics, such as "sharding".
std::vector<std::string> topicNames();

/// Returns what the topic `name` is about, in a few words.
std::string topicSummary(std::string_view name);

/// Returns the text of the topic `name` with lines of at most `width` columns;
/// std::nullopt if there is no such topic.
std::optional<std::string> topicText(std::string_view name, size_t width);

/// Returns all exit codes in one paragraph, such as "exit codes: 0 done, …".
std::string exitCodeSummary();

/// Exit code of pcc and its meaning, from status/Status.h.
struct ExitCodeRow {
  int code;
  const char *name;
  const char *meaning;
};
/// Returns all exit codes in ascending order.
std::vector<ExitCodeRow> exitCodes();

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_REFERENCE_TOPICS_H
