//===- SvgWriter.h - writing of SVG documents -----------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_SVGWRITER_H
#define PCC_RUNTIME_TIMELINE_SVGWRITER_H

#include <string>
#include <string_view>

namespace pcc::runtime {

/// A rectangle. Lengths are in pixels; (x, y) is the upper left corner.
struct Rectangle {
  double x = 0, y = 0, width = 0, height = 0;
};

/// Returns `number` as text with `decimals` digits after the decimal point,
/// independent of the locale.
std::string printFixed(double number, int decimals);

/// Builder of an SVG document. Elements are drawn in the order of the calls, so
/// that later ones cover earlier ones. Lengths are pixels, written with two
/// decimals. Text content is escaped; `colour` and `attributes` are not.
class SvgWriter {
public:
  /// Begins a document of `width` by `height` pixels with a white background.
  SvgWriter(double width, double height);

  /// Adds a line of text whose baseline begins at (x, y). `attributes` are
  /// additional SVG attributes of the text, such as " fill='red'", with a
  /// leading space.
  void addText(double x, double y, std::string_view content,
               std::string_view attributes = "");
  /// Adds a rectangle that is filled with `colour`.
  void addRectangle(const Rectangle &place, std::string_view colour);
  /// Adds a filled rectangle with a white border, which separates it from
  /// adjacent boxes. Viewers show the text `hint` when the pointer is over the
  /// box.
  void addBox(const Rectangle &place, std::string_view colour, double opacity,
              std::string_view hint);
  /// Adds a filled polygon. `points` are "x,y" pairs, separated by spaces.
  void addPolygon(std::string_view points, std::string_view colour,
                  double opacity);
  /// Opens an SVG group (<g>) of class `name`. Elements that are added before
  /// the matching endGroup() belong to the group.
  void beginGroup(std::string_view name);
  /// Closes the group (<g>) that was opened last.
  void endGroup() { text += "</g>\n"; }

  /// Returns the complete document. All groups must be closed.
  std::string finish() { return text + "</svg>\n"; }

private:
  /// Appends the beginning of an SVG rectangle to the document: the text
  /// "<rect" and the attributes for position, size and fill color. `place`
  /// contains the position and the size. `colour` is the fill color. The text
  /// has no "/>" or ">" at the end. The caller can therefore append more
  /// attributes, and must then close the rectangle.
  void beginRectangle(const Rectangle &place, std::string_view colour);

  std::string text;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_SVGWRITER_H
