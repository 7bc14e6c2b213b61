//===- ReportPage.cpp - a report as one HTML page -------------------------===//

#include "runtime/report/ReportPage.h"
#include "runtime/report/PageText.h"

namespace pcc::runtime {

/// Returns `json` as text that can stand in a <script> element. All characters
/// are ASCII. Replaces each "<" by the escape "\u003c". In JSON, the character
/// "<" occurs only inside of strings, where the escape has the same meaning.
/// The replacement is necessary because the strings contain names from models.
/// A name with "</script>" or "<!--" would otherwise end the element or begin a
/// comment.
static std::string scriptText(const nlohmann::ordered_json &json) {
  const std::string text =
      json.dump(-1, ' ', /*ensure_ascii=*/true,
                nlohmann::ordered_json::error_handler_t::replace);
  std::string escaped;
  for (char c : text)
    if (c == '<')
      escaped += "\\u003c";
    else
      escaped += c;
  return escaped;
}

std::string reportPage(const nlohmann::ordered_json &sources,
                       std::optional<int64_t> followedAt) {
  static constexpr std::string_view place = "@DATA@";
  const std::string_view page = pageText();
  const size_t at = page.find(place);
  nlohmann::ordered_json data = {{"follows", followedAt.has_value()}};
  if (followedAt)
    data["written"] = *followedAt;
  data["sources"] = sources;
  return std::string(page.substr(0, at)) + scriptText(data) +
         std::string(page.substr(at + place.size()));
}

} // namespace pcc::runtime
