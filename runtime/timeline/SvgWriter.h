//===- SvgWriter.h - writing of SVG documents -----------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_SVGWRITER_H
#define PCC_RUNTIME_TIMELINE_SVGWRITER_H

#include <string>
#include <string_view>

namespace pcc::runtime {

/// Rectangle in pixels; (x, y) is the upper left corner.
struct Rectangle {
  double x = 0, y = 0, width = 0, height = 0;
};

/// Returns `number` with `decimals` decimals, independent of the locale.
std::string printFixed(double number, int decimals);

/// Builds the text of an SVG document. Elements are drawn in the order of the
/// calls, so that later ones cover earlier ones. Lengths are pixels, written
/// with two decimals. Text content is escaped; `colour` and `attributes` are
/// written as they are. Equal calls give equal documents.
class SvgWriter {
public:
  /// Begins a document of this size with a white background.
  SvgWriter(double width, double height);

  /// Adds a line of text whose baseline begins at (x, y). `attributes` are
  /// further SVG attributes; a non-empty string must begin with a space.
  void addText(double x, double y, std::string_view content,
               std::string_view attributes = "");
  /// Adds a filled rectangle.
  void addRectangle(const Rectangle &place, std::string_view colour);
  /// Adds a filled rectangle with a white border, which separates it from its
  /// neighbours. `hint` is shown on hover.
  void addBox(const Rectangle &place, std::string_view colour, double opacity,
              std::string_view hint);
  /// Adds a filled polygon. `points` are "x,y" pairs, separated by spaces.
  void addPolygon(std::string_view points, std::string_view colour,
                  double opacity);
  /// Opens a group of elements with the class `name`.
  void beginGroup(std::string_view name);
  /// Closes the last open group.
  void endGroup() { text += "</g>\n"; }

  /// Returns the complete document. All groups must be closed.
  std::string finish() { return text + "</svg>\n"; }

private:
  /// Writes a rectangle without the end of its tag.
  void beginRectangle(const Rectangle &place, std::string_view colour);

  std::string text;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_SVGWRITER_H
