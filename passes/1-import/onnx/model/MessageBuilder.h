//===- MessageBuilder.h - bytes of a message, most of them copied ---------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGEBUILDER_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGEBUILDER_H

#include <cstdint>
#include <deque>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace pcc::onnx {

/// A protocol buffer message that is put together of fields. What is copied is
/// viewed, so that weights inside a file cost nothing.
class MessageBuilder {
public:
  /// A field as it stands in a file that outlives this.
  void copy(std::string_view field);
  void addInteger(uint32_t field, int64_t value);
  void addBytes(uint32_t field, std::string_view bytes);
  void addMessage(uint32_t field, MessageBuilder message);
  /// `size` bytes, which `content` writes when this is written.
  void addLater(uint32_t field, uint64_t size,
                std::function<void(std::ostream &)> content);
  /// Packed, as writers of ONNX must.
  template <typename List>
  void addIntegers(uint32_t field, const List &values) {
    std::string packed;
    for (int64_t value : values)
      appendInteger(static_cast<uint64_t>(value), packed);
    if (!packed.empty())
      addBytes(field, packed);
  }

  uint64_t size() const { return numBytes; }
  void write(std::ostream &out) const;

private:
  static void appendInteger(uint64_t value, std::string &bytes);
  void addHead(uint32_t field, uint64_t size);
  void own(std::string bytes);

  /// Bytes that are written later, or owned ones, or else a view.
  struct Chunk {
    std::string owned;
    std::string_view viewed;
    std::function<void(std::ostream &)> later;
  };
  std::deque<Chunk> pieces;
  uint64_t numBytes = 0;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGEBUILDER_H
