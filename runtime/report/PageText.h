//===- PageText.h - text of a page without data ---------------------------===//

#ifndef PCC_RUNTIME_REPORT_PAGETEXT_H
#define PCC_RUNTIME_REPORT_PAGETEXT_H

#include <string_view>

namespace pcc::runtime {

/// Returns the page of a report with its style and its scripts. "@DATA@" stands
/// where the data belongs. The build makes the text from the files in page/.
std::string_view pageText();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_REPORT_PAGETEXT_H
