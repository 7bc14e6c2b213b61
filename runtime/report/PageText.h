//===- PageText.h - text of a page without data ---------------------------===//

#ifndef PCC_RUNTIME_REPORT_PAGETEXT_H
#define PCC_RUNTIME_REPORT_PAGETEXT_H

#include <string_view>

namespace pcc::runtime {

/// Returns the HTML text of a report page, including its style and its scripts.
/// The text contains "@DATA@" in place of the data of a report. The build
/// generates the text from the files in page/.
std::string_view pageText();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_REPORT_PAGETEXT_H
