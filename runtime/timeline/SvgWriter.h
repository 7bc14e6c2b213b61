//===- SvgWriter.h - the text of a picture --------------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_SVGWRITER_H
#define PCC_RUNTIME_TIMELINE_SVGWRITER_H

#include <string>
#include <string_view>

namespace pcc::runtime {

struct Rectangle {
  double x = 0, y = 0, width = 0, height = 0;
};

/// `number` with so many decimals, whatever the locale.
std::string printFixed(double number, int decimals);

/// An SVG document that is written from back to front. What is shown is
/// escaped; lengths are pixels and have two decimals.
class SvgWriter {
public:
  /// Begins a white page.
  SvgWriter(double width, double height);

  /// `attributes` begin with a space.
  void addText(double x, double y, std::string_view content,
               std::string_view attributes = "");
  void addRectangle(const Rectangle &place, std::string_view colour);
  /// With a white seam to its neighbours, and `hint` on hover.
  void addBox(const Rectangle &place, std::string_view colour, double opacity,
              std::string_view hint);
  /// `points` are "x,y" joined by spaces.
  void addPolygon(std::string_view points, std::string_view colour,
                  double opacity);
  void beginGroup(std::string_view name);
  void endGroup() { text += "</g>\n"; }

  std::string finish() { return text + "</svg>\n"; }

private:
  void beginRectangle(const Rectangle &place, std::string_view colour);

  std::string text;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_SVGWRITER_H
